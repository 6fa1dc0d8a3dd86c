//! Finds sketches that differ in few bits, for `onecopy-bench hamming`: `hamming WAY --count N`.
//!
//! Sketches are random. One in a hundred is an earlier sketch with at most as many bits flipped as are searched for.
//! It writes one line: the pairs that it found, and their cost on one core. A process runs one way, so that its
//! memory is its own.

use nix::sys::resource::{UsageWho, getrusage};
use onecopy_core::{Index, Near, Sketches, hamming, near, near_by_rotation, near_by_tables};
use serde_json::{Value, json};

/// One in this many sketches is near another.
const PLANTED: usize = 100;
/// How many queries an index gets.
const QUERIES: usize = 1000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, way, _, count] = &arguments[..] else {
        panic!(
            "usage: hamming tables|rotate|rotate-adjacent|index|scan|wide-tables|wide-index|wide-scan --count N"
        )
    };
    let count: usize = count.parse().expect("a number of sketches");
    let (width, most) = if way.starts_with("wide") { (6, 12) } else { (1, 3) };
    let made = Made::new(count, width, most);
    let sketches = Sketches { words: &made.words, width };
    let mut answer = match way.trim_start_matches("wide-") {
        "tables" => pairs(&made, || near_by_tables(sketches, most)),
        "rotate" => pairs(&made, || near_by_rotation(sketches, most, 1, 4)),
        "rotate-adjacent" => pairs(&made, || near_by_rotation(sketches, most, 4, 1)),
        "index" => {
            let started = cpu();
            let index = Index::new(sketches, most);
            let built = cpu() - started;
            let mut answer = queries(&made, QUERIES, |query, out| index.near(sketches, query, out));
            answer["build_seconds"] = json!(built);
            answer
        }
        "scan" => queries(&made, 20, |query, out| near(sketches, query, most, out)),
        _ => panic!("there is no way {way}"),
    };
    answer["peak_bytes"] = json!(usage().max_rss() * 1024);
    answer["sketch_bytes"] = json!(8 * made.words.len());
    println!("{answer}");
}

/// Sketches, and the pairs that were planted near each other.
struct Made {
    words: Vec<u64>,
    width: usize,
    planted: Vec<Near>,
}

impl Made {
    fn new(count: usize, width: usize, most: u32) -> Made {
        let mut state = 1;
        let (mut words, mut planted): (Vec<u64>, _) = (Vec::with_capacity(count * width), vec![]);
        for b in 0..count {
            if b == 0 || b % PLANTED != 0 {
                words.extend((0..width).map(|_| random(&mut state)));
                continue;
            }
            let a = random(&mut state) as usize % b;
            let mut sketch = words[a * width..(a + 1) * width].to_vec();
            for _ in 0..planted.len() as u32 % (most + 1) {
                let bit = random(&mut state) as usize % (64 * width);
                sketch[bit / 64] ^= 1 << (bit % 64);
            }
            let distance = hamming(&sketch, &words[a * width..(a + 1) * width]) as u32;
            planted.push(Near { a: a as u32, b: b as u32, distance });
            words.extend(sketch);
        }
        planted.sort_unstable();
        Made { words, width, planted }
    }
}

/// Finds all pairs at once.
fn pairs(made: &Made, find: impl Fn() -> Vec<Near>) -> Value {
    let started = cpu();
    let found = find();
    let seconds = cpu() - started;
    let recovered = made.planted.iter().filter(|near| found.binary_search(near).is_ok()).count();
    json!({ "find_seconds": seconds, "found": found.len(), "planted": made.planted.len(), "recovered": recovered })
}

/// Queries one sketch after the other: those that are near an earlier one.
fn queries(made: &Made, count: usize, find: impl Fn(&[u64], &mut Vec<(u32, u32)>)) -> Value {
    let (mut out, mut recovered) = (Vec::new(), 0);
    let asked: Vec<&Near> = made.planted.iter().step_by((made.planted.len() / count).max(1)).collect();
    let started = cpu();
    for near in &asked {
        let start = near.b as usize * made.width;
        out.clear();
        find(&made.words[start..start + made.width], &mut out);
        recovered += usize::from(out.contains(&(near.a, near.distance)));
    }
    let seconds = (cpu() - started) / asked.len().max(1) as f64;
    json!({ "query_seconds": seconds, "planted": asked.len(), "recovered": recovered })
}

/// The next random number: splitmix64 (Steele, Lea and Flood 2014).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn usage() -> nix::sys::resource::Usage {
    getrusage(UsageWho::RUSAGE_SELF).expect("the system counts")
}

/// The CPU time of this process so far, in seconds.
fn cpu() -> f64 {
    let usage = usage();
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    seconds(usage.user_time()) + seconds(usage.system_time())
}

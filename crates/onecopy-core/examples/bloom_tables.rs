//! Measures the steps of `bloom` on one core, as the tables of Jain, Dahlin and Tewari (2005) do.
//!
//! `bloom_tables steps PAGES.jsonl` measures chunking, filter building and AND; the texts of the pages are joined.
//! `bloom_tables cluster RESULTS.jsonl` measures the refining of the first 10 to 320 results, each of which has a `text`.
//! It writes one line: the least times of many rounds.

use std::hint::black_box;
use std::time::{Duration, Instant};

use onecopy_core::{
    Canonical, CanonicalRules, Evidence, Filter, FilterRules, Grouping, RefineOptions, Tag, canonicalise,
    chunk_hashes, refine,
};
use serde_json::{Value, json};

/// The bytes of a document.
const SIZES: [usize; 4] = [10 << 10, 100 << 10, 1 << 20, 10 << 20];
/// The expected bytes of a chunk.
const CHUNKS: [usize; 4] = [256, 512, 2048, 8192];
/// Hashes of a chunk.
const HASHES: [usize; 3] = [2, 4, 8];
/// The bits of a filter: powers of two next to 100 ... 5000.
const BITS: [usize; 6] = [128, 256, 512, 1024, 2048, 4096];
const RESULTS: [usize; 6] = [10, 20, 40, 80, 160, 320];
/// Each figure is the least of as many rounds as fit in this time, and of three at least.
const PATIENCE: Duration = Duration::from_millis(200);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (what, path) = (arguments.next().unwrap_or_default(), arguments.next().unwrap_or_default());
    let texts = read(&path);
    let said = match what.as_str() {
        "steps" => steps(&texts),
        "cluster" => cluster(&texts),
        _ => panic!("say steps or cluster, and a file"),
    };
    println!("{said}");
}

fn steps(texts: &[String]) -> Value {
    let mut canonical = Canonical::default();
    canonicalise(&texts.join("\n"), &CanonicalRules::default(), &mut canonical);
    let bytes = canonical.as_bytes();
    let longest = SIZES[SIZES.len() - 1];
    assert!(bytes.len() >= longest, "the texts have {} bytes, and {longest} are needed", bytes.len());
    let (mut chunk_ms, mut filter_ms, mut chunks) = (Vec::new(), Vec::new(), Vec::new());
    let mut hashes = Vec::new();
    for size in SIZES {
        let mut chunked = |expected| least(1, || chunk_hashes(&bytes[..size], expected, &mut hashes)) / 1e6;
        chunk_ms.push(CHUNKS.map(&mut chunked));
        chunk_hashes(&bytes[..size], CHUNKS[0], &mut hashes);
        chunks.push(hashes.len());
        let filtered = |number| {
            let rules = FilterRules { hashes: number, ..FilterRules::default() };
            least(1, || Filter::of(&hashes, &rules)) / 1e6
        };
        filter_ms.push(HASHES.map(filtered));
    }
    json!({"chunk_ms": chunk_ms, "chunks": chunks, "filter_ms": filter_ms, "and_ns": BITS.map(and)})
}

/// One AND with a count of the bits, of many that are in no cache line twice in a row.
fn and(bits: usize) -> f64 {
    let rules = FilterRules { bits, ..FilterRules::default() };
    let filter = |n: u64| {
        let elements: Vec<u64> = (0..40).map(|m| (n * 40 + m).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        Filter::of(&elements, &rules)
    };
    let filters: Vec<Filter> = (0..64).map(filter).collect();
    least(64 * 64, || filters.iter().flat_map(|a| filters.iter().map(move |b| a.shared(b))).sum::<usize>())
}

fn cluster(texts: &[String]) -> Value {
    let rules = FilterRules::default();
    let tags: Vec<Tag> = texts.iter().map(|text| Tag::of_text(text, &rules)).collect();
    let tagged: Vec<Evidence> = tags.iter().map(Evidence::Tag).collect();
    let results: Vec<Evidence> = texts.iter().map(|text| Evidence::Text(text)).collect();
    let by_anchor = RefineOptions::default();
    let transitive = RefineOptions { grouping: Grouping::Transitive, ..RefineOptions::default() };
    let refined = |results: &[Evidence], options: &RefineOptions| {
        let of = |number: usize| {
            let first = &results[..number.min(results.len())];
            least(1, || refine(first, options).expect("results can be refined").places.len()) / 1e6
        };
        RESULTS.map(of)
    };
    json!({
        "bytes": texts.iter().map(String::len).sum::<usize>(),
        "transitive_ms": refined(&tagged, &transitive),
        "tags_ms": refined(&tagged, &by_anchor),
        "text_ms": refined(&results, &by_anchor),
    })
}

/// The least time of a part of the work, in nanoseconds.
fn least<T>(parts: u32, mut work: impl FnMut() -> T) -> f64 {
    let (begun, mut best) = (Instant::now(), f64::MAX);
    let mut rounds = 0;
    while rounds < 3 || begun.elapsed() < PATIENCE {
        let started = Instant::now();
        black_box(work());
        best = best.min(started.elapsed().as_nanos() as f64 / f64::from(parts));
        rounds += 1;
    }
    best
}

fn read(path: &str) -> Vec<String> {
    let lines = std::fs::read_to_string(path).expect("a readable file");
    let text = |line: &str| serde_json::from_str::<Value>(line).ok()?["text"].as_str().map(str::to_owned);
    lines.lines().filter_map(text).collect()
}

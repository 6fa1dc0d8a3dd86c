//! Measures refining of search results on one core: `refine [RESULTS.jsonl]`.
//!
//! Without a file, results are 320 generated texts of 10 KB, of which one in four repeats another. A file has one
//! object with a `text` in each line. It writes one line: the least times of many rounds.

use std::hint::black_box;
use std::time::Instant;

use onecopy_core::{Config, Evidence, Filter, FilterRules, RefineOptions, Tag, refine};
use serde_json::{Value, json};

/// How many results there are, as in the seed's largest table.
const RESULTS: usize = 320;
/// The bytes of a generated text.
const TEXT_BYTES: usize = 10_000;
const ROUNDS: usize = 60;

fn main() {
    let texts = std::env::args().nth(1).map_or_else(generated, |path| read(&path));
    let results: Vec<Evidence> = texts.iter().map(|text| Evidence::Text(text)).collect();
    let rules = FilterRules::default();
    let tags: Vec<Tag> = texts.iter().map(|text| Tag::of_text(text, &rules)).collect();
    let tagged: Vec<Evidence> = tags.iter().map(Evidence::Tag).collect();
    let chosen = |method: &str| {
        let config = Config { method: method.into(), ..Config::default() };
        RefineOptions { config, ..RefineOptions::default() }
    };
    let refined = |results: &[Evidence], options: &RefineOptions| {
        least(1, || refine(results, options).expect("results can be refined").places.len())
    };
    let usual = RefineOptions::default();
    let groups = refine(&results, &usual).expect("results can be refined");
    let anchors =
        groups.places.iter().enumerate().filter(|(at, place)| place.is_some_and(|p| p.anchor == *at));
    println!(
        "{}",
        json!({
            "results": results.len(),
            "bytes": texts.iter().map(String::len).sum::<usize>(),
            "groups": anchors.count(),
            "text_ms": refined(&results, &usual) / 1e6,
            "jaccard_ms": refined(&results, &chosen("jaccard")) / 1e6,
            "bloom_ms": refined(&results, &chosen("bloom")) / 1e6,
            "make_tags_ms": least(1, || texts.iter().map(|text| Tag::of_text(text, &rules)).collect::<Vec<_>>()) / 1e6,
            "tags_ms": refined(&tagged, &usual) / 1e6,
            "pair_ns": pair(),
        })
    );
}

/// One pair of filters, of many that are in no cache line twice in a row.
fn pair() -> f64 {
    let rules = FilterRules::default();
    let filter = |n: u64| {
        let elements: Vec<u64> = (0..40).map(|m| (n * 40 + m).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        Filter::of(&elements, &rules)
    };
    let filters: Vec<Filter> = (0..64).map(filter).collect();
    least(64 * 64, || filters.iter().flat_map(|a| filters.iter().map(move |b| a.shared(b))).sum::<usize>())
}

/// The least time of a part of the work, in nanoseconds.
fn least<T>(parts: u32, mut work: impl FnMut() -> T) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let started = Instant::now();
        black_box(work());
        best = best.min(started.elapsed().as_nanos() as f64 / f64::from(parts));
    }
    best
}

fn generated() -> Vec<String> {
    let mut state = 7u64;
    let mut texts: Vec<String> = Vec::new();
    for number in 0..RESULTS {
        let mut text = String::new();
        if number % 4 == 3 {
            text.push_str(&texts[number / 2][..TEXT_BYTES * 19 / 20]);
        }
        while text.len() < TEXT_BYTES {
            text.push_str(&word(&mut state));
        }
        text.truncate(TEXT_BYTES);
        texts.push(text);
    }
    texts
}

/// A word of a vocabulary of thousands, with short words more often.
fn word(state: &mut u64) -> String {
    let random = next(state);
    let mut number = (random % 70) * (random >> 20 & 63) * (random >> 40 & 3) + random % 97;
    let mut word = String::new();
    for _ in 0..2 + number % 7 {
        word.push(char::from(b'a' + (number % 26) as u8));
        number = number / 3 + 5 * number + 1;
    }
    word.push(if random >> 60 == 0 { '.' } else { ' ' });
    word.push(' ');
    word
}

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state ^ *state >> 33
}

fn read(path: &str) -> Vec<String> {
    let lines = std::fs::read_to_string(path).expect("a readable file");
    let text = |line: &str| serde_json::from_str::<Value>(line).ok()?["text"].as_str().map(str::to_owned);
    lines.lines().filter_map(text).collect()
}

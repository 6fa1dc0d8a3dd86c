//! The times of the paper's Tables 1 to 4 beside ours: chunking, filter building, AND, clustering.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Bench;
use super::answers::{Answer, Answers};
use super::published::{AND_US, CHUNK_MS, CHUNKS, CLUSTER_MS, FILTER_MS};
use super::repeats::DEPTHS;
use crate::peers::install::example_program;
use crate::table::{Table, count};

const SIZES: [&str; 4] = ["10 KB", "100 KB", "1 MB", "10 MB"];
const CHUNK_SIZES: [&str; 4] = ["256 B", "512 B", "2 KB", "8 KB"];
const HASHES: [&str; 3] = ["k = 2", "k = 4", "k = 8"];
/// The bits of our filters, which are powers of two next to the paper's.
const BITS: [u32; 6] = [128, 256, 512, 1024, 2048, 4096];

/// Milliseconds and nanoseconds of the steps.
#[derive(Deserialize)]
struct Steps {
    chunk_ms: [[f64; 4]; 4],
    chunks: [u64; 4],
    filter_ms: [[f64; 3]; 4],
    and_ns: [f64; 6],
}

/// Milliseconds to refine the first 10 ... 320 results.
#[derive(Deserialize)]
struct Clustered {
    bytes: u64,
    transitive_ms: [f64; 6],
    tags_ms: [f64; 6],
    text_ms: [f64; 6],
}

pub fn section(bench: &Bench, answers: &Answers) -> Result<String> {
    eprintln!("tables ...");
    let program = example_program("bloom_tables")?;
    let steps: Steps = measure(&program, "steps", &bench.corpus_start()?)?;
    let mut text =
        "## Times (Tables 1 to 4)\n\nEach cell: the paper / ours, on one core. The paper's machine was a \
                    Pentium III of 933 MHz, and its filters were made in Perl.\n\n"
            .to_owned();
    let pairs = |their: &[f64], our: &[f64]| {
        their.iter().zip(our).map(|(their, our)| format!("{their} / {}", short(*our))).collect::<Vec<_>>()
    };
    let mut chunking = Table::new(&[&["ms for a text of"], &CHUNK_SIZES[..]].concat());
    let mut filters = Table::new(&[&["ms for a text of", "chunks"], &HASHES[..]].concat());
    for (row, size) in SIZES.iter().enumerate() {
        chunking.push([vec![size.to_string()], pairs(&CHUNK_MS[row], &steps.chunk_ms[row])].concat());
        let chunks = format!("{} / {}", count(CHUNKS[row]), count(steps.chunks[row]));
        filters
            .push([vec![size.to_string(), chunks], pairs(&FILTER_MS[row], &steps.filter_ms[row])].concat());
    }
    text += &format!("Table 1, cutting into chunks of an expected size:\n\n{}\n", chunking.markdown());
    text +=
        &format!("Table 2, making a filter of 2048 bits of chunks of 256 bytes:\n\n{}\n", filters.markdown());
    let mut and = Table::new(&["", "", "", "", "", "", ""]);
    and.push(
        [vec!["bits".to_owned()], (0..6).map(|n| format!("{} / {}", AND_US[n].0, BITS[n])).collect()]
            .concat(),
    );
    let times = (0..6).map(|n| format!("{} / {}", AND_US[n].1, short(steps.and_ns[n] / 1e3)));
    and.push([vec!["µs for an AND".to_owned()], times.collect()].concat());
    text += &format!("Table 3:\n\n{}\n", and.markdown());
    text +=
        &format!("Table 4, matching and clustering:\n\n{}", clustering(bench, answers, &program)?.markdown());
    Ok(text)
}

fn clustering(bench: &Bench, answers: &Answers, program: &Path) -> Result<Table> {
    let mut header = vec!["ms for the first results".to_owned()];
    header.extend(DEPTHS.map(|depth| depth.to_string()));
    let mut table = Table::new(&header.iter().map(String::as_str).collect::<Vec<_>>());
    let row = |name: String, times: &[f64; 6]| [vec![name], times.map(short).to_vec()].concat();
    for (query, times) in &CLUSTER_MS {
        table.push(row(format!("paper: {query}"), times));
    }
    for answer in chosen(answers) {
        let file = bench.program.work.join("results-cluster.jsonl");
        answers.write_texts(answer, DEPTHS[5], &file)?;
        let times: Clustered = measure(program, "cluster", &file)?;
        let (query, kilobytes) = (&answer.query, times.bytes as f64 / 1e3 / answer.hits.len() as f64);
        table.push(row(format!("{query}: tags, transitive"), &times.transitive_ms));
        table.push(row(format!("{query}: tags, by anchor"), &times.tags_ms));
        table.push(row(format!("{query}: texts of {kilobytes:.0} KB, the default"), &times.text_ms));
    }
    Ok(table)
}

/// Three answers with all results: of the queries with the fewest, the median number of and the most matches.
fn chosen(answers: &Answers) -> Vec<&Answer> {
    let mut full: Vec<&Answer> = answers.all.iter().filter(|answer| answer.hits.len() >= DEPTHS[5]).collect();
    full.sort_by_key(|answer| (answer.matched, &answer.query));
    let Some(last) = full.len().checked_sub(1) else { return vec![] };
    let mut places = vec![0, last / 2, last];
    places.dedup();
    places.into_iter().map(|place| full[place]).collect()
}

fn measure<T: DeserializeOwned>(program: &Path, what: &str, file: &Path) -> Result<T> {
    let output = Command::new(program).arg(what).arg(file).output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{what} failed: {}", said.lines().last().unwrap_or("it said nothing"));
    serde_json::from_slice(&output.stdout).with_context(|| format!("{what} wrote no figures"))
}

/// Three digits.
fn short(value: f64) -> String {
    let digits = match value {
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        value if value >= 1.0 => 2,
        value if value >= 0.1 => 3,
        _ => 4,
    };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_about_three_digits() {
        assert_eq!([1233.0, 66.0, 1.5, 0.25, 0.0123].map(short), ["1233", "66.0", "1.50", "0.250", "0.0123"]);
    }

    #[test]
    fn three_answers_are_chosen_by_matches() {
        let answer = |matched: u64| Answer {
            query: format!("q{matched}"),
            kind: "text".into(),
            matched,
            hits: vec!["x".into(); if matched == 1 { 3 } else { 320 }],
        };
        let answers = Answers { all: [9, 1, 5, 7, 6, 8].map(answer).into(), texts: Default::default() };
        let matched: Vec<u64> = chosen(&answers).iter().map(|answer| answer.matched).collect();
        assert_eq!(matched, [5, 7, 9]);
    }
}

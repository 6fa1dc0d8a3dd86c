//! The nearest of many versions: the similarity of the oldest version of a page to the later ones (Figure 5).

use std::collections::BTreeMap;
use std::io::BufRead;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::json;

use super::Bench;
use super::answers::write_lines;
use super::picture::{self, Line, Panel};
use super::published::NEAREST_VERSION;
use crate::jsonl;
use crate::table::{Table, count};

/// How many versions a page must have.
const VERSIONS: usize = 20;
/// The bytes of the file in the paper.
const THEIR_BYTES: usize = 17_000;
/// So low that every page with a common chunk is a repeat, and its similarity is printed.
const LEAST: &str = "0.001";

#[derive(Deserialize)]
struct Page {
    url: String,
    text: String,
}

/// The similarity of the oldest version to the later ones, in order.
struct History {
    similarity: Vec<f64>,
    bytes: usize,
}

pub fn section(bench: &Bench) -> Result<String> {
    eprintln!("versions ...");
    let pages = pages(bench)?;
    let mut histories = Vec::new();
    for versions in pages.values().filter(|versions| versions.len() >= VERSIONS) {
        histories.push(history(bench, versions)?);
    }
    let mut text = "## The nearest of 20 versions (Figure 5)\n\n".to_owned();
    if histories.is_empty() {
        return Ok(text + "The corpus has no page in 20 versions.\n");
    }
    let changed: Vec<&History> = histories.iter().filter(|one| one.similarity[0] < 1.0).collect();
    let mean = mean(&histories);
    text += &format!(
        "{} pages of the corpus are there in {VERSIONS} versions or more: their addresses differ in a number such as \
         1.21. We compare the oldest version with each later one by `bloom`. In the paper, the next version of a file \
         of 17 KB is the most similar of 19, with {NEAREST_VERSION}.\n\n",
        count(histories.len() as u64)
    );
    let mut table =
        Table::new(&["pages", "number", "next version", "last version", "the next is the nearest"]);
    table.push(row("all", &histories.iter().collect::<Vec<_>>()));
    table.push(row("whose next version differs", &changed));
    text += &format!("{}\n", table.markdown());
    let like_theirs = changed.iter().min_by_key(|one| one.bytes.abs_diff(THEIR_BYTES));
    let mut lines = vec![Line { name: "mean of all".into(), values: mean }];
    lines.extend(like_theirs.map(|one| Line {
        name: format!("one of {} KB", one.bytes / 1000),
        values: one.similarity[..VERSIONS - 1].to_vec(),
    }));
    let panel = Panel {
        title: "Similarity of the oldest version to later ones".into(),
        places_are: "version",
        places: (1..VERSIONS).map(|version| version.to_string()).collect(),
        lines,
        ranges: vec![],
        beside: vec![(0, NEAREST_VERSION, "paper")],
    };
    text += &bench.picture("results-versions.svg", "Similarity of versions", &picture::svg(&[panel]))?;
    Ok(text)
}

fn row(name: &str, histories: &[&History]) -> Vec<String> {
    let number = histories.len().max(1) as f64;
    let average =
        |value: &dyn Fn(&History) -> f64| histories.iter().map(|one| value(one)).sum::<f64>() / number;
    let nearest = |one: &History| one.similarity.iter().all(|&later| later <= one.similarity[0]);
    vec![
        name.to_owned(),
        count(histories.len() as u64),
        format!("{:.3}", average(&|one| one.similarity[0])),
        format!("{:.3}", average(&|one| one.similarity.last().copied().unwrap_or_default())),
        format!("{:.1} %", 100.0 * average(&|one| f64::from(u8::from(nearest(one))))),
    ]
}

/// The mean similarity to the first, second, ... later version.
fn mean(histories: &[History]) -> Vec<f64> {
    let at = |version: usize| histories.iter().map(|one| one.similarity[version]).sum::<f64>();
    (0..VERSIONS - 1).map(|version| at(version) / histories.len() as f64).collect()
}

/// The texts of each page by its address without the version, in the order of versions.
fn pages(bench: &Bench) -> Result<BTreeMap<String, BTreeMap<(u32, u32), String>>> {
    let mut pages: BTreeMap<String, BTreeMap<(u32, u32), String>> = BTreeMap::new();
    for line in jsonl::open(&bench.corpus)?.lines() {
        let line = line.with_context(|| format!("cannot read {}", bench.corpus.display()))?;
        let Ok(page) = serde_json::from_str::<Page>(&line) else { continue };
        if let Some((rest, version)) = versioned(&page.url) {
            pages.entry(rest).or_default().insert(version, page.text);
        }
    }
    Ok(pages)
}

/// An address without its version, and the version: a part of the path such as 1.21.
fn versioned(url: &str) -> Option<(String, (u32, u32))> {
    let version = |part: &str| {
        let (major, minor) = part.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    let parts: Vec<&str> = url.split('/').collect();
    let place = parts.iter().position(|part| version(part).is_some())?;
    let rest = [&parts[..place], &["*"], &parts[place + 1..]].concat().join("/");
    Some((rest, version(parts[place])?))
}

fn history(bench: &Bench, versions: &BTreeMap<(u32, u32), String>) -> Result<History> {
    let path = bench.program.work.join("results-versions.jsonl");
    let line = |(number, text): (usize, &String)| json!({"id": number, "text": text}).to_string();
    write_lines(&path, versions.values().enumerate().map(line))?;
    let places = bench.program.refine(&path, &["--method", "bloom", "--threshold", LEAST])?;
    let to_oldest = |place: &super::refined::Place| match place.anchor_rank {
        Some(1) => place.similarity.unwrap_or_default(),
        _ => 0.0,
    };
    let similarity = places.iter().skip(1).map(to_oldest).collect();
    Ok(History { similarity, bytes: versions.values().next().map_or(0, String::len) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_a_part_of_the_path() {
        let (rest, version) = versioned("https://numpy.org/doc/1.21/a/b.html").unwrap();
        assert_eq!((rest.as_str(), version), ("https://numpy.org/doc/*/a/b.html", (1, 21)));
        assert!(versioned("https://a.example/1/b.html").is_none());
        assert!(versions_ascend());
    }

    fn versions_ascend() -> bool {
        let version = |url: &str| versioned(url).map(|found| found.1);
        version("h/1.9/x") < version("h/1.13/x") && version("h/1.26/x") < version("h/2.0/x")
    }

    #[test]
    fn the_nearest_version_may_be_shared() {
        let history = |similarity: &[f64]| History { similarity: similarity.into(), bytes: 1 };
        let (tied, far) = (history(&[0.9, 0.9, 0.1]), history(&[0.5, 0.6]));
        assert_eq!(row("all", &[&tied, &far])[2..], ["0.700", "0.350", "50.0 %"]);
    }
}

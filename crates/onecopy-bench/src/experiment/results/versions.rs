//! The nearest of many versions: the similarity of the oldest version of a page to the later ones (Figure 5).

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::json;

use super::Bench;
use super::answers::write_lines;
use super::picture::{self, Line, Panel};
use super::published::NEAREST_VERSION;
use super::refined::Place;
use crate::jsonl;
use crate::table::{Table, count};

/// How many versions a page must have.
const VERSIONS: usize = 20;
/// The bytes of the file in the paper.
const THEIR_BYTES: usize = 17_000;
/// Pages of at least this many bytes have a row of their own: a short page has few chunks.
const LONG_BYTES: usize = 10_000;
/// So low that every page with a common chunk is a repeat, and its similarity is printed.
const LEAST: &str = "0.001";

#[derive(Deserialize)]
struct Page {
    url: String,
    text: String,
}

/// A version: numbers from the left.
type Version = Vec<u32>;

/// The similarity of the oldest version to the later ones, in order.
struct History {
    site: String,
    similarity: Vec<f64>,
    bytes: usize,
}

pub fn section(bench: &Bench) -> Result<String> {
    eprintln!("versions ...");
    let mut histories = Vec::new();
    for (address, versions) in &pages(bench)? {
        if versions.len() >= VERSIONS {
            histories.push(history(bench, address, versions)?);
        }
    }
    let mut text = "## The nearest of 20 versions (Figure 5)\n\n".to_owned();
    if histories.is_empty() {
        return Ok(text + "The corpus has no page in 20 versions.\n");
    }
    text += &format!(
        "{} pages of the corpus are there in {VERSIONS} versions or more. We compare the oldest version with each \
         later one by `bloom`. In the paper, the next version of a file of 17 KB, with 415 bytes changed, is the most \
         similar of 19: {NEAREST_VERSION}.\n\n",
        count(histories.len() as u64)
    );
    let mut table =
        Table::new(&["pages", "number", "next version", "19th version", "the next is the nearest"]);
    let (mut lines, sites) = (Vec::new(), histories.iter().map(|one| &one.site).collect::<BTreeSet<_>>());
    for site in sites {
        let all: Vec<&History> = histories.iter().filter(|one| one.site == *site).collect();
        let long: Vec<&History> = all.iter().copied().filter(|one| one.bytes >= LONG_BYTES).collect();
        table.push(row(site, &all));
        table.push(row(&format!("{site}, 10 KB and more"), &long));
        let short = site.split('.').next().unwrap_or(site);
        lines.push(Line { name: format!("{short}, all"), values: mean(&all) });
        let like_theirs = long.iter().min_by_key(|one| one.bytes.abs_diff(THEIR_BYTES));
        lines.extend(like_theirs.map(|one| Line {
            name: format!("{short}, {} KB", one.bytes / 1000),
            values: one.similarity[..VERSIONS - 1].to_vec(),
        }));
    }
    text += &format!("{}\n", table.markdown());
    let panel = Panel {
        title: "Similarity of the oldest version to later ones".into(),
        places_are: "version",
        places: (1..VERSIONS).map(|version| version.to_string()).collect(),
        lines,
        ranges: vec![],
        beside: vec![(0, NEAREST_VERSION, "paper, 17 KB")],
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
        format!("{:.3}", average(&|one| one.similarity[one.similarity.len().min(VERSIONS - 1) - 1])),
        format!("{:.1} %", 100.0 * average(&|one| f64::from(u8::from(nearest(one))))),
    ]
}

/// The mean similarity to the first, second, ... later version.
fn mean(histories: &[&History]) -> Vec<f64> {
    let at = |version: usize| histories.iter().map(|one| one.similarity[version]).sum::<f64>();
    (0..VERSIONS - 1).map(|version| at(version) / histories.len() as f64).collect()
}

/// The texts of each page by its address without the version, in the order of versions.
fn pages(bench: &Bench) -> Result<BTreeMap<String, BTreeMap<Version, String>>> {
    let mut pages: BTreeMap<String, BTreeMap<Version, String>> = BTreeMap::new();
    for line in jsonl::open(&bench.corpus)?.lines() {
        let line = line.with_context(|| format!("cannot read {}", bench.corpus.display()))?;
        let Ok(page) = serde_json::from_str::<Page>(&line) else { continue };
        if let Some((rest, version)) = versioned(&page.url) {
            pages.entry(rest).or_default().insert(version, page.text);
        }
    }
    Ok(pages)
}

/// An address without its version, and the version: a part of the path such as 1.21, or the first part if it is a number.
fn versioned(url: &str) -> Option<(String, Version)> {
    let parts: Vec<&str> = url.split('/').collect();
    let version = |place: usize| match place {
        3 => dotted(parts[place]).or_else(|| packed(parts[place])),
        _ => dotted(parts[place]),
    };
    let (place, version) = (3..parts.len()).find_map(|place| Some((place, version(place)?)))?;
    Some(([&parts[..place], &["*"], &parts[place + 1..]].concat().join("/"), version))
}

fn dotted(part: &str) -> Option<Version> {
    let (major, minor) = part.split_once('.')?;
    Some(vec![major.parse().ok()?, minor.parse().ok()?])
}

/// Versions of Kafka in its addresses: 31 is 3.1, and 0102 is 0.10.2.
fn packed(part: &str) -> Option<Version> {
    let is_number = (2..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    let (major, rest) = part.split_at_checked(1).filter(|_| is_number)?;
    let minor_digits = if major == "0" && rest.len() == 3 { 2 } else { 1 };
    let (minor, patch) = rest.split_at(minor_digits);
    let number = |digits: &str| digits.parse().ok();
    Some([number(major)?, number(minor)?].into_iter().chain(number(patch)).collect())
}

fn history(bench: &Bench, address: &str, versions: &BTreeMap<Version, String>) -> Result<History> {
    let path = bench.program.work.join("results-versions.jsonl");
    let line = |(number, text): (usize, &String)| json!({"id": number, "text": text}).to_string();
    write_lines(&path, versions.values().enumerate().map(line))?;
    let places = bench.program.refine(&path, &["--method", "bloom", "--threshold", LEAST])?;
    let to_oldest = |place: &Place| match place.anchor_rank {
        Some(1) => place.similarity.unwrap_or_default(),
        _ => 0.0,
    };
    let similarity = places.iter().skip(1).map(to_oldest).collect();
    let site = address.split('/').nth(2).unwrap_or_default().to_owned();
    Ok(History { site, similarity, bytes: versions.values().next().map_or(0, String::len) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_a_part_of_the_path() {
        let (rest, version) = versioned("https://numpy.org/doc/1.21/a/b.html").unwrap();
        assert_eq!((rest.as_str(), version), ("https://numpy.org/doc/*/a/b.html", vec![1, 21]));
        assert!(versioned("https://law.example/titles/31/b.html").is_none(), "31 is not the first part");
        assert!(versioned("https://a.example/doc/b.html").is_none());
    }

    #[test]
    fn versions_are_in_their_order() {
        let version = |part: &str| versioned(&format!("https://h.example/{part}/x")).unwrap().1;
        let order = ["07", "081", "090", "0100", "0102", "0110", "10", "28", "30", "41"].map(version);
        assert!(order.is_sorted(), "{order:?}");
        assert!(version("1.9") < version("1.13") && version("1.26") < version("2.0"));
    }

    #[test]
    fn the_nearest_version_may_be_shared() {
        let history =
            |similarity: &[f64]| History { site: "s".into(), similarity: similarity.into(), bytes: 1 };
        let (tied, far) = (history(&[0.9, 0.9, 0.1]), history(&[0.5, 0.6]));
        assert_eq!(row("all", &[&tied, &far])[2..], ["0.700", "0.350", "50.0 %"]);
    }
}

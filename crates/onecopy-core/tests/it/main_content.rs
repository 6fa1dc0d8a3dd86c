//! Word-level F1 of main content on marked pages must not fall. `onecopy-bench extract` measures the same together
//! with the peers, and `docs/QUALITY.md` has its table.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use onecopy_core::{Content, html_to_text};
use serde::Deserialize;

/// The sets are packed with long-distance matching, which zstd refuses to unpack by default.
const WINDOW_LOG_MAX: u32 = 27;

#[derive(Deserialize)]
struct Record {
    id: String,
    html: Option<String>,
    gold: Option<String>,
    content: Option<String>,
    page: Option<String>,
}

fn read(set: &str, name: &str) -> Option<impl Iterator<Item = Record>> {
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let data = std::env::var_os("ONECOPY_DATA").map_or(beside, PathBuf::from);
    let file = File::open(data.join("labelled").join(set).join(name)).ok()?;
    let mut unpacked = zstd::Decoder::new(file).unwrap();
    unpacked.window_log_max(WINDOW_LOG_MAX).unwrap();
    Some(BufReader::new(unpacked).lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()))
}

/// Words as a multiset.
fn bag(text: &str) -> HashMap<String, u32> {
    let mut bag = HashMap::new();
    let lower = text.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.filter(|word| !word.is_empty()).for_each(|word| *bag.entry(word.to_owned()).or_default() += 1);
    bag
}

fn f1(found: &str, gold: &str) -> f64 {
    let (found, gold) = (bag(found), bag(gold));
    let shared: u32 = found.iter().map(|(word, count)| *count.min(gold.get(word).unwrap_or(&0))).sum();
    let sizes = found.values().sum::<u32>() + gold.values().sum::<u32>();
    if sizes == 0 { 1.0 } else { 2.0 * f64::from(shared) / f64::from(sizes) }
}

/// Mean F1 over the first `limit` pages. The first of several captures of a page counts.
fn check(set: &str, limit: usize, floors: [(Content, f64); 3]) {
    let Some(docs) = read(set, "docs.jsonl.zst") else {
        println!("skipped: neither $ONECOPY_DATA nor ../shared/data has labelled/{set}");
        return;
    };
    let mut golds: HashMap<String, String> = HashMap::new();
    if let Some(content) = read(set, "content.jsonl.zst") {
        golds.extend(content.filter_map(|record| Some((record.id, record.content?))));
    }
    let mut seen = HashSet::new();
    let firsts = docs.filter(|record| record.page.as_ref().is_none_or(|page| seen.insert(page.clone())));
    let (mut pages, mut sums) = (0, [0.0; 3]);
    for record in firsts.take(limit) {
        let (html, gold) = (record.html.unwrap(), record.gold.or_else(|| golds.remove(&record.id)).unwrap());
        pages += 1;
        for ((content, _), sum) in floors.iter().zip(&mut sums) {
            let mut text = String::new();
            html_to_text(&html, *content, &mut text);
            *sum += f1(&text, &gold);
        }
    }
    for ((content, floor), sum) in floors.iter().zip(sums) {
        let mean = sum / f64::from(pages);
        assert!(
            mean >= *floor,
            "{set}, {content:?}: F1 {mean:.4} on {pages} pages, at least {floor} is expected"
        );
    }
}

fn floors(all: f64, main: f64, auto: f64) -> [(Content, f64); 3] {
    [(Content::All, all), (Content::Main, main), (Content::Auto, auto)]
}

#[test]
fn cleaneval() {
    check("extract-cleaneval-dev", 100, floors(0.868, 0.955, 0.948));
}

#[test]
fn cleanportaleval() {
    check("extract-cleanportaleval", 100, floors(0.573, 0.939, 0.939));
}

#[test]
fn l3s_gn1() {
    check("extract-l3s-gn1", 200, floors(0.64, 0.976, 0.976));
}

#[test]
fn readability() {
    check("extract-readability", 200, floors(0.781, 0.968, 0.968));
}

#[test]
fn terms_of_service() {
    check("ota-pages-dev", 60, floors(0.90, 0.979, 0.979));
}

//! Measures precision and recall of every method on the labelled sets, next to the published figures.

use std::path::PathBuf;

use anyhow::{Result, ensure};

use super::picture::{self, Mark, Panel};
use super::program::{Evaluation, Score};
use super::published::published;
use super::{Bench, METHODS, chains, share};
use crate::table::{Table, count};

/// A labelled set.
pub struct Known {
    pub name: &'static str,
    /// Whether unlisted pairs are unknown.
    pub listed_only: bool,
    /// Whether its pages are HTML, so that the choice of text matters.
    html: bool,
}

/// The labelled sets. The first four played no part in training the main-content model.
const SETS: [Known; 10] = [
    Known { name: "blog-themes", listed_only: false, html: true },
    Known { name: "man-renderers", listed_only: false, html: true },
    Known { name: "php-manual", listed_only: false, html: true },
    Known { name: "short-reference", listed_only: false, html: true },
    Known { name: "ota-pages-dev", listed_only: false, html: true },
    Known { name: "ota-hard-dev", listed_only: true, html: true },
    Known { name: "docs-numpy-versions", listed_only: false, html: true },
    Known { name: "docs-kafka-versions", listed_only: false, html: true },
    Known { name: "mccormick-minhash-2500", listed_only: false, html: false },
    Known { name: "clough-stevenson", listed_only: true, html: false },
];

/// The set compared with the papers' figures: the only one with pairs within a site and across sites.
const BESIDE: &str = "ota-pages-dev";

const NOT_COMPARABLE: &str = "\
What can be compared: the order of the methods, and where each fails. What cannot: the figures themselves. Theirs are of
1.6 billion (B, C) and 400 million (the others) raw pages of the web, of which found pairs were judged by hand, so that
their recall is known only beside another method's. Ours are of sets that are small and whole: all pairs are known, few
are hard, and there are no pages of error messages, empty lists and search results, on which methods are wrong most.
Whole pages are what the papers' methods saw; the content is what onecopy compares unless told otherwise.
Labels of the docs- sets and some of ota-pages-dev are computed by the Jaccard similarity of 5-word shingles of the
content, which favours jaccard, containment and auto; pages that are part of another are not scored.
";

pub fn section(bench: &Bench) -> Result<String> {
    let mut text = "## Precision and recall\n\n".to_owned();
    let (sets, absent): (Vec<&Known>, Vec<&Known>) =
        SETS.iter().partition(|set| bench.data.join(set.name).is_dir());
    for set in &absent {
        eprintln!("there is no set {}: left out", bench.data.join(set.name).display());
        text += &format!("The set {} is absent and left out.\n\n", set.name);
    }
    ensure!(!sets.is_empty(), "there are no labelled sets in {}: check --data", bench.data.display());
    let html: Vec<&Known> = sets.iter().copied().filter(|set| set.html).collect();
    // `auto` searches the content of one page in the other, so it must separate content from the rest.
    let whole_methods = &METHODS[..METHODS.len() - 1];
    let content = evaluate(bench, &sets, &METHODS, "auto")?;
    let whole = evaluate(bench, &html, whole_methods, "all")?;
    text += "Each cell: precision / recall / F1, at each method's own threshold, as its own search finds pairs.\n\n";
    text +=
        &format!("The content of pages (the default):\n\n{}\n", table(&sets, &METHODS, &content).markdown());
    text += &format!("Chains of other tools:\n\n{}\n", chains::table(bench, &html)?.markdown());
    text +=
        &format!("Whole pages (`--content all`):\n\n{}\n", table(&html, whole_methods, &whole).markdown());
    text +=
        &bench.picture("quality.svg", "Precision and recall by method and set", &draw(&sets, &content))?;
    if sets.iter().any(|set| set.name == BESIDE) {
        text += &format!("\nBeside the papers, on {BESIDE}:\n\n{}\n", beside(&whole, &content).markdown());
        text += NOT_COMPARABLE;
    }
    Ok(text)
}

fn evaluate(bench: &Bench, sets: &[&Known], methods: &[&str], content: &str) -> Result<Vec<Evaluation>> {
    let mut found = vec![];
    for listed_only in [false, true] {
        let chosen = sets.iter().filter(|set| set.listed_only == listed_only);
        let folders: Vec<PathBuf> = chosen.map(|set| bench.data.join(set.name)).collect();
        if folders.is_empty() {
            continue;
        }
        eprintln!("precision and recall on {} sets, --content {content} ...", folders.len());
        let mut options = vec!["--content", content, "--mistakes", "0"];
        options.extend(listed_only.then_some("--listed-only"));
        found.extend(bench.program.eval(&folders, methods, &options)?.0);
    }
    Ok(found)
}

fn find<'a>(found: &'a [Evaluation], set: &str, method: &str) -> Option<&'a Evaluation> {
    found.iter().find(|one| one.set == set && one.method == method)
}

/// Precision, recall and F1 of a score.
pub fn three(score: &Score) -> String {
    format!("{} / {} / {}", share(score.precision), share(score.recall), share(score.f1))
}

fn table(sets: &[&Known], methods: &[&str], found: &[Evaluation]) -> Table {
    let names = sets.iter().map(|set| set.name);
    let mut table = Table::new(&["method"].into_iter().chain(names).collect::<Vec<_>>());
    for method in methods {
        let cell = |set: &&Known| find(found, set.name, method).map_or("-".into(), |one| three(&one.all));
        table.push([method.to_string()].into_iter().chain(sets.iter().map(cell)).collect());
    }
    table
}

/// One row per method: the paper's figure, then ours on whole pages and on their content.
fn beside(whole: &[Evaluation], content: &[Evaluation]) -> Table {
    let mut table = Table::new(&[
        "method",
        "precision: paper",
        "whole",
        "content",
        "same site: paper",
        "whole",
        "content",
        "recall / simhash's: paper",
        "whole",
        "content",
        "same-site share of found: paper",
        "whole",
        "content",
        "found, whole",
    ]);
    for method in METHODS {
        let paper = published(method);
        let ours = [whole, content].map(|found| find(found, BESIDE, method));
        let simhash = [whole, content].map(|found| find(found, BESIDE, "simhash"));
        let mut row = vec![method.to_owned()];
        row.push(share(paper.precision));
        row.extend(ours.map(|one| share(one.and_then(|one| one.all.precision))));
        row.push(share(paper.same_site_precision));
        row.extend(ours.map(|one| share(one.and_then(|one| one.same_site.precision))));
        row.push(share(paper.of_simhash));
        row.extend([0, 1].map(|way| share(ours[way].zip(simhash[way]).and_then(times))));
        row.push(share(paper.same_site_share));
        row.extend(ours.map(|one| share(one.and_then(same_site_share))));
        row.push(ours[0].map_or("-".into(), |one| count(one.all.found)));
        table.push(row);
    }
    table
}

/// The number of duplicates found, as a multiple of `simhash`'s.
fn times((one, simhash): (&Evaluation, &Evaluation)) -> Option<f64> {
    (simhash.all.right > 0).then(|| one.all.right as f64 / simhash.all.right as f64)
}

/// The share of found pairs that are within one site, among pairs with known sites.
fn same_site_share(one: &Evaluation) -> Option<f64> {
    let known = one.same_site.found + one.cross_site.found;
    (known > 0).then(|| one.same_site.found as f64 / known as f64)
}

fn draw(sets: &[&Known], found: &[Evaluation]) -> String {
    let panel = |set: &&Known| Panel {
        title: set.name,
        rows: METHODS
            .iter()
            .map(|method| {
                let score = find(found, set.name, method).map(|one| &one.all);
                let of = |figure: fn(&Score) -> Option<f64>| score.and_then(figure);
                let marks = [
                    of(|score| score.recall).map(|value| Mark { value, filled: false }),
                    of(|score| score.precision).map(|value| Mark { value, filled: true }),
                ];
                (*method, marks.into_iter().flatten().collect())
            })
            .collect(),
    };
    picture::dots(&sets.iter().map(panel).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluation(method: &str, found: u64, right: u64) -> Evaluation {
        let score =
            Score { found, right, precision: Some(right as f64 / found as f64), recall: None, f1: None };
        let same_site = Score { found: found - 1, ..score.clone() };
        let cross_site = Score { found: 1, ..score.clone() };
        let (set, method) = (BESIDE.to_owned(), method.to_owned());
        Evaluation { set, method, all: score, same_site, cross_site, mistakes: vec![] }
    }

    #[test]
    fn recall_is_told_beside_simhash() {
        let found = [evaluation("simhash", 10, 5), evaluation("lcs", 10, 9)];
        let text = beside(&found, &found).aligned();
        let row = text.lines().find(|line| line.starts_with("lcs")).unwrap();
        assert!(row.split_whitespace().any(|cell| cell == "1.800"), "{row}");
        assert!(row.split_whitespace().any(|cell| cell == "0.900"), "{row}");
    }

    #[test]
    fn what_was_not_measured_is_a_dash() {
        let set = SETS.iter().find(|set| set.name == BESIDE).unwrap();
        let text = table(&[set], &["lcs", "auto"], &[evaluation("lcs", 4, 3)]).aligned();
        assert!(
            text.contains("0.750 / - / -") && text.lines().nth(2).is_some_and(|line| line.ends_with('-'))
        );
    }
}

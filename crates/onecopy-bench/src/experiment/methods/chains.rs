//! Scores the usual chains of other tools on the labelled sets: a tool extracts text, and another compares it.
//!
//! The tools run as children. They write the pairs that they call duplicates, and the labels judge those here.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::program::Score;
use super::quality::Known;
use super::{Bench, share};
use crate::jsonl;
use crate::peers::Workshop;
use crate::peers::install::peers_folder;
use crate::table::Table;

/// A tool that extracts text, and one that compares it.
struct Chain {
    name: &'static str,
    extract: Step,
    compare: Step,
}

/// A script with its setting and its packages. Steps with one environment share it.
#[derive(Clone, Copy)]
struct Step {
    script: &'static str,
    setting: &'static str,
    environment: &'static str,
    packages: &'static [&'static str],
}

const TRAFILATURA: Step = Step {
    script: "extract_trafilatura.py",
    setting: "default",
    environment: "extract-trafilatura",
    packages: &["trafilatura", "lxml", "lxml_html_clean"],
};
const RESILIPARSE: Step = Step {
    script: "extract_resiliparse.py",
    setting: "main",
    environment: "extract-resiliparse",
    packages: &["resiliparse"],
};
const MINHASH: Step = Step {
    script: "labelled_pairs.py",
    setting: "minhash",
    environment: "labelled-pairs",
    packages: &["datasketch", "scikit-learn"],
};
const TFIDF: Step = Step { setting: "tfidf", ..MINHASH };

const CHAINS: [Chain; 3] = [
    Chain { name: "trafilatura, TF-IDF cosine 0.9", extract: TRAFILATURA, compare: TFIDF },
    Chain { name: "trafilatura, MinHash 0.8", extract: TRAFILATURA, compare: MINHASH },
    Chain { name: "resiliparse, MinHash 0.8", extract: RESILIPARSE, compare: MINHASH },
];

/// A row per chain, with a cell per set.
pub fn table(bench: &Bench, sets: &[&Known]) -> Result<Table> {
    let names = sets.iter().map(|set| set.name);
    let mut table = Table::new(&["chain"].into_iter().chain(names).collect::<Vec<_>>());
    for chain in &CHAINS {
        let mut row = vec![chain.name.to_owned()];
        for set in sets {
            eprintln!("{} on {} ...", chain.name, set.name);
            let score = chain.score(bench, set).with_context(|| format!("{} failed", chain.name))?;
            row.push(format!("{} / {} / {}", share(score.precision), share(score.recall), share(score.f1)));
        }
        table.push(row);
    }
    Ok(table)
}

impl Chain {
    fn score(&self, bench: &Bench, set: &Known) -> Result<Score> {
        let folder = bench.data.join(set.name);
        let work = bench.program.work.canonicalize()?;
        let pages = work.join(format!("{}.pages.jsonl", set.name));
        write_pages(&folder, &pages)?;
        let texts = work.join(format!("{}.{}.jsonl", set.name, self.extract.environment));
        self.extract.run(&work, &pages, &texts, &[])?;
        let pairs = texts.with_extension(format!("{}.pairs", self.compare.setting));
        let threshold = if self.compare.setting == "tfidf" { "0.9" } else { "0.8" };
        self.compare.run(&work, &texts, &pairs, &["--threshold", threshold])?;
        let found = BufReader::new(File::open(&pairs)?).lines();
        let found = found.map(|line| Ok(serde_json::from_str(&line?)?)).collect::<Result<Vec<_>>>()?;
        Ok(score(&found, &labels(&folder)?, set.listed_only))
    }
}

impl Step {
    fn run(&self, work: &Path, input: &Path, out: &Path, options: &[&str]) -> Result<()> {
        let workshop = Workshop { work: work.to_owned(), onecopy: None };
        let mut command = Command::new(workshop.python(self.packages, self.environment)?);
        command.arg(peers_folder().join(self.script)).arg(input).arg("--out").arg(out);
        command.args(["--setting", self.setting]).args(options);
        // Without this, Python leaves compiled scripts in the source tree.
        let output = command.env("PYTHONDONTWRITEBYTECODE", "1").output().context("cannot start Python")?;
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or("it said nothing");
        ensure!(output.status.success(), "{} failed: {last}", self.script);
        Ok(())
    }
}

/// Unpacks the pages of a set, as the scripts read them.
fn write_pages(folder: &Path, to: &Path) -> Result<()> {
    let packed = folder.join("docs.jsonl.zst");
    let path = if packed.exists() { packed } else { folder.join("docs.jsonl") };
    let mut pages = jsonl::open(&path)?;
    std::io::copy(&mut pages, &mut File::create(to)?)
        .with_context(|| format!("cannot unpack {}", path.display()))?;
    Ok(())
}

/// Two pages by their names, the smaller first.
type Named = (String, String);

fn named(a: &str, b: &str) -> Named {
    if a < b { (a.to_owned(), b.to_owned()) } else { (b.to_owned(), a.to_owned()) }
}

/// The listed pairs: `true` for duplicates, `false` for others, `None` for pairs that are not scored.
fn labels(folder: &Path) -> Result<HashMap<Named, Option<bool>>> {
    let path: PathBuf = folder.join("pairs.csv");
    let file = File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut labels = HashMap::new();
    for line in BufReader::new(file).lines().skip(1) {
        let line = line?;
        let mut fields = line.split(',');
        let (Some(a), Some(b), Some(label)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let label = (label != "-1").then_some(label == "1");
        labels.insert(named(a, b), label);
    }
    Ok(labels)
}

/// Precision and recall of the found pairs. An unlisted pair is no duplicate, or unknown if only listed pairs count.
fn score(found: &[(String, String)], labels: &HashMap<Named, Option<bool>>, listed_only: bool) -> Score {
    let unlisted = (!listed_only).then_some(false);
    let judged = found.iter().filter_map(|(a, b)| labels.get(&named(a, b)).copied().unwrap_or(unlisted));
    let (mut found, mut right) = (0u64, 0u64);
    for is_duplicate in judged {
        found += 1;
        right += u64::from(is_duplicate);
    }
    let duplicates = labels.values().filter(|label| **label == Some(true)).count() as u64;
    let ratio = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let f1 = ratio(2 * right, found + duplicates);
    Score { found, right, precision: ratio(right, found), recall: ratio(right, duplicates), f1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_exists_and_every_package_has_its_version() {
        let pins = std::fs::read_to_string(peers_folder().join("requirements.txt")).unwrap();
        for step in CHAINS.iter().flat_map(|chain| [chain.extract, chain.compare]) {
            assert!(peers_folder().join(step.script).exists(), "{}", step.script);
            for package in step.packages {
                assert!(pins.contains(&format!("\n{package}==")), "{package} is not pinned");
            }
        }
    }

    #[test]
    fn found_pairs_are_judged_by_their_labels() {
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let labels =
            [("a", "b", Some(true)), ("a", "c", Some(true)), ("a", "d", None), ("b", "d", Some(false))];
        let labels = labels.map(|(a, b, label)| (named(a, b), label)).into_iter().collect();
        let found = [pair("b", "a"), pair("a", "d"), pair("d", "b"), pair("c", "d")];
        let all = score(&found, &labels, false);
        assert_eq!((all.found, all.right, all.precision, all.recall), (3, 1, Some(1.0 / 3.0), Some(0.5)));
        assert_eq!(all.f1, Some(0.4));
        assert_eq!(score(&found, &labels, true).found, 2, "an unlisted pair is unknown");
        assert_eq!(score(&[], &labels, true).precision, None);
    }
}

//! Compares reported mirrors with planted ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::web::Web;
use crate::table::{Table, count};

#[derive(Deserialize)]
struct Reported {
    left: Prefix,
    right: Prefix,
    score: f64,
}

#[derive(Deserialize)]
struct Prefix {
    host: String,
    path: String,
}

/// The comparison of planted and reported mirrors.
#[derive(Default)]
pub struct Verdict {
    reported: usize,
    right: usize,
    /// The numbers of planted and found mirrors, by kind.
    found: BTreeMap<&'static str, (usize, usize)>,
    wrong: Vec<String>,
    missed: Vec<String>,
}

/// Compares the mirrors that onecopy printed to `log` with those of `web`.
pub fn judge(web: &Web, log: &Path) -> Result<Verdict> {
    let text = std::fs::read(log).with_context(|| format!("cannot read {}", log.display()))?;
    let reported: Vec<Reported> =
        serde_json::from_slice(&text).context("onecopy printed no list of mirrors")?;
    let text = |prefix: &Prefix| format!("{}{}", prefix.host, prefix.path);
    let planted: BTreeMap<(&str, &str), &'static str> =
        web.mirrors.iter().map(|mirror| (ordered(&mirror.left, &mirror.right), mirror.kind)).collect();
    let mut verdict = Verdict { reported: reported.len(), ..Verdict::default() };
    for kind in planted.values() {
        verdict.found.entry(kind).or_default().0 += 1;
    }
    let mut seen = BTreeSet::new();
    for pair in &reported {
        let (left, right) = (text(&pair.left), text(&pair.right));
        match planted.get(&ordered(&left, &right)) {
            Some(kind) => {
                verdict.right += 1;
                verdict.found.entry(kind).or_default().1 += 1;
            }
            None => verdict.wrong.push(format!("{left} {right} {}", pair.score)),
        }
        seen.extend([format!("{left} {right}"), format!("{right} {left}")]);
    }
    for ((left, right), kind) in planted {
        if !seen.contains(&format!("{left} {right}")) {
            verdict.missed.push(format!("{kind}: {left} {right}"));
        }
    }
    Ok(verdict)
}

fn ordered<'a>(a: &'a str, b: &'a str) -> (&'a str, &'a str) {
    if a <= b { (a, b) } else { (b, a) }
}

impl Verdict {
    /// The share of reported pairs that were planted.
    pub fn precision(&self) -> f64 {
        self.right as f64 / self.reported.max(1) as f64
    }

    /// The share of planted pairs that were reported.
    pub fn recall(&self) -> f64 {
        self.right as f64 / self.planted().max(1) as f64
    }

    fn planted(&self) -> usize {
        self.found.values().map(|kind| kind.0).sum()
    }

    /// Planted, reported, right, precision and recall.
    pub fn cells(&self) -> Vec<String> {
        let counts = [self.planted(), self.reported, self.right].map(|number| count(number as u64));
        let shares = [self.precision(), self.recall()].map(|share| format!("{share:.4}"));
        counts.into_iter().chain(shares).collect()
    }

    /// Adds another verdict.
    pub fn add(&mut self, other: Verdict) {
        self.reported += other.reported;
        self.right += other.right;
        for (kind, (planted, found)) in other.found {
            let sum = self.found.entry(kind).or_default();
            *sum = (sum.0 + planted, sum.1 + found);
        }
    }

    /// Recall by kind of mirror.
    pub fn kinds(&self) -> Table {
        let mut table = Table::new(&["mirrors", "planted", "found", "recall"]);
        for (kind, &(planted, found)) in &self.found {
            let recall = format!("{:.4}", found as f64 / planted.max(1) as f64);
            table.push(vec![kind.to_string(), count(planted as u64), count(found as u64), recall]);
        }
        table
    }

    /// Prints the wrong and the missing pairs.
    pub fn explain(&self) {
        self.wrong.iter().for_each(|pair| eprintln!("wrong   {pair}"));
        self.missed.iter().for_each(|pair| eprintln!("missed  {pair}"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::web::Planted;
    use super::*;

    #[test]
    fn a_pair_is_right_in_either_order_and_only_with_its_prefixes() {
        let planted =
            |left: &str, right: &str| Planted { left: left.into(), right: right.into(), kind: "full" };
        let mirrors = vec![planted("b/x", "a"), planted("c", "d"), planted("e", "f")];
        let web = Web { pages: vec![], mirrors, hosts: 6 };
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let pair = |a: &str, x: &str, b: &str, y: &str| {
            format!(
                r#"{{"left":{{"host":"{a}","path":"{x}"}},"right":{{"host":"{b}","path":"{y}"}},"score":1}}"#
            )
        };
        let pairs = [pair("a", "", "b", "/x"), pair("c", "", "d", "/y"), pair("g", "", "h", "")].join(",");
        std::fs::write(&log, format!("[{pairs}]")).unwrap();
        let verdict = judge(&web, &log).unwrap();
        assert_eq!((verdict.reported, verdict.right, verdict.planted()), (3, 1, 3));
        assert_eq!((verdict.wrong.len(), verdict.missed.len()), (2, 2));
        assert!((verdict.precision() - 1.0 / 3.0).abs() < 1e-9);
    }
}

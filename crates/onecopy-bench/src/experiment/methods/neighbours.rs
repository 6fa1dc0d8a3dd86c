//! Counts the near-duplicates N(u) of each page u, by B and by C, and fits a power law.
//!
//! `dedup` reports groups, not pairs. `eval` reports pairs, as mistakes if nothing is labelled, but only a limited
//! number per set. Every pair is within a group. So the groups are packed into sets with fewer pairs than that limit.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::Bench;
use super::picture::{self, Cloud};
use super::program::Evaluation;
use crate::jsonl;
use crate::table::{Table, count};

/// The most mistakes that `eval` lists.
const LISTED: usize = 10_000;
/// The size of a block: all pairs of two blocks of a large group can be listed.
const BLOCK: usize = 70;
/// The most files open at a time.
const OPEN: usize = 200;

const MEASURED: [(&str, &str); 2] = [("shingles-b", "B"), ("projection-c", "C")];

pub fn section(bench: &Bench, corpus: &Path) -> Result<String> {
    let mut table = Table::new(&[
        "method",
        "pairs",
        "same site",
        "pages with copies",
        "most copies",
        "slope",
        "spread, decades",
        "slope, binned",
        "spread, binned",
    ]);
    let mut clouds = vec![];
    for (method, letter) in MEASURED {
        eprintln!("copies of each page by {method} ...");
        let pairs = pairs(bench, corpus, method)?;
        let pages = distribution(&pairs.of_page);
        let points: Vec<(f64, f64)> =
            pages.iter().map(|(&copies, &pages)| (copies as f64, pages as f64)).collect();
        let (fit, binned) = (Line::through(&points), Line::through(&binned(&pages)));
        let figure = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
        table.push(vec![
            format!("{method} ({letter})"),
            count(pairs.all),
            format!("{:.1} %", 100.0 * pairs.same_site as f64 / pairs.all.max(1) as f64),
            count(pages.values().sum()),
            count(pages.keys().next_back().copied().unwrap_or(0)),
            figure(fit.as_ref().map(|fit| fit.slope)),
            figure(fit.as_ref().map(|fit| fit.spread)),
            figure(binned.as_ref().map(|fit| fit.slope)),
            figure(binned.as_ref().map(|fit| fit.spread)),
        ]);
        clouds.push(Cloud {
            title: format!("{letter}: pages by number of near-duplicates"),
            points,
            fit,
            binned,
        });
    }
    let name = corpus.file_name().unwrap_or_default().to_string_lossy();
    let picture =
        bench.picture("neighbours.svg", "Pages by number of near-duplicates", &picture::clouds(&clouds))?;
    Ok(format!("## Number of near-duplicates\n\nOn {name}:\n\n{}\n{NOTE}\n{picture}", table.markdown()))
}

const NOTE: &str = "\
N(u) is the number of pairs that page u is in, counted as in the paper: all pairs that the method finds, not only those
of a removed page with its winner. Slope and spread are of the least-squares line through log N(u) and the log of the
number of pages that have so many; the spread is the standard deviation of the points around it. Points of single pages
in the tail flatten the line; binned, each point is the mean number of pages over the values from one power of two to
the next. The paper: a power law for both with almost the same slope, and a wider spread for B.
";

/// The pairs that a method finds.
struct Pairs {
    all: u64,
    same_site: u64,
    of_page: HashMap<String, u64>,
}

fn pairs(bench: &Bench, corpus: &Path, method: &str) -> Result<Pairs> {
    let run = bench.program.dedup(corpus, method, &["--recall-pages", "0"], bench.limit)?;
    ensure!(run.is_some(), "{method} passed the limit of {} s: raise --limit", bench.limit.as_secs());
    let sets = packed(&groups(&bench.program.out())?);
    let folder = bench.program.work.join("copies");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    let mut seen = HashSet::new();
    let mut pairs = Pairs { all: 0, same_site: 0, of_page: HashMap::new() };
    for sets in sets.chunks(OPEN) {
        let folders = write_sets(sets, corpus, &folder)?;
        let listed = LISTED.to_string();
        let options = ["--mistakes", listed.as_str()];
        for evaluation in bench.program.eval(&folders, &[method], &options)?.0 {
            pairs.add(evaluation, &mut seen)?;
        }
        fs::remove_dir_all(&folder)?;
    }
    Ok(pairs)
}

impl Pairs {
    fn add(&mut self, found: Evaluation, seen: &mut HashSet<(String, String)>) -> Result<()> {
        ensure!(found.mistakes.len() as u64 == found.all.found, "onecopy eval did not list all pairs");
        for pair in found.mistakes {
            let (one, two) = if pair.id1 < pair.id2 { (pair.id1, pair.id2) } else { (pair.id2, pair.id1) };
            if !seen.insert((one.clone(), two.clone())) {
                continue;
            }
            self.all += 1;
            let hosts = [&pair.url1, &pair.url2].map(|url| url.as_deref().and_then(host));
            self.same_site += u64::from(hosts[0].is_some() && hosts[0] == hosts[1]);
            *self.of_page.entry(one).or_default() += 1;
            *self.of_page.entry(two).or_default() += 1;
        }
        Ok(())
    }
}

fn host(url: &str) -> Option<&str> {
    url.split_once("://")?.1.split('/').next()
}

#[derive(Deserialize)]
struct Group {
    members: Vec<String>,
}

fn groups(out: &Path) -> Result<Vec<Vec<String>>> {
    let path = out.join("groups.jsonl");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let group = |line: &str| serde_json::from_str::<Group>(line).map(|group| group.members);
    text.lines()
        .map(group)
        .collect::<Result<_, _>>()
        .with_context(|| format!("cannot read {}", path.display()))
}

/// Sets of pages that together contain every pair of a group, each with few enough pairs to be listed.
fn packed(groups: &[Vec<String>]) -> Vec<Vec<String>> {
    let (mut sets, mut open, mut pairs) = (vec![], vec![], 0);
    for group in groups {
        let own = group.len() * (group.len() - 1) / 2;
        if own > LISTED {
            sets.extend(blocks(group));
            continue;
        }
        if pairs + own > LISTED {
            sets.push(std::mem::take(&mut open));
            pairs = 0;
        }
        open.extend_from_slice(group);
        pairs += own;
    }
    sets.push(open);
    sets.retain(|set| !set.is_empty());
    sets
}

/// All pairs of blocks of a group.
fn blocks(group: &[String]) -> Vec<Vec<String>> {
    let blocks: Vec<&[String]> = group.chunks(BLOCK).collect();
    let with_later = |(number, one): (usize, &&[String])| {
        let one = one.to_vec();
        blocks[number + 1..].iter().map(move |two| [one.as_slice(), two].concat()).collect::<Vec<_>>()
    };
    blocks.iter().enumerate().flat_map(with_later).collect()
}

#[derive(Deserialize)]
struct Named {
    id: String,
}

/// Writes one folder per set, without labelled pairs.
fn write_sets(sets: &[Vec<String>], corpus: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    let mut of_page: HashMap<&str, Vec<usize>> = HashMap::new();
    let (mut folders, mut files) = (vec![], vec![]);
    for (number, set) in sets.iter().enumerate() {
        set.iter().for_each(|page| of_page.entry(page).or_default().push(number));
        let folder = folder.join(number.to_string());
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        fs::write(folder.join("pairs.csv"), "id1,id2,label\n")?;
        files.push(BufWriter::new(File::create(folder.join("docs.jsonl"))?));
        folders.push(folder);
    }
    let mut reader = jsonl::open(corpus)?;
    let mut line = vec![];
    while reader.read_until(b'\n', &mut line)? > 0 {
        if let Ok(page) = serde_json::from_slice::<Named>(&line) {
            for &set in of_page.get(page.id.as_str()).into_iter().flatten() {
                files[set].write_all(&line)?;
            }
        }
        line.clear();
    }
    files.iter_mut().try_for_each(Write::flush)?;
    Ok(folders)
}

/// The number of pages by number of copies.
fn distribution(of_page: &HashMap<String, u64>) -> BTreeMap<u64, u64> {
    let mut pages = BTreeMap::new();
    of_page.values().for_each(|&copies| *pages.entry(copies).or_default() += 1);
    pages
}

/// The mean number of pages between successive powers of two, at their geometric mean.
fn binned(pages: &BTreeMap<u64, u64>) -> Vec<(f64, f64)> {
    let mut bins: BTreeMap<u32, u64> = BTreeMap::new();
    pages.iter().for_each(|(copies, pages)| *bins.entry(copies.ilog2()).or_default() += pages);
    let point = |(&bin, &pages): (&u32, &u64)| {
        let (from, to) = (2f64.powi(bin as i32), 2f64.powi(bin as i32 + 1) - 1.0);
        ((from * to).sqrt(), pages as f64 / (to - from + 1.0))
    };
    bins.iter().map(point).collect()
}

/// A straight line on logarithmic axes.
pub struct Line {
    /// Its slope in powers of ten.
    pub slope: f64,
    /// The logarithm of its value at 1.
    pub start: f64,
    /// The standard deviation of the points around it, in powers of ten.
    pub spread: f64,
}

impl Line {
    /// The least-squares line through positive points; `None` for fewer than three.
    pub fn through(points: &[(f64, f64)]) -> Option<Line> {
        let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.log10(), y.log10())).collect();
        let number = logs.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / number;
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        let width: f64 = logs.iter().map(|point| (point.0 - x).powi(2)).sum();
        if logs.len() < 3 || width == 0.0 {
            return None;
        }
        let slope = logs.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>() / width;
        let start = y - slope * x;
        let off = |point: &(f64, f64)| (point.1 - start - slope * point.0).powi(2);
        let spread = (logs.iter().map(off).sum::<f64>() / (number - 2.0)).sqrt();
        Some(Line { slope, start, spread })
    }

    /// Its value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        10f64.powf(self.start + self.slope * x.log10())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_a_power_law_is_its_exponent() {
        let points: Vec<(f64, f64)> =
            (1..50).map(|n| (f64::from(n), 1000.0 * f64::from(n).powf(-1.5))).collect();
        let line = Line::through(&points).unwrap();
        assert!((line.slope + 1.5).abs() < 1e-9 && line.spread < 1e-9, "{} {}", line.slope, line.spread);
        assert!((line.at(4.0) - 125.0).abs() < 1e-6);
        assert!(Line::through(&points[..2]).is_none());
        assert!(Line::through(&[(3.0, 1.0), (3.0, 2.0), (3.0, 4.0)]).is_none());
    }

    #[test]
    fn the_spread_is_told_in_powers_of_ten() {
        let line = Line::through(&[(1.0, 1.0), (1.0, 100.0), (10.0, 1.0), (10.0, 100.0)]).unwrap();
        assert!(line.slope.abs() < 1e-9 && (line.spread - 2f64.sqrt()).abs() < 1e-9, "{}", line.spread);
    }

    #[test]
    fn bins_hold_the_mean_over_all_values() {
        let pages = BTreeMap::from([(1, 8), (2, 5), (3, 1), (5, 4)]);
        let values: Vec<f64> = binned(&pages).iter().map(|point| point.1).collect();
        assert_eq!(values, [8.0, 3.0, 1.0]);
    }

    #[test]
    fn every_pair_of_a_group_is_in_a_set_that_can_be_listed() {
        let group = |letter: &str, size: usize| (0..size).map(|n| format!("{letter}{n}")).collect::<Vec<_>>();
        let groups = [group("a", 100), group("b", 101), group("c", 300), group("d", 2)];
        let sets = packed(&groups);
        let mut pairs = HashSet::new();
        for set in &sets {
            let mut within = 0;
            for (number, one) in set.iter().enumerate() {
                for two in set[number + 1..].iter().filter(|two| two[..1] == one[..1]) {
                    pairs.insert((one.clone(), two.clone()));
                    within += 1;
                }
            }
            assert!(within <= LISTED, "{within}");
        }
        assert_eq!(pairs.len(), 4950 + 5050 + 44_850 + 1);
    }
}

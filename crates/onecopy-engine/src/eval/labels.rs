//! The labels of pairs in a labelled set: duplicates, non-duplicates and unscored pairs.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Mutex;

use onecopy_core::{overlap, resemblance};

use super::docs::{Docs, EvalPage, in_line};
use super::table::Table;
use crate::error::{Error, Result};
use crate::parallel::on_each;

/// The lower bounds of the similarity bands for recall.
pub(super) const BANDS: [f64; 5] = [0.0, 0.4, 0.6, 0.8, 0.9];
/// The most pairs that may be listed or result from clusters.
const PAIRS_LIMIT: usize = 50_000_000;

/// The label of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Same,
    Other,
    /// Undecided: no answer of a method counts as right or wrong.
    Unscored,
}

/// A listed pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    pub a: u32,
    /// The larger number.
    pub b: u32,
    pub label: Label,
    /// The Jaccard similarity of the whole visible texts. NaN if it is not needed.
    pub whole: f32,
}

/// The listed pairs.
#[derive(Debug, Default)]
pub(super) struct Labels {
    /// Sorted by both numbers, each pair once.
    listed: Vec<Listed>,
    /// Pairs in which a page has no words.
    pub empty: usize,
    /// Whether the list also contains non-duplicates.
    pub lists_others: bool,
    /// Whether there is a list of pairs, rather than only clusters.
    pub has_list: bool,
}

impl Labels {
    /// All listed pairs.
    pub(super) fn all(&self) -> &[Listed] {
        &self.listed
    }

    /// The listed pairs whose smaller number is `a`.
    pub(super) fn row(&self, a: u32) -> &[Listed] {
        let start = self.listed.partition_point(|pair| pair.a < a);
        &self.listed[start..start + self.listed[start..].partition_point(|pair| pair.a == a)]
    }
}

/// The band of a similarity.
pub(super) fn band(similarity: f32) -> usize {
    // Compares in single precision: a stored 0.9 must not fall below 0.9.
    BANDS.iter().rposition(|&low| similarity >= low as f32).unwrap_or(0)
}

/// Reads `clusters.csv` of the set in `folder`, if it exists: the cluster of each page. An unlisted page is a cluster
/// of its own.
pub(super) fn clusters(folder: &Path, docs: &Docs) -> Result<Option<Vec<u32>>> {
    let Some(mut table) = Table::open(folder, "clusters.csv")? else { return Ok(None) };
    let [id, cluster] = table.columns(["id", "cluster"])?;
    let pages = docs.pages.len() as u32;
    let mut clusters: Vec<u32> = (0..pages).collect();
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut seen = HashSet::new();
    while let Some((line, cells)) = table.next()? {
        let [id, cluster] =
            pick(&cells, [id, cluster]).map_err(|reason| in_line(&table.path, line, &reason))?;
        let page = number(docs, id).map_err(|reason| in_line(&table.path, line, &reason))?;
        if !seen.insert(id.to_owned()) {
            let reason = format!("the page {id:?} is also in an earlier line: give it one cluster");
            return Err(in_line(&table.path, line, &reason));
        }
        let next = pages + numbers.len() as u32;
        let cluster = *numbers.entry(cluster.to_owned()).or_insert(next);
        if let Some(page) = page {
            clusters[page as usize] = cluster;
        }
    }
    Ok(Some(clusters))
}

/// Reads `pairs.csv` of the set in `folder`. Without that file, pages of one cluster are duplicates.
pub(super) fn labels(folder: &Path, docs: &Docs, clusters: Option<&[u32]>) -> Result<Labels> {
    let mut labels = match (Table::open(folder, "pairs.csv")?, clusters) {
        (Some(table), _) => listed(table, docs)?,
        (None, Some(clusters)) => of_clusters(clusters, folder)?,
        (None, None) => {
            let reason = "neither pairs.csv nor clusters.csv is in it: give pairs as id1,id2,label \
                          (1 duplicates, 0 not, -1 not scored), or clusters as id,cluster";
            return Err(Error::Input { input: folder.display().to_string(), reason: reason.into() });
        }
    };
    labels.lists_others = labels.has_list && labels.listed.iter().any(|pair| pair.label == Label::Other);
    Ok(labels)
}

fn listed(mut table: Table, docs: &Docs) -> Result<Labels> {
    let [id1, id2, label] = table.columns(["id1", "id2", "label"])?;
    let whole = table.column("page_jaccard");
    let mut labels = Labels { has_list: true, ..Labels::default() };
    let mut listed: Vec<(Listed, u64)> = Vec::new();
    while let Some((line, cells)) = table.next()? {
        let read = || -> Result<Option<Listed>, String> {
            let [id1, id2, label] = pick(&cells, [id1, id2, label])?;
            let (one, two) = (number(docs, id1)?, number(docs, id2)?);
            let label = parse_label(label)?;
            if id1 == id2 {
                return Err(format!("the page {id1:?} is paired with itself: remove the line"));
            }
            let given = whole.and_then(|place| cells.get(place)).and_then(|cell| cell.trim().parse().ok());
            let whole = given.filter(|given| (0.0..=1.0).contains(given)).unwrap_or(f32::NAN);
            let pair = one.zip(two);
            Ok(pair.map(|(one, two)| Listed { a: one.min(two), b: one.max(two), label, whole }))
        };
        match read().map_err(|reason| in_line(&table.path, line, &reason))? {
            Some(pair) => listed.push((pair, line)),
            None => labels.empty += 1,
        }
        if listed.len() > PAIRS_LIMIT {
            return Err(too_many(&table.path));
        }
    }
    listed.sort_unstable_by_key(|(pair, line)| (pair.a, pair.b, *line));
    let twice = |two: &&[(Listed, u64)]| {
        let (one, other) = (&two[0].0, &two[1].0);
        (one.a, one.b) == (other.a, other.b) && one.label != other.label
    };
    if let Some(two) = listed.windows(2).find(twice) {
        let line = &two[1].1;
        let reason = "the pair is also in an earlier line, with another label: give it one";
        return Err(in_line(&table.path, *line, reason));
    }
    listed.dedup_by_key(|(pair, _)| (pair.a, pair.b));
    labels.listed = listed.into_iter().map(|(pair, _)| pair).collect();
    Ok(labels)
}

fn parse_label(cell: &str) -> Result<Label, String> {
    match cell {
        "1" => Ok(Label::Same),
        "0" => Ok(Label::Other),
        "-1" => Ok(Label::Unscored),
        other => {
            Err(format!("{other:?} is not a label: write 1 for duplicates, 0 for others, -1 for not scored"))
        }
    }
}

/// The cells at the given columns.
fn pick<const N: usize>(cells: &[String], places: [usize; N]) -> Result<[&str; N], String> {
    let mut picked = [""; N];
    for (to, place) in picked.iter_mut().zip(places) {
        let cell = cells.get(place).ok_or_else(|| format!("there is no cell {}", place + 1))?;
        *to = cell.trim();
    }
    Ok(picked)
}

/// The number of a page; `None` if it has no words.
fn number(docs: &Docs, id: &str) -> Result<Option<u32>, String> {
    let number = docs.numbers.get(id).copied();
    number.ok_or_else(|| {
        format!("no page of the set has the id {id:?}: add it to docs.jsonl, or remove the line")
    })
}

/// All pairs of pages of one cluster.
fn of_clusters(clusters: &[u32], folder: &Path) -> Result<Labels> {
    let mut members: HashMap<u32, Vec<u32>> = HashMap::new();
    for (page, cluster) in clusters.iter().enumerate() {
        members.entry(*cluster).or_default().push(page as u32);
    }
    let pairs = |n: usize| n * (n - 1) / 2;
    if members.values().map(|members| pairs(members.len())).sum::<usize>() > PAIRS_LIMIT {
        return Err(too_many(&folder.join("clusters.csv")));
    }
    let mut listed = Vec::new();
    for members in members.values() {
        for (place, &a) in members.iter().enumerate() {
            let pair = |&b: &u32| Listed { a, b, label: Label::Same, whole: f32::NAN };
            listed.extend(members[place + 1..].iter().map(pair));
        }
    }
    listed.sort_unstable_by_key(|pair| (pair.a, pair.b));
    Ok(Labels { listed, ..Labels::default() })
}

fn too_many(path: &Path) -> Error {
    let reason = format!("more than {PAIRS_LIMIT} pairs: give a smaller set");
    Error::Input { input: path.display().to_string(), reason }
}

/// Computes the similarity of whole texts for duplicates, if the set does not state it.
pub(super) fn compare_whole(labels: &mut Labels, pages: &[EvalPage], threads: usize) -> Result<()> {
    let chunks = Mutex::new(labels.listed.chunks_mut(1 << 10));
    on_each(threads, |_| {
        loop {
            let chunk = chunks.lock().expect("no thread panics with this lock").next();
            let Some(chunk) = chunk else { return Ok(()) };
            for pair in chunk.iter_mut().filter(|pair| pair.label == Label::Same && pair.whole.is_nan()) {
                let (a, b) = (&pages[pair.a as usize].whole, &pages[pair.b as usize].whole);
                pair.whole = resemblance(overlap(a, b), a.len(), b.len()) as f32;
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_begin_where_they_say() {
        assert_eq!([0.0, 0.39, 0.4, 0.79, 0.8, 0.9, 1.0].map(band), [0, 0, 1, 2, 3, 4, 4]);
    }
}

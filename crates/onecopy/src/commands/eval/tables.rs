//! The tables of an evaluation, one line per method.

use onecopy_engine::{Band, Evaluation, Point, Score};

use crate::columns::columns_within;
use crate::size::count;

/// The mark for a missing value.
const NOTHING: &str = "–";

/// The scores of the methods on a set.
pub fn scores(set: &[Evaluation], most: usize) -> String {
    let header = [
        "method",
        "threshold",
        "precision",
        "",
        "recall",
        "",
        "F1",
        "ARI",
        "same-site P",
        "R",
        "cross-site P",
        "R",
        "pages/s",
    ];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(set.iter().map(|found| {
        let mut row = vec![found.method.clone(), format!("{:.2}", found.threshold)];
        row.extend(with_interval(found.score.precision, found.score.precision_interval));
        row.extend(with_interval(found.score.recall, found.score.recall_interval));
        row.extend([share(found.score.f1), share(found.score.ari)]);
        row.extend(split(&found.same_site));
        row.extend(split(&found.cross_site));
        row.push(count(found.pages_per_second as u64));
        row
    }));
    columns_within(&rows, 1, most)
}

fn split(score: &Score) -> [String; 2] {
    [share(score.precision), share(score.recall)]
}

/// Recall by the similarity of whole texts.
pub fn bands(set: &[Evaluation], most: usize) -> String {
    let bands = &set[0].bands;
    let range = |band: &Band| match (band.from, band.to) {
        (0.0, to) => format!("below {to}"),
        (from, 1.0) => format!("from {from}"),
        (from, to) => format!("{from}–{to}"),
    };
    let mut rows = vec![vec!["recall by similarity".to_owned()], vec!["duplicates".to_owned()]];
    rows[0].extend(bands.iter().map(range));
    rows[1].extend(bands.iter().map(|band| count(band.duplicates)));
    rows.extend(set.iter().map(|found| {
        let recalls = found.bands.iter().map(|band| share(band.recall));
        [found.method.clone()].into_iter().chain(recalls).collect()
    }));
    columns_within(&rows, 1, most)
}

/// The results of other thresholds.
pub fn thresholds(set: &[Evaluation], most: usize) -> String {
    let mut header: Vec<String> = ["other thresholds", "best F1", "at"].map(str::to_owned).into();
    for reached in &set[0].reached {
        header.extend([format!("R at P {}", reached.at_precision), "at".to_owned()]);
    }
    let mut rows = vec![header];
    rows.extend(set.iter().map(|found| {
        let at =
            |point: Option<&Point>| point.map_or(NOTHING.into(), |point| format!("{:.3}", point.threshold));
        let best = found.best_f1.as_ref();
        let mut row = vec![found.method.clone(), share(best.and_then(|best| best.f1)), at(best)];
        for reached in &found.reached {
            let point = reached.point.as_ref();
            row.extend([share(point.and_then(|point| point.recall)), at(point)]);
        }
        row
    }));
    columns_within(&rows, 1, most)
}

/// Precision and recall of all methods on all sets.
pub fn overview(sets: &[&[Evaluation]], most: usize) -> String {
    let mut rows = vec![vec!["precision, recall".to_owned()]];
    rows[0].extend(sets[0].iter().map(|found| found.method.clone()));
    rows.extend(sets.iter().map(|set| {
        let cell =
            |found: &Evaluation| format!("{}, {}", share(found.score.precision), share(found.score.recall));
        [set[0].set.clone()].into_iter().chain(set.iter().map(cell)).collect()
    }));
    columns_within(&rows, 1, most)
}

/// Three digits; 1 only if exact.
fn share(value: Option<f64>) -> String {
    match value {
        None => NOTHING.into(),
        Some(value) if value < 1.0 && value > 0.999 => "0.999".into(),
        Some(value) => format!("{value:.3}"),
    }
}

/// A value, and its interval.
fn with_interval(value: Option<f64>, interval: Option<[f64; 2]>) -> [String; 2] {
    [share(value), interval.map_or(String::new(), |[low, high]| format!("[{low:.2}, {high:.2}]"))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_only_what_is_one() {
        assert_eq!(
            [None, Some(1.0), Some(0.9999), Some(0.9876)].map(share),
            ["–", "1.000", "0.999", "0.988"]
        );
        assert_eq!(with_interval(Some(0.5), Some([0.4, 0.7])), ["0.500", "[0.40, 0.70]"]);
    }
}

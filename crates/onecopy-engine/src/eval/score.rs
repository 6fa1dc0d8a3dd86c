//! Computes precision, recall and related scores from counts, with confidence intervals.

use serde::Serialize;

use super::labels::BANDS;
use super::rand_index::adjusted_rand_index;
use super::tally::{BINS, Scoped};

/// The number of standard deviations that cover 95 % of a normal distribution.
const DEVIATIONS_95: f64 = 1.959_963_984_540_054;
/// The first threshold of a curve, in hundredths. The last is 1.
const CURVE_FROM: usize = 5;
/// The precisions at which recall is reported.
const PRECISIONS: [f64; 2] = [0.99, 0.95];

/// The scores of a method on some pairs. An undefined score, such as the precision over no pairs, is `None`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    /// The number of scored pairs.
    pub pairs: u64,
    /// The number of duplicates among them.
    pub duplicates: u64,
    /// The number of pairs that the method calls duplicates.
    pub found: u64,
    /// The number of those that are duplicates.
    pub right: u64,
    /// `right / found`.
    pub precision: Option<f64>,
    /// The 95 % interval of the precision (Wilson 1927), if pairs were independent. Pairs of one cluster are not, so
    /// the true interval is wider.
    pub precision_interval: Option<[f64; 2]>,
    /// `right / duplicates`.
    pub recall: Option<f64>,
    /// The 95 % interval of the recall.
    pub recall_interval: Option<[f64; 2]>,
    /// The harmonic mean of precision and recall.
    pub f1: Option<f64>,
    /// The adjusted Rand index of the groups that the found pairs form.
    pub ari: Option<f64>,
}

/// Recall among duplicates whose whole texts have a similarity in this band.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Band {
    /// The lower bound of the Jaccard similarity of all visible text, in shingles of five words.
    pub from: f64,
    /// The upper bound, exclusive; the last band includes 1.
    pub to: f64,
    /// The number of duplicates in this band.
    pub duplicates: u64,
    /// The number of those that were found.
    pub found: u64,
    /// `found / duplicates`.
    pub recall: Option<f64>,
    /// The 95 % interval of the recall.
    pub recall_interval: Option<[f64; 2]>,
}

/// Precision and recall at a threshold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Pairs at least this similar are called duplicates.
    pub threshold: f64,
    /// The share of duplicates among the found pairs.
    pub precision: Option<f64>,
    /// The share of duplicates that were found.
    pub recall: Option<f64>,
    /// The harmonic mean of the two.
    pub f1: Option<f64>,
}

/// The best recall at a precision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reached {
    /// The required precision.
    pub at_precision: f64,
    /// The point with the highest recall at this precision. `None` if no threshold reaches it.
    pub point: Option<Point>,
}

/// The score of some counts; `truth` holds the true group of each page.
pub(super) fn score(counts: &Scoped, truth: &[u32]) -> Score {
    let [others, duplicates] = [0, 1].map(|class| counts.bins[class].iter().sum::<u64>());
    let right = counts.found[1];
    let found = counts.found[0] + right;
    let pairs = others + duplicates;
    let groups = truth.iter().zip(0..).map(|(&should, page)| (should, counts.groups.of(page)));
    Score {
        pairs,
        duplicates,
        found,
        right,
        precision: ratio(right, found),
        precision_interval: wilson(right, found),
        recall: ratio(right, duplicates),
        recall_interval: wilson(right, duplicates),
        f1: ratio(2 * right, found + duplicates),
        ari: (pairs > 0).then(|| adjusted_rand_index(groups)),
    }
}

/// Recall by band.
pub(super) fn bands(counts: &[[u64; 2]; BANDS.len()]) -> Vec<Band> {
    let to = |band: usize| BANDS.get(band + 1).copied().unwrap_or(1.0);
    let band = |(band, &[duplicates, found]): (usize, &[u64; 2])| Band {
        from: BANDS[band],
        to: to(band),
        duplicates,
        found,
        recall: ratio(found, duplicates),
        recall_interval: wilson(found, duplicates),
    };
    counts.iter().enumerate().map(band).collect()
}

/// Precision and recall at thresholds in steps of 0.01.
pub(super) fn curve(counts: &Scoped) -> Vec<Point> {
    let step = BINS / 100;
    points(counts).into_iter().step_by(step).skip(CURVE_FROM).collect()
}

/// The threshold with the best F1; on a tie, the highest.
pub(super) fn best_f1(counts: &Scoped) -> Option<Point> {
    let mut points = points(counts);
    points.remove(0);
    points
        .into_iter()
        .filter(|point| point.f1.is_some())
        .max_by(|a, b| a.f1.partial_cmp(&b.f1).expect("numbers"))
}

/// The best recall at each of the precisions; on a tie, at the highest threshold.
pub(super) fn reached(counts: &Scoped) -> Vec<Reached> {
    let points = points(counts);
    let reach = |at_precision: f64| {
        let enough = |point: &&Point| point.precision.is_some_and(|precision| precision >= at_precision);
        let best = points[1..]
            .iter()
            .filter(enough)
            .max_by(|a, b| a.recall.partial_cmp(&b.recall).unwrap_or(std::cmp::Ordering::Equal));
        Reached { at_precision, point: best.cloned() }
    };
    PRECISIONS.map(reach).into()
}

/// Precision and recall at the lower bound of each bin.
fn points(counts: &Scoped) -> Vec<Point> {
    let duplicates: u64 = counts.bins[1].iter().sum();
    let (mut wrong, mut right) = (0, 0);
    let mut points = Vec::with_capacity(BINS + 1);
    for bin in (0..=BINS).rev() {
        wrong += counts.bins[0][bin];
        right += counts.bins[1][bin];
        points.push(Point {
            threshold: bin as f64 / BINS as f64,
            precision: ratio(right, right + wrong),
            recall: ratio(right, duplicates),
            f1: ratio(2 * right, right + wrong + duplicates),
        });
    }
    points.reverse();
    points
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The 95 % interval of a share, given `part` of `whole` in a sample (Wilson 1927).
fn wilson(part: u64, whole: u64) -> Option<[f64; 2]> {
    let share = ratio(part, whole)?;
    let (n, z) = (whole as f64, DEVIATIONS_95);
    let middle = share + z * z / (2.0 * n);
    let spread = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    // Rounding must not move a bound outside 0 to 1.
    let low = if part == 0 { 0.0 } else { (middle - spread) / scale };
    let high = if part == whole { 1.0 } else { (middle + spread) / scale };
    Some([low, high])
}

#[cfg(test)]
mod tests {
    use onecopy_core::Groups;

    use super::*;

    #[test]
    fn wilson_by_known_values() {
        let close = |part, whole, low: f64, high: f64| {
            let [a, b] = wilson(part, whole).unwrap();
            assert!((a - low).abs() < 5e-5 && (b - high).abs() < 5e-5, "{part}/{whole}: {a} {b}");
        };
        close(8, 10, 0.4902, 0.9433);
        close(0, 10, 0.0, 0.2775);
        close(10, 10, 0.7225, 1.0);
        close(1, 1_000, 0.0002, 0.0056);
        close(500, 1_000, 0.4691, 0.5309);
        assert_eq!(wilson(0, 0), None);
    }

    /// Four duplicates and two non-duplicates.
    fn counts() -> Scoped {
        let mut bins = [vec![0; BINS + 1], vec![0; BINS + 1]];
        for similarity in [300, 800] {
            bins[0][similarity] += 1;
        }
        for similarity in [200, 700, 900, 1000] {
            bins[1][similarity] += 1;
        }
        Scoped { bins, found: [1, 2], groups: Groups::new(3) }
    }

    #[test]
    fn a_curve_by_hand() {
        let points = curve(&counts());
        assert_eq!((points.len(), points[0].threshold, points[95].threshold), (96, 0.05, 1.0));
        let at = |threshold: f64| points.iter().find(|point| point.threshold == threshold).unwrap();
        assert_eq!((at(0.05).precision, at(0.05).recall), (Some(4.0 / 6.0), Some(1.0)));
        assert_eq!((at(0.8).precision, at(0.8).recall), (Some(2.0 / 3.0), Some(0.5)));
        assert_eq!((at(0.81).precision, at(0.81).recall), (Some(1.0), Some(0.5)));
        assert_eq!((at(1.0).precision, at(1.0).recall), (Some(1.0), Some(0.25)));
    }

    #[test]
    fn the_best_thresholds_by_hand() {
        let best = best_f1(&counts()).unwrap();
        assert_eq!((best.threshold, best.f1), (0.2, Some(0.8)));
        let [strict, lax] = &reached(&counts())[..] else { panic!() };
        assert_eq!(
            strict.point.as_ref().map(|point| (point.threshold, point.recall)),
            Some((0.9, Some(0.5)))
        );
        assert_eq!(lax.point, strict.point);
    }

    #[test]
    fn a_score_by_hand() {
        let score = score(&counts(), &[0, 0, 2]);
        assert_eq!((score.pairs, score.duplicates, score.found, score.right), (6, 4, 3, 2));
        assert_eq!((score.precision, score.recall, score.f1), (Some(2.0 / 3.0), Some(0.5), Some(4.0 / 7.0)));
        assert_eq!(score.ari, Some(0.0));
    }
}

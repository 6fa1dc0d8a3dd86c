//! The plain measures of two pages, apart from the methods. Each has a name, a description and a function.
//!
//! To add one, add an entry to [`MEASURES`]: tables, JSON and HTML then include it.

use onecopy_core::{
    Config, containment, edit_distance, euclidean, frequencies, hamming, method, resemblance,
};
use serde::Serialize;

use super::Prepared;

/// A measure of two pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// Its name.
    pub name: &'static str,
    /// Whether it is a similarity or a distance.
    pub kind: MeasureKind,
    /// Its value.
    pub value: f64,
    /// A one-line description.
    pub about: &'static str,
}

/// Whether a measure is a similarity or a distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeasureKind {
    /// From 0 for nothing in common to 1 for equal.
    Similarity,
    /// 0 for equal, and larger for more different.
    Distance,
}

/// Two pages ready to be measured.
pub(super) struct Pair<'a> {
    pub a: &'a Prepared,
    pub b: &'a Prepared,
    /// The number of shared shingles.
    pub shared: usize,
}

/// The cost limit of the edit distance: words of the longer page times edits.
const EDIT_STEPS: usize = 100_000_000;

struct Entry {
    name: &'static str,
    kind: MeasureKind,
    about: &'static str,
    /// `None` if it would take too long.
    of: fn(&Pair) -> Option<f64>,
}

/// All measures, in display order.
const MEASURES: &[Entry] = &[
    Entry {
        name: "resemblance",
        kind: MeasureKind::Similarity,
        about: "shared shingles of all shingles",
        of: |pair| Some(resemblance(pair.shared, pair.a.size(), pair.b.size())),
    },
    Entry {
        name: "containment-a",
        kind: MeasureKind::Similarity,
        about: "how much of A is in B, by shingles",
        of: |pair| Some(containment(pair.shared, pair.a.size())),
    },
    Entry {
        name: "containment-b",
        kind: MeasureKind::Similarity,
        about: "how much of B is in A, by shingles",
        of: |pair| Some(containment(pair.shared, pair.b.size())),
    },
    Entry {
        name: "hamming",
        kind: MeasureKind::Distance,
        about: "differing bits of simhash, of 64",
        of: |pair| {
            let config = Config { method: "simhash".into(), ..Config::default() };
            let simhash = method(&config).ok()?;
            Some(hamming(&pair.a.sketch(&*simhash), &pair.b.sketch(&*simhash)) as f64)
        },
    },
    Entry {
        name: "euclidean",
        kind: MeasureKind::Distance,
        about: "between word frequencies",
        of: |pair| Some(euclidean(&frequencies(&pair.a.words()), &frequencies(&pair.b.words()))),
    },
    Entry {
        name: "edit",
        kind: MeasureKind::Distance,
        about: "words to insert, delete or replace",
        of: |pair| {
            let (a, b) = (pair.a.words(), pair.b.words());
            let most = EDIT_STEPS / a.len().max(b.len()).max(1);
            edit_distance(&a, &b, most).map(|edits| edits as f64)
        },
    },
];

pub(super) fn measures(pair: &Pair) -> Vec<Measure> {
    let measure = |entry: &Entry| {
        let Entry { name, kind, about, of } = *entry;
        Some(Measure { name, kind, about, value: of(pair)? })
    };
    MEASURES.iter().filter_map(measure).collect()
}

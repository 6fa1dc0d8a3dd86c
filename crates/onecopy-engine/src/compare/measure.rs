//! The plain measures of two pages, beside the methods: each a name, what it is, and a function.
//!
//! To add one is to add an entry to [`MEASURES`]; tables, JSON and HTML follow.

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
    /// Which way it grows.
    pub kind: MeasureKind,
    /// Its value.
    pub value: f64,
    /// A line for people.
    pub about: &'static str,
}

/// Which way a measure grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeasureKind {
    /// From 0 for nothing in common to 1.
    Similarity,
    /// From 0 for the same.
    Distance,
}

/// Two pages, made ready to be measured.
pub(super) struct Pair<'a> {
    pub a: &'a Prepared,
    pub b: &'a Prepared,
    /// Shingles that both have.
    pub shared: usize,
}

/// What the edit distance may take: words of the longer page times edits.
const EDIT_STEPS: usize = 100_000_000;

struct Entry {
    name: &'static str,
    kind: MeasureKind,
    about: &'static str,
    /// Nothing where it would take too long.
    of: fn(&Pair) -> Option<f64>,
}

/// All of them, in the order in which they are shown.
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
        about: "words to put in, take out or replace",
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

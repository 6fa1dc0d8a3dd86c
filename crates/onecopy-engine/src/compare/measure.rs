//! The plain measures of two pages, beside the methods: each a name, what it is, and a function.
//!
//! To add one is to add an entry to [`MEASURES`]; tables, JSON and HTML follow.

use onecopy_core::{containment, resemblance};
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

struct Entry {
    name: &'static str,
    kind: MeasureKind,
    about: &'static str,
    of: fn(&Pair) -> f64,
}

/// All of them, in the order in which they are shown.
const MEASURES: &[Entry] = &[
    Entry {
        name: "resemblance",
        kind: MeasureKind::Similarity,
        about: "shared shingles of all shingles",
        of: |pair| resemblance(pair.shared, pair.a.size(), pair.b.size()),
    },
    Entry {
        name: "containment-a",
        kind: MeasureKind::Similarity,
        about: "how much of A is in B, by shingles",
        of: |pair| containment(pair.shared, pair.a.size()),
    },
    Entry {
        name: "containment-b",
        kind: MeasureKind::Similarity,
        about: "how much of B is in A, by shingles",
        of: |pair| containment(pair.shared, pair.b.size()),
    },
];

pub(super) fn measures(pair: &Pair) -> Vec<Measure> {
    let measure = |entry: &Entry| {
        let Entry { name, kind, about, of } = *entry;
        Measure { name, kind, about, value: of(pair) }
    };
    MEASURES.iter().map(measure).collect()
}

//! Canonical → Sketch: the sorted set of a page's shingles, which is all that a comparison needs.

#[cfg(target_arch = "x86_64")]
mod columns;
mod sort;
mod split;
pub(crate) mod tag;
pub(crate) mod wide;

use crate::config::{Replicas, ShingleRules};
use crate::hash;
use crate::text::canonical::Canonical;
use crate::text::shingle::shingle_in_pieces;
use sort::{SortTable, sort_unique};

pub(crate) use split::{Split, SplitRules, split};

/// A page's distinct shingles, ascending. Reuse one for many pages: its buffers only grow.
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    shingles: Vec<u64>,
    tokens: Vec<u64>,
    table: SortTable,
}

impl Sketch {
    /// The distinct shingles, ascending.
    pub fn shingles(&self) -> &[u64] {
        &self.shingles
    }
}

/// Writes the sketch of `canonical` into `out`, replacing its contents. Only a page without tokens has an empty
/// sketch.
pub fn sketch(canonical: &Canonical, rules: &ShingleRules, out: &mut Sketch) {
    let mut shingles = std::mem::take(&mut out.shingles);
    shingles.clear();
    append_sketch(canonical, rules, out, &mut shingles);
    out.shingles = shingles;
}

/// Appends the sketch of `canonical` to `out`. It uses the other buffers of `scratch`.
pub(crate) fn append_sketch(
    canonical: &Canonical,
    rules: &ShingleRules,
    scratch: &mut Sketch,
    out: &mut Vec<u64>,
) {
    let start = out.len();
    shingle_in_pieces(canonical, rules, &mut scratch.tokens, out);
    if rules.replicas == Replicas::Count {
        out[start..].sort_unstable();
        number_replicas(&mut out[start..]);
    }
    sort_unique(out, start, &mut scratch.table);
}

/// Replaces the second, third, … of equal neighbours by distinct values, so that a set counts them.
pub(crate) fn number_replicas(sorted: &mut [u64]) {
    let mut start = 0;
    while start < sorted.len() {
        let value = sorted[start];
        let run = sorted[start..].iter().take_while(|&&other| other == value).count();
        for occurrence in 1..run {
            sorted[start + occurrence] = hash::repeated(value, occurrence as u64);
        }
        start += run;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CanonicalRules;

    fn sketch_of(text: &str, rules: &ShingleRules) -> Vec<u64> {
        let (mut canonical, mut out) = (Canonical::default(), Sketch::default());
        crate::canonicalise(text, &CanonicalRules::default(), &mut canonical);
        sketch(&canonical, rules, &mut out);
        out.shingles
    }

    #[test]
    fn a_sketch_is_a_set_unless_replicas_count() {
        let mut rules = ShingleRules { length: 1, ..Default::default() };
        assert_eq!(sketch_of("a b a b a", &rules).len(), 2);
        rules.replicas = Replicas::Count;
        let counted = sketch_of("a b a b a", &rules);
        assert_eq!(counted.len(), 5);
        assert!(counted.is_sorted());
        assert!(sketch_of("", &rules).is_empty());
    }

    #[test]
    fn characters_can_be_the_unit() {
        let rules = ShingleRules { length: 3, unit: crate::config::Unit::Chars, ..Default::default() };
        assert_eq!(sketch_of("Ab-cd", &rules), sketch_of("ab cd", &rules));
        assert_eq!(sketch_of("abcd", &rules).len(), 2);
    }
}

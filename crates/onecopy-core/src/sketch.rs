//! Canonical → Sketch: the sorted set of a page's shingles, which is all that comparing needs.

use crate::canonical::Canonical;
use crate::config::{Replicas, ShingleRules};
use crate::hash;
use crate::shingle::shingle;

/// A page's shingles, ascending and each once. Reuse one for many pages: its buffers only grow.
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    shingles: Vec<u64>,
    tokens: Vec<u64>,
    spare: Spare,
}

/// What sorting needs beside the values.
#[derive(Clone, Debug, Default)]
struct Spare {
    values: Vec<u64>,
    starts: Vec<u32>,
}

impl Sketch {
    /// The shingles, ascending and each once.
    pub fn shingles(&self) -> &[u64] {
        &self.shingles
    }
}

/// Writes the sketch of `canonical` into `out`, replacing what was there. Empty only for a page without tokens.
pub fn sketch(canonical: &Canonical, rules: &ShingleRules, out: &mut Sketch) {
    out.shingles.clear();
    shingle(canonical, rules, &mut out.tokens, &mut out.shingles);
    sort(&mut out.shingles, &mut out.spare);
    match rules.replicas {
        Replicas::Ignore => out.shingles.dedup(),
        Replicas::Count => {
            number_replicas(&mut out.shingles);
            out.shingles.sort_unstable();
            out.shingles.dedup();
        }
    }
}

/// Makes the second, third, … of equal neighbours values of their own, so that a set counts them.
fn number_replicas(sorted: &mut [u64]) {
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

/// Sorts hashes. They are uniform, so one pass that puts each near its place, by its leading bits, leaves
/// almost nothing for the insertion sort behind it; twice as fast as a comparison sort here.
fn sort(values: &mut Vec<u64>, spare: &mut Spare) {
    const SMALL: usize = 64;
    if values.len() <= SMALL {
        return values.sort_unstable();
    }
    let bits = values.len().ilog2().min(14) + 1;
    let shift = 64 - bits;
    let Spare { values: sorted, starts } = spare;
    starts.clear();
    starts.resize((1 << bits) + 1, 0);
    for value in &*values {
        starts[(value >> shift) as usize + 1] += 1;
    }
    let crowded = starts.iter().any(|&count| count > 32);
    if crowded {
        // A page that repeats itself: insertion would take quadratic time.
        return values.sort_unstable();
    }
    let mut sum = 0;
    for start in &mut *starts {
        sum += *start;
        *start = sum;
    }
    sorted.clear();
    sorted.resize(values.len(), 0);
    for &value in &*values {
        let slot = &mut starts[(value >> shift) as usize];
        sorted[*slot as usize] = value;
        *slot += 1;
    }
    std::mem::swap(values, sorted);
    insertion_sort(values);
}

fn insertion_sort(values: &mut [u64]) {
    for i in 1..values.len() {
        let value = values[i];
        let mut hole = i;
        while hole > 0 && values[hole - 1] > value {
            values[hole] = values[hole - 1];
            hole -= 1;
        }
        values[hole] = value;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn sorting_equals_the_standard_sort(
            mut values in prop_oneof![
                prop::collection::vec(any::<u64>(), 0..600),
                prop::collection::vec(0u64..50, 0..600),
            ]
        ) {
            let mut expected = values.clone();
            expected.sort_unstable();
            sort(&mut values, &mut Spare::default());
            prop_assert_eq!(values, expected);
        }
    }
}

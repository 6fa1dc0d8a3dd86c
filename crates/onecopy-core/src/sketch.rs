//! Canonical → Sketch: the sorted set of a page's shingles, which is all that comparing needs.

mod split;
mod wide;

use crate::canonical::Canonical;
use crate::config::{Replicas, ShingleRules};
use crate::hash;
use crate::shingle::shingle;

pub(crate) use split::{Split, split};

/// A page's shingles, ascending and each once. Reuse one for many pages: its buffers only grow.
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    shingles: Vec<u64>,
    tokens: Vec<u64>,
    table: Vec<u64>,
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
    if rules.replicas == Replicas::Count {
        out.shingles.sort_unstable();
        number_replicas(&mut out.shingles);
    }
    sort_unique(&mut out.shingles, &mut out.table);
}

/// Makes the second, third, … of equal neighbours values of their own, so that a set counts them.
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

/// A slot of the table that holds no value.
const EMPTY: u64 = u64::MAX;

/// Sorts hashes and leaves each once.
///
/// They are uniform, so a hash's leading bits say about where it goes: each is put into a table there, behind the
/// smaller ones, and the table is read off. That is twice as fast as a comparison sort, and finds copies on the way.
fn sort_unique(values: &mut Vec<u64>, table: &mut Vec<u64>) {
    /// Fewer are sorted as quickly by comparison, and a table for more would take too much memory.
    const WORTH_A_TABLE: std::ops::RangeInclusive<usize> = 33..=1 << 16;
    let used = if WORTH_A_TABLE.contains(&values.len()) { fill(values, table) } else { None };
    let Some(used) = used else {
        values.sort_unstable();
        values.dedup();
        return;
    };
    let length = wide::read_off(&table[..used], values);
    values.truncate(length);
}

/// Puts `values` into the table in order; says how many slots are in use or before one that is. Gives up on values that
/// are not uniform, which would take quadratic time, and on one that looks like an empty slot.
fn fill(values: &[u64], table: &mut Vec<u64>) -> Option<usize> {
    let bits = values.len().ilog2() + 2;
    let slots = (1usize << bits) + values.len();
    table.clear();
    table.resize(slots, EMPTY);
    let (mut moves, mut used, limit) = (0, 0, 32 * values.len());
    for &value in values {
        let mut slot = (value >> (64 - bits)) as usize;
        let first = slot;
        while table[slot] < value {
            slot += 1;
        }
        if table[slot] == value {
            if value == EMPTY {
                return None;
            }
            continue;
        }
        let mut held = std::mem::replace(&mut table[slot], value);
        while held != EMPTY {
            slot += 1;
            held = std::mem::replace(&mut table[slot], held);
        }
        used = used.max(slot + 1);
        moves += slot - first;
        if moves > limit {
            return None;
        }
    }
    Some(used)
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
                prop::collection::vec(u64::MAX - 50..=u64::MAX, 0..600),
                prop::collection::vec((0u64..9, 0u64..3).prop_map(|(high, low)| high << 60 | low), 0..600),
            ]
        ) {
            let mut expected = values.clone();
            expected.sort_unstable();
            expected.dedup();
            sort_unique(&mut values, &mut Vec::new());
            prop_assert_eq!(values, expected);
        }
    }
}

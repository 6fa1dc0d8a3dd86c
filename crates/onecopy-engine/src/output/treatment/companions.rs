//! Finds what is left out: removed pages without a revisit, and the records that belong to them.
//!
//! A request and the metadata of a capture name its record with `WARC-Concurrent-To`, or are named by it. A revisit of a
//! record that is left out could not be replayed.

use std::collections::HashSet;

use super::entry::Role;
use super::files::{Files, LEFT_OUT, Settled};
use super::scan::{Companion, Found, in_lot};
use crate::error::Result;

/// How often companions of companions are looked for: metadata of the request of a revisit takes three rounds.
const ROUNDS: usize = 4;

/// Settles which records are left out. Returns the hashes of their names.
pub(super) fn find(files: &Files, lots: &[usize], found: &mut Found) -> Result<HashSet<u64>> {
    let mut dropped = HashSet::new();
    if found.gone == 0 {
        return Ok(dropped);
    }
    for &lot in lots {
        let revisits = files.rows(lot)?;
        let is_revisit = |number: u32| revisits.binary_search_by_key(&number, |row| row.number).is_ok();
        let mut rows = Vec::new();
        files.entries(lot, |entry| {
            if entry.role == Role::Gone && !is_revisit(entry.number) {
                rows.push(Settled { number: entry.number, lot: LEFT_OUT, facts: 0 });
                dropped.insert(in_lot(entry.names[0], lot));
                dropped.extend(entry.names);
            }
        })?;
        files.settle(lot, &rows)?;
    }
    forget(files, lots, &mut dropped)?;
    for _ in 0..ROUNDS {
        let [companions, revisits] = spread(&found.companions, &mut dropped);
        found.counts.companions += companions;
        found.counts.left_out += revisits;
        found.counts.whole = found.counts.whole.saturating_sub(revisits);
    }
    Ok(dropped)
}

/// Forgets the names that kept pages have too, if an archive is in the input twice. Revisits still find these.
fn forget(files: &Files, lots: &[usize], dropped: &mut HashSet<u64>) -> Result<()> {
    dropped.remove(&0);
    lots.iter().try_for_each(|&lot| {
        files.entries(lot, |entry| {
            if entry.role == Role::Kept {
                for name in &entry.names {
                    dropped.remove(name);
                }
            }
        })
    })
}

/// Adds the companions of dropped records. Returns how many there are, and how many revisits beside them.
fn spread(companions: &[Companion], dropped: &mut HashSet<u64>) -> [u64; 2] {
    let mut counts = [0; 2];
    for companion in companions {
        if dropped.contains(&companion.of) && dropped.insert(companion.record) {
            counts[usize::from(companion.revisit)] += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companions_of_companions_are_dropped() {
        let pairs = [(1, 2), (3, 1), (4, 5), (2, 2)];
        let companions = pairs.map(|(record, of)| Companion { record, of, revisit: record == 3 });
        let mut dropped = HashSet::from([2]);
        assert_eq!([(); 2].map(|()| spread(&companions, &mut dropped)), [[1, 1], [0, 0]]);
        assert_eq!(dropped, HashSet::from([1, 2, 3]));
    }
}

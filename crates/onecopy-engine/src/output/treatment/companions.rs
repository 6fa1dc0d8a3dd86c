//! Finds what is left out: removed pages without a revisit, and the records that belong to them.
//!
//! A request and the metadata of a capture name its record with `WARC-Concurrent-To`, or are named by it. A revisit of a
//! record that is left out could not be replayed.

use std::collections::HashSet;

use super::entry::Role;
use super::files::{Files, LEFT_OUT, Settled};
use super::scan::{Companion, Found};
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
        let revisits: HashSet<u32> = files.rows(lot)?.iter().map(|row| row.number).collect();
        let mut rows = Vec::new();
        files.entries(lot, |entry| {
            if entry.role == Role::Gone && !revisits.contains(&entry.number) {
                rows.push(Settled { number: entry.number, lot: LEFT_OUT, facts: 0 });
                dropped.extend(entry.names[..2].iter().filter(|&&name| name != 0));
            }
        })?;
        files.settle(lot, &rows)?;
    }
    for _ in 0..ROUNDS {
        found.counts.companions += spread(&found.companions, &mut dropped);
    }
    Ok(dropped)
}

/// Adds the companions of dropped records, and returns how many there are.
fn spread(companions: &[Companion], dropped: &mut HashSet<u64>) -> u64 {
    let new =
        |companion: &&Companion| dropped.contains(&companion.of) && !dropped.contains(&companion.record);
    let new: HashSet<u64> = companions.iter().filter(new).map(|companion| companion.record).collect();
    dropped.extend(&new);
    new.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companions_of_companions_are_dropped() {
        let pairs = [(1, 2), (3, 1), (4, 5), (2, 2)];
        let companions = pairs.map(|(record, of)| Companion { record, of });
        let mut dropped = HashSet::from([2]);
        assert_eq!([(); 3].map(|()| spread(&companions, &mut dropped)), [1, 1, 0]);
        assert_eq!(dropped, HashSet::from([1, 2, 3]));
    }
}

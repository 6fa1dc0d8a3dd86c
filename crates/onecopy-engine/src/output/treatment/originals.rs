//! Finds the original of each payload: the one record that stores it, while revisits replace the others.
//!
//! The original is a kept page if there is one, then the earliest record, then the first in the input. It stays whole,
//! so no revisit ever refers to a revisit. Keys are handled in parts that fit in memory, and each part reads all entries.

use std::collections::HashMap;

use super::entry::{Entry, Role};
use super::files::{Files, Settled};
use super::scan::Found;
use crate::error::Result;
use crate::ingest::PayloadKey;

/// About how much memory a key and its original take in the table.
const BYTES_A_KEY: u64 = 192;

/// The best record with a payload so far.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Best {
    role: Role,
    time: i64,
    lot: u32,
    number: u32,
    facts: u64,
    /// The hash of its id.
    id: u64,
}

impl Best {
    fn of(lot: usize, entry: &Entry) -> Best {
        let Entry { role, time, number, facts, names: [id, ..], .. } = *entry;
        Best { role, time, lot: lot as u32, number, facts, id }
    }
}

/// Settles which records become revisits, within `memory` bytes.
pub(super) fn find(files: &Files, lots: &[usize], found: &mut Found, memory: u64) -> Result<()> {
    let parts = (found.keys * BYTES_A_KEY).div_ceil(memory.max(1)).max(1);
    for part in 0..parts {
        let originals = originals(files, lots, |key| part_of(key, parts) == part)?;
        for &lot in lots {
            let mut rows = Vec::new();
            files.entries(lot, |entry| {
                let original = entry.key.and_then(|key| originals.get(&key));
                let row = original.and_then(|original| revisit(lot, entry, original, found));
                rows.extend(row);
            })?;
            files.settle(lot, &rows)?;
        }
    }
    Ok(())
}

fn part_of(key: &PayloadKey, parts: u64) -> u64 {
    u64::from_le_bytes(*key.first_chunk().expect("keys are longer")) % parts
}

/// The original of each payload whose key is `wanted`.
fn originals(
    files: &Files,
    lots: &[usize],
    wanted: impl Fn(&PayloadKey) -> bool,
) -> Result<HashMap<PayloadKey, Best>> {
    let mut originals: HashMap<PayloadKey, Best> = HashMap::new();
    for &lot in lots {
        files.entries(lot, |entry| {
            // A record that may be left out cannot be an original.
            let Some(key) = entry.key.filter(|key| entry.role != Role::Gone && wanted(key)) else { return };
            let new = Best::of(lot, entry);
            originals.entry(key).and_modify(|best| *best = new.min(*best)).or_insert(new);
        })?;
    }
    Ok(originals)
}

/// The row of a record that becomes a revisit, which is counted.
fn revisit(lot: usize, entry: &Entry, original: &Best, found: &mut Found) -> Option<Settled> {
    let pinned = entry.names.iter().any(|name| found.pinned.contains(name));
    // A record that is in the input twice would refer to itself.
    let itself = original.id == entry.names[0];
    if entry.role == Role::Kept || pinned || itself || *original == Best::of(lot, entry) {
        return None;
    }
    match (entry.removed, entry.role) {
        (false, _) => found.counts.payloads += 1,
        (true, Role::Gone) => {
            found.counts.revisits += 1;
            found.counts.left_out -= 1;
        }
        (true, _) => {
            found.counts.revisits += 1;
            found.counts.whole -= 1;
        }
    }
    Some(Settled { number: entry.number, lot: original.lot, facts: original.facts })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const KEY: PayloadKey = [1; 20];

    fn entry(number: u32, role: Role, time: i64) -> Entry {
        let names = [u64::from(number) + 100, 0, 0];
        Entry { key: Some(KEY), role, removed: role != Role::Kept, time, number, facts: 7, names }
    }

    /// The number of each revisit and of its original, and the counts. The entries are one archive each.
    fn found(entries: &[Entry], pinned: &[u64], memory: u64) -> Vec<(u32, u32)> {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::new(folder.path());
        for (lot, entry) in entries.iter().enumerate() {
            let mut out = files.begin(lot).unwrap();
            out.entry(*entry).unwrap();
            out.finish().unwrap();
        }
        let lots: Vec<usize> = (0..entries.len()).collect();
        let mut all = Found { keys: entries.len() as u64, ..Found::default() };
        (all.counts.whole, all.counts.left_out) = (99, 99);
        all.pinned = HashSet::from_iter(pinned.iter().copied());
        find(&files, &lots, &mut all, memory).unwrap();
        let rows = |lot: usize| files.rows(lot).unwrap().into_iter().map(|row| (row.number, row.lot));
        let rows: Vec<_> = lots.iter().flat_map(|&lot| rows(lot)).collect();
        assert_eq!(all.counts.revisits, rows.len() as u64);
        rows
    }

    #[test]
    fn one_record_keeps_each_payload() {
        use Role::{Gone, Kept, Whole};
        for memory in [1 << 30, BYTES_A_KEY] {
            let check = |entries: &[Entry], pinned: &[u64], expected: &[(u32, u32)]| {
                assert_eq!(found(entries, pinned, memory), expected, "{entries:?} {memory}");
            };
            check(&[entry(0, Whole, 5), entry(1, Whole, 4), entry(2, Whole, 4)], &[], &[(0, 1), (2, 1)]);
            check(&[entry(0, Whole, 5), entry(1, Kept, 9), entry(2, Kept, 8)], &[], &[(0, 2)]);
            check(&[entry(0, Gone, 5), entry(1, Gone, 4)], &[], &[]);
            check(&[entry(0, Gone, 1), entry(1, Whole, 4)], &[], &[(0, 1)]);
            check(&[entry(0, Whole, 5), entry(1, Whole, 4)], &[100], &[]);
            let twin = Entry { names: entry(1, Whole, 4).names, ..entry(0, Whole, 5) };
            check(&[twin, entry(1, Whole, 4)], &[], &[]);
            let other = Entry { key: Some([2; 20]), ..entry(1, Whole, 4) };
            check(&[entry(0, Whole, 5), other], &[], &[]);
            check(&[entry(0, Whole, 5), Entry { key: None, ..other }], &[], &[]);
        }
    }
}

//! An entry: a record of an archive whose treatment is not settled when it is read. Entries have a fixed size on disk.

use crate::ingest::{Names, PayloadKey};

/// How a record may be treated. The order is the order in which originals are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// A kept page, which always stays whole.
    Kept,
    /// Stays whole, or becomes a revisit.
    #[default]
    Whole,
    /// Becomes a revisit, or is left out.
    Gone,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// `None` if the record cannot become a revisit.
    pub key: Option<PayloadKey>,
    pub role: Role,
    /// Whether it is a removed page.
    pub removed: bool,
    /// Its date in seconds.
    pub time: i64,
    /// Its number in the archive.
    pub number: u32,
    /// Where the file of facts describes it.
    pub facts: u64,
    pub names: Names,
}

impl Entry {
    pub(super) const BYTES: usize = 72;

    pub(super) fn to_bytes(self) -> [u8; Entry::BYTES] {
        let mut bytes = [0; Entry::BYTES];
        bytes[..20].copy_from_slice(&self.key.unwrap_or_default());
        bytes[20] = self.role as u8;
        bytes[21] = u8::from(self.removed);
        bytes[22] = u8::from(self.key.is_some());
        bytes[24..28].copy_from_slice(&self.number.to_le_bytes());
        let words = [self.time as u64, self.facts, self.names[0], self.names[1], self.names[2]];
        for (slot, word) in bytes[32..].chunks_exact_mut(8).zip(words) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; Entry::BYTES]) -> Entry {
        let word = |n: usize| u64::from_le_bytes(bytes[32 + 8 * n..][..8].try_into().expect("eight bytes"));
        let mut key = PayloadKey::default();
        key.copy_from_slice(&bytes[..20]);
        Entry {
            key: (bytes[22] == 1).then_some(key),
            role: [Role::Kept, Role::Whole, Role::Gone][usize::from(bytes[20].min(2))],
            removed: bytes[21] == 1,
            time: word(0) as i64,
            number: u32::from_le_bytes(bytes[24..28].try_into().expect("four bytes")),
            facts: word(1),
            names: [word(2), word(3), word(4)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        for (role, key) in [(Role::Kept, Some([7; 20])), (Role::Whole, None), (Role::Gone, Some([0; 20]))] {
            let removed = role == Role::Gone;
            let entry = Entry { key, role, removed, time: -5, number: 9, facts: 1 << 40, names: [1, 2, 3] };
            assert_eq!(Entry::from_bytes(&entry.to_bytes()), entry);
        }
    }
}

//! Key lists in memory.

use std::convert::Infallible;

use super::{Holder, KeyLists};

/// Key lists in memory, stored in sequence.
#[derive(Clone, Debug, Default)]
pub struct MemoryLists {
    holders: Vec<Holder>,
    /// Where each list ends.
    ends: Vec<usize>,
}

impl MemoryLists {
    /// Adds the holders of a key, ascending by content. A key with fewer than two holders is skipped.
    pub fn push(&mut self, list: &[Holder]) {
        if list.len() > 1 {
            self.holders.extend_from_slice(list);
            self.ends.push(self.holders.len());
        }
    }
}

impl KeyLists for MemoryLists {
    type Error = Infallible;

    fn entries(&self) -> usize {
        self.holders.len()
    }

    fn for_each(&self, mut each: impl FnMut(&[Holder]) -> Result<(), Infallible>) -> Result<(), Infallible> {
        let mut start = 0;
        for &end in &self.ends {
            each(&self.holders[start..end])?;
            start = end;
        }
        Ok(())
    }
}

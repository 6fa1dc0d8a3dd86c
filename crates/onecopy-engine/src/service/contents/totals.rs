//! Statistics over all contents.

use std::collections::HashMap;

#[cfg(test)]
use onecopy_core::graph::Slot;

use super::ContentIndex;

/// Statistics over all contents.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::service) struct Totals {
    /// Groups of at least two pages.
    pub groups: u64,
    pub largest_group: u64,
    /// The size of all files of the collection.
    pub disk_bytes: u64,
    /// Orders of keys that were lost and replaced.
    pub replaced_orders: u64,
}

impl ContentIndex {
    /// The number of content slots, used or free.
    pub(in crate::service) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The number of postings in memory and on disk.
    #[cfg(test)]
    pub(in crate::service) fn posted(&self) -> u64 {
        self.postings.memory_postings() as u64 + self.postings.part_postings()
    }

    /// The most contents that a search for one key of a content names.
    #[cfg(test)]
    pub(in crate::service) fn longest_list(
        &mut self,
        method: &dyn onecopy_core::Method,
    ) -> crate::error::Result<usize> {
        let (newest, mut scratch, mut longest) = (self.generation(), Default::default(), 0);
        for slot in self.graph.slots().collect::<Vec<_>>() {
            let sketch = self.sketches.get(slot, self.entries[slot as usize].at)?.unwrap_or_default();
            let mut keys = Vec::new();
            self.generations.orders().order(newest).keys(&sketch, method, &mut scratch, &mut keys);
            let keys: Vec<u64> = keys.iter().map(|(key, _)| *key).collect();
            let mut found = vec![std::collections::BTreeSet::<Slot>::new(); keys.len()];
            let mut find = |at: usize, content: u32, _: u32| found[at].extend([content]);
            self.postings.find(&keys, &mut find)?;
            longest = found.iter().map(|found| found.len()).max().unwrap_or(0).max(longest);
        }
        Ok(longest)
    }

    /// Counts over all contents.
    pub(in crate::service) fn totals(&self) -> Totals {
        let mut sizes: HashMap<u64, u64> = HashMap::new();
        let (mut groups, mut largest) = (0, 0);
        for slot in self.graph.slots() {
            let pages = u64::from(self.entries[slot as usize].pages);
            match self.graph.get(slot) {
                Some(node) if self.graph.group_size(slot) > 1 => {
                    *sizes.entry(node.group).or_default() += pages
                }
                _ => (groups, largest) = (groups + u64::from(pages > 1), largest.max(pages)),
            }
        }
        Totals {
            groups: groups + sizes.len() as u64,
            largest_group: sizes.into_values().fold(largest, u64::max),
            disk_bytes: 0,
            replaced_orders: self.generations.replaced().len() as u64,
        }
    }
}

//! Reads contents from disk: the graph from the tables, the keys from postings. Keys that postings lack come from the
//! log.

use std::collections::HashMap;
use std::sync::Arc;

use onecopy_core::Method;
use onecopy_core::graph::{Graph, Restored, Slot};
use onecopy_store::{Folder, LogReader, Look, Postings, Snapshot};

use super::generation::Generations;
use super::sketches::{Sketches, is_damage};
use super::totals::Visits;
use super::{ContentEntry, ContentIndex};
use crate::error::{Error, Result};
use crate::service::tuning::Tuning;

impl ContentIndex {
    /// Reads the contents of a collection.
    pub(in crate::service) fn open(
        folder: &Arc<dyn Folder>,
        tables: &Snapshot,
        reader: LogReader,
        method: &dyn Method,
        tuning: Tuning,
    ) -> Result<ContentIndex> {
        let postings = open_postings(folder)?;
        let (mut graph, mut entries, mut late) = (Graph::default(), Vec::new(), Vec::new());
        let mut count = 0;
        for found in tables.contents()? {
            let (slot, row) = found?;
            count += 1;
            if entries.len() <= slot as usize {
                entries.resize(slot as usize + 1, ContentEntry::default());
            }
            entries[slot as usize] = ContentEntry::of(&row);
            if row.born > postings.covered() {
                late.push((row.born, slot));
            }
            let (winner, score, group) = (row.winner, row.score, row.group);
            graph.restore(slot, Restored { rank: row.rank.into(), winner, score, group });
        }
        for pair in tables.witnesses()? {
            let (a, b) = pair?;
            graph.restore_witness(a, b);
        }
        let heads = tables.heads()?;
        graph.restored(heads.last_group);
        let generations = Generations::open(&**folder, method, heads.generations.max(1), count, tuning)?;
        let oldest = entries.iter().enumerate().filter(|(slot, _)| graph.get(*slot as Slot).is_some());
        let newest = generations.orders().newest();
        let oldest = oldest.map(|(_, entry)| entry.generation).min().unwrap_or(newest);
        for slot in graph.slots() {
            let (winner, generation) =
                (graph.get(slot).map(|node| node.winner), entries[slot as usize].generation);
            if let Some(entry) = winner.and_then(|winner| entries.get_mut(winner as usize)) {
                entry.since = entry.since.min(generation);
            }
        }
        let free = (0..entries.len() as Slot).rev().filter(|&slot| graph.get(slot).is_none()).collect();
        let sketches = Sketches::new(reader);
        let mut contents = ContentIndex {
            graph,
            entries,
            free,
            postings,
            generations,
            oldest,
            rekeyed: 0,
            sketches,
            ahead: HashMap::new(),
            merging: None,
            seals: 0,
            compared: 0,
            is_torn: false,
            visits: Arc::new(Visits::default()),
            tuning,
        };
        contents.enter_late(late, method)?;
        Ok(contents)
    }

    /// Adds contents whose keys are not on disk, in the order of their creation. This may be all contents.
    fn enter_late(&mut self, mut late: Vec<(u64, Slot)>, method: &dyn Method) -> Result<()> {
        late.sort_unstable();
        for (born, slot) in late {
            let ContentEntry { at, since, generation, .. } = self.entries[slot as usize];
            let winner = self.graph.get(slot).map_or(slot, |node| node.winner);
            if let Some(sketch) = self.sketches.get(slot, at)? {
                for generation in since..=generation {
                    self.entering(method).post(slot, &sketch, generation, winner)?;
                }
            }
            if self.postings.memory_postings() >= self.tuning.postings_in_memory {
                self.postings.seal(born)?;
            }
        }
        self.postings.freeze();
        Ok(())
    }
}

/// Opens the postings. They hold no data of their own: damaged ones are removed, and all contents are added again.
fn open_postings(folder: &Arc<dyn Folder>) -> Result<Postings> {
    match Postings::open(folder.clone()).map_err(Error::from) {
        Err(error) if is_damage(&error) => {
            Postings::remove_all(&**folder)?;
            Ok(Postings::open(folder.clone())?)
        }
        opened => opened,
    }
}

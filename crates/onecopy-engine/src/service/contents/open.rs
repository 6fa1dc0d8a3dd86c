//! Reads contents from disk: the graph from the tables, the keys from postings. Keys that postings lack come from the
//! log.

use std::collections::HashMap;
use std::sync::Arc;

use onecopy_core::Method;
use onecopy_core::graph::{Graph, Restored, Slot};
use onecopy_store::{Folder, LogReader, Look, Postings, Snapshot, Volatile};

use super::entering::EnteringBuffers;
use super::generation::Generations;
use super::sketches::{Sketches, is_damage};
use super::{ContentEntry, ContentIndex};
use crate::error::{Error, Result};
use crate::service::tuning::Tuning;

/// What the tables say of contents.
#[derive(Default)]
struct Restoration {
    graph: Graph,
    entries: Vec<ContentEntry>,
    /// The number of contents.
    count: u64,
    /// The number of generations.
    generations: u32,
}

impl ContentIndex {
    /// Reads the contents of a collection.
    pub(in crate::service) fn open(
        folder: &Arc<dyn Folder>,
        tables: &Snapshot,
        reader: LogReader,
        method: &dyn Method,
        tuning: Tuning,
    ) -> Result<ContentIndex> {
        let restored = restore(tables)?;
        let generations = Generations::open(&**folder, method, restored.generations, restored.count, tuning)?;
        if !generations.replaced().is_empty() {
            // Keys that were chosen in an order that is lost are of no use.
            Postings::remove_all(&**folder)?;
            generations.save_replaced(&**folder)?;
        }
        let postings = open_postings(folder)?;
        let mut contents = ContentIndex::of(restored, generations, postings, reader, tuning);
        contents.enter_late(method)?;
        Ok(contents)
    }

    /// Reads contents that nobody searches, without their keys.
    pub(in crate::service) fn open_to_read(
        tables: &Snapshot,
        reader: LogReader,
        method: &dyn Method,
        tuning: Tuning,
    ) -> Result<ContentIndex> {
        let nowhere: Arc<dyn Folder> = Arc::new(Volatile::new());
        let restored = restore(tables)?;
        let generations = Generations::open(&*nowhere, method, 1, restored.count, tuning)?;
        Ok(ContentIndex::of(restored, generations, Postings::open(nowhere)?, reader, tuning))
    }

    fn of(
        restored: Restoration,
        mut generations: Generations,
        postings: Postings,
        reader: LogReader,
        tuning: Tuning,
    ) -> ContentIndex {
        let Restoration { graph, mut entries, .. } = restored;
        let oldest = entries.iter().enumerate().filter(|(slot, _)| graph.get(*slot as Slot).is_some());
        let newest = generations.orders().newest();
        let oldest = oldest.map(|(_, entry)| entry.generation).min().unwrap_or(newest);
        generations.release_before(oldest);
        for slot in graph.slots() {
            let (winner, generation) =
                (graph.get(slot).map(|node| node.winner), entries[slot as usize].generation);
            if let Some(entry) = winner.and_then(|winner| entries.get_mut(winner as usize)) {
                entry.since = entry.since.min(generation);
            }
        }
        let free = (0..entries.len() as Slot).rev().filter(|&slot| graph.get(slot).is_none()).collect();
        ContentIndex {
            graph,
            entries,
            free,
            postings,
            generations,
            oldest,
            rekeyed: 0,
            sketches: Sketches::new(reader, tuning.sketch_words),
            ahead: HashMap::new(),
            merging: None,
            seals: 0,
            compared: 0,
            is_torn: false,
            tuning,
        }
    }

    /// Enters contents whose keys are not on disk, in the order in which they were born. They may be all there are.
    fn enter_late(&mut self, method: &dyn Method) -> Result<()> {
        let covered = self.postings.covered();
        let born = |slot: Slot| self.entries[slot as usize].born;
        let mut late: Vec<Slot> = self.graph.slots().filter(|&slot| born(slot) > covered).collect();
        late.sort_unstable_by_key(|&slot| born(slot));
        let mut buffers = EnteringBuffers::default();
        for slot in late {
            let ContentEntry { at, born, since, generation, .. } = self.entries[slot as usize];
            let winner = self.graph.get(slot).map_or(slot, |node| node.winner);
            if let Some(sketch) = self.sketches.get(slot, at)? {
                for generation in since..=generation {
                    self.entering(method, &mut buffers).post(slot, &sketch, generation, winner)?;
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

fn restore(tables: &Snapshot) -> Result<Restoration> {
    let mut restored = Restoration::default();
    let Restoration { graph, entries, count, .. } = &mut restored;
    for found in tables.contents()? {
        let (slot, row) = found?;
        *count += 1;
        if entries.len() <= slot as usize {
            entries.resize(slot as usize + 1, ContentEntry::default());
        }
        entries[slot as usize] = ContentEntry::of(&row);
        let (winner, score, group) = (row.winner, row.score, row.group);
        graph.restore(slot, Restored { rank: row.rank.into(), winner, score, group });
    }
    for pair in tables.witnesses()? {
        let (a, b) = pair?;
        graph.restore_witness(a, b);
    }
    let heads = tables.heads()?;
    graph.restored(heads.last_group);
    restored.generations = heads.generations.max(1);
    Ok(restored)
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

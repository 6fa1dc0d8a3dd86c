//! Settles a batch inside one transaction: the order of Tier 2's stages.

use std::collections::HashMap;
use std::sync::Arc;

use onecopy_core::graph::{Edit, Slot};
use onecopy_core::{Config, Method};
use onecopy_store::{Batch, Heads, Look, PageNumber, Place, Version};

use super::copies::{Copies, Planned, Sketched};
use super::feed::Retold;
use super::rows::TouchedPages;
use super::{feed, links, pages, quarantine};
use crate::error::Result;
use crate::service::contents::{Applied, ContentIndex, EnteringBuffers};

/// Settles the batches of a collection.
pub(super) struct Settler<'a> {
    pub config: &'a Config,
    pub method: &'a dyn Method,
    pub contents: &'a mut ContentIndex,
    pub threads: usize,
    /// Whether pages have tags.
    pub has_tags: bool,
}

/// The number of contents to rekey for each new content. With two, all contents share one generation again once the
/// collection has grown by half.
const REKEYED: usize = 2;

/// A version and its position in the log.
#[derive(Debug)]
pub(in crate::service) struct Logged {
    pub place: Place,
    pub version: Version,
}

/// The result of a batch.
#[derive(Debug, Default)]
pub(super) struct BatchOutcome {
    pub heads: Heads,
    /// The number of compared pages.
    pub compared: u64,
}

impl Settler<'_> {
    /// Settles versions in the order of the log. After an error, the contents in memory are invalid.
    pub(super) fn settle(
        &mut self,
        batch: &mut Batch,
        versions: &[Logged],
        mut heads: Heads,
    ) -> Result<BatchOutcome> {
        let mut rows = TouchedPages::new(batch);
        let released = quarantine::release(rows.batch, versions)?;
        let changed = pages::change(&mut rows, versions, &released.unsettled, &mut heads)?;
        let moved = links::follow(&mut rows, &changed)?;
        let sketches: HashMap<Place, Arc<[u64]>> =
            versions.iter().map(|logged| (logged.place, logged.version.sketch[..].into())).collect();
        let mut copies = Copies::new(self, &sketches);
        copies.join(&mut rows, &changed, &moved)?;
        copies.believe(&mut rows, &changed, &moved)?;
        let Planned { edit, sketched } = copies.plan(&mut rows)?;
        let (touched, renamed) = copies.finish();
        let compared = edit.inserted.len() as u64;
        let removed = edit.removed.clone();
        self.place(&mut rows, sketched)?;
        self.refresh(&mut rows, &changed.refreshed)?;
        let applied = self.contents.apply(edit, self.method, self.threads)?;
        let mut retold = self.write_effect(rows.batch, &applied, &removed, &mut heads)?;
        self.rekey(rows.batch, REKEYED * compared as usize, &mut heads)?;
        // The status of a loser names the best page of its winner.
        let losers = renamed.iter().flat_map(|&slot| self.contents.graph.losers_of(slot).iter().copied());
        retold.rewon.extend(losers.chain(renamed.iter().copied()));
        retold.contents.extend(touched.into_iter().chain(retold.rewon.iter().copied()));
        retold.pages = released.pages;
        feed::tell(&mut rows, self, &retold, &mut heads)?;
        quarantine::tell_gone(rows.batch, &released.unsettled, &mut heads)?;
        rows.write()?;
        heads.last_group = self.contents.graph.last_group();
        heads.generations = self.contents.generations();
        heads.settled = versions.last().map_or(heads.settled, |logged| logged.version.accepted);
        Ok(BatchOutcome { heads, compared })
    }

    /// Records the positions of new and changed sketches.
    fn place(&mut self, rows: &mut TouchedPages, sketched: Vec<Sketched>) -> Result<()> {
        for Sketched { slot, sketch } in sketched {
            if let Some(row) = rows.batch.content(slot)? {
                self.contents.place(slot, &row, sketch);
            }
        }
        Ok(())
    }

    /// Updates the positions of contents whose best page moved in the log.
    fn refresh(&mut self, rows: &mut TouchedPages, refreshed: &[PageNumber]) -> Result<()> {
        for &page in refreshed {
            let Some((slot, at)) = rows.now(page)?.and_then(|row| Some((row.content?, row.at))) else {
                continue;
            };
            let Some(mut row) = rows.batch.content(slot)? else { continue };
            if row.best == page && row.at != at {
                row.at = at;
                rows.batch.set_content(slot, &row)?;
                self.contents.relocate(slot, at);
            }
        }
        Ok(())
    }

    /// Gives some contents of earlier generations keys of the newest one.
    fn rekey(&mut self, batch: &mut Batch, most: usize, heads: &mut Heads) -> Result<()> {
        let mut buffers = EnteringBuffers::default();
        for slot in self.contents.outdated(most) {
            let Some(mut row) = batch.content(slot)? else { continue };
            // A damaged content is alike to no other, in any generation.
            let Some(sketch) = self.contents.sketches().read(row.at)? else { continue };
            heads.born += 1;
            row.born = heads.born;
            row.generation = self.contents.generation();
            batch.set_content(slot, &row)?;
            self.contents.rekey(slot, &row, &sketch, (self.method, &mut buffers))?;
        }
        Ok(())
    }

    /// Writes the new state of contents. Returns the changed ones.
    fn write_effect(
        &mut self,
        batch: &mut Batch,
        applied: &Applied,
        removed: &[Slot],
        heads: &mut Heads,
    ) -> Result<Retold> {
        let Applied { effect, entered } = applied;
        for &pair in &effect.forgotten {
            batch.set_witness(pair, false)?;
        }
        for &pair in &effect.witnessed {
            batch.set_witness(pair, true)?;
        }
        let mut retold = Retold::default();
        for &slot in effect.changed.union(entered) {
            let Some(node) = self.contents.graph.get(slot) else { continue };
            let Some(mut row) = batch.content(slot)? else { continue };
            let (before, entry) = (row.clone(), self.contents.entry(slot));
            if row.group != node.group {
                if row.group != 0 {
                    batch.remove_grouped(row.group, slot)?;
                }
                batch.add_grouped(node.group, slot)?;
            }
            let now = (node.winner, node.score, node.group);
            if (row.winner, row.score, row.group) != now {
                retold.rewon.insert(slot);
            }
            (row.winner, row.score, row.group) = now;
            if entered.contains(&slot) {
                heads.born += 1;
                (row.born, row.generation) = (heads.born, entry.generation);
                self.contents.set_born(slot, heads.born);
            }
            if row != before {
                batch.set_content(slot, &row)?;
            }
            retold.contents.extend(effect.changed.contains(&slot).then_some(slot));
        }
        for &slot in removed {
            if self.contents.graph.get(slot).is_none() {
                self.contents.free_slot(slot);
            }
        }
        Ok(retold)
    }
}

impl Settler<'_> {
    /// Compares the contents of a group again. Returns the number of pages with a new status.
    pub(super) fn repair(&mut self, batch: &mut Batch, group: u64, heads: &mut Heads) -> Result<u64> {
        let slots = batch.group_contents(group, usize::MAX)?;
        let mut edit = Edit::default();
        for &slot in &slots {
            if let Some(node) = self.contents.graph.get(slot) {
                edit.removed.push(slot);
                edit.inserted.push((slot, node.rank.clone()));
            }
        }
        let mut applied = self.contents.apply(edit, self.method, self.threads)?;
        self.contents.graph.keep_number(&slots, group, &mut applied.effect);
        let mut rows = TouchedPages::new(batch);
        let retold = self.write_effect(rows.batch, &applied, &[], heads)?;
        let told = heads.feed;
        feed::tell(&mut rows, self, &retold, heads)?;
        rows.write()?;
        batch.clear_checks(group)?;
        heads.last_group = self.contents.graph.last_group();
        Ok(heads.feed - told)
    }
}

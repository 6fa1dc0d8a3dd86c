//! Moves pages between contents, checks canonical links that may have changed, and plans the changes to contents.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use onecopy_core::{Config, Method};
use onecopy_store::{ContentRow, Look, PageNumber, PageRow, Place, Role};

use super::batch::Settler;
use super::links::Moved;
use super::pages::Changed;
use super::rows::{CLASSES, TouchedPages, canonical, class, is_compared};
use crate::error::Result;
use crate::service::contents::ContentIndex;
use onecopy_core::graph::{Edit, Slot};

/// A content before the batch.
#[derive(Debug, Default)]
struct Before {
    row: Option<ContentRow>,
    /// Its best page by the winner rules alone, and the hash of that page's sketch.
    first: Option<(PageNumber, u64)>,
    /// The number of added pages minus removed ones.
    more: i64,
}

impl Before {
    /// The state of a content before this batch.
    fn of(rows: &mut TouchedPages, slot: Slot) -> Result<Before> {
        let row = rows.batch.content(slot)?;
        if let Some(row) = row.as_ref().filter(|row| row.pages <= 1) {
            let first = Some((row.best, row.sketch));
            return Ok(Before { row: Some(row.clone()), first, more: 0 });
        }
        let mut first = None;
        for page in heads_of(rows, slot)? {
            let held = rows.get(page)?;
            let row = held.before.as_ref().or(held.now.as_ref());
            let key = row.map(|row| (row.rank.clone(), page, row.sketch));
            first = [first, key].into_iter().flatten().min();
        }
        let first = first.map(|(_, page, sketch)| (page, sketch));
        Ok(Before { row, first, more: 0 })
    }
}

/// The contents that a batch changes.
pub(super) struct Copies<'a> {
    config: &'a Config,
    method: &'a dyn Method,
    contents: &'a mut ContentIndex,
    /// The sketches of the versions in the batch.
    sketches: &'a HashMap<Place, Arc<[u64]>>,
    touched: BTreeMap<Slot, Before>,
    /// Contents with a new best page.
    renamed: Vec<Slot>,
}

/// A content that moved in the log, and its sketch if that changed.
pub(super) struct Sketched {
    pub slot: Slot,
    pub sketch: Option<Arc<[u64]>>,
}

/// The edit of the graph, and the new positions of sketches.
#[derive(Default)]
pub(super) struct Planned {
    pub edit: Edit,
    pub sketched: Vec<Sketched>,
}

/// A content that stays or is new.
struct KeptContent {
    slot: Slot,
    before: Option<ContentRow>,
    row: ContentRow,
}

impl<'a> Copies<'a> {
    pub(super) fn new(settler: &'a mut Settler, sketches: &'a HashMap<Place, Arc<[u64]>>) -> Copies<'a> {
        let (config, method) = (settler.config, settler.method);
        Copies {
            config,
            method,
            contents: settler.contents,
            sketches,
            touched: BTreeMap::new(),
            renamed: Vec::new(),
        }
    }

    /// The touched contents, and those of them with a new best page.
    pub(super) fn finish(self) -> (Vec<Slot>, Vec<Slot>) {
        (self.touched.into_keys().collect(), self.renamed)
    }

    /// Moves changed pages, and pages with a new end, to the right content.
    pub(super) fn join(&mut self, rows: &mut TouchedPages, changed: &Changed, moved: &Moved) -> Result<()> {
        for &page in changed.pages.union(&moved.pages) {
            let standing = rows.batch.ending(page)?.len() as i64;
            let stood = standing - moved.standing.get(&page).copied().unwrap_or(0);
            let held = rows.get(page)?;
            let (before, now) = (held.before.clone(), held.now.clone());
            if let Some(slot) = self.stays(before.as_ref(), now.as_ref()) {
                self.touch(rows, slot)?.more += standing - stood;
                continue;
            }
            let was = before.as_ref().and_then(|row| Some((row.content?, row)));
            if let Some((slot, row)) = was {
                self.touch(rows, slot)?.more -= 1 + stood;
                rows.batch.remove_copy(slot, class(row, self.config), &row.rank)?;
            }
            let Some(row) = now else { continue };
            let slot = if is_compared(&row) { Some(self.content_with(rows, row.fingerprint)?) } else { None };
            if let Some(slot) = slot {
                self.touch(rows, slot)?.more += 1 + standing;
                rows.batch.add_copy(slot, class(&row, self.config), &row.rank, page)?;
            }
            if let Some(row) = &mut rows.get(page)?.now {
                row.content = slot;
            }
        }
        for (&page, &more) in &moved.standing {
            let stays = !changed.pages.contains(&page) && !moved.pages.contains(&page);
            let slot = rows.now(page)?.and_then(|row| row.content);
            if let Some(slot) = slot.filter(|_| stays) {
                self.touch(rows, slot)?.more += more;
            }
        }
        Ok(())
    }

    /// The content that a page keeps, at the same position among its copies.
    fn stays(&self, before: Option<&PageRow>, now: Option<&PageRow>) -> Option<Slot> {
        let (before, now) = (before?, now?);
        let place = |row: &PageRow| (row.fingerprint, class(row, self.config));
        let is_same = is_compared(now) && place(before) == place(now) && before.rank == now.rank;
        before.content.filter(|_| is_same)
    }

    /// The content with a fingerprint, which may be new.
    fn content_with(&mut self, rows: &mut TouchedPages, fingerprint: u128) -> Result<Slot> {
        if let Some(slot) = rows.batch.fingerprint(fingerprint)? {
            return Ok(slot);
        }
        let slot = self.contents.take_slot();
        rows.batch.set_fingerprint(fingerprint, Some(slot))?;
        self.touched.insert(slot, Before::default());
        Ok(slot)
    }

    /// Saves the state of a content before its first change.
    fn touch(&mut self, rows: &mut TouchedPages, slot: Slot) -> Result<&mut Before> {
        match self.touched.entry(slot) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => Ok(entry.insert(Before::of(rows, slot)?)),
        }
    }

    /// The best page of a content by the winner rules alone, the hash of its sketch, and the sketch's position.
    fn first(&self, rows: &mut TouchedPages, slot: Slot) -> Result<Option<(PageNumber, u64, Place)>> {
        let mut first = None;
        for page in heads_of(rows, slot)? {
            let key = rows.now(page)?.map(|row| (row.rank.clone(), page, row.sketch, row.at));
            first = [first, key].into_iter().flatten().min();
        }
        Ok(first.map(|(_, page, sketch, at)| (page, sketch, at)))
    }

    /// Checks the canonical links whose validity may have changed. The check uses contents as ordered by the winner
    /// rules alone, so that its result cannot affect itself.
    pub(super) fn believe(
        &mut self,
        rows: &mut TouchedPages,
        changed: &Changed,
        moved: &Moved,
    ) -> Result<()> {
        for page in self.doubtful(rows, changed, moved)? {
            let Some(row) = rows.now(page)?.cloned() else { continue };
            let believed = is_compared(&row) && self.is_believed(rows, page)?;
            if believed == row.lesser {
                continue;
            }
            let mut after = row.clone();
            after.lesser = believed;
            if let Some(slot) = row.content {
                self.touch(rows, slot)?;
                rows.batch.remove_copy(slot, class(&row, self.config), &row.rank)?;
                rows.batch.add_copy(slot, class(&after, self.config), &row.rank, page)?;
            }
            rows.get(page)?.now = Some(after);
        }
        Ok(())
    }

    /// The pages whose canonical link must be checked.
    fn doubtful(
        &mut self,
        rows: &mut TouchedPages,
        changed: &Changed,
        moved: &Moved,
    ) -> Result<BTreeSet<PageNumber>> {
        let mut doubtful = moved.pages.clone();
        for &hash in &changed.addresses {
            doubtful.extend(rows.batch.naming(hash)?);
        }
        let mut shifted: BTreeSet<PageNumber> = changed.pages.clone();
        let touched: Vec<Slot> = self.touched.keys().copied().collect();
        for slot in touched {
            let Before { row, first: before, more } = &self.touched[&slot];
            let pages = row.as_ref().map_or(0, |row| i64::from(row.pages));
            if pages <= 1 && pages + more <= 1 {
                // If its only page changed, `shifted` includes that page already.
                continue;
            }
            let before = *before;
            let now = self.first(rows, slot)?.map(|(page, sketch, _)| (page, sketch));
            // All copies of plain text have equal sketches, so the choice of the page does not matter.
            if before.map(|first| first.1) != now.map(|first| first.1) {
                shifted.extend(rows.batch.copies(slot)?);
            }
        }
        for page in shifted {
            doubtful.insert(page);
            let held = rows.get(page)?;
            let rows_of = [&held.before, &held.now];
            let addresses: BTreeSet<u64> = rows_of.into_iter().flatten().map(|row| row.identity).collect();
            for hash in addresses.into_iter().filter(|&hash| hash != 0) {
                doubtful.extend(rows.batch.naming(hash)?);
            }
        }
        let may_be = |row: &PageRow| row.lesser || canonical(row).next().is_some();
        let mut kept = BTreeSet::new();
        for page in doubtful {
            if rows.now(page)?.is_some_and(may_be) {
                kept.insert(page);
            }
        }
        Ok(kept)
    }

    /// Whether the canonical link of a page names a similar page.
    fn is_believed(&mut self, rows: &mut TouchedPages, page: PageNumber) -> Result<bool> {
        let Some(row) = rows.now(page)?.cloned() else { return Ok(false) };
        for link in canonical(&row) {
            let Some(target) = rows.batch.standing(Role::Content, link.identity)? else { continue };
            let slots = (row.content, rows.now(target)?.and_then(|row| row.content));
            let (Some(own), Some(other)) = slots else { continue };
            if target != page && (own == other || self.are_alike(rows, own, other)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn are_alike(&mut self, rows: &mut TouchedPages, a: Slot, b: Slot) -> Result<bool> {
        let (Some(a), Some(b)) = (self.first(rows, a)?, self.first(rows, b)?) else { return Ok(false) };
        let both = self.sketch(a.2)?.zip(self.sketch(b.2)?);
        Ok(both.is_some_and(|(a, b)| self.method.verify(&a, &b).is_some()))
    }

    /// The sketch at a position; `None` if it is damaged.
    fn sketch(&mut self, at: Place) -> Result<Option<Arc<[u64]>>> {
        match self.sketches.get(&at) {
            Some(sketch) => Ok(Some(sketch.clone())),
            None => self.contents.sketches().read(at),
        }
    }

    /// Writes the touched contents, as far as possible before the comparison. Returns the comparisons to make.
    pub(super) fn plan(&mut self, rows: &mut TouchedPages) -> Result<Planned> {
        let mut planned = Planned::default();
        let touched: Vec<Slot> = self.touched.keys().copied().collect();
        for slot in touched {
            let before = self.touched[&slot].row.clone();
            match self.row_of(rows, slot)? {
                Some(row) => self.keep(rows, KeptContent { slot, before, row }, &mut planned)?,
                None => self.drop(rows, slot, before, &mut planned.edit)?,
            }
        }
        Ok(planned)
    }

    /// The row of a content, derived from its best page. `None` if no page is left.
    fn row_of(&mut self, rows: &mut TouchedPages, slot: Slot) -> Result<Option<ContentRow>> {
        let Before { row, more, .. } = &self.touched[&slot];
        let (before, more) = (row.clone().unwrap_or_default(), *more);
        for class in CLASSES {
            let Some(page) = rows.batch.best_copy(slot, class)? else { continue };
            let Some(best) = rows.now(page)? else { continue };
            let mut rank = vec![class];
            rank.extend(&best.rank);
            return Ok(Some(ContentRow {
                fingerprint: best.fingerprint,
                best: page,
                at: best.at,
                sketch: best.sketch,
                size: best.size,
                language: best.language,
                pages: (i64::from(before.pages) + more).max(1) as u32,
                rank,
                ..before
            }));
        }
        Ok(None)
    }

    fn keep(&mut self, rows: &mut TouchedPages, kept: KeptContent, planned: &mut Planned) -> Result<()> {
        let KeptContent { slot, before, mut row } = kept;
        let is_same = before.as_ref().is_some_and(|before| before.sketch == row.sketch);
        if !is_same {
            row.generation = self.contents.generation();
        }
        if before.is_none() {
            row.winner = slot;
        }
        let is_ranked = before.as_ref().is_some_and(|before| before.rank == row.rank);
        if !is_same || !is_ranked {
            planned.edit.removed.extend(before.is_some().then_some(slot));
            planned.edit.inserted.push((slot, row.rank.clone().into()));
        }
        let sketch = if is_same { None } else { self.sketch(row.at)? };
        if sketch.is_none() && !is_same {
            // The cached sketch is outdated.
            self.contents.sketches().forget(slot);
        }
        planned.sketched.push(Sketched { slot, sketch });
        if before.as_ref().is_some_and(|before| before.best != row.best) {
            self.renamed.push(slot);
        }
        Ok(rows.batch.set_content(slot, &row)?)
    }

    fn drop(
        &mut self,
        rows: &mut TouchedPages,
        slot: Slot,
        before: Option<ContentRow>,
        edit: &mut Edit,
    ) -> Result<()> {
        let Some(before) = before else {
            // It was created and removed in one batch: another page took its fingerprint and gave it up again.
            self.contents.free_slot(slot);
            return Ok(());
        };
        rows.batch.set_fingerprint(before.fingerprint, None)?;
        rows.batch.remove_content(slot)?;
        rows.batch.remove_grouped(before.group, slot)?;
        edit.removed.push(slot);
        Ok(())
    }
}

/// The best page of each class of a content.
fn heads_of(rows: &mut TouchedPages, slot: Slot) -> Result<Vec<PageNumber>> {
    let mut heads = Vec::new();
    for class in CLASSES {
        heads.extend(rows.batch.best_copy(slot, class)?);
    }
    Ok(heads)
}

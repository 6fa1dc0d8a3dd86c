//! Derives the status of a page from the tables, by the rules of a batch run.

use onecopy_core::{Kind, Method};
use onecopy_store::{ContentRow, Look, PageNumber, PageRow, Slot, Snapshot};

use super::{Name, Status, StatusKind};
use crate::error::{Error, Result};
use crate::service::tier2::{ENDS_AT_A_PAGE, objection};
use onecopy_core::shown;

/// The data that a status needs.
pub(in crate::service) trait StatusFacts {
    fn page(&self, page: PageNumber) -> Result<Option<PageRow>>;
    fn content(&self, slot: Slot) -> Result<Option<ContentRow>>;
    fn group_contents(&self, group: u64, most: usize) -> Result<Vec<Slot>>;
    fn ending(&self, page: PageNumber) -> Result<Vec<PageNumber>>;
}

impl StatusFacts for Snapshot {
    fn page(&self, page: PageNumber) -> Result<Option<PageRow>> {
        Ok(Look::page(self, page)?)
    }

    fn content(&self, slot: Slot) -> Result<Option<ContentRow>> {
        Ok(Look::content(self, slot)?)
    }

    fn group_contents(&self, group: u64, most: usize) -> Result<Vec<Slot>> {
        Ok(Look::group_contents(self, group, most)?)
    }

    fn ending(&self, page: PageNumber) -> Result<Vec<PageNumber>> {
        Ok(Look::ending(self, page)?)
    }
}

/// Derives statuses.
pub(in crate::service) struct View<'a, F: StatusFacts> {
    pub facts: &'a F,
    pub method: &'a dyn Method,
}

/// The winner of a removed page, their similarity, and why the page is removed.
struct Lost {
    winner: PageNumber,
    similarity: f64,
    kind: Kind,
}

impl<F: StatusFacts> View<'_, F> {
    /// The status of a page.
    pub(in crate::service) fn status(&self, page: PageNumber, row: &PageRow) -> Result<Status> {
        let bare = |kind| Status::bare(name_of(&row.name), kind);
        if row.dead {
            return Ok(bare(StatusKind::Dead));
        }
        if let Some(reason) = objection(row) {
            return Ok(Status { reason: Some(reason), ..bare(StatusKind::Rejected) });
        }
        let stands_for = (row.end.how == ENDS_AT_A_PAGE).then_some(row.end.page);
        let target = match stands_for {
            Some(target) => self.facts.page(target)?.ok_or_else(|| missing(target))?,
            None => row.clone(),
        };
        let Some(slot) = target.content else {
            return Ok(Status { reason: Some("no words to compare".into()), ..bare(StatusKind::Rejected) });
        };
        let content = self.facts.content(slot)?.ok_or_else(|| missing(page))?;
        let end = stands_for.unwrap_or(page);
        let lost = self.lost(end, slot, &content)?;
        let lost = stands_for
            .map_or(lost.as_ref().map(Lost::itself), |_| Some(Lost::through(lost.as_ref(), end, row)));
        let is_grouped = lost.is_some() || self.has_others(slot, &content)?;
        let group = is_grouped.then_some(content.group);
        let Some(lost) = lost else {
            let kind = if is_grouped { StatusKind::Winner } else { StatusKind::Unique };
            return Ok(Status { group, ..bare(kind) });
        };
        let winner = self.facts.page(lost.winner)?.ok_or_else(|| missing(lost.winner))?;
        let same_address = row.identity != 0 && row.identity == winner.identity;
        let kind = if lost.kind == Kind::Near && same_address { Kind::Url } else { lost.kind };
        Ok(Status {
            winner: Some(name_of(&winner.name)),
            similarity: Some(shown(lost.similarity, self.method.threshold())),
            kind: Some(kind.as_str()),
            group,
            ..bare(StatusKind::Loser)
        })
    }

    /// The winner of a page that is compared; `None` if the page stays.
    fn lost(&self, page: PageNumber, slot: Slot, content: &ContentRow) -> Result<Option<Lost>> {
        if content.winner != slot {
            let winner = self.facts.content(content.winner)?.ok_or_else(|| missing(page))?;
            let sizes = (content.size as usize, winner.size as usize);
            let similarity = self.method.similarity(content.score, sizes);
            return Ok(Some(Lost { winner: winner.best, similarity, kind: Kind::Near }));
        }
        let is_copy = content.best != page;
        Ok(is_copy.then_some(Lost { winner: content.best, similarity: 1.0, kind: Kind::Exact }))
    }

    /// Whether another page is in the group of a content's best page.
    fn has_others(&self, slot: Slot, content: &ContentRow) -> Result<bool> {
        Ok(content.pages > 1
            || self.facts.group_contents(content.group, 2)?.iter().any(|&other| other != slot)
            || !self.facts.ending(content.best)?.is_empty())
    }
}

impl Lost {
    fn itself(&self) -> Lost {
        Lost { winner: self.winner, similarity: self.similarity, kind: self.kind }
    }

    /// The fate of a page that redirects to `end`. `lost` is the fate of that page.
    fn through(lost: Option<&Lost>, end: PageNumber, row: &PageRow) -> Lost {
        let itself = Lost { winner: end, similarity: 1.0, kind: Kind::Exact };
        let lost = lost.map_or(itself, Lost::itself);
        // A revisit is a copy of its page, so it is removed for the same reason.
        if row.end.revisit { lost } else { Lost { kind: Kind::Redirect, ..lost } }
    }
}

/// A name in a row, as JSON.
pub(in crate::service) fn name_of(name: &str) -> Name {
    let quoted = || serde_json::value::to_raw_value(name).expect("a string is JSON");
    Name::from(serde_json::value::RawValue::from_string(name.to_owned()).unwrap_or_else(|_| quoted()))
}

fn missing(page: PageNumber) -> Error {
    Error::NoRow { page }
}

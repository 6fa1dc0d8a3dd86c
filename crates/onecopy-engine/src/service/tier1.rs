//! Tier 1: answers a page at once, from known groups.
//!
//! It compares with at most one content and changes nothing; Tier 2 does the rest. Its answer holds if no other content
//! is similar. Tier 2 processes every page in any case.

use onecopy_core::{Config, LinkKind};
use onecopy_store::{Deed, LogReader, Look, PageNumber, PageRow, Snapshot, Version};

use super::contents::{read_sketch, unless_damaged};
use super::prepare::{Preparation, link_kind};
use super::status::{Status, StatusKind, View, name_of};
use super::tier2::class;
use crate::error::Result;

/// The number of a page that has none yet.
const NO_PAGE: PageNumber = PageNumber::MAX;

/// The state that Tier 1 reads.
pub(super) struct Tier1<'a> {
    pub preparation: &'a Preparation,
    pub snapshot: &'a Snapshot,
    pub reader: &'a LogReader,
}

/// An answer, and whether the page was known before.
pub(super) struct Told {
    pub status: Status,
    pub is_update: bool,
}

impl Tier1<'_> {
    /// The immediate answer for a version.
    pub(super) fn answer(&self, version: &Version) -> Result<Told> {
        let number = self.snapshot.page_number(&version.name)?;
        let known = number.map(|page| Look::page(self.snapshot, page)).transpose()?.flatten();
        let is_update = known.is_some() && version.deed == Deed::Put;
        let status = match (version.deed, known) {
            (Deed::Put, known) => self.put(version, number.unwrap_or(NO_PAGE), known)?,
            _ => Status::bare(name_of(&version.name), StatusKind::Dead),
        };
        Ok(Told { status: Status { settled: false, ..status }, is_update })
    }

    fn put(&self, version: &Version, page: PageNumber, known: Option<PageRow>) -> Result<Status> {
        let bare = |kind| Status::bare(name_of(&version.name), kind);
        let points = version.links.iter().any(|link| link_kind(link.kind) != LinkKind::Canonical);
        if points {
            return Ok(bare(StatusKind::Pending));
        }
        if version.silent {
            return Ok(Status { reason: Some("no words to compare".into()), ..bare(StatusKind::Rejected) });
        }
        if let Some(slot) = self.snapshot.fingerprint(version.fingerprint)? {
            let content = Look::content(self.snapshot, slot)?;
            let rank = self.rank(version);
            // A page that would become the best of its content may change the winner.
            if content
                .is_some_and(|content| content.best == page && content.rank == rank || content.rank < rank)
            {
                return self.view().status(page, &PageRow { content: Some(slot), ..self.row(version) });
            }
        }
        let like_before =
            known.map(|row| self.like_representative(version, page, &row)).transpose()?.flatten();
        Ok(like_before.unwrap_or_else(|| bare(StatusKind::Pending)))
    }

    /// The status of a page that is similar to the winner of its group: it stays in that group.
    fn like_representative(
        &self,
        version: &Version,
        page: PageNumber,
        known: &PageRow,
    ) -> Result<Option<Status>> {
        let Some(content) =
            known.content.map(|slot| Look::content(self.snapshot, slot)).transpose()?.flatten()
        else {
            return Ok(None);
        };
        let Some(winner) = Look::content(self.snapshot, content.winner)? else { return Ok(None) };
        let read = read_sketch(self.reader, winner.at, &mut Vec::new());
        let Some(sketch) = unless_damaged(read)? else { return Ok(None) };
        let Some(score) = self.preparation.method.verify(&version.sketch, &sketch) else { return Ok(None) };
        if winner.best == page {
            return Ok(Some(self.view().status(page, known)?));
        }
        if winner.rank > self.rank(version) {
            return Ok(None);
        }
        let method = &*self.preparation.method;
        let similarity = method.similarity(score, (version.sketch.len(), sketch.len()));
        let name = Look::page(self.snapshot, winner.best)?.map(|row| (name_of(&row.name), row.identity));
        let Some((name, identity)) = name else { return Ok(None) };
        let is_same = version.identity != 0 && version.identity == identity;
        Ok(Some(Status {
            winner: Some(name),
            similarity: Some(onecopy_core::shown(similarity, method.threshold())),
            kind: Some(if is_same { "url" } else { "near" }),
            group: Some(winner.group),
            ..Status::bare(name_of(&version.name), StatusKind::Loser)
        }))
    }

    fn view(&self) -> View<'_, Snapshot> {
        View { facts: self.snapshot, method: &*self.preparation.method }
    }

    fn row(&self, version: &Version) -> PageRow {
        PageRow {
            name: version.name.clone(),
            identity: version.identity,
            markets: version.markets,
            ..PageRow::default()
        }
    }

    fn rank(&self, version: &Version) -> Vec<u8> {
        let config: &Config = &self.preparation.config;
        let mut rank = vec![class(&self.row(version), config)];
        rank.extend(&version.rank);
        rank
    }
}

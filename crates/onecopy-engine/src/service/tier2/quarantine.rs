//! A change that cannot be settled, again and again, is taken out of the way.
//!
//! It may be that the page causes a panic, or that a row which it needs is damaged. One such change must not stop all
//! others: it is rejected with the reason, durably. The page stays as it was before. Its next change is tried again.
//!
//! A page whose first change was rejected has no row. The stored rejection stands in for it: pages are listed, found and
//! deleted by it, and its entry in the feed stays as long as it does.

use std::collections::BTreeSet;

use onecopy_store::{Batch, Deed, FeedSubject, Heads, Look, PageNumber, Version};

use super::batch::Logged;
use crate::error::{Error, Result};
use crate::service::collection::Collection;
use crate::service::status::{Quarantined, RejectedTraits, Status, StatusKind, name_of};

/// Pages that are quarantined no more.
#[derive(Debug, Default)]
pub(super) struct Released {
    /// Those that were settled before. The feed has to say again what they are.
    pub pages: BTreeSet<PageNumber>,
    /// Those that never were, each as a version without words.
    pub unsettled: Vec<Logged>,
}

/// Whether the change may be to blame for a failure. If files cannot be read or written, it is not.
pub(super) fn may_be_to_blame(error: &Error) -> bool {
    !matches!(error, Error::Io { .. } | Error::Store(onecopy_store::Error::Io { .. }))
}

/// Rejects a change instead of settling it.
pub(super) fn reject(collection: &Collection, logged: &Logged, why: &str) -> Result<Heads> {
    let writing = collection.begin()?;
    let mut batch = writing.batch()?;
    let mut heads = batch.heads()?;
    let Version { name, url, language, .. } = &logged.version;
    let reason = format!("its last change could not be settled: {why}");
    let status = Status { reason: Some(reason), ..Status::bare(name_of(name), StatusKind::Rejected) };
    let traits = RejectedTraits { url: url.clone(), language: *language, changed: None };
    note(&mut batch, Quarantined { status, traits }, &mut heads)?;
    let end = logged.place.end();
    (heads.settled, heads.settled_to) = (logged.version.accepted, (end.segment, end.offset));
    batch.set_heads(&heads)?;
    drop(batch);
    writing.commit()?;
    collection.renew_snapshot(None)?;
    Ok(heads)
}

/// Rejects what was rejected in the collection from which this one was made.
pub(in crate::service) fn reject_again(collection: &Collection, rejected: Vec<Quarantined>) -> Result<()> {
    let writing = collection.begin()?;
    let mut batch = writing.batch()?;
    let mut heads = batch.heads()?;
    rejected.into_iter().try_for_each(|page| note(&mut batch, page, &mut heads))?;
    batch.set_heads(&heads)?;
    drop(batch);
    writing.commit()?;
    collection.renew_snapshot(None)
}

/// Stores that the last change of a page was rejected, and adds it to the feed.
fn note(batch: &mut Batch, mut page: Quarantined, heads: &mut Heads) -> Result<()> {
    let name = page.status.page.get().to_owned();
    forget(batch, &name)?;
    heads.feed += 1;
    let bytes = serde_json::to_vec(&page.status).expect("a status is JSON");
    batch.add_change(heads.feed, FeedSubject::Rejected, &bytes)?;
    page.traits.changed = Some(heads.feed);
    Ok(batch.set_quarantined(&name, Some(&page.to_bytes()))?)
}

/// Forgets that earlier changes of these pages were rejected.
pub(super) fn release(batch: &mut Batch, versions: &[Logged]) -> Result<Released> {
    let mut released = Released::default();
    if batch.quarantined()? == 0 {
        return Ok(released);
    }
    for Logged { place, version } in versions {
        let Some(traits) = forget(batch, &version.name)? else { continue };
        match batch.page_number(&version.name)? {
            Some(page) => drop(released.pages.insert(page)),
            None => {
                let (deed, name, url) = (Deed::Put, version.name.clone(), traits.url);
                let version = Version { deed, name, url, silent: true, ..Version::default() };
                released.unsettled.push(Logged { place: *place, version });
            }
        }
    }
    Ok(released)
}

/// Forgets that the last change of a page was rejected, in the feed, too. Returns what is known of that change.
fn forget(batch: &mut Batch, name: &str) -> Result<Option<RejectedTraits>> {
    let Some(bytes) = batch.quarantined_status(name)? else { return Ok(None) };
    // A rejection that cannot be read must not block the page.
    let traits = Quarantined::from_bytes(name, &bytes).map(|page| page.traits).unwrap_or_default();
    traits.changed.map_or(Ok(()), |number| batch.remove_rejected(number))?;
    batch.set_quarantined(name, None)?;
    Ok(Some(traits))
}

/// Adds the end of pages to the feed that were never settled, and still have no row.
pub(super) fn tell_gone(batch: &mut Batch, unsettled: &[Logged], heads: &mut Heads) -> Result<()> {
    for Logged { version, .. } in unsettled {
        if batch.page_number(&version.name)?.is_none() {
            heads.feed += 1;
            let status = Status::bare(name_of(&version.name), StatusKind::Dead);
            let bytes = serde_json::to_vec(&status).expect("a status is JSON");
            batch.add_change(heads.feed, FeedSubject::Unsettled, &bytes)?;
        }
    }
    Ok(())
}

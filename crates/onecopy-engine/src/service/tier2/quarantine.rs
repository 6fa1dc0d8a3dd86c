//! A change that cannot be settled, again and again, is taken out of the way.
//!
//! It may be that the page causes a panic, or that a row which it needs is damaged. One such change must not stop all
//! others: it is rejected with the reason, durably. The page stays as it was before. Its next change is tried again.

use onecopy_store::{Batch, FeedSubject, Look};

use super::batch::Logged;
use crate::error::{Error, Result};
use crate::service::collection::Collection;
use crate::service::status::{Status, StatusKind, name_of};

/// Whether the change may be to blame for a failure. If files cannot be read or written, it is not.
pub(super) fn may_be_to_blame(error: &Error) -> bool {
    !matches!(error, Error::Io { .. } | Error::Store(onecopy_store::Error::Io { .. }))
}

/// Rejects a change instead of settling it.
pub(super) fn reject(collection: &Collection, logged: &Logged, why: &str) -> Result<onecopy_store::Heads> {
    let writing = collection.begin()?;
    let mut batch = writing.batch()?;
    let mut heads = batch.heads()?;
    let reason = format!("its last change could not be settled: {why}");
    let name = &logged.version.name;
    let status = Status { reason: Some(reason), ..Status::bare(name_of(name), StatusKind::Rejected) };
    let bytes = serde_json::to_vec(&status).expect("a status is JSON");
    batch.set_quarantined(name, Some(&bytes))?;
    heads.feed += 1;
    batch.add_change(heads.feed, FeedSubject::Rejected, &bytes)?;
    let end = logged.place.end();
    (heads.settled, heads.settled_to) = (logged.version.accepted, (end.segment, end.offset));
    batch.set_heads(&heads)?;
    drop(batch);
    writing.commit()?;
    collection.renew_snapshot(None)?;
    Ok(heads)
}

/// Forgets that earlier changes of these pages were rejected.
pub(super) fn release(batch: &mut Batch, versions: &[Logged]) -> Result<()> {
    if batch.quarantined()? > 0 {
        for logged in versions {
            batch.set_quarantined(&logged.version.name, None)?;
        }
    }
    Ok(())
}

//! Deletes the pages that a filter selects, some at a time. Each deletion is a change like any other.

use super::ask::list::{PageFilter, list};
use super::collection::Collection;
use super::cursor::PageCursor;
use super::status::{Refusal, Swept};
use super::{Action, PageName, accept};
use crate::error::Error;

/// Deletes at most `limit` pages after a cursor. Waits until the deletions are durable.
pub(super) fn sweep(
    collection: &Collection,
    filter: &PageFilter,
    after: Option<&PageCursor>,
    limit: usize,
) -> Result<Swept, Refusal> {
    let broken = |error: Error| Refusal::Broken(error.to_string());
    let found = list(collection, filter, after, limit).map_err(broken)?;
    let names: Vec<&str> = found.pages.iter().map(|page| page.status.page.get()).collect();
    let actions: Vec<Action> = names.iter().map(|name| Action::Delete(PageName::Json(name))).collect();
    let mut swept = Swept { deleted: 0, accepted: None, next: found.next };
    if actions.is_empty() {
        return Ok(swept);
    }
    for outcome in accept::accept(collection, &actions) {
        match outcome {
            Ok(accepted) => {
                swept.deleted += 1;
                swept.accepted = Some(accepted.accepted);
            }
            // Somebody else deleted it meanwhile.
            Err(Refusal::Unknown(_)) => {}
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(swept)
}

//! Accepting changes: understood, answered by Tier 1, made durable, and only then acknowledged.

use onecopy_store::{Deed, Look, Snapshot, Version};

use super::Action;
use super::shared::Shared;
use super::status::{Accepted, Refusal, Status, StatusKind};
use super::view::name_of;
use crate::error::{Error, Result};

type Outcome = std::result::Result<Accepted, Refusal>;

pub(super) fn accept(shared: &Shared, actions: &[Action]) -> Vec<Outcome> {
    if let Some(refusal) = shared.queue.refusal() {
        return actions.iter().map(|_| Err(refusal.clone())).collect();
    }
    accept_versions(shared, shared.preparation.versions(actions))
}

/// Accepts changes that are understood, whether or not too much waits.
pub(super) fn accept_versions(shared: &Shared, versions: Vec<Result<Version, Refusal>>) -> Vec<Outcome> {
    let snapshot = shared.snapshot();
    let answered: Vec<Result<(Version, Status), Refusal>> =
        versions.into_iter().map(|version| answer(shared, &snapshot, version?)).collect();
    log(shared, answered)
}

/// What Tier 1 says of a change.
fn answer(shared: &Shared, snapshot: &Snapshot, mut version: Version) -> Result<(Version, Status), Refusal> {
    if version.deed != Deed::Put {
        let typed: String = serde_json::from_str(&version.name).unwrap_or_default();
        version.name = find(shared, &typed).map_err(broken)?.ok_or(Refusal::Unknown(typed))?;
    }
    // A page that waits is not yet what it will be: Tier 1 knows only what is settled.
    let told = shared.tier1(snapshot).answer(&version).map_err(broken)?;
    if told.is_update {
        let settled = u64::from(told.status.status != StatusKind::Pending);
        shared.queue.count(|numbers| {
            numbers.updates += 1;
            numbers.updates_settled_by_tier1 += settled;
        });
    }
    Ok((version, told.status))
}

fn broken(error: Error) -> Refusal {
    Refusal::Broken(error.to_string())
}

/// The name, as JSON, of the page that is meant by what was typed, if it is known.
fn find(shared: &Shared, typed: &str) -> Result<Option<String>> {
    for name in names(typed) {
        let is_known = match shared.queue.pending(&name) {
            Some(pending) => pending.deed != Deed::Delete,
            // Asked for afterwards: what was settled in between is in it.
            None => shared.snapshot().page_number(&name)?.is_some(),
        };
        if is_known {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// The names, as JSON, that may be meant by what was typed: a string, or else a number.
pub(super) fn names(typed: &str) -> impl Iterator<Item = String> {
    let quoted = serde_json::to_string(typed).expect("a string is JSON");
    let number = typed.parse::<f64>().is_ok().then(|| typed.to_owned());
    [Some(quoted), number].into_iter().flatten()
}

/// Makes changes durable, all with one sync, and hands them to Tier 2 in the order of the log.
fn log(shared: &Shared, answered: Vec<Result<(Version, Status), Refusal>>) -> Vec<Outcome> {
    let mut log = shared.log.lock().expect("no thread panics with this lock");
    let mut accepted = shared.queue.accepted();
    let mut placed = Vec::with_capacity(answered.len());
    for change in answered {
        placed.push(change.and_then(|(mut version, status)| {
            version.accepted = accepted + 1;
            let place = log.append(&version.to_bytes()).map_err(|error| Refusal::Bad(error.to_string()))?;
            accepted += 1;
            Ok((place, version, status))
        }));
    }
    let synced = log.sync();
    placed
        .into_iter()
        .map(|change| {
            let (place, version, status) = change?;
            if let Err(error) = &synced {
                return Err(Refusal::Broken(error.to_string()));
            }
            let accepted = Accepted { accepted: version.accepted, status: status.clone() };
            // What waits under this name is what the status is until Tier 2 has seen it.
            let status = Status { page: name_of(&version.name), ..status };
            shared.queue.push((place, version), status);
            Ok(accepted)
        })
        .collect()
}

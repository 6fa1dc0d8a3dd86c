//! Accepting changes: understood, answered by Tier 1, made durable, and only then acknowledged.
//!
//! While one thread waits for the disk, what others have made ready gathers. The next that gets hold of the log writes all
//! of it, so that one sync serves all.

use std::sync::{Arc, Mutex, OnceLock};

use onecopy_store::{Deed, Log, Look, Snapshot, Version};

use super::Action;
use super::collection::Collection;
use super::status::{Accepted, Refusal, Status, StatusKind, name_of};
use super::tier2::Logged;
use crate::error::{Error, Result};

type Acceptance = std::result::Result<Accepted, Refusal>;
type Answered = std::result::Result<(Version, Status), Refusal>;

/// Changes that are ready to be written, of all threads.
#[derive(Debug, Default)]
pub(super) struct Doorway {
    submissions: Mutex<Vec<Submission>>,
}

/// The changes of one call, and where their outcomes are put.
#[derive(Debug)]
struct Submission {
    changes: Vec<Answered>,
    outcomes: Arc<OnceLock<Vec<Acceptance>>>,
}

pub(super) fn accept(collection: &Collection, actions: &[Action]) -> Vec<Acceptance> {
    if let Err(error) = collection.check_writable() {
        return actions.iter().map(|_| Err(Refusal::Broken(error.to_string()))).collect();
    }
    if let Some(refusal) = collection.queue.refusal() {
        return actions.iter().map(|_| Err(refusal.clone())).collect();
    }
    accept_versions(collection, collection.preparation.versions(actions))
}

/// Accepts changes that are understood, whether or not too much waits.
pub(super) fn accept_versions(
    collection: &Collection,
    versions: Vec<Result<Version, Refusal>>,
) -> Vec<Acceptance> {
    let snapshot = collection.snapshot();
    let answered: Vec<Answered> =
        versions.into_iter().map(|version| answer(collection, &snapshot, version?)).collect();
    log(collection, answered)
}

/// What Tier 1 says of a change.
fn answer(collection: &Collection, snapshot: &Snapshot, mut version: Version) -> Answered {
    if version.deed != Deed::Put {
        let typed: String = serde_json::from_str(&version.name).unwrap_or_default();
        version.name = find(collection, &typed).map_err(broken)?.ok_or(Refusal::Unknown(typed))?;
    }
    // A page that waits is not yet what it will be: Tier 1 knows only what is settled.
    let told = collection.tier1(snapshot).answer(&version).map_err(broken)?;
    if told.is_update {
        let settled = u64::from(told.status.status != StatusKind::Pending);
        collection.queue.count(|numbers| {
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
fn find(collection: &Collection, typed: &str) -> Result<Option<String>> {
    for name in names(typed) {
        let is_known = match collection.queue.pending(&name) {
            Some(pending) => pending.deed != Deed::Delete,
            // Asked for afterwards: what was settled in between is in it.
            None => collection.snapshot().page_number(&name)?.is_some(),
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

/// Makes changes durable, with those of other threads, and hands them to Tier 2 in the order of the log.
fn log(collection: &Collection, changes: Vec<Answered>) -> Vec<Acceptance> {
    let outcomes = Arc::new(OnceLock::new());
    collection.doorway.lock().push(Submission { changes, outcomes: outcomes.clone() });
    let mut log = collection.log.lock().expect("no thread panics with this lock");
    // Whoever had the log before may have written these, too.
    if outcomes.get().is_none() {
        let submissions = std::mem::take(&mut *collection.doorway.lock());
        write(collection, &mut log, submissions);
    }
    drop(log);
    Arc::into_inner(outcomes)
        .and_then(OnceLock::into_inner)
        .expect("a submission that was written has its outcomes")
}

impl Doorway {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Submission>> {
        self.submissions.lock().expect("no thread panics with this lock")
    }
}

/// Writes submissions with one sync.
fn write(collection: &Collection, log: &mut Log, submissions: Vec<Submission>) {
    let mut accepted = collection.queue.accepted();
    let mut placed = Vec::with_capacity(submissions.len());
    for Submission { changes, outcomes } in submissions {
        let mut append = |change: Answered| {
            let (version, status) = change?;
            append(log, version, status, &mut accepted)
        };
        let changes = changes.into_iter().map(&mut append);
        placed.push((changes.collect::<Vec<_>>(), outcomes));
    }
    let synced = log.sync().map_err(|error| Refusal::Broken(error.to_string()));
    let mut waiting = Vec::new();
    for (changes, outcomes) in placed {
        let outcome = |change: Result<Placed, Refusal>| {
            let Placed { logged, status } = change?;
            synced.clone()?;
            let accepted = Accepted { accepted: logged.version.accepted, status: status.clone() };
            // What waits under this name is what the status is until Tier 2 has seen it.
            let status = Status { page: name_of(&logged.version.name), ..status };
            waiting.push((logged, status));
            Ok(accepted)
        };
        let all = changes.into_iter().map(outcome).collect();
        outcomes.set(all).expect("a submission is written once");
    }
    collection.queue.push(waiting);
}

/// A change that is in the log, and what was said of it.
struct Placed {
    logged: Logged,
    status: Status,
}

fn append(
    log: &mut Log,
    mut version: Version,
    status: Status,
    accepted: &mut u64,
) -> Result<Placed, Refusal> {
    version.accepted = *accepted + 1;
    let place = log.append(&version.to_bytes()).map_err(|error| Refusal::Bad(error.to_string()))?;
    *accepted += 1;
    Ok(Placed { logged: Logged { place, version }, status })
}

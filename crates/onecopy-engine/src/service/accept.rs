//! Accepts changes: parses them, asks Tier 1, makes them durable, and only then acknowledges them.
//!
//! While one thread waits for the disk, other threads queue their changes. The next thread that gets the log writes all
//! of them with one sync.

use std::sync::{Arc, MutexGuard, OnceLock};

use onecopy_store::{Deed, Log, Look, Snapshot, Version};

use super::collection::Collection;
use super::status::{Accepted, Refusal, Status, StatusKind, name_of};
use super::tier2::Logged;
use super::{Action, PageName};
use crate::error::{Error, Result};
use crate::lock::Lock;

type Acceptance = std::result::Result<Accepted, Refusal>;
type Answered = std::result::Result<(Version, Status), Refusal>;

/// Changes of all threads that are ready to be written.
#[derive(Debug, Default)]
pub(super) struct Doorway {
    submissions: Lock<Vec<Submission>>,
    /// Why the log could not be written the last time.
    failure: Lock<Option<String>>,
}

/// The changes of one call, and the place for their outcomes.
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
    let versions = collection.preparation.versions(actions).into_iter().zip(actions);
    accept_versions(
        collection,
        versions.map(|(version, action)| named(collection, version?, action)).collect(),
    )
}

/// Accepts parsed changes, even if the queue is full.
pub(super) fn accept_versions(
    collection: &Collection,
    versions: Vec<Result<Version, Refusal>>,
) -> Vec<Acceptance> {
    let snapshot = collection.snapshot();
    let answered: Vec<Answered> =
        versions.into_iter().map(|version| answer(collection, &snapshot, version?)).collect();
    log(collection, answered)
}

/// Why no change can be accepted at the moment: the log could not be written.
pub(super) fn log_failure(collection: &Collection) -> Option<Refusal> {
    collection.doorway.failure().clone().map(Refusal::Broken)
}

/// Tries to write a log that failed.
pub(super) fn retry_log(collection: &Collection) {
    if collection.doorway.failure().is_some() {
        let tried = collection.log.lock().probe();
        *collection.doorway.failure() = tried.err().map(|error| error.to_string());
    }
}

/// The answer of Tier 1 to a change.
fn answer(collection: &Collection, snapshot: &Snapshot, version: Version) -> Answered {
    // Tier 1 knows only settled pages. A waiting page may still change.
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

/// A version with the name of the known page that the action means.
fn named(collection: &Collection, mut version: Version, action: &Action) -> Result<Version, Refusal> {
    if let Action::Dead(name) | Action::Delete(name) = action {
        let found = find(collection, *name).map_err(broken)?;
        version.name = found.ok_or_else(|| Refusal::Unknown(name.text()))?;
    }
    Ok(version)
}

/// The name as JSON of the page that is meant, if it is known.
fn find(collection: &Collection, page: PageName) -> Result<Option<String>> {
    for name in page.candidates() {
        let is_known = match collection.queue.pending(&name) {
            Some(pending) => pending.deed != Deed::Delete,
            // The snapshot comes last, so that it includes changes that were settled in between.
            None => {
                let snapshot = collection.snapshot();
                snapshot.page_number(&name)?.is_some() || snapshot.quarantined_status(&name)?.is_some()
            }
        };
        if is_known {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Makes changes durable, together with those of other threads, and gives them to Tier 2 in the order of the log.
fn log(collection: &Collection, changes: Vec<Answered>) -> Vec<Acceptance> {
    let outcomes = Arc::new(OnceLock::new());
    collection.doorway.lock().push(Submission { changes, outcomes: outcomes.clone() });
    let mut log = collection.log.lock();
    // The previous holder of the log may have written these too.
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
    fn lock(&self) -> MutexGuard<'_, Vec<Submission>> {
        self.submissions.lock()
    }

    fn failure(&self) -> MutexGuard<'_, Option<String>> {
        self.failure.lock()
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
    *collection.doorway.failure() = synced.as_ref().err().map(Refusal::to_string);
    let mut waiting = Vec::new();
    for (changes, outcomes) in placed {
        let outcome = |change: Result<Placed, Refusal>| {
            let Placed { logged, status } = change?;
            synced.clone()?;
            let accepted = Accepted { accepted: logged.version.accepted, status: status.clone() };
            // Until Tier 2 has settled a page, its status is that of the waiting change.
            let status = Status { page: name_of(&logged.version.name), ..status };
            waiting.push((logged, status));
            Ok(accepted)
        };
        let all = changes.into_iter().map(outcome).collect();
        outcomes.set(all).expect("a submission is written once");
    }
    collection.queue.push(waiting);
}

/// A change in the log, and the answer to it.
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

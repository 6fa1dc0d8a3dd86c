//! The queue of accepted changes before Tier 2, and the threads that wait for it.

use std::collections::{HashMap, VecDeque};
use std::sync::MutexGuard;
use std::time::{Duration, Instant};

use onecopy_store::{Deed, Heads, Place, Version};

use super::contents::Query;
use super::status::{Refusal, Status};
use super::tier2::Logged;
use crate::lock::{Lock, Signal};

/// The number of changes to copy per lock of the queue.
const LOCKED: usize = 64;
/// The number of changes that start a batch at once.
const ENOUGH: usize = 1_024;
/// The waiting time in a refusal.
const RETRY_SECONDS: u64 = 1;

/// The queue of a collection.
#[derive(Debug)]
pub(super) struct Queue {
    inside: Lock<Inside>,
    /// Signals work for Tier 2.
    arrived: Signal,
    /// Signals that Tier 2 has finished a batch.
    changed: Signal,
    limit_bytes: u64,
    /// The most changes per batch.
    batch_changes: usize,
}

#[derive(Debug, Default)]
struct Inside {
    waiting: VecDeque<Logged>,
    /// The bytes of waiting changes and of the current batch.
    bytes: u64,
    /// The last waiting change of each page, by name.
    pending: HashMap<String, WaitingChange>,
    /// Groups to be repaired.
    repairs: VecDeque<u64>,
    repaired: HashMap<u64, u64>,
    /// Checks of losers that are not stored yet, by group: all and failed ones.
    checks: HashMap<u64, (u64, u64)>,
    accepted: u64,
    heads: Heads,
    /// The number of changes in the current batch.
    settling: u64,
    stopping: bool,
    broken: Option<String>,
    numbers: Numbers,
}

/// A waiting change.
#[derive(Clone, Debug)]
pub(super) struct WaitingChange {
    accepted: u64,
    pub deed: Deed,
    /// The answer of Tier 1.
    pub status: Status,
}

/// Counters since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbers {
    pub updates: u64,
    pub updates_settled_by_tier1: u64,
    pub compared_pages: u64,
    pub compared_pairs: u64,
    pub checked: u64,
    pub failed: u64,
    pub repaired: u64,
}

/// Work for Tier 2.
#[derive(Debug, Default)]
pub(super) struct BatchWork {
    pub versions: Vec<Logged>,
    pub repairs: Vec<u64>,
    pub checks: HashMap<u64, (u64, u64)>,
}

/// The state of the queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Gauge {
    pub waiting: u64,
    pub bytes: u64,
    pub accepted: u64,
    pub heads: Heads,
    pub numbers: Numbers,
}

impl Inside {
    fn has_work(&self) -> bool {
        !self.waiting.is_empty() || !self.repairs.is_empty() || !self.checks.is_empty()
    }
}

impl Queue {
    pub(super) fn new(limit_bytes: u64, batch_changes: usize, heads: Heads) -> Queue {
        let inside = Inside { accepted: heads.settled, heads, ..Inside::default() };
        let (arrived, changed) = (Signal::default(), Signal::default());
        Queue { inside: Lock::new(inside), arrived, changed, limit_bytes, batch_changes }
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock()
    }

    /// Why changes are refused now; `None` if they are accepted.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        let inside = self.lock();
        match &inside.broken {
            Some(why) => Some(Refusal::Broken(why.clone())),
            None if inside.stopping => Some(Refusal::Broken("the collection is being closed".into())),
            None => (inside.bytes >= self.limit_bytes).then_some(Refusal::Full(RETRY_SECONDS)),
        }
    }

    /// The number of the last accepted change.
    pub(super) fn accepted(&self) -> u64 {
        self.lock().accepted
    }

    /// Adds durable changes and the answers to them.
    pub(super) fn push(&self, changes: Vec<(Logged, Status)>) {
        let mut inside = self.lock();
        for (logged, status) in changes {
            let Logged { place, version } = &logged;
            inside.accepted = version.accepted;
            inside.bytes += u64::from(place.length);
            let pending = WaitingChange { accepted: version.accepted, deed: version.deed, status };
            inside.pending.insert(version.name.clone(), pending);
            inside.waiting.push_back(logged);
        }
        self.arrived.notify_all();
    }

    /// The last waiting change of a page.
    pub(super) fn pending(&self, name: &str) -> Option<WaitingChange> {
        self.lock().pending.get(name).cloned()
    }

    /// Waits for work, and a little longer for more. `None` once the collection is being closed.
    pub(super) fn take(&self, linger: Duration) -> Option<BatchWork> {
        let mut inside = self.lock();
        loop {
            if inside.stopping {
                return None;
            }
            if inside.has_work() {
                break;
            }
            inside = self.arrived.wait(inside);
        }
        let until = Instant::now() + linger;
        while inside.waiting.len() < ENOUGH && !inside.stopping && inside.repairs.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            inside = self.arrived.wait_for(inside, left);
        }
        if inside.stopping {
            return None;
        }
        let count = inside.waiting.len().min(self.batch_changes);
        inside.settling = count as u64;
        let versions = inside.waiting.drain(..count).collect();
        Some(BatchWork {
            versions,
            repairs: inside.repairs.drain(..).collect(),
            checks: std::mem::take(&mut inside.checks),
        })
    }

    /// Waits so long for work. Says whether there is none, and the collection stays open.
    pub(super) fn is_idle_for(&self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        let mut inside = self.lock();
        loop {
            if inside.stopping || inside.has_work() {
                return false;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            inside = self.arrived.wait_for(inside, left);
        }
    }

    /// The waiting pages of the next batch, except those whose text `is_known`. Only Tier 2 may call this: no other
    /// thread removes changes, so their positions in the queue stay valid.
    pub(super) fn upcoming(&self, is_known: impl Fn(u128) -> bool) -> Vec<Query<Place>> {
        let is_put = |version: &Version| version.deed == Deed::Put && !version.silent;
        let text = |logged: &Logged| is_put(&logged.version).then_some(logged.version.fingerprint);
        let texts: Vec<Option<u128>> =
            self.lock().waiting.iter().take(self.batch_changes).map(text).collect();
        let mut places: Vec<usize> = (0..texts.len()).collect();
        places.retain(|at| texts[*at].is_some_and(|fingerprint| !is_known(fingerprint)));
        let mut upcoming = Vec::with_capacity(places.len());
        for some in places.chunks(LOCKED) {
            let inside = self.lock();
            let waiting = some.iter().filter_map(|at| inside.waiting.get(*at));
            upcoming.extend(
                waiting.map(|logged| Query { name: logged.place, sketch: logged.version.sketch[..].into() }),
            );
        }
        upcoming
    }

    /// Records that work is done, and its results.
    pub(super) fn done(
        &self,
        work: BatchWork,
        heads: Heads,
        repaired: &[(u64, u64)],
        add: impl FnOnce(&mut Numbers),
    ) {
        let mut inside = self.lock();
        for Logged { place, version } in &work.versions {
            inside.bytes -= u64::from(place.length);
            if inside.pending.get(&version.name).is_some_and(|pending| pending.accepted <= version.accepted) {
                inside.pending.remove(&version.name);
            }
        }
        inside.settling = 0;
        inside.heads = heads;
        inside.broken = None;
        inside.repaired.extend(repaired.iter().copied());
        add(&mut inside.numbers);
        self.changed.notify_all();
    }

    /// Puts failed work back, records the reason, and waits a little.
    pub(super) fn failed(&self, work: BatchWork, why: String, pause: Duration) {
        let mut inside = self.lock();
        for logged in work.versions.into_iter().rev() {
            inside.waiting.push_front(logged);
        }
        inside.repairs.extend(work.repairs);
        inside.settling = 0;
        inside.broken = Some(why);
        self.changed.notify_all();
        let until = Instant::now() + pause;
        while !inside.stopping {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            inside = self.arrived.wait_for(inside, left);
        }
    }

    /// Updates the counters since the start.
    pub(super) fn count(&self, add: impl FnOnce(&mut Numbers)) {
        add(&mut self.lock().numbers);
    }

    /// Counts a check of a loser.
    pub(super) fn checked(&self, group: u64, holds: bool) {
        let mut inside = self.lock();
        let checks = inside.checks.entry(group).or_default();
        *checks = (checks.0 + 1, checks.1 + u64::from(!holds));
        inside.numbers.checked += 1;
        inside.numbers.failed += u64::from(!holds);
        self.arrived.notify_all();
    }

    /// Requests a repair and waits for it. `None` if the collection is closed first.
    pub(super) fn repair(&self, group: u64) -> Option<u64> {
        let mut inside = self.lock();
        inside.repairs.push_back(group);
        self.arrived.notify_all();
        loop {
            if let Some(changed) = inside.repaired.remove(&group) {
                return Some(changed);
            }
            if inside.stopping {
                return None;
            }
            inside = self.changed.wait(inside);
        }
    }

    /// Waits until `done`, at most this long. Returns whether it is.
    fn wait(&self, most: Duration, done: impl Fn(&Inside) -> bool) -> bool {
        let until = Instant::now() + most;
        let mut inside = self.lock();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if done(&inside) || left.is_zero() || inside.stopping {
                return done(&inside);
            }
            inside = self.changed.wait_for(inside, left);
        }
    }

    pub(super) fn wait_for_feed(&self, after: u64, most: Duration) -> u64 {
        self.wait(most, |inside| inside.heads.feed > after);
        self.lock().heads.feed
    }

    pub(super) fn drain(&self, most: Duration) -> bool {
        self.wait(most, |inside| {
            inside.waiting.is_empty()
                && inside.settling == 0
                && inside.repairs.is_empty()
                && inside.checks.is_empty()
        })
    }

    /// Wakes all waiting threads and lets no thread wait again.
    pub(super) fn stop(&self) {
        self.lock().stopping = true;
        self.arrived.notify_all();
        self.changed.notify_all();
    }

    pub(super) fn gauge(&self) -> Gauge {
        let inside = self.lock();
        Gauge {
            waiting: inside.waiting.len() as u64 + inside.settling,
            bytes: inside.bytes,
            accepted: inside.accepted,
            heads: inside.heads.clone(),
            numbers: inside.numbers,
        }
    }
}

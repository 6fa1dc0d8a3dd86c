//! The queue of accepted changes before Tier 2, and the threads that wait for it.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, MutexGuard, OnceLock};
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
    limits: QueueLimits,
}

/// How much waits, and how much is settled at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueLimits {
    /// The most bytes that wait.
    pub waiting_bytes: u64,
    /// The most changes of a batch.
    pub batch_changes: usize,
    /// About the most bytes of a batch.
    pub batch_bytes: u64,
}

/// A group to be repaired. All who asked wait for the outcome: how many pages changed, or why it failed.
#[derive(Clone, Debug)]
pub(super) struct Repair {
    pub group: u64,
    outcome: Arc<OnceLock<Result<u64, String>>>,
}

#[derive(Debug, Default)]
struct Inside {
    waiting: VecDeque<Logged>,
    /// The bytes of waiting changes and of the current batch.
    bytes: u64,
    /// The last waiting change of each page, by name.
    pending: BTreeMap<String, WaitingChange>,
    /// Groups to be repaired.
    repairs: VecDeque<Repair>,
    /// Checks of losers that are not stored yet, by group: all and failed ones.
    checks: HashMap<u64, (u64, u64)>,
    accepted: u64,
    heads: Heads,
    /// The number of changes in the current batch.
    settling: u64,
    stopping: bool,
    broken: Option<String>,
    /// The damage of the tables, which no retry mends.
    damaged: Option<String>,
    /// While a change that cannot be settled is looked for: the most changes of a batch, which has nothing else.
    narrowed: Option<usize>,
    numbers: Numbers,
}

/// A waiting change.
#[derive(Clone, Debug)]
pub(super) struct WaitingChange {
    accepted: u64,
    pub deed: Deed,
    /// Where it is in the log.
    pub at: Place,
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
    pub repairs: Vec<Repair>,
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
    /// How many of the waiting changes the next batch has.
    fn next_batch(&self, limits: QueueLimits) -> usize {
        let most = self.narrowed.map_or(limits.batch_changes, |most| most.min(limits.batch_changes));
        let mut bytes = 0;
        let fits = |logged: &&Logged| {
            bytes += u64::from(logged.place.length);
            bytes <= limits.batch_bytes
        };
        let count = self.waiting.iter().take(most).take_while(fits).count();
        // A change that is too long is a batch of its own.
        count.max(1).min(self.waiting.len())
    }

    /// Puts work back that is not done.
    fn put_back(&mut self, work: BatchWork) {
        work.versions.into_iter().rev().for_each(|logged| self.waiting.push_front(logged));
        work.repairs.into_iter().rev().for_each(|repair| self.repairs.push_front(repair));
        for (group, (checked, failed)) in work.checks {
            let checks = self.checks.entry(group).or_default();
            *checks = (checks.0 + checked, checks.1 + failed);
        }
        self.settling = 0;
    }

    fn has_work(&self) -> bool {
        !self.waiting.is_empty() || !self.repairs.is_empty() || !self.checks.is_empty()
    }
}

impl Queue {
    pub(super) fn new(limits: QueueLimits, heads: Heads) -> Queue {
        let inside = Inside { accepted: heads.settled, heads, ..Inside::default() };
        let (arrived, changed) = (Signal::default(), Signal::default());
        Queue { inside: Lock::new(inside), arrived, changed, limits }
    }

    /// Stops accepting for good: the tables are damaged.
    pub(super) fn damage(&self, why: String) {
        let mut inside = self.lock();
        inside.damaged.get_or_insert(why);
        self.changed.notify_all();
    }

    /// Waits so long. Returns true at once when the collection is being closed.
    pub(super) fn stops_within(&self, pause: Duration) -> bool {
        self.wait(pause, |inside| inside.stopping)
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock()
    }

    /// Why changes are refused now; `None` if they are accepted.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        let inside = self.lock();
        match inside.damaged.as_ref().or(inside.broken.as_ref()) {
            Some(why) => Some(Refusal::Broken(why.clone())),
            None if inside.stopping => Some(Refusal::Broken("the collection is being closed".into())),
            None => (inside.bytes >= self.limits.waiting_bytes).then_some(Refusal::Full(RETRY_SECONDS)),
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
            let (accepted, deed, at) = (version.accepted, version.deed, *place);
            let pending = WaitingChange { accepted, deed, at, status };
            inside.pending.insert(version.name.clone(), pending);
            inside.waiting.push_back(logged);
        }
        self.arrived.notify_all();
    }

    /// The last waiting change of a page.
    pub(super) fn pending(&self, name: &str) -> Option<WaitingChange> {
        self.lock().pending.get(name).cloned()
    }

    /// The last waiting changes of the first pages from a name on, by name; at most so many.
    pub(super) fn pending_from(&self, from: Bound<&str>, most: usize) -> Vec<(String, WaitingChange)> {
        let inside = self.lock();
        let range = inside.pending.range::<str, _>((from, Bound::Unbounded)).take(most);
        range.map(|(name, change)| (name.clone(), change.clone())).collect()
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
        let count = inside.next_batch(self.limits);
        inside.settling = count as u64;
        let versions: Vec<Logged> = inside.waiting.drain(..count).collect();
        if inside.narrowed.is_some() {
            // One kind of work at a time.
            let next = if versions.is_empty() { inside.repairs.pop_front() } else { None };
            let is_alone = versions.is_empty() && next.is_none();
            let checks = if is_alone { std::mem::take(&mut inside.checks) } else { HashMap::new() };
            return Some(BatchWork { versions, repairs: next.into_iter().collect(), checks });
        }
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
        let inside = self.lock();
        let count = inside.next_batch(self.limits);
        let texts: Vec<Option<u128>> = inside.waiting.iter().take(count).map(text).collect();
        drop(inside);
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
        repaired: &BTreeMap<u64, u64>,
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
        let widened = inside.narrowed.map(|most| most * 2);
        inside.narrowed = widened.filter(|most| *most < self.limits.batch_changes);
        for Repair { group, outcome } in work.repairs {
            outcome.set(Ok(repaired.get(&group).copied().unwrap_or(0))).ok();
        }
        add(&mut inside.numbers);
        self.changed.notify_all();
    }

    /// Puts failed work back, to be tried in halves. Says whether it cannot be divided.
    pub(super) fn narrow(&self, work: BatchWork) -> Result<(), BatchWork> {
        let (changes, repairs) = (work.versions.len(), work.repairs.len());
        if changes + repairs + work.checks.len() <= 1 || changes == 0 && self.lock().narrowed.is_some() {
            return Err(work);
        }
        let mut inside = self.lock();
        inside.narrowed = Some((changes / 2).max(1));
        inside.broken = None;
        inside.put_back(work);
        Ok(())
    }

    /// Whether a change that cannot be settled is looked for.
    pub(super) fn is_narrowed(&self) -> bool {
        self.lock().narrowed.is_some()
    }

    /// Ends work that fails again and again without a change of a page.
    pub(super) fn give_up(&self, work: BatchWork, why: &str) {
        let mut inside = self.lock();
        inside.settling = 0;
        for Repair { outcome, .. } in work.repairs {
            outcome.set(Err(why.to_owned())).ok();
        }
        self.changed.notify_all();
    }

    /// Puts failed work back, records the reason, and waits a little.
    pub(super) fn failed(&self, work: BatchWork, why: String, pause: Duration) {
        let mut inside = self.lock();
        inside.put_back(work);
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
    pub(super) fn repair(&self, group: u64) -> Option<Result<u64, String>> {
        let mut inside = self.lock();
        let outcome = Arc::new(OnceLock::new());
        inside.repairs.push_back(Repair { group, outcome: outcome.clone() });
        self.arrived.notify_all();
        loop {
            if let Some(outcome) = outcome.get() {
                return Some(outcome.clone());
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

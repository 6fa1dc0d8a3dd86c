//! Log segments that must stay although they are no longer in use: a reader holds an earlier snapshot, or they are
//! damaged.

use std::sync::{Arc, MutexGuard, Weak};

use onecopy_store::Snapshot;

use crate::lock::Lock;

/// Snapshots that readers may hold, and the log segments that must stay for them.
#[derive(Debug, Default)]
pub(super) struct Past(Lock<Retained>);

#[derive(Debug, Default)]
struct Retained {
    /// Earlier snapshots.
    snapshots: Vec<Weak<Snapshot>>,
    /// The oldest snapshot that another process may read.
    held: Option<Arc<Snapshot>>,
    /// Segments that only readers of an earlier snapshot need.
    doomed: Vec<u32>,
    /// Damaged segments, which must stay.
    spared: Vec<u32>,
}

impl Past {
    fn lock(&self) -> MutexGuard<'_, Retained> {
        self.0.lock()
    }

    /// Notes that a snapshot was replaced. Readers may still hold it, here or in another process.
    pub(super) fn replaced(&self, snapshot: Arc<Snapshot>, is_read: impl FnOnce() -> bool) {
        let mut kept = self.lock();
        kept.snapshots.push(Arc::downgrade(&snapshot));
        match is_read() {
            true => drop(kept.held.get_or_insert(snapshot)),
            false => (kept.held, _) = (None, snapshot),
        }
        kept.snapshots.retain(|snapshot| snapshot.strong_count() > 0);
    }

    /// Lets go of the snapshot that is held for other processes, if none reads.
    pub(super) fn release(&self, is_read: impl FnOnce() -> bool) {
        let mut kept = self.lock();
        if kept.held.is_some() && !is_read() {
            kept.held = None;
        }
    }

    /// Marks a segment that only readers of earlier snapshots need.
    pub(super) fn doom(&self, segment: u32) {
        self.lock().doomed.push(segment);
    }

    /// Marks a damaged segment, which must not be rewritten.
    pub(super) fn spare(&self, segment: u32) {
        self.lock().spared.push(segment);
    }

    /// Whether a segment is doomed or spared.
    pub(super) fn holds(&self, segment: u32) -> bool {
        let kept = self.lock();
        kept.doomed.contains(&segment) || kept.spared.contains(&segment)
    }

    /// Passes each doomed segment to `remove`, once nobody reads an earlier snapshot.
    pub(super) fn clear<E>(&self, mut remove: impl FnMut(u32) -> Result<(), E>) -> Result<(), E> {
        let mut kept = self.lock();
        kept.snapshots.retain(|snapshot| snapshot.strong_count() > 0);
        while kept.snapshots.is_empty()
            && let Some(segment) = kept.doomed.pop()
        {
            remove(segment)?;
        }
        Ok(())
    }
}

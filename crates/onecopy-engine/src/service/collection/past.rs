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
    /// Segments that only readers of an earlier snapshot need.
    doomed: Vec<u32>,
    /// Damaged segments, which must stay.
    spared: Vec<u32>,
}

impl Past {
    fn lock(&self) -> MutexGuard<'_, Retained> {
        self.0.lock()
    }

    /// Remembers a replaced snapshot, which readers may still hold.
    pub(super) fn replaced(&self, snapshot: &Arc<Snapshot>) {
        let mut kept = self.lock();
        kept.snapshots.retain(|snapshot| snapshot.strong_count() > 0);
        kept.snapshots.push(Arc::downgrade(snapshot));
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

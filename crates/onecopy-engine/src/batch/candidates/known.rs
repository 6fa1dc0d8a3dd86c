//! The runs that were written, as far as there is room to remember them: most come again, one time for each key that their
//! contents share.

use std::sync::{Mutex, MutexGuard};

/// So many locks that two threads rarely meet.
const SHARDS: usize = 64;

/// What is known of runs. Each has one place, by its contents, and takes it from the one before, so this may forget.
pub(super) struct Known {
    shards: Vec<Mutex<Vec<Written>>>,
}

/// A run that was written.
#[derive(Clone, Copy)]
pub(super) struct Written {
    /// Of its contents. 128 bits: runs are taken to be equal by their hash alone.
    pub hash: u128,
    /// What comes behind the key in its first content.
    pub rest: u32,
    pub part: u32,
    /// Where its holders are in the memory of the part, if they are there.
    pub at: Option<u32>,
}

impl Known {
    /// Remembers some `runs`.
    pub(super) fn new(runs: usize) -> Known {
        if runs == 0 {
            return Known { shards: Vec::new() };
        }
        // No zeros: memory that is zero is given when it is read, and again when it is written.
        let none = Written { hash: 1, rest: 0, part: 0, at: None };
        let shard = |_| Mutex::new(vec![none; runs.div_ceil(SHARDS)]);
        Known { shards: (0..SHARDS).map(shard).collect() }
    }

    /// Whether nothing is remembered.
    pub(super) fn is_empty(&self) -> bool {
        self.shards.is_empty()
    }

    /// The place of a run, if anything is remembered.
    pub(super) fn place(&self, hash: u128) -> Place<'_> {
        let shard = self.shards[hash as usize % SHARDS].lock().expect("no thread panics with this lock");
        let at = (hash >> 64) as usize % shard.len();
        Place { shard, at }
    }
}

/// The place of a run, locked.
pub(super) struct Place<'a> {
    shard: MutexGuard<'a, Vec<Written>>,
    at: usize,
}

impl Place<'_> {
    /// What has the place.
    pub(super) fn get(&mut self) -> &mut Written {
        &mut self.shard[self.at]
    }
}

//! Remembers written key lists, as far as memory allows. Most lists repeat, once for each key that their contents
//! share.

use std::sync::{Mutex, MutexGuard};

/// The number of locks: enough that two threads rarely compete for one.
const SHARDS: usize = 64;

/// A lossy cache of written lists. A hash of the contents selects the place of a list, which overwrites the previous
/// one.
pub(super) struct KnownLists {
    /// Each gets its memory when it is first used, by the thread that uses it.
    shards: Vec<Mutex<Vec<Written>>>,
    /// The number of places in a shard.
    shard_lists: usize,
}

/// A key list that was written.
#[derive(Clone, Copy)]
pub(super) struct Written {
    /// A hash of the contents. It has 128 bits, so equal hashes count as equal lists.
    pub hash: u128,
    /// The number behind the key in the first content.
    pub rest: u32,
    pub part: u32,
    /// The position of the list in the memory of the part, if it is there.
    pub at: Option<u32>,
}

impl KnownLists {
    /// Remembers about this many lists.
    pub(super) fn new(lists: usize) -> KnownLists {
        let shards = if lists == 0 { Vec::new() } else { (0..SHARDS).map(|_| Mutex::default()).collect() };
        KnownLists { shards, shard_lists: lists.div_ceil(SHARDS) }
    }

    /// Whether the cache has no places.
    pub(super) fn is_empty(&self) -> bool {
        self.shards.is_empty()
    }

    /// The place of a list. The cache must not be empty.
    pub(super) fn place(&self, hash: u128) -> Place<'_> {
        let mut shard = self.shards[hash as usize % SHARDS].lock().expect("no thread panics with this lock");
        if shard.is_empty() {
            // Not zero: the system would map zeroed memory when it is first read, and again when it is written.
            shard.resize(self.shard_lists, Written { hash: 1, rest: 0, part: 0, at: None });
        }
        let at = (hash >> 64) as usize % shard.len();
        Place { shard, at }
    }
}

/// The locked place of a list.
pub(super) struct Place<'a> {
    shard: MutexGuard<'a, Vec<Written>>,
    at: usize,
}

impl Place<'_> {
    /// The list at this place.
    pub(super) fn get(&mut self) -> &mut Written {
        &mut self.shard[self.at]
    }
}

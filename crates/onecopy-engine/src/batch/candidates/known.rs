//! Remembers written key lists, as far as memory allows. Most lists repeat, once for each key that their contents
//! share.

use std::sync::{Mutex, MutexGuard};

/// The number of locks: enough that two threads rarely compete for one.
const SHARDS: usize = 64;

/// A lossy cache of written lists. A hash of the contents selects the place of a list, which overwrites the previous
/// one.
pub(super) struct KnownLists {
    shards: Vec<Mutex<Vec<Written>>>,
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
        if lists == 0 {
            return KnownLists { shards: Vec::new() };
        }
        // Not zero: the system would map zeroed memory when it is first read, and again when it is written.
        let none = Written { hash: 1, rest: 0, part: 0, at: None };
        let shard = |_| Mutex::new(vec![none; lists.div_ceil(SHARDS)]);
        KnownLists { shards: (0..SHARDS).map(shard).collect() }
    }

    /// Whether the cache has no places.
    pub(super) fn is_empty(&self) -> bool {
        self.shards.is_empty()
    }

    /// The place of a list. The cache must not be empty.
    pub(super) fn place(&self, hash: u128) -> Place<'_> {
        let shard = self.shards[hash as usize % SHARDS].lock().expect("no thread panics with this lock");
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

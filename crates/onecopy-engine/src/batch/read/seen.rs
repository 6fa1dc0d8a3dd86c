//! The fingerprints of sketched pages, so that copies need no sketch.
//!
//! The set may forget. If it is full, a copy is sketched again, and nothing else changes.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Mutex;

use onecopy_core::Fingerprint;

const SHARDS: usize = 64;

/// A set of fingerprints that many threads fill.
pub(crate) struct Seen {
    shards: Vec<Mutex<HashSet<u128, BuildHasherDefault<Half>>>>,
    /// The most fingerprints per shard.
    limit: usize,
}

impl Seen {
    /// Creates a set for about `limit` fingerprints.
    pub(crate) fn new(limit: usize) -> Seen {
        Seen { shards: (0..SHARDS).map(|_| Mutex::default()).collect(), limit: limit / SHARDS + 1 }
    }

    /// Adds a fingerprint. Returns whether the set had it already.
    pub(crate) fn has(&self, fingerprint: Fingerprint) -> bool {
        let shard = (fingerprint.0 >> 122) as usize;
        let mut shard = self.shards[shard].lock().expect("no thread panics with this lock");
        if shard.len() >= self.limit { shard.contains(&fingerprint.0) } else { !shard.insert(fingerprint.0) }
    }
}

/// Fingerprints are uniform, so half of one serves as its hash.
#[derive(Default)]
struct Half(u64);

impl Hasher for Half {
    fn write(&mut self, _: &[u8]) {
        unreachable!("only fingerprints are hashed");
    }
    fn write_u128(&mut self, value: u128) {
        self.0 = value as u64;
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

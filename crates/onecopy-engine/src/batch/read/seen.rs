//! The fingerprints of pages that have been sketched, so that a copy need not be.
//!
//! It may forget: when it is full, a copy is sketched again and nothing else changes.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Mutex;

use onecopy_core::Fingerprint;

const SHARDS: usize = 64;

/// A set of fingerprints that many threads add to.
pub(crate) struct Seen {
    shards: Vec<Mutex<HashSet<u128, BuildHasherDefault<Half>>>>,
    /// Most fingerprints in a shard.
    limit: usize,
}

impl Seen {
    /// A set that holds about `limit` fingerprints.
    pub(crate) fn new(limit: usize) -> Seen {
        Seen { shards: (0..SHARDS).map(|_| Mutex::default()).collect(), limit: limit / SHARDS + 1 }
    }

    /// Adds a fingerprint; says whether it was there.
    pub(crate) fn has(&self, fingerprint: Fingerprint) -> bool {
        let shard = (fingerprint.0 >> 122) as usize;
        let mut shard = self.shards[shard].lock().expect("no thread panics with this lock");
        if shard.len() >= self.limit { shard.contains(&fingerprint.0) } else { !shard.insert(fingerprint.0) }
    }
}

/// Fingerprints are uniform already: half of one is its hash.
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

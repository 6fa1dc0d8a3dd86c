//! gaoya with another hash function for shingles than it has by default. That, FNV, reads a byte at a time; ahash is what
//! gaoya uses inside.

use gaoya::minhash::MinHasher32;

fn main() -> anyhow::Result<()> {
    let state = ahash::RandomState::with_seeds(1, 2, 3, 4);
    peer_gaoya::run(|hashes| MinHasher32::new_with_hasher(hashes, state))
}

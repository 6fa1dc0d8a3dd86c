//! gaoya with ahash for shingles instead of its default. The default, FNV, reads one byte at a time; gaoya uses ahash
//! internally.

use gaoya::minhash::MinHasher32;

fn main() -> anyhow::Result<()> {
    let state = ahash::RandomState::with_seeds(1, 2, 3, 4);
    peer_gaoya::run(|hashes| MinHasher32::new_with_hasher(hashes, state))
}

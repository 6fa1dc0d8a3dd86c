//! gaoya with the hash function of its documentation.

use gaoya::minhash::MinHasher32;

fn main() -> anyhow::Result<()> {
    peer_gaoya::run(MinHasher32::new)
}

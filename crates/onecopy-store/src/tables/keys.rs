//! Keys that are made of several parts. Numbers are in big-endian order, so that keys sort as the numbers do.

use super::Role;

/// A content's page: the content, the page's class, its rank.
pub(super) fn copy(slot: u32, class: u8, rank: &[u8]) -> Vec<u8> {
    let mut key = slot.to_be_bytes().to_vec();
    key.push(class);
    key.extend(rank);
    key
}

/// Who is at an address: the role, the hash of the address, the rank.
pub(super) fn standing(role: Role, hash: u64, rank: &[u8]) -> Vec<u8> {
    let mut key = vec![role as u8];
    key.extend(hash.to_be_bytes());
    key.extend(rank);
    key
}

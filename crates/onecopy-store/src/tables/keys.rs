//! Composite keys. Numbers are big-endian, so that keys sort like the numbers.

use super::Role;

/// The key of a content's page: content, class of the page, rank.
pub(super) fn copy(slot: u32, class: u8, rank: &[u8]) -> Vec<u8> {
    let mut key = slot.to_be_bytes().to_vec();
    key.push(class);
    key.extend(rank);
    key
}

/// The key of a page at an address: role, hash of the address, rank.
pub(super) fn standing(role: Role, hash: u64, rank: &[u8]) -> Vec<u8> {
    let mut key = vec![role as u8];
    key.extend(hash.to_be_bytes());
    key.extend(rank);
    key
}

/// All keys of quarantined pages start with this, and all are below `QUARANTINE_END`.
pub(super) const QUARANTINE: &str = "quarantine:";
pub(super) const QUARANTINE_END: &str = "quarantine;";

/// Where the status of a page is whose last change was rejected.
pub(super) fn quarantined(name: &str) -> String {
    format!("{QUARANTINE}{name}")
}

//! A key and one holder of it, packed in two words. They sort by key, then content, then rest.
//!
//! All keys of a part share their first bit, so the packing omits it. The freed bit says whether the holder is strong.
//! A bit of the rest cannot serve for that: methods use all of them.

use crate::batch::candidates::sorter::Sortable;
use onecopy_core::settle::Holder;

/// A key without its first bit, a holder of it, and whether that holder is strong. A strong holder has enough shingles
/// behind the key to be alike to a holder with fewer.
pub(super) type Key = [u64; 2];

pub(super) fn key(key: u64, [content, rest]: Holder, strong: bool) -> Key {
    let (content, rest) = (u64::from(content), u64::from(rest));
    [key << 1 | content >> 31, content << 33 | rest << 1 | u64::from(strong)]
}

pub(super) fn holder([key, holder]: Key) -> Holder {
    [(key << 31) as u32 | (holder >> 33) as u32, (holder >> 1) as u32]
}

pub(super) fn is_strong([_, holder]: &Key) -> bool {
    holder & 1 != 0
}

impl Sortable for Key {
    type Bytes = [u8; 16];
    fn to_bytes(self) -> [u8; 16] {
        bytemuck::cast(self)
    }
    fn from_bytes(bytes: &[u8; 16]) -> Key {
        bytemuck::pod_read_unaligned(bytes)
    }
    fn lead(self) -> u64 {
        self[0] >> 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_holds_every_number() {
        let numbers = [0, 1, 1 << 15, 1 << 30, 1 << 31, u32::MAX - 1, u32::MAX];
        let mut keys = Vec::new();
        for key in [0, 1, u64::MAX >> 1] {
            for content in numbers {
                for rest in numbers {
                    let [weak, strong] = [false, true].map(|strong| super::key(key, [content, rest], strong));
                    for (made, is_strong) in [(weak, false), (strong, true)] {
                        assert_eq!(holder(made), [content, rest]);
                        assert_eq!((made.lead(), super::is_strong(&made)), (key, is_strong));
                        assert_eq!(Key::from_bytes(&made.to_bytes()), made);
                    }
                    keys.extend([weak, strong]);
                }
            }
        }
        assert!(keys.is_sorted(), "by key, content, and what comes behind the key");
        assert_eq!(key(1 << 63 | 5, [7, 9], true), key(5, [7, 9], true), "the first bit is left out");
    }
}

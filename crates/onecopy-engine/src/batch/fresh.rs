//! `unsafe`: fresh memory asked for in one piece, where the system can.
//!
//! Otherwise it gives memory a page at a time, when that is first written, and stops the program for each.
#![allow(unsafe_code)]

/// Fewer bytes are not worth the call, and may be memory that was used before.
const WORTH_IT: usize = 1 << 19;

/// Makes room for `most` values in an empty vector, and gets the memory of the first `soon` at once. True if it did. All of it is
/// address space only until it is written.
pub(super) fn reserve(values: &mut Vec<u64>, most: usize, soon: usize) -> bool {
    let fresh = values.capacity() == 0;
    values.reserve(most);
    fresh && soon.min(most) * size_of::<u64>() >= WORTH_IT && populate(values, soon.min(most))
}

#[cfg(target_os = "linux")]
fn populate(values: &mut Vec<u64>, soon: usize) -> bool {
    use std::ptr::NonNull;

    use nix::sys::mman::{MmapAdvise, madvise};

    /// Whatever the size of the system's pages, these are whole ones.
    const PAGES: usize = 1 << 16;
    let room = &mut values.spare_capacity_mut()[..soon];
    let skipped = room.as_ptr().align_offset(PAGES).min(room.len());
    let room = &mut room[skipped..];
    let bytes = size_of_val(room) / PAGES * PAGES;
    let start = NonNull::from(&mut *room).cast();
    // SAFETY: the range is within memory that is borrowed here and holds no value yet; the call writes nothing but the zeros
    // that a first use would find, and where pages have been used it leaves them as they are.
    unsafe { madvise(start, bytes, MmapAdvise::MADV_POPULATE_WRITE) }.is_ok()
}

#[cfg(not(target_os = "linux"))]
fn populate(_: &mut Vec<u64>, _: usize) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_holds_values() {
        for (most, soon) in
            [(0, 0), (10, 100), (1 << 20, 1 << 18), (1 << 18, 1 << 20), ((1 << 18) + 1, 77_777)]
        {
            let mut values = Vec::new();
            let ready = reserve(&mut values, most, soon);
            assert!(!ready || most.min(soon) * 8 >= WORTH_IT);
            values.extend(0..most as u64);
            assert!(values.iter().copied().eq(0..most as u64));
            values.clear();
            assert!(!reserve(&mut values, most, soon) || most == 0, "what was used before is there");
        }
    }
}

//! `unsafe`: fresh memory asked for in one piece, where the system can.
//!
//! Otherwise it gives memory a page at a time, when that is first written, and stops the program for each.
#![allow(unsafe_code)]

/// Fewer bytes are not worth the call, and may be memory that was used before.
const WORTH_IT: usize = 1 << 19;

/// Makes room for `most` values in a vector, and gets the memory of the first `soon` at once if it was empty. The rest is
/// address space only until it is written.
pub(super) fn reserve(values: &mut Vec<u64>, most: usize, soon: usize) {
    let (fresh, soon) = (values.capacity() == 0, soon.min(most));
    values.reserve(most);
    if fresh && soon * size_of::<u64>() >= WORTH_IT {
        populate(values, soon);
    }
}

#[cfg(target_os = "linux")]
fn populate(values: &mut Vec<u64>, soon: usize) {
    use std::ptr::NonNull;

    use nix::sys::mman::{MmapAdvise, madvise};

    /// Whatever the size of the system's pages, these are whole ones.
    const PAGES: usize = 1 << 16;
    let room = &mut values.spare_capacity_mut()[..soon];
    let skipped = room.as_ptr().align_offset(PAGES).min(room.len());
    let room = &mut room[skipped..];
    let bytes = size_of_val(room) / PAGES * PAGES;
    let start = NonNull::from(&mut *room).cast();
    // Where the system cannot, it gives memory as it is used.
    // SAFETY: the range is within memory that is borrowed here and holds no value yet; the call writes nothing but the zeros
    // that a first use would find, and where pages have been used it leaves them as they are.
    let _ = unsafe { madvise(start, bytes, MmapAdvise::MADV_POPULATE_WRITE) };
}

#[cfg(not(target_os = "linux"))]
fn populate(_: &mut Vec<u64>, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_holds_values() {
        for (most, soon) in
            [(0, 0), (10, 100), (1 << 20, 1 << 18), (1 << 18, 1 << 20), ((1 << 18) + 1, 77_777)]
        {
            let mut values = vec![];
            for _ in 0..2 {
                values.clear();
                reserve(&mut values, most, soon);
                assert!(values.capacity() >= most);
                values.extend(0..most as u64);
                assert!(values.iter().copied().eq(0..most as u64));
            }
        }
    }
}

//! `unsafe`: prefaults fresh memory in large pieces, on systems that support it.
//!
//! Otherwise the system maps each page on its first write, at the cost of a page fault.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;

/// Smaller vectors may be in memory that was used before.
const WORTH_IT: usize = 1 << 19;
/// The least number of bytes to prefault.
const STEP: usize = 1 << 16;

/// Tracks how much of a vector's memory is prefaulted.
#[derive(Default)]
pub(crate) struct Fresh {
    /// The address of the vector, since it may be replaced or moved. A new vector at the same address is not noticed,
    /// which only costs time.
    address: usize,
    /// The number of prefaulted values, from the first.
    ready: usize,
}

impl Fresh {
    /// Prefaults memory for `more` values of a vector, within its capacity. Capacity beyond that takes no memory until
    /// it is written.
    pub(crate) fn ahead<T>(&mut self, values: &mut Vec<T>, more: usize) {
        let (address, length) = (values.as_ptr().addr(), values.len());
        if self.address != address || self.ready > values.capacity() {
            *self = Fresh { address, ready: 0 };
        }
        self.ready = self.ready.max(length);
        if length + more <= self.ready || values.capacity() * size_of::<T>() < WORTH_IT {
            return;
        }
        let room = values.spare_capacity_mut();
        let (from, step) = (self.ready - length, STEP / size_of::<T>());
        let to = more.max(from + step).min(room.len());
        self.ready += populate(&mut room[from..to]);
    }
}

/// Prefaults all whole pages. Returns where the last one ends, in values.
#[cfg(target_os = "linux")]
fn populate<T>(room: &mut [MaybeUninit<T>]) -> usize {
    use std::ptr::NonNull;

    use nix::sys::mman::{MmapAdvise, madvise};

    /// A multiple of the page size on most systems. With larger pages, memory is mapped on first use.
    const PAGES: usize = 1 << 14;
    let skipped = room.as_ptr().align_offset(PAGES).min(room.len());
    let whole = &mut room[skipped..];
    let bytes = size_of_val(whole) / PAGES * PAGES;
    let start = NonNull::from(&mut *whole).cast();
    // SAFETY: the range is within memory that is borrowed here and holds no value yet. The call only maps zeroed pages,
    // as a first write would, and leaves pages that are already mapped unchanged.
    let _ = unsafe { madvise(start, bytes, MmapAdvise::MADV_POPULATE_WRITE) };
    skipped + bytes / size_of::<T>()
}

#[cfg(not(target_os = "linux"))]
fn populate<T>(room: &mut [MaybeUninit<T>]) -> usize {
    room.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_holds_values() {
        let mut fresh = Fresh::default();
        for (most, more) in
            [(0, 0), (10, 100), (1 << 20, 1 << 18), (1 << 18, 1 << 20), ((1 << 18) + 1, 7), (1 << 17, 5_000)]
        {
            let mut values: Vec<u64> = Vec::with_capacity(most);
            for n in 0..most as u64 {
                if n % 700 == 0 {
                    fresh.ahead(&mut values, more);
                    assert!(fresh.ready <= values.capacity());
                }
                values.push(n);
            }
            assert!(values.iter().copied().eq(0..most as u64));
            values.clear();
            fresh.ahead(&mut values, more);
        }
    }

    #[test]
    fn memory_is_asked_for_once() {
        let (mut fresh, mut values) = (Fresh::default(), Vec::<[u64; 2]>::with_capacity(1 << 16));
        fresh.ahead(&mut values, 10_000);
        let ready = fresh.ready;
        assert!((9_000..12_000).contains(&ready), "{ready}");
        fresh.ahead(&mut values, 5_000);
        assert_eq!(fresh.ready, ready);
        values.resize(ready, [1; 2]);
        fresh.ahead(&mut values, 1);
        assert!(fresh.ready > ready + 3_000 && values.iter().all(|value| *value == [1; 2]));
    }
}

//! `unsafe`: tells the system how memory will be used.
//!
//! A processor remembers where about 2,000 pages of memory are, which is 8 MB of usual pages. Random reads of a larger
//! table wait twice: for the place and for the value. With pages of 2 MB they wait once.
//!
//! While a thread unmaps memory, no other thread may. But all may give back pages of mapped memory at once, and to unmap
//! what has no pages is quick.

#![allow(unsafe_code)]

/// A table of `count` zeros.
pub(crate) fn zeros(count: usize) -> Vec<f64> {
    let mut table = vec![0.0; count];
    advise(bytemuck::cast_slice_mut(&mut table), Advice::Huge);
    table
}

/// Drops words. Threads that drop much at once need not wait for each other.
pub(crate) fn drop_words(mut words: Vec<u64>) {
    advise(bytemuck::cast_slice_mut(&mut words), Advice::Unneeded);
}

/// A word to the system about some memory.
enum Advice {
    /// It is read at random.
    Huge,
    /// Its bytes may become zeros.
    Unneeded,
}

/// Systems without this continue as before.
#[cfg(target_os = "linux")]
fn advise(bytes: &mut [u8], advice: Advice) {
    use std::ffi::c_void;
    use std::ptr::NonNull;

    use nix::sys::mman::{MmapAdvise, madvise};

    /// The system takes whole pages, and has none of another size that divides these addresses.
    const PAGE: usize = 64 << 10;
    let unaligned = bytes.as_ptr().align_offset(PAGE);
    let Some(aligned) = bytes.get_mut(unaligned..).filter(|bytes| bytes.len() >= PAGE) else { return };
    let length = aligned.len() / PAGE * PAGE;
    let start: NonNull<c_void> = NonNull::from(&mut aligned[0]).cast();
    let advice = match advice {
        Advice::Huge => MmapAdvise::MADV_HUGEPAGE,
        Advice::Unneeded => MmapAdvise::MADV_DONTNEED,
    };
    // SAFETY: the range is inside a slice that this function borrows alone. The first advice changes no bytes. The second
    // turns them into zeros, which are valid bytes and valid values of all types with which it is used.
    let _ = unsafe { madvise(start, length, advice) };
}

#[cfg(not(target_os = "linux"))]
fn advise(_: &mut [u8], _: Advice) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_any_size_are_dropped() {
        for count in [0, 1, 8_191, 8_192, 1_000_000] {
            drop_words((0..count).collect());
            let mut words: Vec<u64> = (0..count).collect();
            advise(bytemuck::cast_slice_mut(&mut words), Advice::Unneeded);
            assert!((0..).zip(words).all(|(n, word)| word == n || word == 0));
        }
    }

    #[test]
    fn a_table_of_any_size_is_zero_and_can_be_written() {
        for count in [0, 1, 8_191, 8_192, 1_000_000] {
            let mut table = zeros(count);
            assert!(table.len() == count && table.iter().all(|&value| value == 0.0));
            table.fill(1.0);
            assert_eq!(table.iter().sum::<f64>(), count as f64);
        }
    }
}

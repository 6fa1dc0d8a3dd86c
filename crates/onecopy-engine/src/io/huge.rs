//! `unsafe`: asks the system to back large tables that are read at random with huge pages.
//!
//! A processor remembers where about 2,000 pages of memory are, which is 8 MB of usual pages. Random reads of a larger
//! table wait twice: for the place and for the value. With pages of 2 MB they wait once.

#![allow(unsafe_code)]

/// A table of `count` zeros.
pub(crate) fn zeros(count: usize) -> Vec<f64> {
    let mut table = vec![0.0; count];
    advise(&mut table);
    table
}

/// Only advice: it changes neither the values nor which addresses are valid, and systems without it continue as before.
#[cfg(target_os = "linux")]
fn advise(table: &mut [f64]) {
    use std::ffi::c_void;
    use std::ptr::NonNull;

    use nix::sys::mman::{MmapAdvise, madvise};

    /// The system takes whole pages, and has none of another size that divides these addresses.
    const PAGE: usize = 64 << 10;
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(table);
    let unaligned = bytes.as_ptr().align_offset(PAGE);
    let Some(aligned) = bytes.get_mut(unaligned..).filter(|bytes| bytes.len() >= PAGE) else { return };
    let length = aligned.len() / PAGE * PAGE;
    let start: NonNull<c_void> = NonNull::from(&mut aligned[0]).cast();
    // SAFETY: the range is inside a slice that this function borrows alone, and this advice changes no bytes.
    let _ = unsafe { madvise(start, length, MmapAdvise::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn advise(_: &mut [f64]) {}

#[cfg(test)]
mod tests {
    use super::*;

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

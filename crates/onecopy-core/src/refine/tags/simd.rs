//! The scan of `anchors`, compiled for machines that count bits of several words at once.
//!
//! The code is the scalar one, so that only the instructions can differ. `unsafe` is only the promise that the
//! machine has them, which a `Level` proves.
#![allow(unsafe_code)]

use super::anchors::{Anchors, Probe, next_plain};
#[cfg(target_arch = "x86_64")]
use crate::simd::Instructions;
use crate::simd::Level;

/// The first place from `from` on whose tag is similar.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
pub(super) fn next(level: Level, anchors: &Anchors, tag: Probe, from: usize) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    match level.instructions() {
        // SAFETY: a level says that the machine has its instructions.
        Instructions::Avx512 => return unsafe { x86::next_avx512(anchors, tag, from) },
        // SAFETY: as above.
        Instructions::Avx2 => return unsafe { x86::next_avx2(anchors, tag, from) },
        Instructions::Scalar => {}
    }
    next_plain(anchors, tag, from)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Anchors, Probe, next_plain};

    #[target_feature(enable = "avx512f,avx512vpopcntdq,popcnt")]
    pub(super) fn next_avx512(anchors: &Anchors, tag: Probe, from: usize) -> Option<usize> {
        next_plain(anchors, tag, from)
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn next_avx2(anchors: &Anchors, tag: Probe, from: usize) -> Option<usize> {
        next_plain(anchors, tag, from)
    }
}

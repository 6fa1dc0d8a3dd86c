//! `unsafe`: a table of hashes read off eight slots at once with AVX-512, where the machine has it.
//!
//! `read_off_plain` is the plain version, tested equal.
#![allow(unsafe_code)]

use super::EMPTY;

/// Slots that are read off at once.
#[cfg(target_arch = "x86_64")]
const LANES: usize = 8;

/// Writes the values of `table` that are not empty to the front of `out`, in order; says how many there are. `out` must
/// have room for all of them; what is behind them is of no meaning.
pub(super) fn read_off(table: &[u64], out: &mut Vec<u64>) -> usize {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("popcnt") {
        // The last values are written eight at a time too.
        out.resize(out.len() + LANES, EMPTY);
        let (eights, rest) = table.as_chunks();
        // SAFETY: the machine has AVX-512, which is all that the function asks for.
        let length = unsafe { x86::read_off(eights, out) };
        return read_off_plain(rest, out, length);
    }
    read_off_plain(table, out, 0)
}

/// As [`read_off`], behind the first `length` of `out`, on any machine.
fn read_off_plain(table: &[u64], out: &mut [u64], mut length: usize) -> usize {
    for &value in table {
        if length == out.len() {
            break;
        }
        out[length] = value;
        length += usize::from(value != EMPTY);
    }
    length
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{EMPTY, LANES};

    #[target_feature(enable = "avx512f,popcnt")]
    pub(super) fn read_off(table: &[[u64; LANES]], out: &mut [u64]) -> usize {
        let (empty, mut length) = (_mm512_set1_epi64(EMPTY as i64), 0);
        for eight in table {
            // SAFETY: eight slots of eight bytes.
            let values = unsafe { _mm512_loadu_si512(eight.as_ptr().cast()) };
            let held = _mm512_cmpneq_epi64_mask(values, empty);
            let Some(to) = out[length..].first_chunk_mut::<LANES>() else { break };
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), _mm512_maskz_compress_epi64(held, values)) };
            length += held.count_ones() as usize;
        }
        length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_at_once_are_read_as_one_by_one() {
        for slots in [0, 1, 7, 8, 9, 64, 99] {
            for step in 1..9 {
                let table: Vec<u64> = (0..slots).map(|n| if n % step == 0 { n * n } else { EMPTY }).collect();
                let expected: Vec<u64> = table.iter().copied().filter(|&value| value != EMPTY).collect();
                let (mut wide, mut plain) = (vec![0; expected.len()], vec![0; expected.len()]);
                assert_eq!(read_off(&table, &mut wide), expected.len());
                assert_eq!(read_off_plain(&table, &mut plain, 0), expected.len());
                assert_eq!((&wide[..expected.len()], &plain), (&expected[..], &expected));
            }
        }
    }
}

//! What the targets share. Each target is one file in `targets/`; `run` builds and runs them all.

/// How long an input becomes that comes many times over.
const LONG_BYTES: usize = 128 << 10;

/// Every 64th input, many times over: what takes quadratic time does not show on short inputs, and runs into the time
/// limit on this one.
pub fn many_times(data: &[u8]) -> Option<Vec<u8>> {
    let picked = !data.is_empty() && data.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)) & 63 == 0;
    picked.then(|| data.repeat(LONG_BYTES.div_ceil(data.len())))
}

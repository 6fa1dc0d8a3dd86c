//! Helpers of the targets. Each target is one file in `targets/`; `run` builds and runs them all.

mod draw;
pub mod forge;
mod memory;

use std::panic;

pub use draw::Draw;
pub use memory::Memory;

/// The length of a repeated input.
const LONG_BYTES: usize = 128 << 10;

/// Repeats every 64th input many times. Quadratic time does not show on short inputs, but exceeds the time limit on
/// long ones.
pub fn many_times(data: &[u8]) -> Option<Vec<u8>> {
    let picked = !data.is_empty() && data.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)) & 63 == 0;
    picked.then(|| data.repeat(LONG_BYTES.div_ceil(data.len())))
}

/// Lets dependencies panic if our code catches it. A panic of our own code still ends the run, caught or not.
pub fn only_our_panics() {
    let end_run = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let file = panic.location().map_or("", |place| place.file());
        if file.contains("crates/onecopy") || file.starts_with("targets/") {
            end_run(panic);
        }
    }));
}

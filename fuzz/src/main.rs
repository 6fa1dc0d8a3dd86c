//! The fuzzer: one program with all targets. `ONECOPY_FUZZ` names the one to run; `fuzz/run` builds it and runs them all.

#![no_main]

mod draw;
mod forge;
mod memory;
mod targets;

use std::env;
use std::panic;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

use draw::Draw;
use memory::Memory;
use targets::{TARGETS, Target};

/// Files of the program that `targets/body.rs` includes find their neighbours here, as in the program.
mod http {
    pub(crate) use crate::targets::body::{failure, params};
}

/// The length of a repeated input.
const LONG_BYTES: usize = 128 << 10;
/// Targets whose dependencies may panic, because the code under test catches it.
const CAUGHT: [&str; 2] = ["parquet", "tables"];

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = env::var("ONECOPY_FUZZ").unwrap_or_default();
    if CAUGHT.contains(&name.as_str()) {
        only_our_panics();
    }
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    target.unwrap_or_else(|| panic!("ONECOPY_FUZZ is '{name}', which is no target")).1
});

fuzz_target!(init: { LazyLock::force(&TARGET); }, |data: &[u8]| TARGET(data));

/// Repeats every 64th input many times. Quadratic time does not show on short inputs, but exceeds the time limit on
/// long ones.
fn many_times(data: &[u8]) -> Option<Vec<u8>> {
    let picked = !data.is_empty() && data.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)) & 63 == 0;
    picked.then(|| data.repeat(LONG_BYTES.div_ceil(data.len())))
}

/// Lets dependencies panic if our code catches it. A panic of our own code still ends the run, caught or not.
fn only_our_panics() {
    let end_run = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let file = panic.location().map_or("", |place| place.file());
        if file.contains("crates/onecopy") || file.starts_with("fuzz/") {
            end_run(panic);
        }
    }));
}

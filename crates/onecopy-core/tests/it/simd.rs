//! The level of a whole process: it can be lowered, and never raised.
//!
//! It is in this binary and not next to the code, so that the tests there run at the best level of the machine.

use onecopy_core::simd::{Level, level, lower};

#[test]
fn a_level_is_lowered_and_never_raised() {
    let best = Level::all().next().unwrap();
    lower(best);
    assert_eq!(level(), best);
    lower(Level::SCALAR);
    assert_eq!(level(), Level::SCALAR);
    lower(best);
    assert_eq!(level(), Level::SCALAR);
}

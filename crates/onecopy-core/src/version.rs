//! The version of the answer, which is not that of the program.

/// Changes whenever any page's sketch, key, decision or rank can change.
///
/// Sketches and results that were made under another number must not be mixed with those of this one. A program that
/// stores them must store the number too. `tests/it/golden.rs` fails if answers change and this number does not.
pub const ANSWER_VERSION: u32 = 3;

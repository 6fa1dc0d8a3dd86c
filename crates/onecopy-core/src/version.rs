//! The version of the answer, which is not that of the program.

/// Changes whenever any page's sketch, key, decision or rank can change.
///
/// Sketches and results that were made under another number must not be mixed with those of this one. A program that
/// stores them must store the number too. `tests/it/golden.rs` fails if answers change and this number does not.
pub const ANSWER_VERSION: u32 = 4;

/// The first answer version whose names, sketches and ranks are those of today: only decisions changed since. A collection
/// of an older one needs its pages to be upgraded. Set it to [`ANSWER_VERSION`] if one of these changes.
pub const SKETCHES_SINCE: u32 = 4;

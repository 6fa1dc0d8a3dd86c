//! Messages on standard error. A run does not need a reader for them: the exit status and the report tell the same.

use std::fmt::Arguments;
use std::io::{self, Write};

/// Writes one line, as `eprintln!` does, but never panics.
macro_rules! tell {
    ($($text:tt)*) => { $crate::tell::line(format_args!($($text)*)) };
}
pub(crate) use tell;

/// Writes one line.
pub fn line(text: Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

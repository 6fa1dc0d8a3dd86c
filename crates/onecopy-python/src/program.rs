//! The program itself, and what its help says.

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Runs the program with these arguments, of which the first is its name. Returns its exit status.
#[pyfunction]
pub fn run(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let code = py.detach(|| onecopy::run(arguments));
    // An exit code does not tell its number, but it can be compared.
    (0..=u8::MAX).find(|&number| ExitCode::from(number) == code).unwrap_or(1)
}

/// The options of a command: name, default, accepted values, whether it takes a value, whether several.
#[pyfunction]
pub fn options(command: &str) -> Vec<(String, Option<String>, Vec<String>, bool, bool)> {
    let all = onecopy::embed::options(command).into_iter();
    all.map(|it| (it.name, it.default, it.values, it.takes_value, it.takes_several)).collect()
}

/// The names of all methods.
#[pyfunction]
pub fn methods() -> Vec<&'static str> {
    onecopy_core::METHODS.iter().map(|entry| entry.name).collect()
}

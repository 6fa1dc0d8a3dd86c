//! Exceptions with the texts of the program. Options have their Python names in them.

use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;

create_exception!(
    onecopy,
    OnecopyError,
    PyRuntimeError,
    "Why onecopy could not do its work, and what to do."
);

/// An exception with this sentence.
pub fn refused(sentence: impl AsRef<str>) -> PyErr {
    OnecopyError::new_err(in_python(sentence.as_ref()))
}

/// The exception of an engine's error.
pub fn failed(error: onecopy_engine::Error) -> PyErr {
    match error {
        onecopy_engine::Error::Stopped | onecopy_engine::Error::StoppedStream => {
            PyKeyboardInterrupt::new_err("onecopy was stopped")
        }
        error => refused(onecopy::embed::sentence(error)),
    }
}

/// A sentence with `text_field` in place of `--text-field`.
fn in_python(sentence: &str) -> String {
    let mut out = String::with_capacity(sentence.len());
    let mut rest = sentence;
    while let Some(at) = rest.find("--") {
        let (before, option) = (&rest[..at], &rest[at + 2..]);
        let length = option.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(option.len());
        let starts_a_word = before.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '-');
        out.push_str(before);
        if length > 0 && starts_a_word {
            out.push_str(&option[..length].replace('-', "_"));
        } else {
            out.push_str("--");
            out.push_str(&option[..length]);
        }
        rest = &option[length..];
    }
    out + rest
}

//! `onecopy.refine`: search results as JSON.

use std::ffi::OsString;

use onecopy::embed;
use pyo3::prelude::*;

use crate::error::refused;

/// Groups results by content. `results` is a JSON array; the answer is what `onecopy refine --json` prints.
#[pyfunction]
pub fn refine(py: Python<'_>, results: &str, options: Vec<OsString>) -> PyResult<String> {
    py.detach(|| embed::refine(results, options)).map_err(refused)
}

//! `onecopy.dedup`, over files and over rows in memory.

use std::ffi::OsString;
use std::sync::Arc;

use onecopy::embed::dedup_job;
use onecopy_engine::{Job, Rows};
use pyo3::prelude::*;

use crate::arrow::{ArrowTable, Batches};
use crate::error::refused;
use crate::export::table;
use crate::progress::run;
use crate::rows::ArrowRows;

/// Report as JSON, then the lists of removed pages, groups, judged and rejected pages.
type Found = (String, ArrowTable, ArrowTable, ArrowTable, ArrowTable);

const REMOVED: &[&str] = &["page", "row", "winner", "winner_row", "similarity", "kind"];
/// A winner may be in the base.
const REMOVED_AGAINST: &[&str] =
    &["page", "row", "winner", "winner_source", "winner_row", "similarity", "kind"];

/// Deduplicates the rows of an Arrow stream, against those of `base` if it is given. `options` are those of `onecopy dedup`, and `folder` is for what does not
/// fit into memory.
#[pyfunction]
#[pyo3(signature = (data, base, options, folder, listener=None))]
pub fn dedup_rows(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    base: Option<&Bound<'_, PyAny>>,
    options: Vec<OsString>,
    folder: OsString,
    listener: Option<&Bound<'_, PyAny>>,
) -> PyResult<Found> {
    let rows = Arc::new(ArrowRows::new(Batches::of(data)?));
    if rows.is_empty() {
        return Err(refused("the data has no rows: give at least one page"));
    }
    let mut job = job("data".into(), folder, options)?;
    job.rows = Some(rows);
    if let Some(base) = base {
        job.against_rows = Some(Arc::new(ArrowRows::new(Batches::of(base)?)));
    }
    let has_base = job.against_rows.is_some() || !job.against.is_empty();
    let removed = if has_base { REMOVED_AGAINST } else { REMOVED };
    let (report, lists) = run(py, listener, |progress| onecopy_engine::dedup_rows(&job, progress))?;
    Ok((
        serde_json::to_string(&report).map_err(|error| refused(error.to_string()))?,
        table(&lists.removed, removed)?,
        table(&lists.groups, &["group", "page", "row", "status"])?,
        table(&lists.pages, &["row", "status", "language", "group"])?,
        table(&lists.rejected, &["page", "row", "reason"])?,
    ))
}

/// Deduplicates files into a folder, as `onecopy dedup` does. Returns the report as JSON.
#[pyfunction]
#[pyo3(signature = (inputs, options, folder, listener=None))]
pub fn dedup_files(
    py: Python<'_>,
    inputs: Vec<OsString>,
    options: Vec<OsString>,
    folder: OsString,
    listener: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let mut job = job("data".into(), folder, options)?;
    job.inputs = inputs.into_iter().map(|input| input.to_string_lossy().into_owned()).collect();
    let outcome = run(py, listener, |progress| onecopy_engine::dedup(&job, progress))?;
    serde_json::to_string(outcome.report()).map_err(|error| refused(error.to_string()))
}

fn job(input: OsString, folder: OsString, options: Vec<OsString>) -> PyResult<Job> {
    let call = ["--out".into(), folder].into_iter().chain(options).chain(["--".into(), input]);
    dedup_job(call).map_err(refused)
}

/// The names of columns that a page is made of if no other names are given: those of text, and the rest.
#[pyfunction]
pub fn field_names() -> [Vec<&'static str>; 2] {
    onecopy_engine::usual_field_names()
}

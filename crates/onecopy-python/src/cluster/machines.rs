//! Saved plans of `onecopy partitions`: the machine that a page is on by the lengths of its sketch.

use std::path::PathBuf;

use onecopy_core::LengthVector;
use onecopy_engine::PartitionsFile;
use pyo3::prelude::*;

use super::columns::{Table, integers, words};
use crate::arrow::ArrowTable;
use crate::error::{failed, refused};

/// A saved plan as JSON, and its number of machines. Refuses files that are no plan.
#[pyfunction]
pub fn read_partitions(path: PathBuf) -> PyResult<(String, usize)> {
    let plan = PartitionsFile::read(&path).map_err(failed)?;
    let text = serde_json::to_string(&plan).map_err(|error| refused(error.to_string()))?;
    Ok((text, plan.machines))
}

/// The `machine` of each row of `data`, by its sketch.
#[pyfunction]
pub fn planned_machines(py: Python<'_>, data: &Bound<'_, PyAny>, partitions: &str) -> PyResult<ArrowTable> {
    let file: PartitionsFile =
        serde_json::from_str(partitions).map_err(|error| refused(error.to_string()))?;
    let (table, plan) = (Table::of(data)?, file.plan());
    let sketches = table.bytes("sketch")?;
    let machines = py.detach(|| {
        let machine = |sketch: &[u8]| plan.machine(plan.cells.cell(&LengthVector::of(words(sketch)))) as i32;
        sketches.into_iter().map(|sketch| Some(machine(sketch))).collect()
    });
    ArrowTable::new(vec![("machine", integers(machines))])
}

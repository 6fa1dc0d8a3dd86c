//! Arrow streams in and out, by the Arrow PyCapsule interface. The only file with unsafe code.
#![allow(unsafe_code)]

use std::sync::Arc;

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::refused;

/// The name that the interface gives to a stream.
const STREAM: &std::ffi::CStr = c"arrow_array_stream";

/// The batches of a stream, and their schema.
pub struct Batches {
    pub schema: SchemaRef,
    pub batches: Vec<RecordBatch>,
}

impl Batches {
    /// Takes all batches of an object with `__arrow_c_stream__`. They share the memory of the object.
    pub fn of(data: &Bound<'_, PyAny>) -> PyResult<Batches> {
        let capsule = data.call_method0("__arrow_c_stream__")?;
        let capsule = capsule
            .cast::<PyCapsule>()
            .map_err(|_| PyTypeError::new_err("__arrow_c_stream__ returned no Arrow stream"))?;
        let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
        // SAFETY: by the Arrow PyCapsule interface, a capsule of this name holds a valid stream. `from_raw` moves it
        // out and leaves an empty one, so that the capsule releases nothing twice.
        let reader = unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr()) }.map_err(broken)?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<Vec<_>, _>>().map_err(broken)?;
        Ok(Batches { schema, batches })
    }
}

fn broken(error: ArrowError) -> PyErr {
    refused(format!("the data cannot be read: {error}"))
}

/// A table of results. Any library that reads Arrow can take it: `pyarrow.table(t)`, `polars.DataFrame(t)`.
#[pyclass(frozen, module = "onecopy._onecopy")]
pub struct ArrowTable {
    pub batch: RecordBatch,
}

#[pymethods]
impl ArrowTable {
    /// The table as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let (schema, batch) = (self.batch.schema(), self.batch.clone());
        let reader = RecordBatchIterator::new([Ok(batch)], schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, STREAM)
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The columns as lists, by name. No other library is needed.
    fn to_pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
        let columns = pyo3::types::PyDict::new(py);
        for (field, column) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            columns.set_item(field.name(), crate::export::to_list(py, column)?)?;
        }
        Ok(columns)
    }
}

impl ArrowTable {
    /// A table of columns of equal length.
    pub fn new(columns: Vec<(&str, arrow_array::ArrayRef)>) -> PyResult<ArrowTable> {
        if columns.is_empty() {
            return Err(refused("the data has no columns: give a table with a column of text"));
        }
        let fields: Vec<arrow_schema::Field> = columns
            .iter()
            .map(|(name, column)| arrow_schema::Field::new(*name, column.data_type().clone(), true))
            .collect();
        let arrays = columns.into_iter().map(|(_, column)| column).collect();
        let batch = RecordBatch::try_new(Arc::new(arrow_schema::Schema::new(fields)), arrays);
        Ok(ArrowTable { batch: batch.map_err(|error| refused(error.to_string()))? })
    }
}

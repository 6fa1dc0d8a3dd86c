//! Turns lists of results into Arrow columns, and those into Python lists.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, LargeStringArray};
use arrow_schema::DataType;
use onecopy_engine::{ListTable, ListValues};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::arrow::ArrowTable;

/// These columns of a list, under their names. Numbers of rows count from zero.
pub fn table(list: &ListTable, wanted: &[&'static str]) -> PyResult<ArrowTable> {
    let column = |&name: &&'static str| Some((name, array(name, list.column(name)?)));
    ArrowTable::new(wanted.iter().filter_map(column).collect())
}

fn array(name: &str, values: &ListValues) -> ArrayRef {
    let less = i64::from(name == "row" || name == "winner_row");
    match values {
        ListValues::Text(values) => {
            Arc::new(values.iter().map(|value| value.as_deref()).collect::<LargeStringArray>())
        }
        ListValues::Number(values) => Arc::new(
            values.iter().map(|value| value.map(|number| number as i64 - less)).collect::<Int64Array>(),
        ),
        ListValues::Real(values) => Arc::new(values.iter().copied().collect::<Float64Array>()),
    }
}

/// The values of a column as a Python list.
pub fn to_list<'py>(py: Python<'py>, column: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
    let values = (0..column.len()).map(|row| value(py, column, row)).collect::<PyResult<Vec<_>>>()?;
    PyList::new(py, values)
}

fn value<'py>(py: Python<'py>, column: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    match column.data_type() {
        DataType::LargeUtf8 => column.as_string::<i64>().value(row).into_bound_py_any(py),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into_bound_py_any(py),
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).into_bound_py_any(py),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).into_bound_py_any(py),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into_bound_py_any(py),
        DataType::FixedSizeBinary(_) => {
            Ok(PyBytes::new(py, column.as_fixed_size_binary().value(row)).into_any())
        }
        DataType::LargeList(_) => to_list(py, &column.as_list::<i64>().value(row)).map(Bound::into_any),
        other => Err(PyTypeError::new_err(format!("no Python value for {other}"))),
    }
}

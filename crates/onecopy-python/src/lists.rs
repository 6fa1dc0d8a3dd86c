//! Arrow columns from Python lists, for data without an Arrow form, such as dictionaries.

use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::{ArrayRef, Float64Array, Int64Array};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::arrow::ArrowTable;
use crate::error::refused;

/// A table of columns, given as lists by name. A list has text, whole numbers or numbers, and `None` for nothing.
#[pyfunction]
pub fn columns(lists: &Bound<'_, PyDict>) -> PyResult<ArrowTable> {
    let mut named = Vec::new();
    for (name, list) in lists {
        let (name, list) = (name.extract::<String>()?, list.cast_into::<PyList>()?);
        let array = column(&name, &list)?;
        named.push((name, array));
    }
    ArrowTable::new(named.iter().map(|(name, array)| (name.as_str(), array.clone())).collect())
}

/// The type of a column: that of its first value.
fn column(name: &str, list: &Bound<'_, PyList>) -> PyResult<ArrayRef> {
    let is_something = |value: &Bound<'_, PyAny>| !value.is_none();
    let Some(first) = list.iter().find(is_something) else { return texts(name, list) };
    if first.is_instance_of::<PyString>() {
        texts(name, list)
    } else if list.iter().any(|value| value.is_instance_of::<PyFloat>()) {
        numbers(name, list)
    } else if first.is_instance_of::<PyInt>() && !first.is_instance_of::<PyBool>() {
        whole(name, list)
    } else {
        Err(wrong(name, list, "text or a number", |value| {
            value.is_instance_of::<PyString>() || value.is_instance_of::<PyInt>()
        }))
    }
}

fn texts(name: &str, list: &Bound<'_, PyList>) -> PyResult<ArrayRef> {
    let mut out = LargeStringBuilder::new();
    for value in list {
        match value.cast::<PyString>() {
            _ if value.is_none() => out.append_null(),
            Ok(text) => match text.to_str() {
                Ok(text) => out.append_value(text),
                // Half of a surrogate pair has no UTF-8.
                Err(_) => out.append_value(text.to_string_lossy()),
            },
            Err(_) => return Err(wrong(name, list, "text", |value| value.is_instance_of::<PyString>())),
        }
    }
    Ok(Arc::new(out.finish()))
}

fn whole(name: &str, list: &Bound<'_, PyList>) -> PyResult<ArrayRef> {
    let is_whole = |value: &Bound<'_, PyAny>| value.extract::<i64>().is_ok();
    let number = |value: Bound<'_, PyAny>| value.extract::<Option<i64>>();
    let all: PyResult<Int64Array> = list.iter().map(number).collect();
    all.map(|array| Arc::new(array) as ArrayRef).map_err(|_| wrong(name, list, "a whole number", is_whole))
}

fn numbers(name: &str, list: &Bound<'_, PyList>) -> PyResult<ArrayRef> {
    let is_number = |value: &Bound<'_, PyAny>| value.extract::<f64>().is_ok();
    let number = |value: Bound<'_, PyAny>| value.extract::<Option<f64>>();
    let all: PyResult<Float64Array> = list.iter().map(number).collect();
    all.map(|array| Arc::new(array) as ArrayRef).map_err(|_| wrong(name, list, "a number", is_number))
}

/// Names the first row whose value does not suit.
fn wrong(
    name: &str,
    list: &Bound<'_, PyList>,
    wanted: &str,
    suits: impl Fn(&Bound<'_, PyAny>) -> bool,
) -> PyErr {
    let bad = list.iter().enumerate().find(|(_, value)| !value.is_none() && !suits(value));
    let (row, kind) = bad.map_or((0, String::new()), |(row, value)| {
        (row, value.get_type().name().map(|name| name.to_string()).unwrap_or_default())
    });
    refused(format!(
        "row {row}: `{name}` is of type {kind}, and {wanted} is wanted: convert it, or leave it out"
    ))
}

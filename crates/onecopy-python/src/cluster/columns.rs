//! Columns of a table by name, whatever the batches.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, BinaryArray, Int32Array, Int64Array, RecordBatch};
use arrow_schema::DataType;
use pyo3::prelude::*;

use crate::arrow::Batches;
use crate::error::refused;

/// A table whose columns are known by name.
pub struct Table(Batches);

impl Table {
    pub fn of(data: &Bound<'_, PyAny>) -> PyResult<Table> {
        Batches::of(data).map(Table)
    }

    pub fn rows(&self) -> usize {
        self.0.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn column(&self, name: &str) -> PyResult<Vec<&ArrayRef>> {
        let place = self.0.schema.index_of(name).map_err(|error| refused(error.to_string()))?;
        Ok(self.0.batches.iter().map(|batch| batch.column(place)).collect())
    }

    /// The bytes of each row; empty for null.
    pub fn bytes(&self, name: &str) -> PyResult<Vec<&[u8]>> {
        let mut out = Vec::with_capacity(self.rows());
        for array in self.column(name)? {
            match array.data_type() {
                DataType::Binary => {
                    out.extend(array.as_binary::<i32>().iter().map(Option::unwrap_or_default))
                }
                DataType::LargeBinary => {
                    out.extend(array.as_binary::<i64>().iter().map(Option::unwrap_or_default))
                }
                other => return Err(refused(format!("the column {name} is not bytes but {other}"))),
            }
        }
        Ok(out)
    }

    /// The number of each row; zero for null.
    pub fn numbers(&self, name: &str) -> PyResult<Vec<i64>> {
        let mut out = Vec::with_capacity(self.rows());
        for array in self.column(name)? {
            match array.data_type() {
                DataType::Int64 => {
                    out.extend(array.as_primitive::<Int64Type>().iter().map(Option::unwrap_or_default))
                }
                DataType::Int32 => {
                    let numbers = array.as_primitive::<Int32Type>().iter();
                    out.extend(numbers.map(|number| i64::from(number.unwrap_or_default())))
                }
                other => return Err(refused(format!("the column {name} is not numbers but {other}"))),
            }
        }
        Ok(out)
    }

    /// The sketch of each row.
    pub fn sketches(&self) -> PyResult<Vec<Vec<u64>>> {
        Ok(self.bytes("sketch")?.into_iter().map(words).collect())
    }
}

/// The words of a sketch from its bytes.
pub fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks::<8>().0.iter().map(|&word| u64::from_le_bytes(word)).collect()
}

/// Appends the bytes of words.
pub fn append_words(words: &[u64], out: &mut Vec<u8>) {
    out.reserve(8 * words.len());
    words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
}

/// A column of bytes.
pub fn binary(rows: &[impl AsRef<[u8]>]) -> ArrayRef {
    std::sync::Arc::new(BinaryArray::from_iter_values(rows))
}

/// A column of 64-bit numbers.
pub fn longs(rows: Vec<i64>) -> ArrayRef {
    std::sync::Arc::new(Int64Array::from(rows))
}

/// A column of 32-bit numbers.
pub fn integers(rows: Vec<Option<i32>>) -> ArrayRef {
    std::sync::Arc::new(Int32Array::from(rows))
}

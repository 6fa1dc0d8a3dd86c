//! The stages over columns, for engines that share the work out: sketch, keys, verdicts, and how rare shingles are.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, Float64Array, LargeListArray, PrimitiveArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use onecopy::embed::dedup_job;
use onecopy_core::columnar::{Column, Markup, OwnedColumn, key_column, sketch_column};
use onecopy_core::{Config, Method, method};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrow::{ArrowTable, Batches};
use crate::error::refused;

/// The configuration that options of `onecopy dedup` describe, and its method.
fn configured(options: Vec<std::ffi::OsString>) -> PyResult<(Config, Box<dyn Method>)> {
    let call = ["--out".into(), "out".into()].into_iter().chain(options).chain(["--".into(), "data".into()]);
    let config = dedup_job(call).map_err(refused)?.config;
    config.check().map_err(|error| refused(error.to_string()))?;
    let method = method(&config).map_err(|error| refused(error.to_string()))?;
    Ok((config, method))
}

/// The only column of a stream, in one piece for each batch.
fn column(data: &Bound<'_, PyAny>, number: usize) -> PyResult<Vec<ArrayRef>> {
    let Batches { schema, batches } = Batches::of(data)?;
    if schema.fields().len() <= number {
        return Err(refused(format!(
            "the data has {} columns, and column {number} is wanted",
            schema.fields().len()
        )));
    }
    Ok(batches.iter().map(|batch| batch.column(number).clone()).collect())
}

/// Sketches texts, the first column of `data`. Returns `sketch`, a list of numbers, and `fingerprint`, 16 bytes.
#[pyfunction]
pub fn sketch(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    html: bool,
    options: Vec<std::ffi::OsString>,
) -> PyResult<ArrowTable> {
    let (config, method) = configured(options)?;
    let texts = column(data, 0)?;
    let markup = if html { Markup::Html } else { Markup::Plain };
    let all = py.detach(|| {
        let mut sketches = OwnedColumn::default();
        let mut fingerprints = Vec::new();
        for array in &texts {
            let found = sketch_batch(array, markup, &config, &*method)?;
            append(&mut sketches, &found.sketches);
            fingerprints.extend(found.fingerprints.iter().flat_map(|print| print.0.to_be_bytes()));
        }
        Ok::<_, String>((sketches, fingerprints))
    });
    let (sketches, fingerprints) = all.map_err(refused)?;
    let prints = FixedSizeBinaryArray::try_new(16, Buffer::from_vec(fingerprints), None);
    let prints: ArrayRef = Arc::new(prints.map_err(|error| refused(error.to_string()))?);
    ArrowTable::new(vec![("sketch", list(sketches)), ("fingerprint", prints)])
}

fn sketch_batch(
    array: &ArrayRef,
    markup: Markup,
    config: &Config,
    method: &dyn Method,
) -> Result<onecopy_core::columnar::SketchColumn, String> {
    let wrong = |error: onecopy_core::columnar::ColumnError| error.to_string();
    Ok(match array.data_type() {
        DataType::Utf8 => {
            let text = array.as_string::<i32>();
            let texts = Column::new(text.value_data(), text.value_offsets()).map_err(wrong)?;
            sketch_column(&texts, markup, config, method)
        }
        DataType::LargeUtf8 => {
            let text = array.as_string::<i64>();
            let texts = Column::new(text.value_data(), text.value_offsets()).map_err(wrong)?;
            sketch_column(&texts, markup, config, method)
        }
        DataType::Utf8View => {
            // Views are not in sequence, so this one copies.
            let owned = array.as_string_view().iter().map(|text| text.unwrap_or_default());
            let text = arrow_array::LargeStringArray::from_iter_values(owned);
            let texts = Column::new(text.value_data(), text.value_offsets()).map_err(wrong)?;
            sketch_column(&texts, markup, config, method)
        }
        other => return Err(format!("the first column is not text but {other}")),
    })
}

fn append<T: Copy>(all: &mut OwnedColumn<T>, more: &OwnedColumn<T>) {
    let before = all.values.len() as i64;
    all.values.extend_from_slice(&more.values);
    all.offsets.extend(more.offsets[1..].iter().map(|offset| offset + before));
}

fn list(column: OwnedColumn<u64>) -> ArrayRef {
    let values = PrimitiveArray::<UInt64Type>::new(column.values.into(), None);
    let field = Arc::new(Field::new("item", DataType::UInt64, false));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(column.offsets));
    Arc::new(LargeListArray::new(field, offsets, Arc::new(values), None))
}

/// Lists of 64-bit numbers, of any Arrow form, in one column.
fn lists(arrays: &[ArrayRef]) -> Result<OwnedColumn<u64>, String> {
    let mut all = OwnedColumn::default();
    for array in arrays {
        for row in 0..array.len() {
            let values = match array.data_type() {
                DataType::List(_) => array.as_list::<i32>().value(row),
                DataType::LargeList(_) => array.as_list::<i64>().value(row),
                other => return Err(format!("sketches are not lists but {other}")),
            };
            if let Some(values) = values.as_primitive_opt::<UInt64Type>() {
                all.values.extend_from_slice(values.values());
            } else if let Some(values) = values.as_primitive_opt::<arrow_array::types::Int64Type>() {
                all.values.extend(values.values().iter().map(|&value| value as u64));
            } else {
                return Err(format!(
                    "sketches are not lists of 64-bit numbers but of {}",
                    values.data_type()
                ));
            }
            all.offsets.push(all.values.len() as i64);
        }
    }
    Ok(all)
}

/// How common each shingle is, roughly. Counts of several machines can be merged.
#[pyclass(module = "onecopy._onecopy")]
pub struct Rarity {
    pub counts: onecopy_core::Rarity,
}

#[pymethods]
impl Rarity {
    /// Two to the power of `bits` counters, of one byte each.
    #[new]
    #[pyo3(signature = (bits=20))]
    fn new(bits: u32) -> PyResult<Rarity> {
        if bits > 32 {
            return Err(refused("bits must be at most 32"));
        }
        Ok(Rarity { counts: onecopy_core::Rarity::empty(bits) })
    }

    /// Counts the shingles of sketches, the first column of `data`.
    fn count(&mut self, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let sketches = lists(&column(data, 0)?).map_err(refused)?;
        sketches.view().rows().for_each(|sketch| self.counts.count(sketch));
        Ok(())
    }

    /// Adds the counts of another, with as many counters.
    fn merge(&mut self, other: &Rarity) -> PyResult<()> {
        self.counts.merge(&other.counts).map_err(|error| refused(error.to_string()))
    }

    /// The counters as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.counts.to_bytes())
    }

    /// Counters from bytes.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Rarity> {
        let counts = onecopy_core::Rarity::from_bytes(bytes).map_err(|error| refused(error.to_string()))?;
        Ok(Rarity { counts })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = py.get_type::<Rarity>().getattr("from_bytes")?;
        Ok((make, (self.to_bytes(py),)))
    }
}

/// The keys of sketches, the first column of `data`: `keys`, and the number beside each in `rests`.
#[pyfunction]
pub fn keys(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    rarity: &Rarity,
    options: Vec<std::ffi::OsString>,
) -> PyResult<ArrowTable> {
    let (_, method) = configured(options)?;
    let sketches = lists(&column(data, 0)?).map_err(refused)?;
    let found = py.detach(|| key_column(&sketches.view(), &rarity.counts, &*method));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(found.keys.offsets.clone()));
    let rests = PrimitiveArray::<UInt32Type>::new(found.rests.into(), None);
    let field = Arc::new(Field::new("item", DataType::UInt32, false));
    let rests: ArrayRef = Arc::new(LargeListArray::new(field, offsets, Arc::new(rests), None));
    ArrowTable::new(vec![("keys", list(found.keys)), ("rests", rests)])
}

/// The similarity of each pair of sketches that is alike, and null for the others. The first two columns of `data` are
/// the sketches of a pair.
#[pyfunction]
pub fn verdicts(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    options: Vec<std::ffi::OsString>,
) -> PyResult<ArrowTable> {
    let (_, method) = configured(options)?;
    let Batches { batches, .. } = Batches::of(data)?;
    let side = |number: usize| {
        let arrays: Option<Vec<ArrayRef>> =
            batches.iter().map(|batch| batch.columns().get(number).cloned()).collect();
        lists(&arrays.ok_or_else(|| "two columns of sketches are wanted".to_owned())?)
    };
    let (left, right) = (side(0).map_err(refused)?, side(1).map_err(refused)?);
    let found = py.detach(|| {
        let pairs = left.view();
        let others = right.view();
        let verdict = |row: usize| {
            let (a, b) = (pairs.row(row), others.row(row));
            let score = if a.is_empty() || b.is_empty() { None } else { method.verify(a, b) };
            score.map(|score| method.similarity(score, (a.len(), b.len())))
        };
        (0..pairs.len()).map(verdict).collect::<Float64Array>()
    });
    ArrowTable::new(vec![("similarity", Arc::new(found) as ArrayRef)])
}

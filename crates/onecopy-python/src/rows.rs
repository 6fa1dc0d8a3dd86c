//! The rows of an Arrow table as pages: the engine reads its buffers in place.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{DataType, Field, TimeUnit};
use onecopy_engine::{RowColumn, RowKind, RowValue, Rows};

use crate::arrow::Batches;

/// Rows of Arrow batches.
#[derive(Debug)]
pub struct ArrowRows {
    columns: Vec<RowColumn>,
    /// The columns of each batch.
    batches: Vec<Vec<ArrayRef>>,
    /// The first row of each batch, and at the end the number of rows.
    starts: Vec<u64>,
}

impl ArrowRows {
    /// The rows of all batches.
    pub fn new(data: Batches) -> ArrowRows {
        let mut columns = Vec::new();
        data.schema.fields().iter().for_each(|field| describe(field, "", &mut columns));
        let mut rows = ArrowRows { columns, batches: Vec::new(), starts: vec![0] };
        for batch in data.batches.iter().filter(|batch| batch.num_rows() > 0) {
            let before = rows.starts.last().copied().unwrap_or_default();
            rows.starts.push(before + batch.num_rows() as u64);
            rows.batches.push(leaves(batch));
        }
        rows
    }
}

impl Rows for ArrowRows {
    fn columns(&self) -> Vec<RowColumn> {
        self.columns.clone()
    }

    fn len(&self) -> u64 {
        self.starts.last().copied().unwrap_or_default()
    }

    fn value(&self, row: u64, column: usize) -> Option<RowValue<'_>> {
        let batch = self.starts.partition_point(|&start| start <= row) - 1;
        value(&self.batches[batch][column], (row - self.starts[batch]) as usize)
    }
}

/// Adds a column, and the fields of a structure under their paths.
fn describe(field: &Field, path: &str, out: &mut Vec<RowColumn>) {
    let name = if path.is_empty() { field.name().clone() } else { format!("{path}.{}", field.name()) };
    out.push(RowColumn { kind: kind(field.data_type()), name: name.clone() });
    if let DataType::Struct(fields) = field.data_type() {
        fields.iter().for_each(|field| describe(field, &name, out));
    }
}

/// The columns of a batch, in the order of [`describe`].
fn leaves(batch: &RecordBatch) -> Vec<ArrayRef> {
    let mut out = Vec::new();
    batch.columns().iter().for_each(|column| flatten(column, &mut out));
    out
}

fn flatten(column: &ArrayRef, out: &mut Vec<ArrayRef>) {
    out.push(text_as_bytes(column));
    if let DataType::Struct(_) = column.data_type() {
        // A field of a null structure is null, too.
        let (fields, arrays, nulls) = column.as_struct().clone().into_parts();
        for (_, array) in fields.iter().zip(arrays) {
            let both = arrow_buffer::NullBuffer::union(nulls.as_ref(), array.nulls());
            let data = array.to_data().into_builder().nulls(both).build();
            flatten(&data.map(arrow_array::make_array).unwrap_or(array), out);
        }
    }
}

/// Views of text as views of bytes. Nobody has checked that the text is UTF-8.
fn text_as_bytes(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Utf8View => std::sync::Arc::new(column.as_string_view().clone().to_binary_view()),
        _ => column.clone(),
    }
}

fn kind(kind: &DataType) -> Option<RowKind> {
    Some(match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => RowKind::Text,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => RowKind::Text,
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => RowKind::Whole,
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => RowKind::Whole,
        DataType::Float32 | DataType::Float64 => RowKind::Real,
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => RowKind::Time,
        DataType::Dictionary(_, values) => return self::kind(values),
        _ => return None,
    })
}

/// The value of a row; `None` if it is null or of no use.
fn value(column: &ArrayRef, row: usize) -> Option<RowValue<'_>> {
    if column.is_null(row) {
        return None;
    }
    macro_rules! whole {
        ($kind:ty, $variant:ident, $number:ty) => {
            RowValue::$variant(<$number>::from(column.as_primitive::<$kind>().value(row)))
        };
    }
    Some(match column.data_type() {
        DataType::Utf8 => {
            let text = column.as_string::<i32>();
            RowValue::Text(slice(text.value_data(), text.value_offsets(), row))
        }
        DataType::LargeUtf8 => {
            let text = column.as_string::<i64>();
            RowValue::Text(slice(text.value_data(), text.value_offsets(), row))
        }
        DataType::Binary => RowValue::Text(column.as_binary::<i32>().value(row)),
        DataType::LargeBinary => RowValue::Text(column.as_binary::<i64>().value(row)),
        DataType::BinaryView => RowValue::Text(column.as_binary_view().value(row)),
        DataType::Int8 => whole!(Int8Type, Signed, i64),
        DataType::Int16 => whole!(Int16Type, Signed, i64),
        DataType::Int32 => whole!(Int32Type, Signed, i64),
        DataType::Int64 => whole!(Int64Type, Signed, i64),
        DataType::UInt8 => whole!(UInt8Type, Unsigned, u64),
        DataType::UInt16 => whole!(UInt16Type, Unsigned, u64),
        DataType::UInt32 => whole!(UInt32Type, Unsigned, u64),
        DataType::UInt64 => whole!(UInt64Type, Unsigned, u64),
        DataType::Float32 => whole!(Float32Type, Real, f64),
        DataType::Float64 => whole!(Float64Type, Real, f64),
        DataType::Date32 => {
            RowValue::Signed(i64::from(column.as_primitive::<Date32Type>().value(row)) * 86_400)
        }
        DataType::Date64 => {
            RowValue::Signed(column.as_primitive::<Date64Type>().value(row).div_euclid(1_000))
        }
        DataType::Timestamp(unit, _) => RowValue::Signed(seconds(column, *unit, row)),
        DataType::Dictionary(..) => return coded(column, row),
        _ => return None,
    })
}

fn slice<'a, O: ArrowNativeType>(bytes: &'a [u8], offsets: &[O], row: usize) -> &'a [u8] {
    &bytes[offsets[row].as_usize()..offsets[row + 1].as_usize()]
}

fn seconds(column: &ArrayRef, unit: TimeUnit, row: usize) -> i64 {
    match unit {
        TimeUnit::Second => column.as_primitive::<TimestampSecondType>().value(row),
        TimeUnit::Millisecond => {
            column.as_primitive::<TimestampMillisecondType>().value(row).div_euclid(1_000)
        }
        TimeUnit::Microsecond => {
            column.as_primitive::<TimestampMicrosecondType>().value(row).div_euclid(1_000_000)
        }
        TimeUnit::Nanosecond => {
            column.as_primitive::<TimestampNanosecondType>().value(row).div_euclid(1_000_000_000)
        }
    }
}

/// The value of a row of a dictionary.
fn coded(column: &ArrayRef, row: usize) -> Option<RowValue<'_>> {
    let dictionary = column.as_any_dictionary();
    macro_rules! key {
        ($kind:ty) => {
            dictionary.keys().as_primitive::<$kind>().value(row).as_usize()
        };
    }
    let key = match dictionary.keys().data_type() {
        DataType::Int8 => key!(Int8Type),
        DataType::Int16 => key!(Int16Type),
        DataType::Int32 => key!(Int32Type),
        DataType::Int64 => key!(Int64Type),
        DataType::UInt8 => key!(UInt8Type),
        DataType::UInt16 => key!(UInt16Type),
        DataType::UInt32 => key!(UInt32Type),
        _ => key!(UInt64Type),
    };
    value(dictionary.values(), key)
}

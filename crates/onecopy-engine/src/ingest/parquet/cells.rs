//! Reads the values of a column row by row, and writes them as JSON.

use std::io::Write;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};

use super::columns::Kind;

/// A value of a row. Bytes share the memory of their Parquet page.
pub(super) enum Value {
    Bytes(ByteArray),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
}

/// One column of a row group.
pub(super) struct Cells {
    reader: ColumnReader,
    kind: Kind,
    levels: Vec<i16>,
}

impl Cells {
    pub(super) fn new(reader: ColumnReader, kind: Kind) -> Cells {
        Cells { reader, kind, levels: Vec::new() }
    }

    /// The value of the next row; `None` if it is null.
    pub(super) fn next(&mut self) -> Result<Option<Value>> {
        let levels = &mut self.levels;
        let whole = |number: i64| match self.kind {
            Kind::Days => Value::Signed(number.saturating_mul(86_400)),
            Kind::Time(per_second) => Value::Signed(number.div_euclid(per_second)),
            Kind::Unsigned => Value::Unsigned(number as u64),
            _ => Value::Signed(number),
        };
        Ok(match &mut self.reader {
            ColumnReader::ByteArrayColumnReader(reader) => one(reader, levels)?.map(Value::Bytes),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                one(reader, levels)?.map(|value| Value::Bytes(uuid(value.data()).into()))
            }
            ColumnReader::Int32ColumnReader(reader) if self.kind == Kind::Unsigned => {
                one(reader, levels)?.map(|number| Value::Unsigned(u64::from(number as u32)))
            }
            ColumnReader::Int32ColumnReader(reader) => one(reader, levels)?.map(|n| whole(i64::from(n))),
            ColumnReader::Int64ColumnReader(reader) => one(reader, levels)?.map(whole),
            ColumnReader::Int96ColumnReader(reader) => {
                one(reader, levels)?.map(|time| Value::Signed(time.to_seconds()))
            }
            ColumnReader::FloatColumnReader(reader) => {
                one(reader, levels)?.map(|number| Value::Float(f64::from(number)))
            }
            ColumnReader::DoubleColumnReader(reader) => one(reader, levels)?.map(Value::Float),
            ColumnReader::BoolColumnReader(reader) => {
                one(reader, levels)?.map(|value| Value::Signed(i64::from(value)))
            }
        })
    }
}

fn one<T: DataType>(reader: &mut ColumnReaderImpl<T>, levels: &mut Vec<i16>) -> Result<Option<T::T>> {
    levels.clear();
    let mut values = Vec::with_capacity(1);
    let (rows, _, _) = reader.read_records(1, Some(levels), None, &mut values)?;
    if rows == 0 {
        return Err(ParquetError::General("a column has fewer values than there are rows".into()));
    }
    Ok(values.pop())
}

fn uuid(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(36);
    for (place, byte) in bytes.iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            text.push(b'-');
        }
        text.extend([byte >> 4, byte & 15].map(|digit| b"0123456789abcdef"[usize::from(digit)]));
    }
    text
}

impl Value {
    /// A lower bound of its size in bytes.
    pub(super) fn length(&self) -> usize {
        if let Value::Bytes(bytes) = self { bytes.len() } else { 0 }
    }

    /// Appends the value as JSON. Returns false if JSON cannot express it.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> bool {
        let written = match self {
            Value::Bytes(bytes) => {
                write_string(bytes.data(), out);
                Ok(())
            }
            Value::Signed(number) => write!(out, "{number}"),
            Value::Unsigned(number) => write!(out, "{number}"),
            Value::Float(number) if number.is_finite() => write!(out, "{number}"),
            Value::Float(_) => return false,
        };
        written.is_ok()
    }
}

/// Appends a JSON string. Bytes that are not valid UTF-8 are copied unchanged. The line is then invalid too, and its
/// reader rejects it for that reason, like any line of a JSON Lines file.
pub(in crate::ingest) fn write_string(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        out.extend_from_slice(&rest[..at]);
        match rest[at] {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            byte @ (b'"' | b'\\') => out.extend_from_slice(&[b'\\', byte]),
            byte => {
                let digit = b"0123456789abcdef"[usize::from(byte & 15)];
                out.extend_from_slice(&[b'\\', b'u', b'0', b'0', b'0' + (byte >> 4), digit]);
            }
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

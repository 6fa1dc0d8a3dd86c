//! Writes a list as Parquet: one typed, optional column for each field.
//!
//! Rows are collected in memory up to a few megabytes and then written as a row group.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result as ParquetResult;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::cell::{Cell, Column, ColumnKind, plain};
use crate::error::{At, Result};
use crate::ingest::guarded;

/// The bytes of a row group in memory.
const GROUP_BYTES: usize = 4 << 20;

/// A Parquet file that is being written.
pub(in crate::output) struct Table {
    writer: SerializedFileWriter<File>,
    columns: Vec<Values>,
    bytes: usize,
    path: PathBuf,
}

/// The values of a column in the current row group, and whether each row has one.
struct Values {
    present: Vec<i16>,
    values: TypedValues,
}

enum TypedValues {
    Text(Vec<ByteArray>),
    Number(Vec<i64>),
    Real(Vec<f64>),
}

impl Table {
    pub(in crate::output) fn create(path: PathBuf, columns: &[Column]) -> Result<Table> {
        let file = File::create(&path).at("create", &path)?;
        let writer = guarded(|| {
            let zstd = Compression::ZSTD(ZstdLevel::default());
            let properties = WriterProperties::builder().set_compression(zstd).build();
            SerializedFileWriter::new(file, Arc::new(schema(columns)?), Arc::new(properties))
        });
        let writer = writer.at("write", &path)?;
        let columns = columns.iter().map(|(_, kind)| Values::new(*kind)).collect();
        Ok(Table { writer, columns, bytes: 0, path })
    }

    pub(in crate::output) fn row(&mut self, cells: &[Cell]) -> Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            self.bytes += column.push(cell);
        }
        if self.bytes < GROUP_BYTES { Ok(()) } else { self.flush() }
    }

    pub(in crate::output) fn finish(mut self) -> Result<()> {
        self.flush()?;
        let Table { writer, path, .. } = self;
        guarded(|| writer.close()).map(drop).at("write", &path)
    }

    /// Writes the collected rows as a row group.
    fn flush(&mut self) -> Result<()> {
        if std::mem::take(&mut self.bytes) == 0 {
            return Ok(());
        }
        let Table { writer, columns, .. } = self;
        let written = guarded(|| {
            let mut group = writer.next_row_group()?;
            for column in columns {
                if let Some(writer) = group.next_column()? {
                    column.write(writer)?;
                }
            }
            group.close().map(drop)
        });
        written.at("write", &self.path)
    }
}

impl Values {
    fn new(kind: ColumnKind) -> Values {
        let values = match kind {
            ColumnKind::Text => TypedValues::Text(Vec::new()),
            ColumnKind::Number => TypedValues::Number(Vec::new()),
            ColumnKind::Real => TypedValues::Real(Vec::new()),
        };
        Values { present: Vec::new(), values }
    }

    /// Adds the value of a row. Returns about how many bytes it takes.
    fn push(&mut self, cell: &Cell) -> usize {
        self.present.push(i16::from(*cell != Cell::Absent));
        match (&mut self.values, cell) {
            (TypedValues::Text(values), Cell::Name(json)) => values.push(plain(json).as_str().into()),
            (TypedValues::Text(values), Cell::Text(text)) => values.push((*text).into()),
            (TypedValues::Number(values), Cell::Number(number)) => values.push(*number as i64),
            (TypedValues::Real(values), Cell::Real(number)) => values.push(*number),
            (_, Cell::Absent) => {}
            _ => unreachable!("a cell has the type of its column"),
        }
        match cell {
            Cell::Name(text) | Cell::Text(text) => text.len() + size_of::<ByteArray>(),
            _ => size_of::<u64>(),
        }
    }

    /// Writes all values and forgets them.
    fn write(&mut self, mut writer: SerializedColumnWriter) -> ParquetResult<()> {
        let present = Some(self.present.as_slice());
        match &mut self.values {
            TypedValues::Text(values) => {
                writer.typed::<ByteArrayType>().write_batch(values, present, None)?;
                values.clear();
            }
            TypedValues::Number(values) => {
                writer.typed::<Int64Type>().write_batch(values, present, None)?;
                values.clear();
            }
            TypedValues::Real(values) => {
                writer.typed::<DoubleType>().write_batch(values, present, None)?;
                values.clear();
            }
        }
        self.present.clear();
        writer.close()
    }
}

fn schema(columns: &[Column]) -> ParquetResult<Type> {
    let field = |(name, kind): &Column| {
        let (physical, logical) = match kind {
            ColumnKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            ColumnKind::Number => (Physical::INT64, None),
            ColumnKind::Real => (Physical::DOUBLE, None),
        };
        let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
        builder.with_logical_type(logical).build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<ParquetResult<Vec<_>>>()?;
    Type::group_type_builder("onecopy").with_fields(fields).build()
}

//! Writes kept rows of a Parquet file to a Parquet file with the same schema.
//!
//! It copies columns as raw values and levels, without interpreting them. Nested columns, unusual types and invalid
//! text pass through unchanged. Memory holds a few pages of one column.

use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_typed_column_reader};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type,
    Int96Type,
};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};

use crate::ingest::{column_reader, guarded, open_parquet};

/// The approximate number of bytes copied at a time.
const BATCH_BYTES: i64 = 1 << 20;
/// The most rows copied at a time.
const BATCH_ROWS: i64 = 1024;

/// Writes the rows of `source` that `keep` accepts, by their number from zero, to `target`. Schema, metadata,
/// compression and row groups stay the same, but empty row groups are dropped. Returns the number of written rows.
pub(crate) fn write_kept<R: ChunkReader + 'static>(
    source: R,
    target: File,
    keep: impl Fn(u64) -> bool,
) -> io::Result<u64> {
    let source = open_parquet(source)?;
    let target = guarded(|| {
        let schema = source.metadata().file_metadata().schema_descr().root_schema_ptr();
        let mut writer = SerializedFileWriter::new(target, schema, Arc::new(properties(source.metadata())))?;
        let (mut first, mut written) = (0, 0);
        for number in 0..source.num_row_groups() {
            let group = source.get_row_group(number)?;
            let rows = u64::try_from(group.metadata().num_rows())?;
            let kept = || (0..rows).filter(|&row| keep(first + row));
            if let Some(last) = kept().last() {
                copy_group(&*group, &mut writer, last + 1, &|row| keep(first + row))?;
            }
            written += kept().count() as u64;
            first += rows;
        }
        Ok((writer.into_inner()?, written))
    });
    let (file, written) = target?;
    file.sync_data()?;
    Ok(written)
}

/// The writer properties of the source, as far as the file states them.
fn properties(source: &ParquetMetaData) -> WriterProperties {
    let about = source.file_metadata();
    let mut properties = WriterProperties::builder()
        .set_key_value_metadata(about.key_value_metadata().cloned())
        .set_sorting_columns(source.row_groups().first().and_then(|group| group.sorting_columns().cloned()));
    for column in source.row_groups().first().map_or(&[][..], RowGroupMetaData::columns) {
        let compression = match column.compression() {
            // The framing of LZ4 was never specified. LZ4_RAW is the same algorithm with a specified framing.
            Compression::LZ4 => Compression::LZ4_RAW,
            other => other,
        };
        properties = properties.set_column_compression(column.column_path().clone(), compression);
    }
    properties.build()
}

/// Copies kept rows among the first `needed` of a row group. Those behind them may be damaged.
fn copy_group(
    group: &dyn RowGroupReader,
    writer: &mut SerializedFileWriter<File>,
    needed: u64,
    keep: &dyn Fn(u64) -> bool,
) -> Result<()> {
    let mut target = writer.next_row_group()?;
    for leaf in 0..group.num_columns() {
        let mut column = target.next_column()?.ok_or_else(too_few)?;
        let rows = group.metadata().num_rows();
        let row_bytes = group.metadata().column(leaf).uncompressed_size() / rows.max(1);
        let batch = (BATCH_BYTES / row_bytes.max(1)).clamp(1, BATCH_ROWS) as usize;
        copy_column(column_reader(group, leaf)?, &mut column, Share { batch, needed, keep })?;
        column.close()?;
    }
    target.close()?;
    Ok(())
}

fn too_few() -> ParquetError {
    ParquetError::General("a column has not as many values as there are rows".into())
}

/// The rows of a column to copy: those among the first `needed` that `keep` accepts, `batch` at a time.
#[derive(Clone, Copy)]
struct Share<'a> {
    batch: usize,
    needed: u64,
    keep: &'a dyn Fn(u64) -> bool,
}

fn copy_column(reader: ColumnReader, column: &mut SerializedColumnWriter, share: Share) -> Result<()> {
    match reader {
        ColumnReader::BoolColumnReader(_) => copy::<BoolType>(reader, column, share),
        ColumnReader::Int32ColumnReader(_) => copy::<Int32Type>(reader, column, share),
        ColumnReader::Int64ColumnReader(_) => copy::<Int64Type>(reader, column, share),
        ColumnReader::Int96ColumnReader(_) => copy::<Int96Type>(reader, column, share),
        ColumnReader::FloatColumnReader(_) => copy::<FloatType>(reader, column, share),
        ColumnReader::DoubleColumnReader(_) => copy::<DoubleType>(reader, column, share),
        ColumnReader::ByteArrayColumnReader(_) => copy::<ByteArrayType>(reader, column, share),
        ColumnReader::FixedLenByteArrayColumnReader(_) => {
            copy::<FixedLenByteArrayType>(reader, column, share)
        }
    }
}

fn copy<T: DataType>(reader: ColumnReader, column: &mut SerializedColumnWriter, share: Share) -> Result<()> {
    let Share { batch, needed, keep } = share;
    let mut reader: ColumnReaderImpl<T> = get_typed_column_reader(reader);
    let writer: &mut ColumnWriterImpl<T> = column.typed::<T>();
    let most = writer.get_descriptor().max_def_level();
    let nested = writer.get_descriptor().max_rep_level() > 0;
    let mut rows = Rows::<T>::default();
    let mut row = 0;
    while row < needed {
        rows.clear();
        let (read, ..) = reader.read_records(
            batch.min((needed - row) as usize),
            Some(&mut rows.defined),
            Some(&mut rows.repeated),
            &mut rows.values,
        )?;
        if read == 0 {
            return Err(too_few());
        }
        rows.retain(most, |nth| keep(row + nth));
        let defined = (most > 0).then_some(&rows.defined[..]);
        let repeated = nested.then_some(&rows.repeated[..]);
        if !rows.values.is_empty() || defined.is_some_and(|levels| !levels.is_empty()) {
            writer.write_batch(&rows.values, defined, repeated)?;
        }
        row += read as u64;
    }
    Ok(())
}

/// Some rows of a column: its values, and the levels that mark nulls and row starts.
struct Rows<T: DataType> {
    values: Vec<T::T>,
    defined: Vec<i16>,
    repeated: Vec<i16>,
}

impl<T: DataType> Default for Rows<T> {
    fn default() -> Rows<T> {
        Rows { values: Vec::new(), defined: Vec::new(), repeated: Vec::new() }
    }
}

impl<T: DataType> Rows<T> {
    fn clear(&mut self) {
        self.values.clear();
        self.defined.clear();
        self.repeated.clear();
    }

    /// Keeps the rows that `keep` accepts, by their index here. `most` is the definition level of a present value.
    fn retain(&mut self, most: i16, keep: impl Fn(u64) -> bool) {
        if most == 0 {
            let mut nth = 0..;
            self.values.retain(|_| nth.next().is_some_and(&keep));
            return;
        }
        // Each level is a value or a null. A row starts where the repetition level is zero.
        let starts = |at: usize| self.repeated.get(at).is_none_or(|&level| level == 0);
        let mut rows = 0;
        let mut kept = false;
        let wanted: Vec<bool> = (0..self.defined.len())
            .map(|at| {
                if starts(at) {
                    kept = keep(rows);
                    rows += 1;
                }
                kept
            })
            .collect();
        let mut of_values = self.defined.iter().zip(&wanted).filter(|(level, _)| **level == most);
        self.values.retain(|_| of_values.next().is_none_or(|(_, wanted)| *wanted));
        let mut each = wanted.iter();
        self.defined.retain(|_| each.next().is_none_or(|wanted| *wanted));
        let mut each = wanted.iter();
        self.repeated.retain(|_| each.next().is_none_or(|wanted| *wanted));
    }
}

#[cfg(test)]
mod tests;

//! Reads Parquet files as lines: each row becomes a JSON line, which the rest of the engine reads.
//!
//! It reads only the needed columns, one row at a time, so memory holds one Parquet page per column instead of a row
//! group. Every row is exactly one line: line n of the file is row n, counted from zero.

mod cells;
mod columns;
mod counts;
mod guard;
mod pages;
mod sizes;
#[cfg(test)]
mod tests;
mod thrift;

use std::io::{self, ErrorKind};

use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, FileReader};

use self::cells::Cells;
pub(super) use self::cells::write_string;
use self::columns::{Column, choose};
pub(crate) use self::counts::column_reader;
pub(crate) use self::guard::{ParquetFile, guarded, open_parquet};
pub(crate) use self::sizes::parquet_memory;
use super::chunks::{Chunk, Chunks, Trouble};
use super::packing::is_no_damage;
use crate::job::{Fields, Limits};

/// Below this unpacked size, no file counts as a decompression bomb.
const HARMLESS_BYTES: u64 = 64 << 20;

/// Cuts the rows of a Parquet file into chunks of lines, as `LineChunks` does for lines.
pub(crate) struct ParquetChunks<R: ChunkReader + 'static> {
    file: ParquetFile<R>,
    columns: Vec<Column>,
    chunk_bytes: usize,
    page_bytes: usize,
    /// How many bytes of lines may still be produced.
    allowed: u64,
    /// The next row group.
    group: usize,
    /// The readers of the open row group, and its remaining rows.
    cells: Vec<Cells>,
    rows: u64,
    /// The rows of the file, and how many of them are in chunks.
    total: u64,
    delivered: u64,
    next: u32,
    ended: bool,
}

/// The result of reading a row.
enum RowOutcome {
    Written,
    Overlong,
    /// There are no more rows.
    End,
}

impl<R: ChunkReader + 'static> Chunks for ParquetChunks<R> {
    fn next(&mut self, spare: Vec<u8>) -> io::Result<Option<Chunk>> {
        ParquetChunks::next(self, spare)
    }
}

impl<R: ChunkReader + 'static> ParquetChunks<R> {
    /// Opens a file. Returns `InvalidData` with the reason if it is not Parquet, is damaged, or has no text.
    pub(crate) fn open(
        source: R,
        fields: &Fields,
        limits: &Limits,
        chunk_bytes: usize,
    ) -> io::Result<ParquetChunks<R>> {
        let bytes = source.len();
        let file = open_parquet(source)?;
        let columns = guarded(|| choose(file.metadata(), fields))?;
        let total = row_count(file.metadata());
        Ok(ParquetChunks {
            file,
            columns,
            chunk_bytes,
            page_bytes: limits.page_bytes,
            allowed: bytes.saturating_mul(limits.expansion).max(HARMLESS_BYTES),
            group: 0,
            cells: Vec::new(),
            rows: 0,
            total,
            delivered: 0,
            next: 0,
            ended: false,
        })
    }

    /// The next chunk, or `None` at the end. Returns an error only if the system or the network fails. Damage is
    /// reported in place of the row and ends the file. `spare` is a buffer to reuse.
    pub(crate) fn next(&mut self, mut spare: Vec<u8>) -> io::Result<Option<Chunk>> {
        if self.ended {
            return Ok(None);
        }
        spare.clear();
        let mut chunk = Chunk { index: self.next, bytes: spare, ..Chunk::default() };
        self.next += 1;
        while chunk.bytes.len() < self.chunk_bytes && chunk.trouble.is_none() && !self.ended {
            let start = chunk.bytes.len();
            match guarded(|| self.row(&mut chunk.bytes)) {
                Ok(RowOutcome::Written) => self.delivered += 1,
                Ok(RowOutcome::Overlong) => {
                    self.delivered += 1;
                    chunk.bytes.truncate(start);
                    chunk.trouble = Some(Trouble::Overlong);
                }
                Ok(RowOutcome::End) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    if is_no_damage(&error) {
                        return Err(error);
                    }
                    chunk.bytes.truncate(start);
                    chunk.trouble = Some(Trouble::of(&error));
                    chunk.lost = Some(self.total.saturating_sub(self.delivered));
                }
            }
        }
        Ok((!chunk.bytes.is_empty() || chunk.trouble.is_some()).then_some(chunk))
    }

    /// Appends the next row as a line.
    fn row(&mut self, out: &mut Vec<u8>) -> Result<RowOutcome, ParquetError> {
        while self.rows == 0 {
            if self.group == self.file.num_row_groups() {
                return Ok(RowOutcome::End);
            }
            self.open_group()?;
        }
        self.rows -= 1;
        let start = out.len();
        out.push(b'{');
        let mut last = None;
        let mut overlong = false;
        for (column, cells) in self.columns.iter().zip(&mut self.cells) {
            // Every column must advance by one row, even if its value is not used.
            let Some(value) = cells.next()? else { continue };
            if last.is_some_and(|last| column.yields_to(last)) {
                continue;
            }
            if value.length() > self.page_bytes {
                overlong = true;
                continue;
            }
            let before = out.len();
            if last.is_some() {
                out.push(b',');
            }
            out.extend_from_slice(&column.key);
            if value.write(out) {
                last = Some(column);
            } else {
                out.truncate(before);
            }
        }
        out.extend_from_slice(b"}\n");
        let length = out.len() - start;
        self.spend(length as u64)?;
        Ok(if overlong || length - 1 > self.page_bytes { RowOutcome::Overlong } else { RowOutcome::Written })
    }

    fn open_group(&mut self) -> Result<(), ParquetError> {
        let group = self.file.get_row_group(self.group)?;
        self.group += 1;
        self.rows = u64::try_from(group.metadata().num_rows())?;
        self.cells.clear();
        for column in &self.columns {
            self.cells.push(Cells::new(column_reader(&*group, column.leaf)?, column.kind));
        }
        Ok(())
    }

    /// Limits the total output: repeated rows take almost no space in a file, so a small file could expand without end.
    fn spend(&mut self, bytes: u64) -> Result<(), ParquetError> {
        self.allowed = self.allowed.checked_sub(bytes).ok_or_else(|| {
            let text = "it grows too much when unpacked: refused as a decompression bomb";
            ParquetError::External(io::Error::new(ErrorKind::FileTooLarge, text).into())
        })?;
        Ok(())
    }
}

/// The number of rows that the footer states.
pub(super) fn row_count(file: &ParquetMetaData) -> u64 {
    let groups = file.row_groups().iter();
    groups.map(|group| u64::try_from(group.num_rows()).unwrap_or(0)).fold(0, u64::saturating_add)
}

//! Tables as pieces: rows, one after the other, cut where keys say so.
//!
//! A cut depends on the key before it only. So a changed row changes one piece, and pieces before and after it stay the
//! same even if rows are added or removed.

use onecopy_store::TableRow;
use xxhash_rust::xxh3::xxh3_64;

use super::manifest::TableEntry;
use super::pieces::PieceWriter;
use crate::error::Result;

/// A piece has this many bytes at least, and is cut at the next key that fits, or at the most.
const LEAST_BYTES: usize = 1 << 20;
const MOST_BYTES: usize = 8 << 20;
/// One key in so many fits.
const KEYS: u64 = 256;

/// Cuts rows into pieces.
pub(super) struct RowCutter<'a, 'w> {
    writer: &'w mut PieceWriter<'a>,
    tables: Vec<TableEntry>,
    buffer: Vec<u8>,
}

impl<'a, 'w> RowCutter<'a, 'w> {
    pub(super) fn new(writer: &'w mut PieceWriter<'a>) -> RowCutter<'a, 'w> {
        RowCutter { writer, tables: Vec::new(), buffer: Vec::new() }
    }

    /// Takes the next row. Rows come table by table.
    pub(super) fn push(&mut self, row: TableRow) -> Result<()> {
        if self.tables.last().is_none_or(|table| table.name != row.table) {
            self.cut()?;
            self.tables.push(TableEntry { name: row.table.to_owned(), rows: 0, pieces: Vec::new() });
        }
        for part in [row.key, row.value] {
            self.buffer.extend((part.len() as u32).to_le_bytes());
            self.buffer.extend(part);
        }
        if let Some(table) = self.tables.last_mut() {
            table.rows += 1;
        }
        let is_end = self.buffer.len() >= LEAST_BYTES && xxh3_64(row.key).is_multiple_of(KEYS);
        if is_end || self.buffer.len() >= MOST_BYTES { self.cut() } else { Ok(()) }
    }

    fn cut(&mut self) -> Result<()> {
        if let (false, Some(table)) = (self.buffer.is_empty(), self.tables.last_mut()) {
            table.pieces.push(self.writer.piece(&self.buffer)?);
            self.buffer.clear();
        }
        Ok(())
    }

    /// The tables that have rows.
    pub(super) fn finish(mut self) -> Result<Vec<TableEntry>> {
        self.cut()?;
        Ok(self.tables)
    }
}

/// The rows of a piece; `None` if it is none.
pub(super) fn rows(piece: &[u8]) -> Option<Vec<(&[u8], &[u8])>> {
    let (mut rest, mut rows) = (piece, Vec::new());
    while !rest.is_empty() {
        let key = part(&mut rest)?;
        rows.push((key, part(&mut rest)?));
    }
    Some(rows)
}

fn part<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let (part, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *rest = after;
    Some(part)
}

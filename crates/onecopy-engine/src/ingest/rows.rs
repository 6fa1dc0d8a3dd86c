//! Pages in memory: rows of named columns, such as a data frame.
//!
//! A row gives the same page as the same row of a Parquet file, without becoming a line of JSON first.

mod columns;
mod record;

use std::fmt::Debug;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::chunks::{Chunk, Chunks};
use crate::parallel::Gate;

pub(crate) use self::columns::RowColumns;
pub(crate) use self::record::RowCells;

/// Pages in memory, in rows. All threads of a run read it.
pub trait Rows: Debug + Send + Sync {
    /// The columns. A field of a structure has the path to it as its name, such as `meta.url`.
    fn columns(&self) -> Vec<RowColumn>;

    /// The number of rows.
    fn len(&self) -> u64;

    /// Whether there is no row.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a row in a column; `None` if it is null.
    fn value(&self, row: u64, column: usize) -> Option<RowValue<'_>>;
}

/// A column of [`Rows`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowColumn {
    /// Its name.
    pub name: String,
    /// The type of its values; `None` for types that no page has a use for.
    pub kind: Option<RowKind>,
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// Text, or bytes that should be text.
    Text,
    /// Whole numbers.
    Whole,
    /// Other numbers.
    Real,
    /// Times, as whole seconds since 1970.
    Time,
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowValue<'a> {
    /// Text, as UTF-8. A row with other bytes is rejected.
    Text(&'a [u8]),
    /// A whole number, or a time in seconds since 1970.
    Signed(i64),
    /// A whole number.
    Unsigned(u64),
    /// A number.
    Real(f64),
}

impl RowValue<'_> {
    /// A lower bound of its size in bytes.
    fn length(&self) -> usize {
        if let RowValue::Text(text) = self { text.len() } else { 0 }
    }
}

/// Cuts rows into chunks of about equal size.
pub(crate) struct RowChunks {
    pub rows: Arc<dyn Rows>,
    pub columns: RowColumns,
    pub chunk_bytes: usize,
    pub large: Arc<Gate>,
    /// The bytes of all chunks so far.
    pub taken: Arc<AtomicU64>,
    pub at: u64,
    pub next: u32,
}

/// The most rows in a chunk.
const ROWS: u64 = 1 << 16;

impl Chunks for RowChunks {
    fn next(&mut self, _: Vec<u8>) -> io::Result<Option<Chunk>> {
        let (start, end) = (self.at, self.rows.len().min(self.at + ROWS));
        if start == end {
            return Ok(None);
        }
        let mut bytes = 0;
        while self.at < end && bytes < self.chunk_bytes {
            let own = self.columns.length(&*self.rows, self.at);
            // A large row is a chunk of its own.
            if own > self.chunk_bytes && self.at > start {
                break;
            }
            bytes += own;
            self.at += 1;
        }
        self.taken.fetch_add(bytes as u64, Ordering::Relaxed);
        let permit = (bytes > 2 * self.chunk_bytes).then(|| self.large.enter());
        let rows = Some(ChunkRows { range: start..self.at, bytes: bytes as u64 });
        let chunk = Chunk { index: self.next, rows, permit, ..Chunk::default() };
        self.next += 1;
        Ok(Some(chunk))
    }
}

/// The rows of a chunk, and their size.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChunkRows {
    pub range: Range<u64>,
    pub bytes: u64,
}

//! Opens sources of any format, local or remote.

use std::io::{self, Cursor, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use onecopy_core::Needs;

use super::NAME_OF_BASE;
use super::chunks::{Chunk, Chunks, LineChunks, Trouble};
use super::container::Reach;
use super::format::{Format, HEAD_BYTES};
use super::inputs::Source;
use super::packing::{Members, Opened, Unpacking, Windows, unpack_by};
use super::parquet::{ParquetChunks, open_parquet, row_count};
use super::record::FieldNames;
use super::rows::{RowChunks, RowColumns, Rows};
use super::split::{ArraySplit, Split, SplitChunks, TableSplit, titles};
use super::warc::WarcChunks;
use crate::job::{Fields, Limits};
use crate::parallel::Gate;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::FileReader;

/// Opens the sources of a run.
pub(crate) struct Opener {
    pub reach: Reach,
    pub fields: Fields,
    pub limits: Limits,
    /// Pages in memory.
    pub rows: Option<Arc<dyn Rows>>,
    /// Pages in memory that are the base.
    pub base_rows: Option<Arc<dyn Rows>>,
    /// The parts of HTML to read.
    pub needs: Needs,
    /// The size at which chunks are cut.
    pub chunk_bytes: usize,
    /// The gate for pages larger than a chunk.
    pub large: Arc<Gate>,
    /// How much memory unpacking may take.
    pub windows: Windows,
}

/// The chunks of a source, and a counter of the bytes read from it.
pub(crate) type OpenedChunks = (Box<dyn Chunks>, Arc<AtomicU64>);

/// A splitter, the bytes to find records in, and a counter of the bytes read.
pub(crate) type OpenedSplit = (Box<dyn Split>, Box<dyn Read + Send>, Arc<AtomicU64>);

type OpenedTable = (TableSplit, Box<dyn Read + Send>, Arc<AtomicU64>);

impl Opener {
    /// The bytes of a source, still compressed.
    pub(crate) fn bytes(&self, source: &Source) -> io::Result<Box<dyn Read + Send>> {
        self.reach.bytes(source)
    }

    /// The unpacked bytes of a source.
    pub(crate) fn unpacked(&self, source: &Source) -> io::Result<Box<dyn Read + Send>> {
        self.open(source).map(|(reader, _)| reader)
    }

    fn open(&self, source: &Source) -> io::Result<Opened> {
        self.open_noting(source, None)
    }

    fn open_noting(&self, source: &Source, members: Option<Members>) -> io::Result<Opened> {
        let (expansion, window) = (self.limits.expansion, self.windows.of(source));
        let unpacking = Unpacking { expansion, window, members };
        unpack_by(self.bytes(source)?, source.format.packing(), unpacking)
    }

    /// The chunks of an archive, whose members `members` learn.
    pub(crate) fn archive(&self, source: &Source, members: Option<Members>) -> io::Result<OpenedChunks> {
        let (reader, taken) = self.open_noting(source, members)?;
        let (chunk, page) = (self.chunk_bytes, self.limits.page_bytes);
        Ok((Box::new(WarcChunks::new(reader, chunk, page, self.large.clone())), taken))
    }

    /// The chunks of a source that holds many pages.
    pub(crate) fn chunks(&self, source: &Source) -> io::Result<OpenedChunks> {
        let (chunk, page, large) = (self.chunk_bytes, self.limits.page_bytes, self.large.clone());
        Ok(match source.format {
            Format::Parquet => return self.parquet(source),
            Format::Rows => return self.rows(source),
            Format::Table(_) | Format::Array(_) => {
                let (split, reader, taken) = self.split(source)?;
                (Box::new(SplitChunks::new(reader, split, chunk, large)), taken)
            }
            Format::Records(_) => return self.archive(source, None),
            Format::Lines(_) | Format::Html(_) | Format::Text(_) => {
                let (reader, taken) = self.open(source)?;
                (Box::new(LineChunks::new(reader, chunk, page, large)), taken)
            }
        })
    }

    /// The splitter for a source whose records are not lines, the unpacked bytes, and a counter of the bytes read.
    pub(crate) fn split(&self, source: &Source) -> io::Result<OpenedSplit> {
        if let Format::Table(_) = source.format {
            let (split, reader, taken) = self.table(source)?;
            return Ok((Box::new(split), reader, taken));
        }
        let (reader, taken) = self.open(source)?;
        Ok((Box::new(ArraySplit::new(self.limits.page_bytes)), reader, taken))
    }

    /// The titles of the columns of a table; none if it has no header.
    pub(super) fn titles(&self, source: &Source) -> io::Result<Vec<String>> {
        let (mut split, reader, _) = self.table(source)?;
        titles(&mut split, reader)
    }

    fn table(&self, source: &Source) -> io::Result<OpenedTable> {
        let (mut reader, taken) = self.open(source)?;
        let mut head = Vec::new();
        // Damage in the beginning is met again behind it.
        let broken = reader.by_ref().take(HEAD_BYTES).read_to_end(&mut head).err();
        let split = TableSplit::new(&head, FieldNames::new(&self.fields), self.limits.page_bytes);
        let reader = Cursor::new(head).chain(Broken(broken)).chain(reader);
        Ok((split, Box::new(reader), taken))
    }

    /// The pages in memory that are a source.
    pub(crate) fn rows_of(&self, source: &Source) -> Option<&Arc<dyn Rows>> {
        if source.name == NAME_OF_BASE { self.base_rows.as_ref() } else { self.rows.as_ref() }
    }

    /// The rows in memory.
    fn rows(&self, source: &Source) -> io::Result<OpenedChunks> {
        let rows = self.rows_of(source).cloned();
        let rows = rows.ok_or_else(|| io::Error::other("pages in memory are gone"))?;
        let columns = RowColumns::choose(&*rows, &self.fields).map_err(io::Error::other)?;
        let (chunk_bytes, large) = (self.chunk_bytes, self.large.clone());
        let taken = Arc::new(AtomicU64::new(0));
        let chunks = RowChunks { rows, columns, chunk_bytes, large, taken: taken.clone(), at: 0, next: 0 };
        Ok((Box::new(chunks), taken))
    }

    fn parquet(&self, source: &Source) -> io::Result<OpenedChunks> {
        let (fields, limits, chunk) = (&self.fields, &self.limits, self.chunk_bytes);
        let opened: io::Result<Box<dyn Chunks>> = match source.remote() {
            Some(file) if source.member.is_none() => {
                ParquetChunks::open(self.reach.stores.blocks(&file)?, fields, limits, chunk).map(boxed)
            }
            _ => self
                .reach
                .section(source)
                .and_then(|section| ParquetChunks::open(section, fields, limits, chunk))
                .map(boxed),
        };
        let chunks = match opened {
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                let rows = self.parquet_metadata(source)?.as_ref().map(row_count);
                Box::new(Refused(Some((error.to_string(), rows))))
            }
            opened => opened?,
        };
        // Rows are not read front to back, so the whole file counts as read after the last row.
        let taken = Arc::new(AtomicU64::new(0));
        Ok((Box::new(Whole { chunks, bytes: source.bytes, taken: taken.clone() }), taken))
    }
}

impl Opener {
    /// The footer of a Parquet file; `None` if it is damaged.
    pub(super) fn parquet_metadata(&self, source: &Source) -> io::Result<Option<ParquetMetaData>> {
        let opened = match source.remote().filter(|_| source.member.is_none()) {
            Some(file) => open_parquet(self.reach.stores.blocks(&file)?).map(|file| file.metadata().clone()),
            None => self.reach.section(source).and_then(open_parquet).map(|file| file.metadata().clone()),
        };
        match opened {
            Err(error) if error.kind() == ErrorKind::InvalidData => Ok(None),
            opened => opened.map(Some),
        }
    }
}

/// A reader that fails once, if there is an error.
struct Broken(Option<io::Error>);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

fn boxed(chunks: impl Chunks + 'static) -> Box<dyn Chunks> {
    Box::new(chunks)
}

/// A file that cannot be read: one chunk that carries the reason, and the number of rows if the file states it.
struct Refused(Option<(String, Option<u64>)>);

impl Chunks for Refused {
    fn next(&mut self, _: Vec<u8>) -> io::Result<Option<Chunk>> {
        let refused =
            |(reason, lost)| Chunk { trouble: Some(Trouble::Refused(reason)), lost, ..Chunk::default() };
        Ok(self.0.take().map(refused))
    }
}

/// Counts the whole file once it has been read.
struct Whole {
    chunks: Box<dyn Chunks>,
    bytes: u64,
    taken: Arc<AtomicU64>,
}

impl Chunks for Whole {
    fn next(&mut self, spare: Vec<u8>) -> io::Result<Option<Chunk>> {
        let chunk = self.chunks.next(spare)?;
        if chunk.is_none() {
            self.taken.store(self.bytes, Ordering::Relaxed);
        }
        Ok(chunk)
    }
}

//! Opens sources of any format, local or remote.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use onecopy_core::Needs;

use super::chunks::{Chunk, Chunks, LineChunks, Trouble};
use super::format::Format;
use super::inputs::Source;
use super::packing::unpack_within;
use super::parquet::{ParquetChunks, open_parquet, row_count};
use super::remote::Stores;
use super::warc::WarcChunks;
use super::windows::Windows;
use crate::job::{Fields, Limits};
use crate::parallel::Gate;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::FileReader;

/// Opens the sources of a run.
pub(crate) struct Opener {
    pub stores: Stores,
    pub fields: Fields,
    pub limits: Limits,
    /// The parts of HTML to read.
    pub needs: Needs,
    /// The size at which chunks are cut.
    pub chunk_bytes: usize,
    /// The gate for pages larger than a chunk.
    pub large: Arc<Gate>,
    /// How much memory zstd may take.
    pub windows: Windows,
}

/// The chunks of a source, and a counter of the bytes read from it.
pub(crate) type OpenedChunks = (Box<dyn Chunks>, Arc<AtomicU64>);

impl Opener {
    /// The bytes of a source, still compressed.
    pub(crate) fn bytes(&self, source: &Source) -> io::Result<Box<dyn Read + Send>> {
        source.open(&self.stores)
    }

    /// The chunks of a source that holds many pages.
    pub(crate) fn chunks(&self, source: &Source) -> io::Result<OpenedChunks> {
        if source.format == Format::Parquet {
            return self.rows(source);
        }
        let (packing, window) = (source.format.packing(), self.windows.of(source));
        let (reader, taken) = unpack_within(self.bytes(source)?, packing, self.limits.expansion, window)?;
        let (chunk, page, large) = (self.chunk_bytes, self.limits.page_bytes, self.large.clone());
        Ok(match source.format {
            Format::Records(_) => (Box::new(WarcChunks::new(reader, chunk, page, large)), taken),
            _ => (Box::new(LineChunks::new(reader, chunk, page, large)), taken),
        })
    }

    fn rows(&self, source: &Source) -> io::Result<OpenedChunks> {
        let (fields, limits, chunk) = (&self.fields, &self.limits, self.chunk_bytes);
        let opened: io::Result<Box<dyn Chunks>> = match source.remote() {
            Some(file) => ParquetChunks::open(self.stores.blocks(&file)?, fields, limits, chunk).map(boxed),
            None => ParquetChunks::open(File::open(&source.path)?, fields, limits, chunk).map(boxed),
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
        let opened = match source.remote() {
            Some(file) => open_parquet(self.stores.blocks(&file)?).map(|file| file.metadata().clone()),
            None => open_parquet(File::open(&source.path)?).map(|file| file.metadata().clone()),
        };
        match opened {
            Err(error) if error.kind() == ErrorKind::InvalidData => Ok(None),
            opened => opened.map(Some),
        }
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

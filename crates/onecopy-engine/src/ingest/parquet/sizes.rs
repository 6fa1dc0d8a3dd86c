//! How much memory a file takes while its rows are read, and while kept ones are copied.
//!
//! The `parquet` crate unpacks a page as a whole. Most writers make pages of a megabyte, but a page may have 512. The
//! heads of pages say so, and reading these alone takes little time.

use std::io::{self, ErrorKind, Read};

use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, FileReader};

use super::columns::choose;
use super::guard::{guarded, open_parquet};
use super::pages::PAGE_BYTES;
use super::thrift::{PageSizes, check_page};
use crate::job::Fields;

/// The pages of smaller columns need not be looked at.
const SMALL_BYTES: u64 = 1 << 20;

/// The most memory that a file takes; zero if it is damaged, which a reader will report.
pub(crate) fn parquet_memory<R: ChunkReader + Clone + 'static>(
    source: R,
    fields: &Fields,
) -> io::Result<u64> {
    let found = open_parquet(source.clone()).and_then(|file| {
        guarded(|| {
            let columns: Vec<usize> =
                choose(file.metadata(), fields)?.iter().map(|column| column.leaf).collect();
            let groups = file.metadata().row_groups().iter();
            groups
                .map(|group| group_memory(&source, group, &columns))
                .try_fold(0, |most, one| Ok(most.max(one?)))
        })
    });
    match found {
        Err(error) if error.kind() == ErrorKind::InvalidData => Ok(0),
        found => found,
    }
}

/// The memory for a row group. Reading needs `columns` at once, and copying needs each column alone.
fn group_memory<R: ChunkReader>(
    source: &R,
    group: &RowGroupMetaData,
    columns: &[usize],
) -> Result<u64, ParquetError> {
    let mut largest = Vec::with_capacity(group.num_columns());
    for column in group.columns() {
        largest.push(Largest::of(source, column)?);
    }
    let read = columns.iter().filter_map(|&leaf| largest.get(leaf));
    let (held, packed) =
        read.fold((0, 0), |(held, packed), one| (held + one.held(), one.page.packed.max(packed)));
    // Statistics of a copied column refer to its least and its largest value, and so to their pages.
    let copied = largest.iter().map(|one| one.copied() + one.page.packed).max().unwrap_or(0);
    Ok(copied.max(held + packed))
}

/// The largest page of a column, and whether it has others.
#[derive(Clone, Copy, Default)]
struct Largest {
    page: PageSizes,
    pages: u64,
}

impl Largest {
    fn of<R: ChunkReader>(source: &R, column: &ColumnChunkMetaData) -> Result<Largest, ParquetError> {
        let (unpacked, (start, packed)) = (column.uncompressed_size().max(0) as u64, column.byte_range());
        if unpacked <= SMALL_BYTES {
            return Ok(Largest { page: PageSizes { unpacked, packed: packed.min(SMALL_BYTES) }, pages: 1 });
        }
        let (mut largest, mut at) = (Largest::default(), start);
        while at < start.saturating_add(packed).min(source.len()) {
            let mut head = Counted { from: source.get_read(at)?, bytes: 0 };
            // Damage is for the reader of the column to report.
            let Ok(page) = check_page(&mut head, PAGE_BYTES) else { break };
            largest.add(page);
            at = at.saturating_add(head.bytes + page.packed);
        }
        Ok(largest)
    }

    fn add(&mut self, page: PageSizes) {
        self.page.unpacked = self.page.unpacked.max(page.unpacked);
        self.page.packed = self.page.packed.max(page.packed);
        self.pages += 1;
    }

    /// A copy holds two pages as a reader, and two for the statistics.
    fn copied(&self) -> u64 {
        if self.pages > 1 { 4 * self.page.unpacked } else { self.page.unpacked }
    }

    /// A reader holds two pages: the next one comes before the last one goes.
    fn held(&self) -> u64 {
        if self.pages > 1 { 2 * self.page.unpacked } else { self.page.unpacked }
    }
}

/// Counts what it reads.
struct Counted<R> {
    from: R,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(buffer)?;
        self.bytes += n as u64;
        Ok(n)
    }
}

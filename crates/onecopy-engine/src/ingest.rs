//! Turns bytes into pages: finds the inputs, cuts them into chunks, and reads records.
//!
//! Everything in a chunk is either a page or a [`Rejection`]. The order of chunks in a source, and where they are cut,
//! depend only on the bytes, so a second reading gives the same chunks.

mod chunks;
mod container;
mod feed;
mod format;
mod inputs;
mod opener;
mod packing;
mod parquet;
mod probe;
mod reason;
mod record;
mod remote;
mod rows;
mod split;
mod walk;
mod warc;

pub(crate) use chunks::{Chunk, Chunks, Copied, LineChunks, Trouble, lines};
pub(crate) use container::{Reach, Spools};
pub(crate) use feed::{Feed, Piece};
pub(crate) use format::{Format, NotOnePage, of_page};
pub(crate) use inputs::{Inputs, Links, Lot, Planning, Sketched, Source, lots, lots_of, plan};
pub(crate) use opener::{OpenedChunks, Opener};
pub(crate) use packing::{
    MemberPacker, Members, Packing, WIDEST, Window, Windows, is_no_damage, open, sniff, unpack, window,
    window_of_all, write, write_member,
};
pub(crate) use parquet::{ParquetChunks, column_reader, guarded, open_parquet, parquet_memory};
pub(crate) use probe::{check_fields, nearest};
pub(crate) use reason::{Class, DAMAGED, Reason};
pub(crate) use record::{
    FieldNames, LinkedLine, as_json, document, read_document, read_line, read_linked, to_line,
};
pub use record::{usual_field_names, usual_naming_fields};
pub(crate) use remote::{Bucket, Stores, is_remote};
pub(crate) use rows::{ChunkRows, RowCells, RowColumns};
pub use rows::{RowColumn, RowKind, RowValue, Rows};
pub(crate) use split::{ArraySplit, SplitChunks, TableSplit, copy_kept};
pub(crate) use walk::{RecordReader, ends_in_a_record, walk};
pub(crate) use warc::{
    Capture, Names, Overlong, PayloadKey, Purpose, RecordKind, capture, id_hash, key_of, names,
    names_of_original, start_of_capture,
};
pub(crate) use warc::{Meaning, WarcChunks, WarcRecord, http_parts, is_warc, meaning, records, started};

/// The name of pages in memory, as a source.
pub(crate) const NAME_OF_ROWS: &str = "data";

/// The name of pages in memory that are the base, as a source.
pub(crate) const NAME_OF_BASE: &str = "base";

/// Why a piece of input was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    /// The number of its source.
    pub source: u32,
    /// The line in its chunk, from zero.
    pub line: u32,
    /// Its name as JSON: its id, else its address. Empty if neither can be read.
    pub name: String,
    /// Why.
    pub reason: Reason,
    /// How many records are lost with it, if the format tells.
    pub lost: Option<u64>,
}

//! Bytes → pages: finding the inputs, cutting them into chunks, reading records.
//!
//! Everything that a chunk holds is either a page or a [`Rejection`]; the order of chunks within a source, and where
//! they are cut, depends on the bytes alone, so that a second reading meets the same ones.

mod chunks;
mod feed;
mod fields;
mod format;
mod inputs;
mod line;
mod opener;
mod packing;
mod parquet;
mod record;
mod remote;
mod scan;
mod warc;

pub(crate) use chunks::{Chunk, Chunks, Copied, LineChunks, Trouble, lines};
pub(crate) use feed::{Feed, Piece};
pub(crate) use fields::FieldNames;
pub(crate) use format::{Format, of_page};
pub(crate) use inputs::{Inputs, Lot, Source, lots, plan};
pub(crate) use opener::Opener;
pub(crate) use packing::{Packing, open, sniff, unpack, write, zstd_window};
pub(crate) use parquet::{ParquetChunks, column_reader, guarded, open_parquet};
pub(crate) use record::{Record, TextParts, Wanted, document, read_document, read_line};
pub(crate) use remote::Stores;
pub(crate) use warc::{Meaning, WarcChunks, WarcRecord, is_warc, meaning, read_record, records};

use serde::Serialize;

/// Why a piece of input was not judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    /// The number of its source.
    pub source: u32,
    /// The line in its chunk, from zero.
    pub line: u32,
    /// Why.
    pub reason: String,
}

/// A rejection as it is written to `rejected.jsonl`.
#[derive(Serialize)]
pub(crate) struct RejectedLine<'a> {
    /// The input file.
    pub source: &'a str,
    /// Its line, from one; for a file that is one page, nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// For a file that is one page: zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    /// Why.
    pub reason: &'a str,
}

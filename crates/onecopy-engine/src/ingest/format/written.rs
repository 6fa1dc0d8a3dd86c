//! A format as `run.json` names it. A page that is not compressed has the name that it had before there were others.

use serde::{Deserialize, Serialize};

use super::Format;
use crate::ingest::packing::Packing;

#[derive(Serialize, Deserialize)]
pub(super) enum WrittenFormat {
    Lines(Packing),
    Array(Packing),
    Table(Packing),
    Records(Packing),
    Parquet,
    Rows,
    Html,
    Text,
    PackedHtml(Packing),
    PackedText(Packing),
}

impl From<WrittenFormat> for Format {
    fn from(written: WrittenFormat) -> Format {
        match written {
            WrittenFormat::Lines(packing) => Format::Lines(packing),
            WrittenFormat::Array(packing) => Format::Array(packing),
            WrittenFormat::Table(packing) => Format::Table(packing),
            WrittenFormat::Records(packing) => Format::Records(packing),
            WrittenFormat::Parquet => Format::Parquet,
            WrittenFormat::Rows => Format::Rows,
            WrittenFormat::Html => Format::Html(Packing::Plain),
            WrittenFormat::Text => Format::Text(Packing::Plain),
            WrittenFormat::PackedHtml(packing) => Format::Html(packing),
            WrittenFormat::PackedText(packing) => Format::Text(packing),
        }
    }
}

impl From<Format> for WrittenFormat {
    fn from(format: Format) -> WrittenFormat {
        match format {
            Format::Lines(packing) => WrittenFormat::Lines(packing),
            Format::Array(packing) => WrittenFormat::Array(packing),
            Format::Table(packing) => WrittenFormat::Table(packing),
            Format::Records(packing) => WrittenFormat::Records(packing),
            Format::Parquet => WrittenFormat::Parquet,
            Format::Rows => WrittenFormat::Rows,
            Format::Html(Packing::Plain) => WrittenFormat::Html,
            Format::Text(Packing::Plain) => WrittenFormat::Text,
            Format::Html(packing) => WrittenFormat::PackedHtml(packing),
            Format::Text(packing) => WrittenFormat::PackedText(packing),
        }
    }
}

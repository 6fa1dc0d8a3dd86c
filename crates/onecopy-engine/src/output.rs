//! Decisions → files: kept pages as they were, and what became of the others.

mod kept;
mod lists;
mod names;
mod parquet;
mod warc;

pub(crate) use kept::KeptWriter;
pub(crate) use lists::Lists;

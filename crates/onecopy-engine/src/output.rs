//! Decisions → files: kept pages as they were, and what became of the others.

mod kept;
mod lists;
mod names;
#[allow(dead_code)]
mod parquet;
#[allow(dead_code, reason = "the writer of kept pages takes it up with WARC inputs")]
mod warc;

pub(crate) use kept::KeptWriter;
pub(crate) use lists::Lists;
#[allow(unused_imports)]
pub(crate) use parquet::write_kept;

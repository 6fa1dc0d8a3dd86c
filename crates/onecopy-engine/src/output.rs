//! Writes the decisions to files: kept pages unchanged, and lists of the others.

mod cdxj;
mod kept;
mod lists;
mod names;
mod parquet;
mod place;
mod reasons;
mod scores;
mod treatment;
mod warc;

pub(crate) use kept::KeptWriter;
pub(crate) use lists::{LIST_PASSES, Lists};
pub use lists::{ListTable, ListTables, ListValues};
pub(crate) use scores::ScoreFile;

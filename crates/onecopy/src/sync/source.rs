//! Where statuses come from: a collection on disk, a service over HTTP, or a finished run.

pub mod collection;
pub mod finished_run;
pub mod remote;

use anyhow::Result;
use onecopy_engine::FeedCursor;
use serde_json::value::RawValue;

use super::Row;

/// Pages that changed, and where the next ones are.
pub struct Changes {
    /// One for each name.
    pub rows: Vec<Row>,
    pub next: FeedCursor,
    /// The last number that the source has now.
    pub last: u64,
}

/// What comes after a cursor.
pub enum Answer {
    Changes(Changes),
    /// Changes since the cursor are no longer known, and why.
    Gone(String),
}

/// Gives the statuses of pages.
pub trait Source {
    /// The name of the collection or run, once it was renewed.
    fn id(&self) -> &str;
    /// Sees the present from now on.
    fn renew(&mut self) -> Result<()>;
    /// Lets go of everything until it is renewed.
    fn release(&mut self) {}
    /// The pages of about `limit` changes after a cursor.
    fn read(&mut self, after: FeedCursor, limit: usize) -> Result<Answer>;
    /// The present statuses of pages, by name.
    fn lookup(&mut self, names: &[Box<RawValue>]) -> Result<Vec<Row>>;
}

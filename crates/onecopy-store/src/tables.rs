//! The tables of a collection, in one file that changes by whole transactions.
//!
//! redb keeps them: copy-on-write B-trees, so that what is read is always one moment, whatever is being written.

mod keys;
mod read;
#[cfg(test)]
mod tests;
mod write;

use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};

use redb::{Database, TableDefinition};

pub use read::{Look, Snapshot};
pub use write::Batch;

use crate::disk::damaged;
use crate::error::{Error, Result};

const META: TableDefinition<&str, &[u8]> = TableDefinition::new("meta");
/// Name → page.
const NAMES: TableDefinition<&[u8], u32> = TableDefinition::new("names");
const PAGES: TableDefinition<u32, &[u8]> = TableDefinition::new("pages");
const CONTENTS: TableDefinition<u32, &[u8]> = TableDefinition::new("contents");
const FINGERPRINTS: TableDefinition<u128, u32> = TableDefinition::new("fingerprints");
/// Content, class, rank → page: the pages of a content, best first.
const COPIES: TableDefinition<&[u8], u32> = TableDefinition::new("copies");
/// Role, hash of an address, rank → page: who is at an address, best first.
const STANDING: TableDefinition<&[u8], u32> = TableDefinition::new("standing");
/// Hash of an address, page: who names an address.
const NAMING: TableDefinition<(u64, u32), ()> = TableDefinition::new("naming");
/// Page, page: who stands for a page.
const ENDING: TableDefinition<(u32, u32), ()> = TableDefinition::new("ending");
/// Group, content.
const GROUPS: TableDefinition<(u64, u32), ()> = TableDefinition::new("groups");
/// Group → checks of losers on request, and those that failed.
const CHECKS: TableDefinition<u64, (u64, u64)> = TableDefinition::new("checks");
const WITNESSES: TableDefinition<(u32, u32), ()> = TableDefinition::new("witnesses");
/// Number → change of status.
const FEED: TableDefinition<u64, &[u8]> = TableDefinition::new("feed");
/// Segment of the log → bytes of it that pages and contents are in.
const LIVE: TableDefinition<u32, u64> = TableDefinition::new("live");

/// The name of the file.
const FILE: &str = "tables.redb";

/// Who is at an address, by what the page there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A page with words that stands for itself, by what its address comes to.
    Content = 0,
    /// A page that points elsewhere, by its very address.
    Pointing = 1,
    /// A page that points elsewhere, by what its address comes to.
    PointingAlike = 2,
}

/// The tables, open.
#[derive(Debug)]
pub struct Tables {
    /// There until it is dropped.
    database: Option<Database>,
}

impl Drop for Tables {
    fn drop(&mut self) {
        let database = self.database.take();
        // A database that is damaged, or whose transaction ended in a panic, may panic when it is dropped, too.
        catch_unwind(AssertUnwindSafe(|| drop(database))).ok();
    }
}

impl Tables {
    /// Opens the tables in `backend`, or makes them. `cache_bytes` are for what is read again. With `check`, the file is
    /// walked through first: a table whose name is damaged is not found, and what is then made anew would hide that.
    pub fn open(backend: impl redb::StorageBackend, cache_bytes: usize, check: bool) -> Result<Tables> {
        let mut builder = Database::builder();
        builder.set_cache_size(cache_bytes);
        guarded(|| {
            let mut tables = Tables { database: Some(builder.create_with_backend(backend).map_err(broken)?) };
            if check {
                tables.check()?;
            }
            tables.begin()?.commit()?;
            Ok(tables)
        })
    }

    /// The tables as they are now.
    pub fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::new(self.database()?)
    }

    /// A transaction. There is one at a time; another waits.
    pub fn begin(&self) -> Result<Writing> {
        let mut transaction = self.database()?.begin_write().map_err(broken)?;
        // After a crash the file is opened at once rather than walked through.
        transaction.set_quick_repair(true);
        Ok(Writing { transaction })
    }

    /// Walks through the file and checks it.
    fn check(&mut self) -> Result<()> {
        let database = self.database.as_mut().ok_or_else(closed)?;
        match database.check_integrity().map_err(broken)? {
            true => Ok(()),
            false => Err(damaged(FILE, 0, "a checksum is another")),
        }
    }

    fn database(&self) -> Result<&Database> {
        self.database.as_ref().ok_or_else(closed)
    }
}

/// A transaction: nothing is changed until it is committed.
pub struct Writing {
    transaction: redb::WriteTransaction,
}

impl Writing {
    /// The tables, to be changed.
    pub fn batch(&self) -> Result<Batch<'_>> {
        Batch::new(&self.transaction)
    }

    /// Makes the changes durable, all at once.
    pub fn commit(self) -> Result<()> {
        drop(self.batch()?);
        self.transaction.commit().map_err(broken)
    }
}

fn closed() -> Error {
    Error::Refused("the tables are closed".into())
}

/// redb checks checksums only when it is asked to, and asserts some of what it reads: a damaged file can make it panic.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let done = catch_unwind(AssertUnwindSafe(work));
    done.unwrap_or_else(|_| Err(damaged(FILE, 0, "it is not what was written")))
}

/// What went wrong inside redb.
fn broken(error: impl Into<redb::Error>) -> Error {
    match error.into() {
        // What it says of a file that does not begin as it should, or ends too early.
        redb::Error::Io(source)
            if matches!(source.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof) =>
        {
            damaged(FILE, 0, source.to_string())
        }
        redb::Error::Io(source) => Error::Io { verb: "write", file: FILE.into(), source },
        redb::Error::PreviousIo | redb::Error::DatabaseClosed => {
            let source = io::Error::other("an earlier write failed, and it is opened anew when it can be");
            Error::Io { verb: "read", file: FILE.into(), source }
        }
        redb::Error::Corrupted(what) => Error::Damaged { file: FILE.into(), offset: 0, what },
        other => Error::Damaged { file: FILE.into(), offset: 0, what: other.to_string() },
    }
}

/// A row that is not one.
fn no_row(table: &str, key: impl std::fmt::Debug) -> Error {
    Error::Damaged { file: FILE.into(), offset: 0, what: format!("{table} has no row at {key:?}") }
}

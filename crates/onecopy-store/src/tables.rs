//! The tables of a collection, in one file that changes by whole transactions.
//!
//! redb stores them as copy-on-write B-trees, so every read sees one consistent snapshot, even during writes.

mod copy;
mod feed;
mod keys;
mod read;
#[cfg(test)]
mod tests;
mod write;

use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

pub use copy::{EachRow, KeysAndValues, TableRow};
pub use feed::{FeedLimits, FeedSubject};
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
/// Role, address hash, rank → page: the pages at an address, best first.
const STANDING: TableDefinition<&[u8], u32> = TableDefinition::new("standing");
/// Address hash, page: the pages that refer to an address.
const NAMING: TableDefinition<(u64, u32), ()> = TableDefinition::new("naming");
/// Page, page: the pages whose final target is a page.
const ENDING: TableDefinition<(u32, u32), ()> = TableDefinition::new("ending");
/// Group, content.
const GROUPS: TableDefinition<(u64, u32), ()> = TableDefinition::new("groups");
/// Group → the number of on-demand checks of its losers, and of failed ones.
const CHECKS: TableDefinition<u64, (u64, u64)> = TableDefinition::new("checks");
const WITNESSES: TableDefinition<(u32, u32), ()> = TableDefinition::new("witnesses");
/// Number → change of status.
const FEED: TableDefinition<u64, &[u8]> = TableDefinition::new("feed");
/// Page → its only change in the feed.
const FED_PAGES: TableDefinition<u32, u64> = TableDefinition::new("fed-pages");
/// Group → its only change in the feed.
const FED_GROUPS: TableDefinition<u64, u64> = TableDefinition::new("fed-groups");
/// Number in the feed → group, or zero for a page that is deleted: changes that are kept for a time only.
const EXPIRING: TableDefinition<u64, u64> = TableDefinition::new("expiring");
/// Time in minutes → the last number in the feed at that time.
const MARKS: TableDefinition<u64, u64> = TableDefinition::new("marks");
/// Log segment → its bytes in use by pages and contents.
const LIVE: TableDefinition<u32, u64> = TableDefinition::new("live");

/// The name of the file.
const FILE: &str = "tables.redb";

/// The role of a page at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A page with words that refers to no other, by its normalised address.
    Content = 0,
    /// A page that refers to another, by its exact address.
    Pointing = 1,
    /// A page that refers to another, by its normalised address.
    PointingAlike = 2,
}

/// The open tables.
#[derive(Debug)]
pub struct Tables {
    /// `Some` until this is dropped.
    database: Option<Database>,
}

impl Drop for Tables {
    fn drop(&mut self) {
        let database = self.database.take();
        // Dropping a damaged database, or one whose transaction panicked, may panic too.
        catch_unwind(AssertUnwindSafe(|| drop(database))).ok();
    }
}

impl Tables {
    /// Opens the tables in `backend`, or creates them, with a cache of `cache_bytes`. `check` verifies the whole file
    /// first: redb does not find a table whose name is damaged, and creating it again would hide the damage.
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

    /// A snapshot of the current tables.
    pub fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::new(self.database()?)
    }

    /// Begins a transaction. Only one can be open; another waits.
    pub fn begin(&self) -> Result<Writing> {
        let mut transaction = self.database()?.begin_write().map_err(broken)?;
        // After a crash, this lets the file open at once without a full scan.
        transaction.set_quick_repair(true);
        Ok(Writing { transaction })
    }

    /// Verifies the whole file. After a power loss redb may have to correct which pages are free, and then says that the
    /// file was not clean. That is no damage; a step back to an earlier transaction is.
    fn check(&mut self) -> Result<()> {
        let before = self.meta()?;
        let is_clean = self.database.as_mut().ok_or_else(closed)?.check_integrity().map_err(broken)?;
        match is_clean || self.meta()? == before {
            true => Ok(()),
            false => Err(damaged(FILE, 0, "a checksum does not match")),
        }
    }

    /// All facts about the collection, which tell its state; none in a new file.
    fn meta(&self) -> Result<Vec<(String, Vec<u8>)>> {
        let transaction = self.database()?.begin_read().map_err(broken)?;
        let table = match transaction.open_table(META) {
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
            table => table.map_err(broken)?,
        };
        let rows = table.iter().map_err(broken)?;
        let row = |row: std::result::Result<
            (redb::AccessGuard<'_, &str>, redb::AccessGuard<'_, &[u8]>),
            _,
        >| { row.map(|(name, bytes)| (name.value().to_owned(), bytes.value().to_owned())) };
        rows.map(row).collect::<std::result::Result<_, redb::StorageError>>().map_err(broken)
    }

    fn database(&self) -> Result<&Database> {
        self.database.as_ref().ok_or_else(closed)
    }
}

/// A transaction: nothing changes until it is committed.
pub struct Writing {
    transaction: redb::WriteTransaction,
}

impl Writing {
    /// The tables, for writing.
    pub fn batch(&self) -> Result<Batch<'_>> {
        Batch::new(&self.transaction)
    }

    /// Commits all changes durably and atomically.
    pub fn commit(self) -> Result<()> {
        drop(self.batch()?);
        self.transaction.commit().map_err(broken)
    }
}

fn closed() -> Error {
    Error::Refused("the tables are closed".into())
}

/// Runs code that may panic: redb verifies checksums only on request, and some of its assertions fail on a damaged
/// file.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let done = catch_unwind(AssertUnwindSafe(work));
    done.unwrap_or_else(|_| Err(damaged(FILE, 0, "its bytes changed after they were written")))
}

/// Converts an error of redb.
fn broken(error: impl Into<redb::Error>) -> Error {
    match error.into() {
        // redb reports this for a file with a bad start or a missing end.
        redb::Error::Io(source)
            if matches!(source.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof) =>
        {
            damaged(FILE, 0, source.to_string())
        }
        redb::Error::Io(source) => Error::Io { verb: "write", file: FILE.into(), source },
        redb::Error::PreviousIo | redb::Error::DatabaseClosed => {
            let source =
                io::Error::other("an earlier write failed; the tables are reopened as soon as possible");
            Error::Io { verb: "read", file: FILE.into(), source }
        }
        redb::Error::Corrupted(what) => Error::Damaged { file: FILE.into(), offset: 0, what },
        other => Error::Damaged { file: FILE.into(), offset: 0, what: other.to_string() },
    }
}

/// The error for an invalid row.
fn no_row(table: &str, key: impl std::fmt::Debug) -> Error {
    Error::Damaged { file: FILE.into(), offset: 0, what: format!("{table} has no row at {key:?}") }
}

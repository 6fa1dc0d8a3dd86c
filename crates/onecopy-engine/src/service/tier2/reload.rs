//! Reads memory again from disk, after a batch failed in the middle.

use onecopy_store::{Error as StoreError, Postings};

use crate::error::{Error, Result};
use crate::service::collection::Collection;
use crate::service::contents::Contents;

/// Reads contents and tables again. `error` says why the batch failed: damaged postings are removed first, and are
/// rebuilt from the log.
pub(super) fn reload(collection: &Collection, error: &Error) -> Result<()> {
    collection.contents.clear_poison();
    collection.write_contents()?.halt();
    if matches!(error, Error::Store(StoreError::Damaged { file, .. }) if file.starts_with("postings")) {
        Postings::remove_all(&*collection.folder)?;
    }
    let snapshot = collection.reopen_tables()?;
    let (reader, method) = (collection.reader.clone(), collection.method());
    let contents = Contents::open(&collection.folder, &snapshot, reader, method, collection.tuning)?;
    collection.replace(snapshot, contents)
}

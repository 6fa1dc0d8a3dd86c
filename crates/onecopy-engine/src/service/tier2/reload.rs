//! Reloads the state in memory from disk after a batch failed.

use onecopy_store::{Error as StoreError, Postings};

use crate::error::{Error, Result};
use crate::service::collection::Collection;
use crate::service::contents::ContentIndex;

/// Reloads contents and tables. `error` is the reason of the failure: damaged postings are removed first and rebuilt
/// from the log.
pub(super) fn reload(collection: &Collection, error: &Error) -> Result<()> {
    collection.contents.write().halt();
    if matches!(error, Error::Store(StoreError::Damaged { file, .. }) if file.starts_with("postings")) {
        Postings::remove_all(&*collection.folder)?;
    }
    let snapshot = collection.reopen_tables()?;
    let (reader, method) = (collection.reader.clone(), collection.method());
    let contents = ContentIndex::open(&collection.folder, &snapshot, reader, method, collection.tuning)?;
    collection.replace(snapshot, contents);
    Ok(())
}

//! Opens the tables of a collection: checks its format, configuration and method.

use std::hash::{BuildHasher, Hasher, RandomState};

use onecopy_core::{ANSWER_VERSION, Config, Method, Search};
use onecopy_store::{Backend, Folder, Heads, Look, Open, Snapshot, Tables};

use crate::error::{Error, Result};
use crate::service::{Opening, ServiceOptions};

/// The version of everything that a collection's folder holds.
const FORMAT: u32 = 3;

/// The file that makes a folder a collection.
const TABLES: &str = "tables.redb";

/// Refuses a folder without a collection, unless one may be begun there, and one that lost its tables. Nothing is written
/// before.
pub(super) fn check_files(folder: &dyn Folder, options: &ServiceOptions) -> Result<()> {
    let length = folder.open(TABLES, Open::Read).and_then(|file| file.len()).unwrap_or(0);
    if length > 0 {
        return Ok(());
    }
    if has_parts(folder) {
        return Err(Error::CollectionLost { folder: options.data.clone() });
    }
    match options.opening {
        Opening::Begin => Ok(()),
        _ => Err(Error::NoCollection { folder: options.data.clone() }),
    }
}

/// Whether there are files that are written only once the tables are there.
fn has_parts(folder: &dyn Folder) -> bool {
    let is_part = |name: &String| name.starts_with("log-") || name.starts_with("postings");
    folder.names().is_ok_and(|names| names.iter().any(is_part))
}

/// Opens the tables, and creates them for a new collection.
pub(super) fn open_tables(
    folder: &dyn Folder,
    options: &ServiceOptions,
    cache_bytes: usize,
) -> Result<Tables> {
    let file = folder.open(TABLES, Open::Create).map_err(|source| Error::Io {
        verb: "open",
        path: options.data.join(TABLES),
        source,
    })?;
    Ok(Tables::open(Backend::new(file), cache_bytes, options.check_tables)?)
}

/// Why a collection cannot be locked.
pub(super) fn locked(options: &ServiceOptions, error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::NotFound => {
            Error::CollectionInUse { folder: options.data.clone() }
        }
        _ => Error::Io { verb: "lock", path: options.data.clone(), source: error },
    }
}

/// The configuration of a collection: its own, or that of a new one.
pub(super) fn config(folder: &dyn Folder, tables: &Tables, options: &ServiceOptions) -> Result<Config> {
    let snapshot = tables.snapshot()?;
    let damaged = |reason: String| Error::CollectionConfigDamaged { folder: options.data.clone(), reason };
    let (format, stored) = (snapshot.meta("format")?, snapshot.meta("config")?);
    let is_begun = format.is_some();
    if let Some(format) = format.filter(|format| *format != FORMAT.to_le_bytes()) {
        let found = format.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        return Err(Error::CollectionFormat { folder: options.data.clone(), found, expected: FORMAT });
    }
    let found = answer_version(snapshot.meta("answers")?.as_deref());
    if is_begun && found != ANSWER_VERSION {
        let (folder, expected) = (options.data.clone(), ANSWER_VERSION);
        return Err(Error::CollectionAnswers { folder, found, expected });
    }
    if is_begun && stored.is_none() {
        return Err(damaged("it is missing".into()));
    }
    let Some(stored) = stored else {
        if has_parts(folder) {
            return Err(Error::CollectionLost { folder: options.data.clone() });
        }
        let config = options.config.clone().unwrap_or_default();
        config.check()?;
        let writing = tables.begin()?;
        let mut batch = writing.batch()?;
        batch.set_meta("format", &FORMAT.to_le_bytes())?;
        batch.set_meta(ID, new_id().as_bytes())?;
        batch.set_meta("answers", &ANSWER_VERSION.to_le_bytes())?;
        batch.set_meta("config", &serde_json::to_vec(&config).expect("a configuration is JSON"))?;
        batch.set_heads(&Heads { generations: 1, ..Heads::default() })?;
        drop(batch);
        writing.commit()?;
        return Ok(config);
    };
    let stored: Config = serde_json::from_slice(&stored).map_err(|error| damaged(error.to_string()))?;
    if options.config.as_ref().is_some_and(|asked| *asked != stored) {
        return Err(Error::CollectionConfig { folder: options.data.clone() });
    }
    Ok(stored)
}

/// The entry of the metadata with the collection's name.
const ID: &str = "id";

/// The name of a collection, which no other has.
pub(super) fn id(snapshot: &Snapshot) -> Result<String> {
    Ok(String::from_utf8_lossy(&snapshot.meta(ID)?.unwrap_or_default()).into_owned())
}

/// A random name. The hasher of the standard library is seeded by the system.
fn new_id() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// The version of a collection's answers. Collections of onecopy 0.1 store no number and have version 1. An unreadable
/// number is no version.
fn answer_version(stored: Option<&[u8]>) -> u32 {
    stored.map_or(1, |bytes| bytes.try_into().map_or(0, u32::from_le_bytes))
}

/// Refuses methods that cannot be updated page by page.
pub(super) fn check_method(config: &Config, method: &dyn Method) -> Result<()> {
    if method.search() != Search::Keys {
        return Err(Error::CollectionMethod { method: config.method.clone() });
    }
    if config.markets.len() > 1 {
        return Err(Error::CollectionMarkets { count: config.markets.len() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collection_without_a_number_has_answers_of_version_1() {
        assert_eq!(answer_version(None), 1);
        assert_eq!(answer_version(Some(&7u32.to_le_bytes())), 7);
        assert_eq!(answer_version(Some(b"x")), 0);
    }
}

//! Opens the tables of a collection: checks its format, configuration and method.

use onecopy_core::{ANSWER_VERSION, Config, FilterRules, Method, Search, Tag};
use onecopy_store::{Backend, Folder, Heads, Look, Open, Tables};

use super::facts::{FORMAT, Facts, ID, RESTORING, TABLES, TAGGED_FORMAT, TAGS, new_id, stored_tags};
use crate::error::{Error, Result};
use crate::service::{Opening, ServiceOptions};

/// Refuses a folder without a collection, unless one may be begun there, and one that lost its tables. Nothing is written
/// before.
pub(super) fn check_files(folder: &dyn Folder, options: &ServiceOptions) -> Result<()> {
    if folder.open(RESTORING, Open::Read).is_ok() {
        return Err(Error::RestoreUnfinished { folder: options.data.clone() });
    }
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
    let (facts, stored) = (Facts::of(&snapshot)?, snapshot.meta("config")?);
    let is_begun = facts.format.is_some();
    if let Some(found) = facts.format.filter(|_| !facts.is_of_today()) {
        return Err(Error::CollectionFormat { folder: options.data.clone(), found, expected: FORMAT });
    }
    if is_begun && facts.answers != ANSWER_VERSION {
        let (folder, found, expected) = (options.data.clone(), facts.answers, ANSWER_VERSION);
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
        options.tags.as_ref().map_or(Ok(()), FilterRules::check)?;
        let writing = tables.begin()?;
        let mut batch = writing.batch()?;
        let format = if options.tags.is_some() { TAGGED_FORMAT } else { FORMAT };
        batch.set_meta("format", &format.to_le_bytes())?;
        if let Some(rules) = &options.tags {
            batch.set_meta(TAGS, Tag::write_rules(rules).as_bytes())?;
        }
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

/// The rules of the collection's tags, if it has some. Refuses others.
pub(super) fn tags(tables: &Tables, options: &ServiceOptions) -> Result<Option<FilterRules>> {
    let folder = || options.data.clone();
    let stored = stored_tags(&tables.snapshot()?)?;
    let stored = stored
        .map_err(|error| Error::CollectionConfigDamaged { folder: folder(), reason: error.to_string() })?;
    if options.tags.is_some() && options.tags != stored {
        let found = stored.as_ref().map(Tag::write_rules);
        return Err(Error::CollectionTags { folder: folder(), found });
    }
    Ok(stored)
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

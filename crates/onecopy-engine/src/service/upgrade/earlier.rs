//! Reads a collection of any earlier format: the last version of each page, and the changes that are not settled.

use std::collections::HashSet;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use onecopy_core::{Config, FilterRules, canonical_id};
use onecopy_store::{
    Backend, Deed, Folder, Log, LogReader, Look, Open, PageNumber, PageRow, Position, SEGMENT_BYTES,
    Snapshot, Tables, Version,
};

use crate::error::{Error, Result};
use crate::service::collection::facts::{Facts, TABLES, stored_tags};
use crate::service::status::Quarantined;

/// Memory for reading tables.
const CACHE_BYTES: usize = 64 << 20;

/// An earlier collection.
pub(super) struct Earlier {
    pub facts: Facts,
    pub config: Config,
    pub tags: Option<FilterRules>,
    pub data: PathBuf,
    tables: Snapshot,
    log: Log,
    reader: LogReader,
    _database: Tables,
}

/// Receives versions, with their length in the log.
pub(super) type EachVersion<'a> = dyn FnMut(Version, u64) -> Result<()> + 'a;

/// The name and the versions of a collection; `None` if it cannot be read, or there is none.
pub(super) fn facts(folder: &dyn Folder) -> Option<Facts> {
    let file = folder.open(TABLES, Open::Read).ok()?;
    if file.len().ok()? == 0 {
        return None;
    }
    let tables = open_tables(folder, false).ok()?;
    Facts::of(&tables.snapshot().ok()?).ok()
}

fn open_tables(folder: &dyn Folder, check: bool) -> Result<Tables> {
    let unreadable = |source| onecopy_store::Error::Io { verb: "open", file: TABLES.into(), source };
    let file = folder.open(TABLES, Open::Create).map_err(unreadable)?;
    Ok(Tables::open(Backend::new(file), CACHE_BYTES, check)?)
}

impl Earlier {
    /// Opens the collection, whose checksums must be right.
    pub(super) fn open(folder: &Arc<dyn Folder>, facts: Facts, data: &Path) -> Result<Earlier> {
        let database = open_tables(&**folder, true)?;
        let tables = database.snapshot()?;
        let damaged = |reason: String| Error::CollectionConfigDamaged { folder: data.to_owned(), reason };
        let stored = tables.meta("config")?.ok_or_else(|| damaged("it is missing".into()))?;
        let config = serde_json::from_slice(&stored).map_err(|error| damaged(error.to_string()))?;
        let tags = stored_tags(&tables)?.map_err(|error| damaged(error.to_string()))?;
        let log = Log::open_after(folder.clone(), SEGMENT_BYTES, settled_to(&tables)?)?;
        let (reader, data) = (log.reader(), data.to_owned());
        Ok(Earlier { facts, config, tags, data, tables, log, reader, _database: database })
    }

    /// About how many bytes [`Earlier::versions`] reads.
    pub(super) fn bytes(&self) -> u64 {
        self.log.segments().iter().map(|(_, bytes)| bytes).sum()
    }

    /// Passes on the versions to put, in the order in which they were accepted.
    pub(super) fn versions(&self, each: &mut EachVersion) -> Result<()> {
        let mut order: Vec<(u64, PageNumber)> = Vec::new();
        for found in self.tables.pages()? {
            let (page, row) = found?;
            order.push((row.accepted, page));
        }
        order.sort_unstable();
        let mut bytes = Vec::new();
        for (_, page) in order {
            let row = Look::page(&self.tables, page)?.ok_or(Error::NoRow { page })?;
            self.reader.read(row.at, &mut bytes)?;
            let version = Version::from_bytes(&bytes).ok_or(Error::NoRow { page })?;
            let length = u64::from(row.at.length);
            match version.deed {
                Deed::Put => each(version, length)?,
                _ => {
                    each(remains(row), length)?;
                    each(version, 0)?;
                }
            }
        }
        self.waiting()?.into_iter().try_for_each(|(version, length)| each(version, length))
    }

    /// The pages whose last change was rejected. A change that waits comes later, and is tried.
    pub(super) fn rejected(&self) -> Result<Vec<Quarantined>> {
        let waiting: HashSet<String> = self.waiting()?.into_iter().map(|(version, _)| version.name).collect();
        let mut rejected = Vec::new();
        for found in self.tables.quarantined_from(Bound::Unbounded)? {
            let (name, bytes) = found?;
            if !waiting.contains(&name) {
                rejected.push(Quarantined::from_bytes(&name, &bytes)?);
            }
        }
        Ok(rejected)
    }

    /// The changes that wait, with their lengths.
    fn waiting(&self) -> Result<Vec<(Version, u64)>> {
        let (from, settled) = (settled_to(&self.tables)?, self.tables.heads()?.settled);
        let mut waiting = Vec::new();
        self.log.replay(from, &mut |_, bytes| {
            let version = Version::from_bytes(bytes).filter(|version| version.accepted > settled);
            waiting.extend(version.map(|version| (version, bytes.len() as u64)));
            Ok(())
        })?;
        Ok(waiting)
    }
}

fn settled_to(tables: &Snapshot) -> Result<Position> {
    let (segment, offset) = tables.heads()?.settled_to;
    Ok(Position { segment, offset })
}

/// The rest of a page that is dead. Its text is gone.
fn remains(row: PageRow) -> Version {
    Version {
        deed: Deed::Put,
        name: row.name,
        url: row.url,
        silent: true,
        exact: row.exact,
        identity: row.identity,
        markets: row.markets,
        rank: row.rank,
        ..Version::default()
    }
}

/// A version with its name in the one form of today. The rank ends with the name and a hash, and decides between equals.
pub(super) fn with_name_of_today(mut version: Version) -> Version {
    let name = canonical_id(&version.name).into_owned();
    if name == version.name {
        return version;
    }
    let tail = version.rank.len().saturating_sub(HASH_BYTES);
    let before = version.name.trim_matches('"').as_bytes();
    if let Some(places) = version.rank[..tail].strip_suffix(before) {
        version.rank = [places, name.trim_matches('"').as_bytes(), &version.rank[tail..]].concat();
    }
    version.name = name;
    version
}

/// A zero and a hash.
const HASH_BYTES: usize = 9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_another_form_changes_the_rank_too() {
        let renamed = |name: &str| {
            let rank =
                [b"places", name.trim_matches('"').as_bytes(), &b"\0\x01\x02\x03\x04\x05\x06\x07\x08"[..]];
            let version = Version { name: name.into(), rank: rank.concat(), ..Version::default() };
            let version = with_name_of_today(version);
            (version.name, version.rank)
        };
        assert_eq!(renamed(r#""\u65e5""#), renamed("\"日\""));
        assert_eq!(renamed(r#""a\/b""#), renamed("\"a/b\""));
        assert_eq!(renamed("17.0"), renamed("17"));
    }
}

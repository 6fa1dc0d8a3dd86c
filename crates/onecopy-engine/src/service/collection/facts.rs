//! A collection's name, its format, and the version of its answers; the names of its files.

use std::hash::{BuildHasher, Hasher, RandomState};

use onecopy_core::{FilterRules, Tag, TagError};
use onecopy_store::{Look, Snapshot};

use crate::error::Result;

/// The version of everything that a collection's folder holds.
pub(crate) const FORMAT: u32 = 3;
/// The same format with tags in the log, which programs before 0.5 cannot read.
pub(crate) const TAGGED_FORMAT: u32 = 4;

/// The file that makes a folder a collection.
pub(crate) const TABLES: &str = "tables.redb";
/// A file that is there while a restore fills the folder.
pub(crate) const RESTORING: &str = "restoring";

/// The entry of the metadata with the collection's name.
pub(crate) const ID: &str = "id";
/// The entry with the rules of its tags, if it has some.
pub(crate) const TAGS: &str = "tags";

/// The name and the versions of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Its name, which no other has. Formats before 3 have none.
    pub id: String,
    /// The version of its files; `None` before it is begun.
    pub format: Option<u32>,
    /// The version of its answers.
    pub answers: u32,
}

/// The rules of a collection's tags, if it has some; or why they cannot be read.
pub(crate) fn stored_tags(tables: &Snapshot) -> Result<std::result::Result<Option<FilterRules>, TagError>> {
    let stored = tables.meta(TAGS)?;
    Ok(stored.map(|rules| Tag::read_rules(&String::from_utf8_lossy(&rules))).transpose())
}

impl Facts {
    /// Whether this program reads the files as they are.
    pub(crate) fn is_of_today(&self) -> bool {
        matches!(self.format, Some(FORMAT | TAGGED_FORMAT))
    }

    /// The facts in the tables.
    pub(crate) fn of(tables: &Snapshot) -> Result<Facts> {
        let format = tables.meta("format")?;
        Ok(Facts {
            id: String::from_utf8_lossy(&tables.meta(ID)?.unwrap_or_default()).into_owned(),
            format: format.map(|format| format.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))),
            answers: answer_version(tables.meta("answers")?.as_deref()),
        })
    }
}

/// A random name. The hasher of the standard library is seeded by the system.
pub(crate) fn new_id() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// Whether a file of this name is a part of a collection, beside its tables and locks.
pub(crate) fn is_part(name: &str) -> bool {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let is_known = matches!(name, "postings" | "counts")
        || ["log-", "postings-", "order-"].iter().any(|start| name.starts_with(start));
    is_plain && is_known
}

/// The version of a collection's answers. Collections of onecopy 0.1 store no number and have version 1. An unreadable
/// number is no version.
fn answer_version(stored: Option<&[u8]>) -> u32 {
    stored.map_or(1, |bytes| bytes.try_into().map_or(0, u32::from_le_bytes))
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

    #[test]
    fn only_our_own_names_are_parts() {
        for name in ["log-00000001", "postings", "postings-00000002", "order-01", "counts"] {
            assert!(is_part(name), "{name}");
        }
        for name in ["tables.redb", "lock", "log-1/../x", "counts.part", "readers", "", "log-\0"] {
            assert!(!is_part(name), "{name}");
        }
    }
}

//! Writes a tag for each page of any input: a small Bloom filter that search results are compared by later.
//!
//! Pages are read one after the other, in the order of the input, so that memory holds one chunk.

mod file;

use std::path::Path;

use onecopy_core::{FilterRules, Tag, canonical_id};
use serde::Serialize;

use crate::error::Result;
use crate::ingest::as_json;
use crate::page_walk::{WalkedPage, walk_pages};
use crate::progress::Progress;
use crate::report::Unreadable;
use crate::service::{ImportPlan, OnRejection};

use file::TagFile;

/// The counts of a tagging.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Tagged {
    /// Records that were read.
    pub read: u64,
    /// Pages that got a tag.
    pub tagged: u64,
    /// Records that could not be read, or have no words.
    pub rejected: u64,
    /// Inputs that could not be read, wholly or from some point on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<Unreadable>,
}

/// Writes the tags of all pages of `plan` to `out`: Parquet if its name ends so, else JSON Lines. The file appears
/// once it is complete.
pub fn tag_pages(
    plan: &ImportPlan,
    rules: &FilterRules,
    out: &Path,
    progress: &dyn Progress,
    rejected: &mut OnRejection,
) -> Result<Tagged> {
    rules.check()?;
    let mut file = TagFile::create(out)?;
    let walked = walk_pages(plan, progress, rejected, &mut |page| {
        file.write(&name(page), &Tag::of_canonical(page.canonical, rules))
    })?;
    file.finish()?;
    Ok(Tagged {
        read: walked.read,
        tagged: walked.pages,
        rejected: walked.rejected,
        unreadable: walked.unreadable,
    })
}

/// A page's name as JSON: its id, else its address, else its place.
fn name(page: &WalkedPage) -> String {
    let WalkedPage { record, source, line, .. } = page;
    match (&record.url, line) {
        _ if !record.id.is_empty() => canonical_id(record.id).into_owned(),
        (Some(url), _) => as_json(url),
        (None, Some(line)) => as_json(&format!("{source}:{line}")),
        (None, None) => as_json(source),
    }
}

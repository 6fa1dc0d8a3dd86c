//! Writes a tag for each page of any input: a small Bloom filter that search results are compared by later.
//!
//! Pages are read one after the other, in the order of the input, so that memory holds one chunk.

mod file;
mod reading;

use std::path::Path;

use onecopy_core::FilterRules;
use serde::Serialize;

use crate::error::Result;
use crate::progress::{Progress, Stage};
use crate::report::Unreadable;
use crate::service::{ImportPlan, OnRejection};

use file::TagFile;
use reading::Reading;

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
    progress.begin(Stage::Read, plan.bytes());
    let mut file = TagFile::create(out)?;
    let mut tagged = Tagged::default();
    for sources in &plan.readings {
        let mut reading = Reading { plan, sources, rules, progress, rejected, tagged: &mut tagged };
        reading.read(&mut file)?;
    }
    file.finish()?;
    Ok(tagged)
}

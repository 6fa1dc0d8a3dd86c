//! `onecopy-bench extract`.

pub mod align;
pub mod boost;
pub mod score;
mod set;

use std::path::{Path, PathBuf};

use anyhow::Result;

pub use set::{Page, Set};

pub fn features(set: &Set, work: &Path) -> Result<PathBuf> {
    Ok(work.join(format!("{}.features.jsonl", set.name)))
}

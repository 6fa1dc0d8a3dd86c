//! Refuses a run whose results would replace its own input.
//!
//! Paths are compared as the file system resolves them, so `..` and symbolic links do not hide an overlap. An output
//! folder inside an input folder is fine: it is not read.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};
use crate::ingest::Inputs;

/// Fails if one of these paths is `out` or inside it. Others, such as patterns and addresses, are not looked at.
pub(super) fn check_paths(inputs: &[String], out: &Path) -> Result<()> {
    let Ok(folder) = fs::canonicalize(out) else { return Ok(()) };
    let is_inside = |input: &&String| fs::canonicalize(input).is_ok_and(|full| full.starts_with(&folder));
    match inputs.iter().find(is_inside) {
        Some(input) => Err(Error::InputInOutput { input: input.clone(), folder: out.to_owned() }),
        None => Ok(()),
    }
}

/// Fails if a source is inside `out`. `spool` is there: it is a copy of standard input.
pub(super) fn check_sources(inputs: &Inputs, spool: Option<&Path>, out: &Path) -> Result<()> {
    let Ok(folder) = fs::canonicalize(out) else { return Ok(()) };
    let spool = spool.and_then(|spool| fs::canonicalize(spool).ok());
    let local = inputs.sources.iter().filter(|source| source.version.is_none());
    let mut inside =
        local.filter(|source| source.path.starts_with(&folder) && Some(&source.path) != spool.as_ref());
    match inside.next() {
        Some(source) => {
            let input = source.path.display().to_string();
            Err(Error::InputInOutput { input, folder: out.to_owned() })
        }
        None => Ok(()),
    }
}

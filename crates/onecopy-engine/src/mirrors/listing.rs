//! Reads `pages.jsonl` of a finished run: once for the tree, and again for names.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::Deserialize;

use super::address::PageAddress;
use super::tree::{Planter, Tree};
use crate::error::{At, Error, Result};
use crate::run::Run;

/// The longest line. A name and a URL are parts of a record, and records have a limit too.
const LINE_BYTES: u64 = 64 << 20;

/// The fields of a line.
#[derive(Deserialize)]
struct ListingLine<'a> {
    #[serde(borrow)]
    url: Option<Cow<'a, str>>,
    group: Option<u32>,
}

/// Reads the pages of the run in `dir` into a tree.
pub(super) fn tree(dir: &Path) -> Result<Tree> {
    let mut planter = Planter::default();
    each_address(dir, |address, group| planter.add(&address, group))?;
    if planter.is_empty() {
        return Err(Error::NoAddresses { folder: dir.to_owned() });
    }
    Ok(planter.grow())
}

/// Calls `each` with the address and group of every page that has an address, in input order, until it returns false.
pub(super) fn each_address(
    dir: &Path,
    mut each: impl FnMut(PageAddress, Option<u32>) -> Result<bool>,
) -> Result<()> {
    let path = dir.join("pages.jsonl");
    let mut reader = BufReader::with_capacity(1 << 18, open(dir, &path)?);
    let (mut line, mut number) = (Vec::new(), 0u64);
    loop {
        line.clear();
        number += 1;
        if reader.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line).at("read", &path)? == 0 {
            return Ok(());
        }
        let parsed: ListingLine = serde_json::from_slice(&line).map_err(|error| Error::DamagedResult {
            path: path.clone(),
            line: number,
            reason: error.to_string(),
        })?;
        let address = parsed.url.as_deref().and_then(PageAddress::new);
        if let Some(address) = address
            && !each(address, parsed.group)?
        {
            return Ok(());
        }
    }
}

fn open(dir: &Path, path: &Path) -> Result<File> {
    if !dir.join("report.json").exists() {
        return Err(Error::NotAFinishedRun { folder: dir.to_owned() });
    }
    // A folder may have a page list and no run.
    if dir.join("run.json").exists() {
        Run::current(dir)?;
    }
    if !path.exists() {
        return Err(Error::NoPageList { folder: dir.to_owned() });
    }
    File::open(path).at("read", path)
}

//! `pages.jsonl` of a finished run → a tree, and again → names.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::Deserialize;

use super::address::Address;
use super::tree::{Planter, Tree};
use crate::error::{At, Error, Result};
use crate::run::Run;

/// No line of ours is longer: a page's name and address are parts of a record, which has a limit too.
const LINE_BYTES: u64 = 64 << 20;

/// What is read of a line.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    url: Option<Cow<'a, str>>,
    group: Option<u32>,
}

/// Reads the pages of the run in `dir` into a tree.
pub(super) fn tree(dir: &Path) -> Result<Tree> {
    let mut planter = Planter::default();
    each_address(dir, |address, group| planter.add(&address, group))?;
    if planter.is_empty() {
        let remedy =
            "mirrors are found by addresses; give the field that has them to `onecopy dedup` as --url-field";
        return Err(Error::NotFound(format!(
            "no page of the run in {} has an address: {remedy}",
            dir.display()
        )));
    }
    Ok(planter.grow())
}

/// Calls `each` with every page that has an address, and its group, in the order of the input, until it says stop.
pub(super) fn each_address(
    dir: &Path,
    mut each: impl FnMut(Address, Option<u32>) -> Result<bool>,
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
        let parsed: Line = serde_json::from_slice(&line).map_err(|error| {
            let remedy = "run `onecopy dedup` with --overwrite again";
            Error::NotFound(format!("{} is damaged in line {number} ({error}): {remedy}", path.display()))
        })?;
        let address = parsed.url.as_deref().and_then(Address::new);
        if let Some(address) = address
            && !each(address, parsed.group)?
        {
            return Ok(());
        }
    }
}

fn open(dir: &Path, path: &Path) -> Result<File> {
    if !dir.join("report.json").exists() {
        let remedy = "run `onecopy dedup` with --out first";
        return Err(Error::NotFound(format!("{} holds no finished run: {remedy}", dir.display())));
    }
    // A folder without a run is another's, and its list speaks for itself.
    if dir.join("run.json").exists() {
        Run::current(dir)?;
    }
    if !path.exists() {
        let remedy = "run the same `onecopy dedup` with --overwrite again";
        let reason = "was made by an older version, which wrote no pages.jsonl";
        return Err(Error::NotFound(format!("the run in {} {reason}: {remedy}", dir.display())));
    }
    File::open(path).at("read", path)
}

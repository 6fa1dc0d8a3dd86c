//! The pages of a finished run with the statuses of a collection, one for each name.
//!
//! The lists name every page by its place, and several captures may share a name. An index has one
//! document for each name: it gets the status of the kept page if there is one, else of the first.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::{PageKey, PlaceFields, each_line};
use crate::error::{At, Error, Result};
use crate::run::is_results;
use crate::service::{Status, StatusKind};

/// Reads the statuses of a finished run, in the order of its list of pages.
pub struct RunStatuses {
    /// The name of the run, which no other has.
    pub id: String,
    /// The number of names, and so of statuses.
    pub names: u64,
    /// Pages that are left out because another page has their name.
    pub repeated: u64,
    path: PathBuf,
    lines: Lines<BufReader<File>>,
    line: u64,
    winners: HashMap<PageKey, Box<RawValue>>,
    /// Names that a kept page has.
    kept: HashSet<u128>,
    seen: HashSet<u128>,
}

#[derive(Deserialize)]
struct PageLine {
    page: Box<RawValue>,
    status: String,
    group: Option<u64>,
    source: String,
    line: Option<u64>,
    record: Option<u64>,
    row: Option<u64>,
}

#[derive(Deserialize)]
struct WinnerLine {
    source: String,
    line: Option<u64>,
    record: Option<u64>,
    row: Option<u64>,
    winner: Box<RawValue>,
}

impl RunStatuses {
    /// Opens the lists of the finished run in `out`.
    pub fn open(out: &Path) -> Result<RunStatuses> {
        if !is_results(out) {
            return Err(Error::NotAFinishedRun { folder: out.to_owned() });
        }
        let path = out.join("pages.jsonl");
        if !path.exists() {
            return Err(Error::NoPageList { folder: out.to_owned() });
        }
        let mut winners = HashMap::new();
        each_line(&out.join("removed.jsonl"), |it: WinnerLine| {
            let place = PlaceFields { source: it.source, line: it.line, record: it.record, row: it.row };
            winners.insert(place.key(), it.winner);
            true
        })?;
        let (mut names, mut kept, mut pages) = (HashSet::new(), HashSet::new(), 0);
        each_line(&path, |page: PageLine| {
            pages += 1;
            names.insert(hashed(&page.page));
            if page.status == KEPT {
                kept.insert(hashed(&page.page));
            }
            true
        })?;
        let file = File::open(&path).at("read", &path)?;
        Ok(RunStatuses {
            id: id(out)?,
            names: names.len() as u64,
            repeated: pages - names.len() as u64,
            lines: BufReader::with_capacity(1 << 18, file).lines(),
            path,
            line: 0,
            winners,
            kept,
            seen: HashSet::new(),
        })
    }

    /// The status of a page; `None` if another page stands for its name.
    fn status(&mut self, it: PageLine) -> Result<Option<Status>> {
        let (name, is_kept) = (hashed(&it.page), it.status == KEPT);
        if !is_kept && self.kept.contains(&name) || !self.seen.insert(name) {
            return Ok(None);
        }
        let kind = match (is_kept, it.group) {
            (true, None) => StatusKind::Unique,
            (true, Some(_)) => StatusKind::Winner,
            (false, _) => StatusKind::Loser,
        };
        let place = PlaceFields { source: it.source, line: it.line, record: it.record, row: it.row };
        let winner = if is_kept { None } else { self.winners.remove(&place.key()) };
        if !is_kept && winner.is_none() {
            return Err(self.damaged("removed.jsonl has no winner of this page".into()));
        }
        Ok(Some(Status { winner, group: it.group, ..Status::bare(it.page, kind) }))
    }

    fn damaged(&self, reason: String) -> Error {
        Error::DamagedResult { path: self.path.clone(), line: self.line, reason }
    }
}

impl Iterator for RunStatuses {
    type Item = Result<Status>;

    fn next(&mut self) -> Option<Result<Status>> {
        loop {
            let line = match self.lines.next()?.at("read", &self.path) {
                Ok(line) => line,
                Err(error) => return Some(Err(error)),
            };
            self.line += 1;
            let parsed = serde_json::from_str(&line).map_err(|error| self.damaged(error.to_string()));
            match parsed.and_then(|page| self.status(page)).transpose() {
                None => continue,
                found => return found,
            }
        }
    }
}

/// The status of kept pages in the lists.
const KEPT: &str = "kept";

fn hashed(name: &RawValue) -> u128 {
    xxh3_128(name.get().as_bytes())
}

/// The name of a run. Its report has the time that it took, so no other run has the same.
fn id(out: &Path) -> Result<String> {
    let mut hasher = Xxh3::new();
    for name in ["run.json", "report.json"] {
        let path = out.join(name);
        hasher.update(&fs::read(&path).at("read", &path)?);
    }
    Ok(format!("run-{:016x}", hasher.digest()))
}

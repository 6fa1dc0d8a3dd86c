//! A finished run. Its cursor counts the pages that were read, so a sync that was stopped continues.

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::Result;
use onecopy_engine::{FeedCursor, RunStatuses};
use serde_json::value::RawValue;

use super::{Answer, Changes, Source};
use crate::sync::Row;

pub struct RunSource {
    folder: PathBuf,
    statuses: RunStatuses,
    read: u64,
}

impl RunSource {
    pub fn open(folder: PathBuf) -> Result<RunSource> {
        Ok(RunSource { statuses: RunStatuses::open(&folder)?, folder, read: 0 })
    }

    /// Pages whose name another page has.
    pub fn repeated(&self) -> u64 {
        self.statuses.repeated
    }

    /// The next page, with its number.
    fn next(&mut self) -> Result<Option<Row>> {
        let Some(status) = self.statuses.next().transpose()? else { return Ok(None) };
        self.read += 1;
        Ok(Some(Row::new(status, self.read)))
    }
}

impl Source for RunSource {
    fn id(&self) -> &str {
        &self.statuses.id
    }

    fn renew(&mut self) -> Result<()> {
        Ok(())
    }

    fn read(&mut self, after: FeedCursor, limit: usize) -> Result<Answer> {
        if self.read > after.after {
            *self = RunSource::open(self.folder.clone())?;
        }
        while self.read < after.after && self.next()?.is_some() {}
        let mut rows = Vec::new();
        while rows.len() < limit
            && let Some(row) = self.next()?
        {
            rows.push(row);
        }
        let last = self.statuses.names;
        let begun = if self.read < last { last } else { 0 };
        Ok(Answer::Changes(Changes { rows, next: FeedCursor { after: self.read, begun }, last }))
    }

    fn lookup(&mut self, names: &[Box<RawValue>]) -> Result<Vec<Row>> {
        let wanted: HashSet<&str> = names.iter().map(|name| name.get()).collect();
        let mut rows = Vec::new();
        for status in RunStatuses::open(&self.folder)? {
            let status = status?;
            if wanted.contains(status.page.get()) {
                rows.push(Row::new(status, 0));
            }
        }
        Ok(rows)
    }
}

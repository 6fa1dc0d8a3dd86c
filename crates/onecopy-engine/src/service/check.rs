//! A full check of a collection: checksums, rows against each other, and every decision.

use std::collections::HashSet;

use onecopy_core::Method;
use onecopy_store::{LogReader, Look, Snapshot};

use super::collection::Collection;
use super::contents::{ContentIndex, is_damage};
use super::status::CheckReport;
use crate::error::{Error, Result};
use onecopy_core::graph::{Fault, Slot};

/// The most problems that are shown.
const SHOWN: usize = 100;

impl CheckReport {
    fn wrong(&mut self, what: String) {
        self.wrong_count += 1;
        if self.wrong.len() < SHOWN {
            self.wrong.push(what);
        }
    }
}

pub(super) fn check(collection: &Collection) -> Result<CheckReport> {
    let mut report = CheckReport::default();
    let log = collection.log.lock();
    log.check(&mut |error| report.wrong(error.to_string()))?;
    // Pages are read one by one only to name those that are damaged.
    let damaged_log = (report.wrong_count > 0).then(|| log.reader());
    drop(log);
    // Tier 2 commits under this lock, so memory and tables show the same moment.
    let mut contents = collection.write_contents()?;
    let snapshot = collection.latest()?;
    let named = pages(&snapshot, damaged_log.as_ref(), &mut report)?;
    if collection.is_read_only() {
        return Ok(report);
    }
    report.compared = true;
    let before = report.wrong_count;
    contents.check_postings(&mut |error| {
        report.wrong(format!("{error}; Tier 2 rebuilds it from the log"));
    })?;
    // The check of decisions needs all postings.
    if report.wrong_count == before {
        decisions(&mut contents, collection.method(), &snapshot, &mut report)?;
        for (slot, how) in contents.sketches().damaged() {
            let page = name(&snapshot, *slot);
            if !named.contains(&page) {
                report.wrong(damaged(&page, how));
            }
        }
    }
    Ok(report)
}

/// Checks that each page is found by its name, and its content by its text and position. Names pages whose version is
/// damaged, also those that are exact copies of another: nobody else reads these.
fn pages(
    snapshot: &Snapshot,
    damaged_log: Option<&LogReader>,
    report: &mut CheckReport,
) -> Result<HashSet<String>> {
    let (mut named, mut bytes) = (HashSet::new(), Vec::new());
    for found in snapshot.pages()? {
        let (page, row) = found?;
        report.pages += 1;
        if let Some(log) = damaged_log.filter(|_| !row.dead) {
            match log.read(row.at, &mut bytes).map_err(Error::from) {
                Err(error) if is_damage(&error) => {
                    report.wrong(damaged(&row.name, &error.to_string()));
                    named.insert(row.name.clone());
                }
                read => read?,
            }
        }
        if snapshot.page_number(&row.name)? != Some(page) {
            report.wrong(format!("page {}: its name leads to another page", row.name));
        }
        if let Some(slot) = row.content {
            let content = Look::content(snapshot, slot)?;
            if content.as_ref().is_some_and(|content| content.best == page && content.at != row.at) {
                report.wrong(format!("page {}: its content points to another place in the log", row.name));
            }
            if content.is_none_or(|content| content.fingerprint != row.fingerprint) {
                report.wrong(format!("page {}: its content has another text", row.name));
            }
            if snapshot.fingerprint(row.fingerprint)? != Some(slot) {
                report.wrong(format!("page {}: its text leads to another content", row.name));
            }
        }
    }
    Ok(named)
}

/// Compares all contents again, and the stored decisions with those in memory.
fn decisions(
    contents: &mut ContentIndex,
    method: &dyn Method,
    snapshot: &Snapshot,
    report: &mut CheckReport,
) -> Result<()> {
    let mut groups = HashSet::new();
    for found in snapshot.contents()? {
        let (slot, row) = found?;
        let stored = (row.winner, row.score, row.group);
        let node = contents.graph.get(slot).map(|node| (node.winner, node.score, node.group));
        if node != Some(stored) {
            report.wrong(format!("page {}: it is not as Tier 2 knows it", name(snapshot, slot)));
        }
        groups.insert(row.group);
    }
    report.groups = groups.len() as u64;
    contents.audit(method, &mut |slot, fault| {
        let how = match fault {
            Fault::Winner => "it has another winner or none",
            Fault::Group => "it is in another group",
        };
        report.wrong(format!("page {}: compared again, {how}", name(snapshot, slot)));
    })?;
    Ok(())
}

fn damaged(page: &str, how: &str) -> String {
    format!(
        "page {page}: {how}; it is not exported, and may match no page, until it is deleted and put again"
    )
}

/// The name of a content's best page.
fn name(snapshot: &Snapshot, slot: Slot) -> String {
    let content = Look::content(snapshot, slot).ok().flatten();
    let page = content.and_then(|row| Look::page(snapshot, row.best).ok().flatten());
    page.map_or_else(|| format!("of content {slot}"), |row| row.name)
}

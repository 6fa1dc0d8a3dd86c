//! A full check of a collection: checksums, rows against each other, and every decision.

use std::collections::HashMap;

use onecopy_core::Method;
use onecopy_store::{Look, Snapshot};

use super::collection::Collection;
use super::contents::ContentIndex;
use super::status::CheckReport;
use crate::error::Result;
use onecopy_core::graph::{Edit, Slot};

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
    let log = collection.log.lock().expect("no thread panics with this lock");
    log.check(&mut |error| report.wrong(error.to_string()))?;
    drop(log);
    // Tier 2 commits under this lock, so memory and tables show the same moment.
    let mut contents = collection.write_contents()?;
    let snapshot = collection.latest()?;
    pages(&snapshot, &mut report)?;
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
    }
    Ok(report)
}

/// Checks that each page is found by its name, and its content by its text and position.
fn pages(snapshot: &Snapshot, report: &mut CheckReport) -> Result<()> {
    for found in snapshot.pages()? {
        let (page, row) = found?;
        report.pages += 1;
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
    Ok(())
}

/// Computes all winners and groups again and compares them with the stored ones.
fn decisions(
    contents: &mut ContentIndex,
    method: &dyn Method,
    snapshot: &Snapshot,
    report: &mut CheckReport,
) -> Result<()> {
    let (mut edit, mut rows) = (Edit::default(), HashMap::new());
    for found in snapshot.contents()? {
        let (slot, row) = found?;
        edit.inserted.push((slot, row.rank.clone().into()));
        rows.insert(slot, row);
    }
    let before = std::mem::take(&mut contents.graph);
    let anew = contents.apply(edit, method, 1);
    let graph = std::mem::replace(&mut contents.graph, before);
    anew?;
    for (slot, how) in contents.sketches().damaged() {
        let page = rows.get(slot).map_or_else(String::new, |row| name(snapshot, *slot, row.best));
        report.wrong(format!("page {page}: {how}; it matches no page until it is deleted and put again"));
    }
    let mut numbers: HashMap<u64, u64> = HashMap::new();
    for (&slot, row) in &rows {
        let Some(node) = graph.get(slot) else { continue };
        let page = || name(snapshot, slot, row.best);
        if (node.winner, node.score) != (row.winner, row.score) {
            report.wrong(format!("page {}: compared again, it has another winner or none", page()));
        }
        if *numbers.entry(node.group).or_insert(row.group) != row.group {
            report.wrong(format!("page {}: compared again, it is in another group", page()));
        }
    }
    report.groups = numbers.len() as u64;
    let mut found: Vec<u64> = numbers.into_values().collect();
    found.sort_unstable();
    if found.windows(2).any(|pair| pair[0] == pair[1]) {
        report.wrong("two groups have one number".into());
    }
    Ok(())
}

fn name(snapshot: &Snapshot, slot: Slot, page: u32) -> String {
    let row = Look::page(snapshot, page).ok().flatten();
    row.map_or_else(|| format!("of content {slot}"), |row| row.name)
}

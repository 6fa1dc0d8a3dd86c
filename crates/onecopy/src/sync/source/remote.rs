//! A service over HTTP. It follows the feed, and asks for the present status of the pages that the feed names.

use anyhow::{Context, Result, anyhow, bail};
use onecopy_engine::{FeedCursor, Status, StatusKind};
use reqwest::Method;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::{Answer, Changes, Source};
use crate::sync::web::{JSON, Reply, Web};
use crate::sync::{Parts, Row};

/// The most changes in an answer of the service.
const MOST: usize = 10_000;

pub struct RemoteSource {
    web: Web,
    parts: Parts,
    id: String,
}

#[derive(Deserialize)]
struct Numbers {
    collection: String,
    feed: u64,
}

/// A line of the feed: a page, or a group.
#[derive(Deserialize)]
struct Line {
    sequence: u64,
    page: Option<Box<RawValue>>,
    group: Option<u64>,
}

/// The answer about many pages.
#[derive(Deserialize)]
struct Statuses {
    pages: Vec<Box<RawValue>>,
}

/// The status of a page, which may be `unknown`, and its tag if that was asked for.
#[derive(Deserialize)]
struct StatusWord {
    status: String,
    tag: Option<String>,
}

#[derive(Deserialize)]
struct Group {
    members: Vec<Status>,
}

impl RemoteSource {
    pub fn new(web: Web, parts: Parts) -> RemoteSource {
        RemoteSource { web, parts, id: String::new() }
    }

    fn numbers(&self) -> Result<Numbers> {
        let reply = self.web.ask(Method::GET, &["stats"], &[])?;
        if reply.code != 200 {
            bail!("{} answers {}", self.web, reply.said());
        }
        serde_json::from_slice(&reply.body).with_context(|| format!("{} is no onecopy service", self.web))
    }

    /// The settled statuses of pages, where they are known. `told` is what the feed said: a page that waits to be
    /// compared has that.
    fn statuses(&self, told: Vec<(u64, Status)>) -> Result<Vec<Row>> {
        if told.is_empty() {
            return Ok(Vec::new());
        }
        let names: Vec<&RawValue> = told.iter().map(|(_, status)| &*status.page).collect();
        let found = self.present(&names)?;
        let row = |((number, told), now): ((u64, Status), Box<RawValue>)| {
            let (now, tag) = known(&now)?;
            let status = match now {
                Some(now) if now.settled => now,
                Some(_) => told,
                None => Status { status: StatusKind::Dead, winner: None, group: None, ..told },
            };
            Ok(Row { tag, ..Row::new(status, number) })
        };
        told.into_iter().zip(found).map(row).collect()
    }

    /// The answers about pages, in their order.
    fn present(&self, names: &[&RawValue]) -> Result<Vec<Box<RawValue>>> {
        let body = match self.parts {
            Parts::Status => json!({"pages": names}),
            Parts::StatusAndTag => json!({"pages": names, "tags": true}),
        };
        let reply = self.web.send(Method::POST, &["status"], &[], (JSON, serde_json::to_vec(&body)?))?;
        let found: Statuses = parsed(&self.web, &reply)?;
        if found.pages.len() != names.len() {
            bail!("{} answers about {} of {} pages", self.web, found.pages.len(), names.len());
        }
        Ok(found.pages)
    }

    /// Adds tags to the rows of a group, whose answer has none.
    fn tag(&self, rows: &mut [Row]) -> Result<()> {
        if self.parts == Parts::Status {
            return Ok(());
        }
        for rows in rows.chunks_mut(MOST) {
            let names: Vec<&RawValue> = rows.iter().map(|row| &*row.name).collect();
            let found = self.present(&names)?;
            for (row, now) in rows.iter_mut().zip(found) {
                row.tag = known(&now)?.1;
            }
        }
        Ok(())
    }

    fn group(&self, group: u64) -> Result<Vec<Status>> {
        let reply = self.web.ask(Method::GET, &["groups", &group.to_string()], &[])?;
        if reply.code == 404 {
            return Ok(Vec::new());
        }
        Ok(parsed::<Group>(&self.web, &reply)?.members)
    }

    /// The pages that the lines of a feed are about.
    fn rows(&self, lines: &[u8]) -> Result<Vec<Row>> {
        let (mut told, mut rows) = (Vec::new(), Vec::new());
        for line in lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            let Line { sequence, page, group } = serde_json::from_slice(line)?;
            match (page, group) {
                (Some(_), _) => told.push((sequence, serde_json::from_slice(line)?)),
                (None, Some(group)) => {
                    let members = self.group(group)?.into_iter().filter(|status| status.settled);
                    rows.extend(members.map(|status| Row::new(status, sequence)));
                }
                (None, None) => {}
            }
        }
        self.tag(&mut rows)?;
        rows.extend(self.statuses(told)?);
        // The last row of a page is the latest look.
        let mut seen = std::collections::HashSet::new();
        rows.reverse();
        rows.retain(|row| seen.insert(row.name.get().to_owned()));
        Ok(rows)
    }
}

impl Source for RemoteSource {
    fn id(&self) -> &str {
        &self.id
    }

    fn renew(&mut self) -> Result<()> {
        self.id = self.numbers()?.collection;
        Ok(())
    }

    fn read(&mut self, after: FeedCursor, limit: usize) -> Result<Answer> {
        let last = self.numbers()?.feed;
        let limit = limit.min(MOST).to_string();
        let query = [("after", shown(&self.id, after)), ("limit", limit)];
        let reply = self.web.ask(Method::GET, &["feed"], &query)?;
        if reply.code == 410 {
            return Ok(Answer::Gone(reply.said()));
        }
        if reply.code != 200 {
            bail!("{} answers {}", self.web, reply.said());
        }
        let next = reply.header("onecopy-cursor").and_then(cursor);
        let next = next.ok_or_else(|| anyhow!("{} answers without a cursor", self.web))?;
        Ok(Answer::Changes(Changes { rows: self.rows(&reply.body)?, next, last }))
    }

    fn lookup(&mut self, names: &[Box<RawValue>]) -> Result<Vec<Row>> {
        let dead = |name: &RawValue| {
            let line = json!({"page": name, "status": "dead", "settled": true}).to_string();
            Ok((0, serde_json::from_str(&line)?))
        };
        self.statuses(names.iter().map(|name| dead(name)).collect::<Result<_>>()?)
    }
}

/// A status in an answer, `None` if the page is unknown; and the tag.
fn known(answer: &RawValue) -> Result<(Option<Status>, Option<String>)> {
    let StatusWord { status, tag } = serde_json::from_str(answer.get())?;
    let is_known = status != "unknown";
    Ok((is_known.then(|| serde_json::from_str(answer.get())).transpose()?, tag))
}

fn parsed<T: for<'a> Deserialize<'a>>(web: &Web, reply: &Reply) -> Result<T> {
    if reply.code != 200 {
        bail!("{web} answers {}", reply.said());
    }
    serde_json::from_slice(&reply.body).with_context(|| format!("{web} answers something else than expected"))
}

/// A cursor as the service writes it: collection, number, and where the reader began if it has not read that far.
fn shown(id: &str, cursor: FeedCursor) -> String {
    match cursor {
        FeedCursor { after: 0, .. } => "0".into(),
        FeedCursor { after, begun: 0 } => format!("{id}-{after}"),
        FeedCursor { after, begun } => format!("{id}-{after}-{begun}"),
    }
}

fn cursor(text: &str) -> Option<FeedCursor> {
    let mut numbers = text.split('-').skip(1).map(str::parse::<u64>);
    let after = numbers.next()?.ok()?;
    let begun = numbers.next().unwrap_or(Ok(0)).ok()?;
    Some(FeedCursor { after, begun })
}

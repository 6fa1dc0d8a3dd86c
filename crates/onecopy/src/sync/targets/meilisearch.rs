//! Meilisearch, by partial updates. It accepts them as tasks, and this waits for their ends. An update would create a
//! document that is missing, so this asks which are there before.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use onecopy_engine::Error;
use reqwest::Method;
use serde_json::{Value, json};

use super::elastic::missing;
use super::index::{Engine, FieldNames, Outcome, id_text, known_only};
use crate::sync::Row;
use crate::sync::web::{JSON, Reply, Web};

/// The longest id, in bytes.
const ID_BYTES: usize = 511;
/// How long one task may take, and how often this looks.
const TASK: Duration = Duration::from_secs(600);
const LOOKS: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];

pub struct Meilisearch {
    web: Web,
    index: String,
    fields: FieldNames,
    key: Option<String>,
}

impl Meilisearch {
    pub fn new(web: Web, index: String, fields: FieldNames, key: Option<String>) -> Meilisearch {
        Meilisearch { web, index, fields, key }
    }

    fn key(&self) -> Result<&str> {
        self.key.as_deref().ok_or_else(|| anyhow!("the primary key of {} is not known", self.index))
    }

    /// The ids of these rows that documents have.
    fn known(&self, rows: &[&Row]) -> Result<HashSet<String>> {
        let (key, ids) = (self.key()?, rows.iter().map(|row| &row.id).collect::<Vec<_>>());
        let body = serde_json::to_vec(&json!({"ids": ids, "fields": [key], "limit": ids.len()}))?;
        let path = ["indexes", &self.index, "documents", "fetch"];
        let reply = self.web.send(Method::POST, &path, &[], (JSON, body))?;
        let answer = self.checked(&reply)?.json()?;
        let documents = answer["results"].as_array().cloned().unwrap_or_default();
        Ok(documents.iter().filter_map(|document| id_text(&document[key])).collect())
    }

    /// Sends rows as a task, and waits for its end. Returns why it failed.
    fn update(&self, rows: &[&Row]) -> Result<Option<String>> {
        let key = self.key()?;
        let document = |row: &&Row| {
            let mut values = self.fields.values(row);
            values.insert(key.to_owned(), id(row));
            Value::Object(values)
        };
        let body = serde_json::to_vec(&rows.iter().map(document).collect::<Vec<_>>())?;
        let path = ["indexes", &self.index, "documents"];
        let reply = self.web.send(Method::PUT, &path, &[], (JSON, body))?;
        let task = self.checked(&reply)?.json()?["taskUid"].as_u64();
        let task = task.ok_or_else(|| anyhow!("{} answers {}", self.web, reply.said()))?;
        self.end(task)
    }

    fn end(&self, task: u64) -> Result<Option<String>> {
        let (begun, mut pause) = (Instant::now(), LOOKS[0]);
        while begun.elapsed() < TASK {
            let reply = self.web.ask(Method::GET, &["tasks", &task.to_string()], &[])?;
            let answer = self.checked(&reply)?.json()?;
            match answer["status"].as_str() {
                Some("succeeded") => return Ok(None),
                Some("failed") => {
                    let part = |name: &str| answer["error"][name].as_str().unwrap_or_default().to_owned();
                    return Ok(Some(format!("{}: {}", part("code"), part("message"))));
                }
                Some("canceled") => bail!("somebody cancelled task {task} of {}", self.web),
                _ => {}
            }
            if self.web.patience.stop.load(Ordering::Relaxed) {
                return Err(Error::Stopped.into());
            }
            std::thread::sleep(pause);
            pause = (2 * pause).min(LOOKS[1]);
        }
        bail!("task {task} of {} has not ended within {TASK:?}", self.web)
    }

    fn checked<'a>(&self, reply: &'a Reply) -> Result<&'a Reply> {
        match reply.code {
            200..300 => Ok(reply),
            404 => Err(missing(&self.web, &self.index)),
            413 => bail!("{} answers {}; --batch makes requests smaller", self.web, reply.said()),
            _ => Err(anyhow!("{} answers {}", self.web, reply.said())),
        }
    }
}

impl Engine for Meilisearch {
    fn prepare(&mut self) -> Result<()> {
        let reply = self.web.ask(Method::GET, &["indexes", &self.index], &[])?;
        let known = self.checked(&reply)?.json()?["primaryKey"].as_str().map(str::to_owned);
        let Some(known) = known else {
            bail!(
                "the index {} has no primary key: index your pages first, sync adds fields to them",
                self.index
            )
        };
        if let Some(key) = self.key.as_ref().filter(|key| **key != known) {
            bail!(
                "the documents of {} have their id in `{known}`, not in `{key}`: leave --id-field out",
                self.index
            );
        }
        self.key = Some(known);
        Ok(())
    }

    fn send(&mut self, rows: &[&Row]) -> Result<Vec<Outcome>> {
        let fit: Vec<&Row> = rows.iter().copied().filter(|row| is_id(&row.id)).collect();
        let known = if fit.is_empty() { HashSet::new() } else { self.known(&fit)? };
        let refused = Outcome::Refused("no id of Meilisearch: letters, digits, - and _ only".into());
        let otherwise = |row: &Row| if is_id(&row.id) { Outcome::Missing } else { refused.clone() };
        known_only(rows, &known, otherwise, &mut |rows| self.update(rows))
    }
}

/// An id as the pages have it: a number or a string.
fn id(row: &Row) -> Value {
    serde_json::from_str(row.name.get()).unwrap_or_else(|_| json!(row.id))
}

fn is_id(id: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !id.is_empty() && id.len() <= ID_BYTES && id.bytes().all(fits)
}

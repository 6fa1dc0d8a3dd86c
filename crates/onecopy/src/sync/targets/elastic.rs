//! Elasticsearch and OpenSearch, by their bulk API.

use anyhow::{Result, anyhow, bail};
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::index::{Engine, FieldNames, Outcome};
use crate::commands::WrongCall;
use crate::sync::Row;
use crate::sync::web::{JSON, LINES, TRANSIENT, Web};

/// The longest id. A longer one would make the engine refuse the whole request.
const ID_BYTES: usize = 512;
/// A document that others change meanwhile is tried this often by the engine itself.
const CONFLICTS: u32 = 3;

pub struct Elastic {
    pub web: Web,
    pub index: String,
    pub fields: FieldNames,
}

#[derive(Deserialize)]
struct Answered {
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    update: Update,
}

#[derive(Deserialize)]
struct Update {
    status: u16,
    error: Option<Value>,
}

impl Engine for Elastic {
    /// Text that the engine meets first would be analysed, and nobody can collapse by it. So the fields get their types
    /// before. A bulk request would create a missing index, so this looks for it.
    fn prepare(&mut self) -> Result<()> {
        let found = self.web.ask(Method::HEAD, &[&self.index], &[])?;
        match found.code {
            200 => {}
            404 => return Err(missing(&self.web, &self.index)),
            _ => bail!("{} answers {}", self.web, found.said()),
        }
        let FieldNames { group, winner, status, tag } = &self.fields;
        let mut types = json!({"properties": {group: {"type": "long"}, winner: {"type": "keyword"}, status: {"type": "keyword"}}});
        if let Some(tag) = tag {
            // A tag is only returned, never searched.
            types["properties"][tag] = json!({"type": "keyword", "index": false, "doc_values": false});
        }
        let body = (JSON, serde_json::to_vec(&types)?);
        let reply = self.web.send(Method::PUT, &[&self.index, "_mapping"], &[], body)?;
        match reply.code {
            200 => Ok(()),
            400 => Err(WrongCall(format!(
                "the index {} has other types for {group}, {winner} or {status} ({}): choose other names with --prefix",
                self.index,
                reply.said()
            ))
            .into()),
            _ => Err(anyhow!("{} answers {}", self.web, reply.said())),
        }
    }

    fn send(&mut self, rows: &[&Row]) -> Result<Vec<Outcome>> {
        let is_sent = |row: &&Row| row.id.len() <= ID_BYTES && !row.id.is_empty();
        let mut body = Vec::new();
        for row in rows.iter().copied().filter(is_sent) {
            let action = json!({"update": {"_id": row.id, "retry_on_conflict": CONFLICTS}});
            serde_json::to_writer(&mut body, &action)?;
            body.push(b'\n');
            serde_json::to_writer(&mut body, &json!({"doc": self.fields.values(row)}))?;
            body.push(b'\n');
        }
        let mut updates = self.updates(body)?.into_iter();
        let outcome = |row: &&Row| match is_sent(row) {
            true => updates.next().map(outcome).ok_or_else(|| anyhow!("{} leaves out answers", self.web)),
            false => Ok(Outcome::Refused(format!("an id of {} bytes: 1 to {ID_BYTES} fit", row.id.len()))),
        };
        rows.iter().map(outcome).collect()
    }
}

impl Elastic {
    fn updates(&self, body: Vec<u8>) -> Result<Vec<Update>> {
        if body.is_empty() {
            return Ok(Vec::new());
        }
        let reply = self.web.send(Method::POST, &[&self.index, "_bulk"], &[], (LINES, body))?;
        match reply.code {
            200 => {}
            404 => return Err(missing(&self.web, &self.index)),
            413 => bail!("{} answers {}; --batch makes requests smaller", self.web, reply.said()),
            _ => bail!("{} answers {}", self.web, reply.said()),
        }
        let answered: Answered = serde_json::from_slice(&reply.body)
            .map_err(|error| anyhow!("{} answers something else than expected: {error}", self.web))?;
        Ok(answered.items.into_iter().map(|item| item.update).collect())
    }
}

fn outcome(update: Update) -> Outcome {
    let part = |error: &Value, name: &str| error[name].as_str().unwrap_or_default().to_owned();
    let reason = match &update.error {
        Some(Value::Object(_)) => {
            let error = update.error.as_ref().expect("it is there");
            format!("{}: {}: {}", update.status, part(error, "type"), part(error, "reason"))
        }
        Some(other) => format!("{}: {other}", update.status),
        None => update.status.to_string(),
    };
    match update.status {
        200..300 => Outcome::Done,
        404 if !reason.contains("index_not_found") => Outcome::Missing,
        // Others changed the document too often.
        409 => Outcome::Busy(reason),
        code if TRANSIENT.contains(&code) => Outcome::Busy(reason),
        _ => Outcome::Refused(reason),
    }
}

/// The error for an index that does not exist.
pub fn missing(web: &Web, index: &str) -> anyhow::Error {
    anyhow!(
        "{web} has no index named `{index}`: create it and index your pages first, sync adds fields to them"
    )
}

//! Typesense, by its import of documents with the action `update`.

use anyhow::{Result, anyhow, bail};
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::elastic::missing;
use super::index::{Engine, FieldNames, Outcome};
use crate::sync::Row;
use crate::sync::web::{JSON, Reply, TRANSIENT, Web};

pub struct Typesense {
    pub web: Web,
    pub collection: String,
    pub fields: FieldNames,
}

#[derive(Deserialize)]
struct Line {
    success: bool,
    code: Option<u16>,
    error: Option<String>,
}

impl Engine for Typesense {
    /// A search can only group by a field that the schema has as a facet.
    fn prepare(&mut self) -> Result<()> {
        let reply = self.web.ask(Method::GET, &["collections", &self.collection], &[])?;
        let schema = self.checked(&reply)?.json()?;
        let known = schema["fields"].as_array().cloned().unwrap_or_default();
        let is_new = |name: &String| !known.iter().any(|field| field["name"].as_str() == Some(name));
        // A field that the schema lacks, such as the tag, is stored and returned, and not searched.
        let FieldNames { group, winner, status, tag: _ } = &self.fields;
        let wanted = [(group, "int64"), (winner, "string"), (status, "string")];
        let field = |(name, kind): (&String, &str)| json!({"name": name, "type": kind, "facet": true, "optional": true});
        let fields: Vec<Value> = wanted.into_iter().filter(|(name, _)| is_new(name)).map(field).collect();
        if fields.is_empty() {
            return Ok(());
        }
        let body = (JSON, serde_json::to_vec(&json!({"fields": fields}))?);
        let reply = self.web.send(Method::PATCH, &["collections", &self.collection], &[], body)?;
        self.checked(&reply).map(|_| ())
    }

    fn send(&mut self, rows: &[&Row]) -> Result<Vec<Outcome>> {
        let mut body = Vec::new();
        for row in rows {
            let mut values = self.fields.values(row);
            values.insert("id".into(), json!(row.id));
            serde_json::to_writer(&mut body, &values)?;
            body.push(b'\n');
        }
        let path = ["collections", &self.collection, "documents", "import"];
        let query = [("action", "update".to_owned())];
        let reply = self.web.send(Method::POST, &path, &query, ("text/plain", body))?;
        let lines = self.checked(&reply)?.body.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let unexpected = |error| anyhow!("{} answers something else than expected: {error}", self.web);
        lines.map(|line| serde_json::from_slice(line).map(outcome).map_err(unexpected)).collect()
    }
}

impl Typesense {
    fn checked<'a>(&self, reply: &'a Reply) -> Result<&'a Reply> {
        match reply.code {
            200 => Ok(reply),
            404 => Err(missing(&self.web, &self.collection)),
            413 => bail!("{} answers {}; --batch makes requests smaller", self.web, reply.said()),
            _ => Err(anyhow!("{} answers {}", self.web, reply.said())),
        }
    }
}

fn outcome(line: Line) -> Outcome {
    let code = line.code.unwrap_or(0);
    let reason = format!("{code}: {}", line.error.unwrap_or_default());
    match code {
        _ if line.success => Outcome::Done,
        404 => Outcome::Missing,
        code if TRANSIENT.contains(&code) => Outcome::Busy(reason),
        _ => Outcome::Refused(reason),
    }
}

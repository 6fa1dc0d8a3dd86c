//! Solr, by atomic updates. They create a document that is missing, so this asks which are there before.

use std::collections::HashSet;

use anyhow::{Result, anyhow, bail};
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::elastic::missing;
use super::index::{Engine, FieldNames, Outcome, id_text, known_only};
use crate::sync::Row;
use crate::sync::web::{JSON, Reply, Web};

/// Searches see the change at the latest after this time.
const COMMIT_WITHIN_MS: &str = "1000";
const FORM: &str = "application/x-www-form-urlencoded";

pub struct Solr {
    web: Web,
    core: String,
    fields: FieldNames,
    key: String,
}

impl Solr {
    pub fn new(web: Web, core: String, fields: FieldNames, key: Option<String>) -> Solr {
        Solr { web, core, fields, key: key.unwrap_or_else(|| "id".into()) }
    }

    /// The ids of these rows that documents have, committed or not.
    fn known(&self, rows: &[&Row]) -> Result<HashSet<String>> {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair("wt", "json").append_pair("fl", &self.key);
        for row in rows {
            form.append_pair("id", &row.id);
        }
        let body = (FORM, form.finish().into_bytes());
        let reply = self.web.send(Method::POST, &[&self.core, "get"], &[], body)?;
        let answer = self.checked(&reply)?.json()?;
        // One id is answered by one document, and several by a list.
        let one = answer.get("doc").filter(|doc| doc.is_object()).cloned();
        let many = answer["response"]["docs"].as_array().cloned().unwrap_or_default();
        Ok(one.iter().chain(&many).filter_map(|doc| id_text(&doc[&self.key])).collect())
    }

    fn update(&self, rows: &[&Row]) -> Result<Option<String>> {
        let set = |row: &&Row| {
            let values = self.fields.values(row).into_iter();
            let mut doc: Map<String, Value> =
                values.map(|(name, value)| (name, json!({"set": value}))).collect();
            doc.insert(self.key.clone(), json!(row.id));
            Value::Object(doc)
        };
        let body = serde_json::to_vec(&rows.iter().map(set).collect::<Vec<_>>())?;
        let query = [("commitWithin", COMMIT_WITHIN_MS.to_owned()), ("wt", "json".to_owned())];
        let reply = self.web.send(Method::POST, &[&self.core, "update"], &query, (JSON, body))?;
        match reply.code {
            400 | 409 => Ok(Some(reason(&reply))),
            _ => self.checked(&reply).map(|_| None),
        }
    }

    fn checked<'a>(&self, reply: &'a Reply) -> Result<&'a Reply> {
        match reply.code {
            200 => Ok(reply),
            404 => Err(missing(&self.web, &self.core)),
            413 => bail!("{} answers {}; --batch makes requests smaller", self.web, reply.said()),
            _ => Err(anyhow!("{} answers {}", self.web, reply.said())),
        }
    }
}

impl Engine for Solr {
    fn prepare(&mut self) -> Result<()> {
        let query = [("wt", "json".to_owned())];
        let reply = self.web.ask(Method::GET, &[&self.core, "schema", "uniquekey"], &query)?;
        let answer = self.checked(&reply)?.json()?;
        match answer["uniqueKey"].as_str() {
            Some(key) if key == self.key => Ok(()),
            Some(key) => {
                bail!("the documents of {} have their id in `{key}`: give --id-field {key}", self.core)
            }
            None => bail!("{} answers {}", self.web, reply.said()),
        }
    }

    fn send(&mut self, rows: &[&Row]) -> Result<Vec<Outcome>> {
        let known = self.known(rows)?;
        known_only(rows, &known, |_| Outcome::Missing, &mut |rows| self.update(rows))
    }
}

fn reason(reply: &Reply) -> String {
    let said = reply.json().ok().and_then(|answer| answer["error"]["msg"].as_str().map(str::to_owned));
    said.map_or_else(|| reply.said(), |said| format!("{}: {said}", reply.code))
}

//! The documents of a search engine: sends rows in bulk, repeats those that the engine is too busy for, and keeps the
//! cursor in a file.

use std::collections::HashSet;

use anyhow::{Result, bail};
use onecopy_engine::StatusKind;
use serde_json::{Map, Value, json};

use super::Target;
use super::address::Kind;
use super::cursor_file::CursorFile;
use crate::size::counted;
use crate::sync::{Cursor, Failures, Parts, Patience, Row};

/// What became of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// No document has its id.
    Missing,
    /// The engine is too busy for it, and why.
    Busy(String),
    /// The engine refuses it, and why.
    Refused(String),
}

/// A search engine.
pub trait Engine {
    /// Checks that the index is there, and adds the fields where an index must know them before.
    fn prepare(&mut self) -> Result<()>;
    /// Changes the fields of documents. Returns one outcome for each row. Repeating it changes nothing.
    fn send(&mut self, rows: &[&Row]) -> Result<Vec<Outcome>>;
}

/// The names of the fields.
#[derive(Clone, Debug)]
pub struct FieldNames {
    pub group: String,
    pub winner: String,
    pub status: String,
    /// The field with the tag, if tags are written.
    pub tag: Option<String>,
}

impl FieldNames {
    /// The fields of an engine. The endings of Solr's are its own dynamic fields.
    pub fn of(kind: Kind, prefix: &str, parts: Parts) -> FieldNames {
        let (number, word) = if kind == Kind::Solr { ("_l", "_s") } else { ("", "") };
        let name = |name: &str, ending: &str| format!("{prefix}{name}{ending}");
        FieldNames {
            group: name("group", number),
            winner: name("winner", word),
            status: name("status", word),
            tag: (parts == Parts::StatusAndTag).then(|| name("tag", word)),
        }
    }

    /// The fields of a row. `null` removes a value that was there before.
    pub fn values(&self, row: &Row) -> Map<String, Value> {
        let values = [
            (&self.group, json!(row.group)),
            (&self.winner, json!(row.winner)),
            (&self.status, json!(row.word())),
        ];
        let tag = self.tag.iter().map(|name| (name, json!(row.tag)));
        values.into_iter().chain(tag).map(|(name, value)| (name.clone(), value)).collect()
    }
}

pub struct Index {
    pub engine: Box<dyn Engine>,
    pub cursor: CursorFile,
    pub batch: usize,
    pub patience: Patience,
    pub name: String,
}

impl Target for Index {
    fn name(&self) -> &str {
        &self.name
    }

    fn prepare(&mut self) -> Result<()> {
        self.engine.prepare()
    }

    fn cursor(&mut self) -> Result<Option<Cursor>> {
        self.cursor.read()
    }

    fn restart(&mut self, cursor: &Cursor) -> Result<()> {
        self.cursor.write(cursor)
    }

    fn write(&mut self, rows: &[Row], from: &Cursor, to: &Cursor, failures: &mut Failures) -> Result<u64> {
        let mut refused = 0;
        for rows in rows.chunks(self.batch) {
            let failed = self.deliver(rows)?;
            failures.record(rows, &failed)?;
            refused += failed.len() as u64;
        }
        if from != to {
            self.cursor.write(to)?;
        }
        Ok(refused)
    }
}

impl Index {
    /// Sends rows until the engine has taken or refused each. Returns the refused ones.
    fn deliver(&mut self, rows: &[Row]) -> Result<Vec<(usize, String)>> {
        let mut left: Vec<usize> = (0..rows.len()).collect();
        let (mut failed, mut waits) = (Vec::new(), self.patience.waits());
        while !left.is_empty() {
            let sent: Vec<&Row> = left.iter().map(|&at| &rows[at]).collect();
            let outcomes = self.engine.send(&sent)?;
            if outcomes.len() != sent.len() {
                bail!("{} answers about {} of {} pages", self.name, outcomes.len(), sent.len());
            }
            let (mut busy, mut why) = (Vec::new(), String::new());
            for (at, outcome) in left.into_iter().zip(outcomes) {
                match outcome {
                    Outcome::Done => {}
                    // A page that is gone needs no mark.
                    Outcome::Missing if rows[at].status == StatusKind::Dead => {}
                    Outcome::Missing => failed.push((at, MISSING.to_owned())),
                    Outcome::Refused(reason) => failed.push((at, reason)),
                    Outcome::Busy(reason) => (why, _) = (reason, busy.push(at)),
                }
            }
            if !busy.is_empty() && !waits.wait(None)? {
                let pages = counted(busy.len() as u64, "page");
                bail!("{} is too busy for {pages}: {why}; --retry-for tries longer", self.name);
            }
            left = busy;
        }
        Ok(failed)
    }
}

/// Why a page without a document fails.
const MISSING: &str = "no document has this id";

/// Sends the rows whose documents are known. The others have an outcome without being sent.
pub fn known_only(
    rows: &[&Row],
    known: &HashSet<String>,
    otherwise: impl Fn(&Row) -> Outcome,
    send: &mut dyn FnMut(&[&Row]) -> Result<Option<String>>,
) -> Result<Vec<Outcome>> {
    let there: Vec<&Row> = rows.iter().copied().filter(|row| known.contains(&row.id)).collect();
    let sent = if there.is_empty() { Vec::new() } else { divided(&there, send)? };
    let mut sent = sent.into_iter();
    let outcome = |row: &&Row| match known.contains(&row.id) {
        true => sent.next().expect("each sent row has an outcome"),
        false => otherwise(row),
    };
    Ok(rows.iter().map(outcome).collect())
}

/// An id in a document, as text.
pub fn id_text(value: &Value) -> Option<String> {
    match value {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// Sends rows to an engine that refuses a whole request for one bad row: divides the request until the bad rows are
/// alone. `send` returns why a request was refused.
fn divided(rows: &[&Row], send: &mut dyn FnMut(&[&Row]) -> Result<Option<String>>) -> Result<Vec<Outcome>> {
    let Some(why) = send(rows)? else { return Ok(vec![Outcome::Done; rows.len()]) };
    if rows.len() == 1 {
        return Ok(vec![Outcome::Refused(why)]);
    }
    let (first, second) = rows.split_at(rows.len() / 2);
    let mut outcomes = divided(first, send)?;
    outcomes.extend(divided(second, send)?);
    Ok(outcomes)
}

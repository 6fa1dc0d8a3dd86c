//! Search results as JSON, refined: for `onecopy refine` and `POST /refine`.
//!
//! A result keeps all of its own fields as they were written. It gets one more field, `onecopy`.

mod answer;
mod order;
mod row;

use onecopy_core::{Evidence, RefineError, RefineOptions, refine};
use serde_json::value::RawValue;

pub use answer::{Answer, Repeats, relation_word};
use order::by_rank;
pub use row::{ResultError, ResultFields, Row, Text};

/// Results in the order of their ranks.
pub struct Results<'a> {
    rows: Vec<Row<'a>>,
    /// Notes about them for the user.
    pub notes: Vec<String>,
}

impl<'a> Results<'a> {
    /// Reads results, and orders them by rank.
    pub fn read(results: &[&'a RawValue], fields: &ResultFields) -> Result<Results<'a>, ResultError> {
        let rows = (1..).zip(results).map(|(number, raw)| Row::read(number, raw, fields));
        let mut rows = rows.collect::<Result<Vec<Row>, ResultError>>()?;
        let mut notes = Vec::new();
        notes.extend(by_rank(&mut rows));
        notes.extend(repeated_ids(&rows));
        Ok(Results { rows, notes })
    }

    /// The results that have an id and nothing to compare.
    pub fn bare(&mut self) -> impl Iterator<Item = &mut Row<'a>> {
        self.rows.iter_mut().filter(|row| row.id.is_some() && row.text.is_none() && row.tag.is_none())
    }

    /// Whether a result is compared by a stored sketch.
    pub fn has_sketch(&self) -> bool {
        self.rows.iter().any(|row| matches!(row.text, Some(Text::Sketch(_))))
    }

    /// Whether a result can only be compared by its tag.
    pub fn has_tag_alone(&self) -> bool {
        self.rows.iter().any(|row| row.text.is_none() && row.tag.is_some())
    }

    /// Groups the results.
    pub fn refine(mut self, options: &RefineOptions) -> Result<Answer<'a>, RefineError> {
        // Tags are compared if a result has nothing else. Texts say more.
        let by_tags = self.has_tag_alone();
        let evidence: Vec<Evidence> = self.rows.iter().map(|row| row.evidence(by_tags)).collect();
        let silent = evidence.iter().filter(|evidence| matches!(evidence, Evidence::Nothing)).count();
        if silent > 0 {
            let verbs = if silent == 1 { ("has", "repeats") } else { ("have", "repeat") };
            self.notes.push(format!(
                "{silent} of the results {} nothing to compare (no text, html, snippet or tag) and {} none",
                verbs.0, verbs.1
            ));
        }
        let refined = refine(&evidence, options)?;
        Ok(Answer::new(self.rows, refined, self.notes, options))
    }
}

/// A note about ids that occur more than once.
fn repeated_ids(rows: &[Row]) -> Option<String> {
    let mut ids: Vec<&str> = rows.iter().filter_map(|row| row.id.as_deref()).collect();
    ids.sort_unstable();
    let repeated: Vec<&str> =
        ids.chunk_by(|a, b| a == b).filter(|same| same.len() > 1).map(|same| same[0]).collect();
    let first = repeated.first()?;
    let ids = match repeated.len() {
        1 => format!("the id {first} occurs more than once"),
        many => format!("{many} ids occur more than once, such as {first}"),
    };
    Some(format!("{ids}: each result is judged by its content"))
}

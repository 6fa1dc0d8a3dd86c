//! One search result: its own JSON, and the fields that onecopy reads.

use std::fmt;

use onecopy_core::{Evidence, Tag};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The names of fields. `a.b` is the field `b` of the object `a`.
#[derive(Clone, Debug, Default)]
pub struct ResultFields {
    /// The text; without it `text`, `html`, or `title` and `snippet`.
    pub text: Option<String>,
    /// The id; without it `id`, else `url`.
    pub id: Option<String>,
    /// The tag; without it `tag`.
    pub tag: Option<String>,
}

/// A search result.
#[derive(Debug)]
pub struct Row<'a> {
    /// As it was given.
    pub raw: &'a RawValue,
    /// Its id as JSON.
    pub id: Option<String>,
    /// Words that people know it by.
    pub title: String,
    pub rank: Option<f64>,
    pub score: Option<f64>,
    pub text: Option<Text>,
    pub tag: Option<Tag>,
    /// Whether it was refined before.
    pub has_answer: bool,
}

/// What is compared of a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Text {
    Plain(String),
    Html(String),
    Sketch(Vec<u64>),
}

/// A result that cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub struct ResultError {
    /// Its number in the input, from 1.
    pub number: usize,
    pub reason: String,
}

impl fmt::Display for ResultError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "result {}: {}", self.number, self.reason)
    }
}

impl std::error::Error for ResultError {}

/// The field that the answer is in.
pub const ANSWER: &str = "onecopy";
/// How many characters of a text stand for a title.
const TITLE: usize = 60;

impl<'a> Row<'a> {
    /// Reads the result with this number.
    pub fn read(number: usize, raw: &'a RawValue, names: &ResultFields) -> Result<Row<'a>, ResultError> {
        let wrong = |reason: String| ResultError { number, reason };
        let Ok(fields) = serde_json::from_str::<Map<String, Value>>(raw.get()) else {
            return Err(wrong(
                "it is not a JSON object: give an object with id and text, html or tag".into(),
            ));
        };
        let fields = Fields(&fields);
        let text = fields.evidence(names).map_err(wrong)?;
        let tag = fields.text(names.tag.as_deref().unwrap_or("tag")).map_err(wrong)?;
        let tag = tag.map(|tag| tag.parse::<Tag>()).transpose().map_err(|error| wrong(error.to_string()))?;
        Ok(Row {
            raw,
            id: fields.id(names).map_err(wrong)?,
            title: fields.title(),
            rank: fields.number("rank").map_err(wrong)?,
            score: fields.number("score").map_err(wrong)?,
            text,
            tag,
            has_answer: fields.0.contains_key(ANSWER),
        })
    }

    /// What is compared.
    pub fn evidence(&self, by_tags: bool) -> Evidence<'_> {
        match (&self.tag, &self.text) {
            (Some(tag), _) if by_tags => Evidence::Tag(tag),
            (_, Some(Text::Plain(text))) => Evidence::Text(text),
            (_, Some(Text::Html(html))) => Evidence::Html(html),
            (_, Some(Text::Sketch(words))) => Evidence::Sketch(words),
            (Some(tag), None) => Evidence::Tag(tag),
            (None, None) => Evidence::Nothing,
        }
    }
}

/// The fields of a result.
struct Fields<'a>(&'a Map<String, Value>);

impl Fields<'_> {
    /// A field that is there and not null.
    fn get(&self, name: &str) -> Option<&Value> {
        let nested = || name.split('.').skip(1).try_fold(self.0.get(name.split('.').next()?)?, inner);
        self.0.get(name).or_else(nested).filter(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> Result<Option<&str>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(format!("its field {name} is {}: give a string", kind(other))),
        }
    }

    fn number(&self, name: &str) -> Result<Option<f64>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(number.as_f64()),
            Some(other) => Err(format!("its field {name} is {}: give a number", kind(other))),
        }
    }

    /// The id as JSON.
    fn id(&self, names: &ResultFields) -> Result<Option<String>, String> {
        let (name, value) = match &names.id {
            Some(name) => (name.as_str(), self.get(name)),
            None => ("id", self.get("id").or_else(|| self.get("url"))),
        };
        match value {
            None => Ok(None),
            Some(value @ (Value::String(_) | Value::Number(_))) => Ok(Some(value.to_string())),
            Some(other) => Err(format!("its field {name} is {}: give a string or a number", kind(other))),
        }
    }

    /// The text that is compared: `text`, else `html`, else `title` and `snippet`.
    fn evidence(&self, names: &ResultFields) -> Result<Option<Text>, String> {
        if let Some(text) = self.text(names.text.as_deref().unwrap_or("text"))? {
            return Ok(Some(Text::Plain(text.into())));
        }
        if let Some(html) = self.text("html")? {
            return Ok(Some(Text::Html(html.into())));
        }
        let Some(snippet) = self.text("snippet")? else { return Ok(None) };
        Ok(Some(Text::Plain(format!("{} {snippet}", self.text("title")?.unwrap_or_default()))))
    }

    fn title(&self) -> String {
        let found = ["title", "text", "snippet"].into_iter().find_map(|name| self.get(name)?.as_str());
        let words: Vec<&str> = found.unwrap_or_default().split_whitespace().take(TITLE).collect();
        words.join(" ").chars().take(TITLE).collect()
    }
}

fn inner<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.get(name)
}

/// The kind of a JSON value in words.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

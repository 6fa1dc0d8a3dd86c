//! Reads the links and the score of a record, which needs no text.

use std::borrow::Cow;

use onecopy_core::unescape;
use serde_json::Value;

use super::fields::{Field, FieldNames};
use super::{found_in, id, inside, looks_like_html, unescaped};
use crate::ingest::reason::Reason;

/// The fields of a record that tell which pages it links to, and its score.
#[derive(Debug, Default)]
pub(crate) struct LinkedLine<'a> {
    pub url: Option<Cow<'a, str>>,
    /// Its id as JSON; empty if there is none.
    pub id: &'a str,
    pub html: Option<String>,
    /// The links that its fields name, as written: those of the links field, and a redirect.
    pub links: Vec<String>,
    pub popularity: Option<f64>,
}

/// Reads a line of JSON Lines. Returns the reason if it is none.
pub(crate) fn read_linked<'a>(line: &'a [u8], names: &FieldNames) -> Result<LinkedLine<'a>, Reason> {
    let found = found_in(line, names)?;
    let text = |field| found.get(field).and_then(inside);
    let html = text(Field::Text).filter(|raw| looks_like_html(raw)).or_else(|| text(Field::Html));
    let mut links = found.get(Field::Links).map(links).unwrap_or_default();
    links.extend(text(Field::Redirect).map(|to| unescaped(to).into_owned()));
    Ok(LinkedLine {
        url: text(Field::Url).map(unescaped),
        id: found.get(Field::Id).map_or(Ok(""), id)?,
        html: html.map(unescape),
        links,
        popularity: found
            .get(Field::Popularity)
            .and_then(|raw| inside(raw).unwrap_or(raw).trim().parse().ok()),
    })
}

/// The links of a field: an array of addresses, ids or objects with an address, or a text with blanks between them.
fn links(raw: &str) -> Vec<String> {
    match serde_json::from_str(raw) {
        Ok(Value::Array(items)) => items.iter().filter_map(link).collect(),
        Ok(Value::String(text)) => match serde_json::from_str(&text) {
            // Tables have arrays as text.
            Ok(Value::Array(items)) => items.iter().filter_map(link).collect(),
            _ => text.split_whitespace().map(str::to_owned).collect(),
        },
        _ => Vec::new(),
    }
}

fn link(item: &Value) -> Option<String> {
    match item {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(fields) => ["url", "href", "to"].iter().find_map(|name| link(fields.get(*name)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Fields;

    fn links_of(line: &str) -> Vec<String> {
        let names = FieldNames::new(&Fields { links: Some("links".into()), ..Fields::default() });
        read_linked(line.as_bytes(), &names).unwrap().links
    }

    #[test]
    fn links_are_lists_of_all_kinds() {
        for line in [
            r#"{"id":1,"links":["a","7"]}"#,
            r#"{"id":1,"links":["a",7]}"#,
            r#"{"id":1,"links":"a 7"}"#,
            r#"{"id":1,"links":"[\"a\",7]"}"#,
            r#"{"id":1,"links":[{"href":"a"},{"url":7},null]}"#,
            r#"{"id":1,"links":["a"],"redirect":"7"}"#,
        ] {
            assert_eq!(links_of(line), ["a", "7"], "{line}");
        }
        assert!(links_of(r#"{"id":1,"links":null}"#).is_empty() && links_of("{}").is_empty());
    }
}

//! Bodies that name pages. A name is a string, or a number if the id is a number.

use std::fmt;

use onecopy_engine::PageName;
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::http::failure::Failure;
use crate::http::params::Params;

/// The most names in one request.
pub const MOST: usize = 10_000;

/// A page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named<'a> {
    #[serde(borrow)]
    pub page: &'a RawValue,
}

/// Several pages.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Names<'a> {
    #[serde(borrow)]
    pub pages: Pages<'a>,
    #[serde(default)]
    pub verify: bool,
    #[serde(default)]
    pub tags: bool,
}

/// A list that stops at its limit instead of filling the memory.
pub struct Pages<'a>(pub Vec<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Pages<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pages<'a>, D::Error> {
        deserializer.deserialize_seq(Listed)
    }
}

struct Listed;

impl<'de> Visitor<'de> for Listed {
    type Value = Pages<'de>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of pages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Pages<'de>, A::Error> {
        let mut pages = Vec::new();
        while let Some(page) = list.next_element::<&RawValue>()? {
            if pages.len() == MOST {
                return Err(A::Error::custom(format!("more than {MOST} pages")));
            }
            pages.push(page);
        }
        Ok(Pages(pages))
    }
}

/// Reads a body that must be an object.
pub fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Failure> {
    let remedy = "GET /openapi.json describes the body";
    // Serde would also read a struct from a list.
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err(Failure::bad("the body is not a JSON object", remedy));
    }
    serde_json::from_slice(body).map_err(|error| Failure::bad(format!("invalid body: {error}"), remedy))
}

/// A page's name that outlives its request.
#[derive(Debug, PartialEq, Eq)]
pub enum Name {
    Text(String),
    Json(String),
}

impl Name {
    /// The name for the engine.
    pub fn get(&self) -> PageName<'_> {
        match self {
            Name::Text(text) => PageName::Text(text),
            Name::Json(json) => PageName::Json(json),
        }
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> usize {
        let (Name::Text(text) | Name::Json(text)) = self;
        text.len()
    }
}

/// The name in the parameters `page` and `json` of a request.
pub fn named(params: &Params) -> Result<Name, Failure> {
    let page = params.needed("page")?;
    match params.flag("json")? {
        false => Ok(Name::Text(page.to_owned())),
        true => match serde_json::from_str::<&RawValue>(page) {
            Ok(json) => name(json),
            Err(_) => Err(not_a_name(page)),
        },
    }
}

/// A page's name in a body: a string, or a number.
pub fn name(page: &RawValue) -> Result<Name, Failure> {
    let text = page.get();
    let is_name = match text.bytes().next() {
        Some(b'"') => serde_json::from_str::<String>(text).is_ok_and(|name| !name.is_empty()),
        Some(b'-' | b'0'..=b'9') => true,
        _ => false,
    };
    if is_name { Ok(Name::Json(text.to_owned())) } else { Err(not_a_name(text)) }
}

fn not_a_name(text: &str) -> Failure {
    let shown: String = text.chars().take(100).collect();
    Failure::bad(format!("`{shown}` is not a page name"), "give a JSON string or number")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(body: &str) -> Result<Vec<Name>, Failure> {
        let names: Names = parse(body.as_bytes())?;
        names.pages.0.iter().map(|page| name(page)).collect()
    }

    #[test]
    fn names_are_strings_or_numbers() {
        let read = names(r#" {"pages": ["a\"\u00e9", 17, -1.50, "17"], "verify": true}"#).expect("names");
        let expected = [r#""a\"\u00e9""#, "17", "-1.50", "\"17\""];
        assert_eq!(read, expected.map(|name| Name::Json(name.into())));
        for wrong in [
            r#"{"pages": [null]}"#,
            r#"{"pages": [""]}"#,
            r#"{"pages": [["a"]]}"#,
            r#"{"pages": "a"}"#,
            r#"{"pages": ["a"], "verify": 1}"#,
            r#"{"pages": ["a"], "sure": true}"#,
            r#"{"verify": true}"#,
            r#"[["a"], true]"#,
            "",
        ] {
            assert!(names(wrong).is_err(), "{wrong}");
        }
        let list = |length: usize| format!("{{\"pages\": [{}0]}}", "0,".repeat(length - 1));
        assert_eq!(names(&list(MOST)).expect("as many as may be").len(), MOST);
        assert!(names(&list(MOST + 1)).is_err());
    }
}

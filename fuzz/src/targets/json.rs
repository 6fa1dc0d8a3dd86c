//! Reads any bytes as JSON Lines. The quick scanner, the general parser and `serde_json` must read the same page from a
//! line.
//!
//! The chunk size must change no page, and a page that is written as a line must read back as itself.

use std::fmt;

use crate::many_times;
use onecopy_engine::{Limits, reread_lines};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

const LIMITS: Limits = Limits { page_bytes: 1 << 10, expansion: 100 };
const CHUNK_BYTES: usize = 8 << 10;

pub fn run(data: &[u8]) {
    check(data);
    many_times(data).iter().for_each(|data| check_cuts(data));
}

fn check(data: &[u8]) {
    check_cuts(data);
    data.split(|byte| *byte == b'\n').for_each(check_line);
}

fn check_cuts(data: &[u8]) {
    let cut_at = 1 + data.last().map_or(0, |byte| usize::from(*byte)) * (1 + data.len() / 1_024);
    let whole = reread_lines(data, CHUNK_BYTES, &LIMITS);
    assert_eq!(reread_lines(data, cut_at, &LIMITS), whole, "chunks of {cut_at} bytes");
}

fn check_line(line: &[u8]) {
    let Some(quick) = reread(line) else { return };
    let mark = if line.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    // The quick scanner does not accept a tab, so this line goes to the general parser.
    let general = reread(&[&line[..mark], b"\t", &line[mark..]].concat());
    let text = String::from_utf8_lossy(line);
    assert_eq!(general.and_then(Result::ok), quick.clone().ok(), "{text:?}");
    let Ok(page) = quick else { return };
    assert_eq!(reread(page.as_bytes()), Some(Ok(page.clone())), "{text:?}");
    if let Ok(Object(fields)) = serde_json::from_slice(&line[mark..]) {
        check_fields(&fields, &page);
    }
}

/// Reads one line back; `None` if it is blank.
fn reread(line: &[u8]) -> Option<Result<String, String>> {
    reread_lines(line, CHUNK_BYTES, &Limits { page_bytes: CHUNK_BYTES, ..LIMITS }).pop()
}

/// Compares the id, URL and text in `page` with the fields of the original line.
fn check_fields(fields: &[(String, Value)], page: &str) {
    let Object(read) = serde_json::from_str(page).expect("a page is a JSON object");
    let among = |fields: &[(String, Value)], name: &str| {
        let usable = |value: &Value| !value.is_null() && (name != "url" || value.is_string());
        fields.iter().find(|(other, value)| other == name && usable(value)).map(|(_, value)| value.clone())
    };
    for name in ["id", "url"] {
        if let Some(value) = among(fields, name) {
            assert_eq!(among(&read, name), Some(value), "{page}");
        }
    }
    if let Some(Value::String(text)) = among(fields, "text") {
        let found = among(&read, "text").or(among(&read, "html"));
        let found = found.as_ref().and_then(Value::as_str).unwrap_or_default();
        // A form feed prevents plain text from being read as HTML.
        assert!(found == text || found.strip_prefix('\x0c') == Some(&text), "{page}");
    }
}

/// The fields of a JSON object in order, including repeated ones.
struct Object(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Object(fields))
    }
}

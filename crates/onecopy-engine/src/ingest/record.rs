//! One record → one page's parts, or the reason why not.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use onecopy_core::{html_to_text, parse_time, unix_seconds};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::fields::{Field, FieldNames};
use super::inputs::Format;

/// The parts of a page, read from a record. Reuse one for many records.
#[derive(Default)]
pub(crate) struct Record {
    pub text: String,
    /// The id as it stands in the record, a JSON string or number. Empty if there is none.
    pub id: String,
    pub url: Option<String>,
    pub time: Option<i64>,
    pub popularity: Option<f64>,
    html: String,
    /// For each field, the place of the name it was read under; `NONE` if it was not.
    found: [u8; 6],
}

const NONE: u8 = u8::MAX;

impl Record {
    fn clear(&mut self) {
        self.text.clear();
        self.id.clear();
        self.html.clear();
        self.url = None;
        self.time = None;
        self.popularity = None;
        self.found = [NONE; 6];
    }

    fn has(&self, field: Field) -> bool {
        self.found[field as usize] != NONE
    }

    /// The page's name as a person would type it, if it has one.
    pub(crate) fn plain_name(&self) -> Option<String> {
        if self.id.is_empty() {
            return self.url.clone();
        }
        Some(serde_json::from_str(&self.id).unwrap_or_else(|_| self.id.clone()))
    }

    /// Turns HTML into text where there is no text.
    fn settle(&mut self, names: &FieldNames) -> Result<(), String> {
        let text_is_html = self.has(Field::Text) && looks_like_html(&self.text);
        if text_is_html {
            std::mem::swap(&mut self.text, &mut self.html);
            self.text.clear();
        }
        if text_is_html || (!self.has(Field::Text) && self.has(Field::Html)) {
            html_to_text(&self.html, &mut self.text);
        } else if !self.has(Field::Text) {
            return Err(format!("no text: none of the fields {} is there", names.text_names()));
        }
        Ok(())
    }
}

/// Whether a text field holds a whole HTML document.
fn looks_like_html(text: &str) -> bool {
    let start = text.trim_start();
    let head = start.as_bytes().get(..14).unwrap_or(start.as_bytes()).to_ascii_lowercase();
    head.starts_with(b"<!doctype html") || head.starts_with(b"<html")
}

/// Reads a line of JSON Lines into `out`; says why if it cannot be judged.
pub(crate) fn read_line(line: &[u8], names: &FieldNames, out: &mut Record) -> Result<(), String> {
    out.clear();
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let text = std::str::from_utf8(line)
        .map_err(|error| format!("invalid UTF-8 at byte {}", error.valid_up_to()))?;
    let mut json = serde_json::Deserializer::from_str(text);
    let parsed = Parts { names, out }.deserialize(&mut json).and_then(|()| json.end());
    parsed.map_err(|error| error.to_string().replace(" at line 1 column", " at column"))?;
    out.settle(names)
}

/// Reads a file that is one page into `out`. The outer error is the system's.
pub(crate) fn read_document(
    path: &Path,
    format: Format,
    page_bytes: usize,
    bytes: &mut Vec<u8>,
    out: &mut Record,
) -> std::io::Result<Result<(), String>> {
    out.clear();
    bytes.clear();
    File::open(path)?.take(page_bytes as u64 + 1).read_to_end(bytes)?;
    if bytes.len() > page_bytes {
        return Ok(Err(format!("larger than the limit of {page_bytes} bytes a page")));
    }
    let text = String::from_utf8_lossy(bytes);
    match format {
        Format::Html => html_to_text(&text, &mut out.text),
        _ => out.text.push_str(&text),
    }
    Ok(Ok(()))
}

/// Reads the fields of a record that matter.
struct Parts<'a> {
    names: &'a FieldNames,
    out: &'a mut Record,
}

impl<'de> DeserializeSeed<'de> for Parts<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Parts<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(meaning) = map.next_key_seed(Key(self.names))? {
            match meaning {
                Some((field, place)) if place < self.out.found[field as usize] => {
                    self.field(field, place, &mut map)?
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

impl Parts<'_> {
    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        field: Field,
        place: u8,
        map: &mut A,
    ) -> Result<(), A::Error> {
        let out = &mut *self.out;
        let present = match field {
            Field::Text => map.next_value_seed(Text("text", &mut out.text))?,
            Field::Html => map.next_value_seed(Text("HTML", &mut out.html))?,
            Field::Id => {
                read_id(map.next_value::<&RawValue>()?.get(), &mut out.id).map_err(A::Error::custom)?
            }
            Field::Url => {
                set(&mut out.url, map.next_value::<&RawValue>()?, |raw| serde_json::from_str(raw.get()).ok())
            }
            Field::Time => set(&mut out.time, map.next_value::<&RawValue>()?, time),
            Field::Popularity => set(&mut out.popularity, map.next_value::<&RawValue>()?, |raw| {
                serde_json::from_str(raw.get()).ok()
            }),
        };
        if present {
            out.found[field as usize] = place;
        }
        Ok(())
    }
}

/// A signal of a wrong type is one that is not there: it must not cost the page.
fn set<T>(slot: &mut Option<T>, raw: &RawValue, read: impl Fn(&RawValue) -> Option<T>) -> bool {
    let value = read(raw);
    let present = value.is_some();
    if present {
        *slot = value;
    }
    present
}

fn time(raw: &RawValue) -> Option<i64> {
    if let Ok(number) = serde_json::from_str::<f64>(raw.get()) {
        return Some(unix_seconds(number as i64));
    }
    parse_time(&serde_json::from_str::<String>(raw.get()).ok()?)
}

/// Takes an id as it stands: a string or a number. Null is none.
fn read_id(raw: &str, out: &mut String) -> Result<bool, String> {
    match raw.as_bytes().first() {
        Some(b'"' | b'-' | b'0'..=b'9') => {
            out.clear();
            out.push_str(raw);
            Ok(true)
        }
        Some(b'n') => Ok(false),
        _ => Err("the id is neither a string nor a number".into()),
    }
}

/// A field's name → what it means.
struct Key<'a>(&'a FieldNames);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<(Field, u8)>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<(Field, u8)>;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a field name")
    }
    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.meaning(name))
    }
}

/// A string, copied into a buffer that is reused. Null is none.
struct Text<'a>(&'static str, &'a mut String);

impl<'de> DeserializeSeed<'de> for Text<'_> {
    type Value = bool;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Text<'_> {
    type Value = bool;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "the page's {} as a string", self.0)
    }
    fn visit_str<E>(self, text: &str) -> Result<bool, E> {
        self.1.clear();
        self.1.push_str(text);
        Ok(true)
    }
    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Fields;

    fn read(line: &str) -> Result<Record, String> {
        let mut record = Record::default();
        read_line(line.as_bytes(), &FieldNames::new(&Fields::default()), &mut record).map(|()| record)
    }

    #[test]
    fn parts_are_found_under_their_usual_names() {
        let record = read(
            r#"{"uri":"http://a.example/","body":"x\ny","_id":7,"clicks":3,"date":"1970-01-02","z":[{}]}"#,
        )
        .unwrap();
        assert_eq!((record.text.as_str(), record.id.as_str()), ("x\ny", "7"));
        assert_eq!(record.url.as_deref(), Some("http://a.example/"));
        assert_eq!((record.popularity, record.time), (Some(3.0), Some(86_400)));
    }

    #[test]
    fn the_better_name_counts_whatever_the_order() {
        assert_eq!(read(r#"{"content":"no","text":"yes"}"#).unwrap().text, "yes");
        assert_eq!(read(r#"{"text":"yes","content":"no"}"#).unwrap().text, "yes");
        assert_eq!(read(r#"{"text":null,"content":"yes"}"#).unwrap().text, "yes");
        assert_eq!(read(r#"{"html":"<b>no</b>","text":"yes"}"#).unwrap().text, "yes");
        assert_eq!(read(r#"{"html":"<p>a<p>b"}"#).unwrap().text.trim(), "a\nb");
        assert_eq!(read(r#"{"text":"<!DOCTYPE html><p>a"}"#).unwrap().text.trim(), "a");
    }

    #[test]
    fn reasons_name_what_is_wrong() {
        for (line, reason) in [
            (r#"{"id":"a","text":"cut in the mid"#, "EOF while parsing a string"),
            (r#"{"id":"a","text":12}"#, "invalid type: integer `12`, expected the page's text as a string"),
            (r#"{"id":"a"}"#, "no text: none of the fields `text`"),
            (r#"{"id":[1],"text":"a"}"#, "the id is neither"),
            (r#"["a"]"#, "expected a JSON object"),
            (r#"{"text":"a"} x"#, "trailing characters"),
            (r#"{"text":"\ud800"}"#, "hex escape"),
        ] {
            let Err(found) = read(line) else { panic!("{line} was read") };
            assert!(found.contains(reason), "{line}: {found}");
        }
        let mut record = Record::default();
        let invalid = read_line(b"{\"text\":\"\xff\"}", &FieldNames::new(&Fields::default()), &mut record);
        assert_eq!(invalid, Err("invalid UTF-8 at byte 9".into()));
    }

    #[test]
    fn a_strange_signal_does_not_cost_the_page() {
        let record = read(r#"{"text":"a","url":5,"time":{},"popularity":"high","id":null}"#).unwrap();
        assert_eq!((record.url, record.time, record.popularity, record.id.as_str()), (None, None, None, ""));
    }
}

//! Turns one record into the parts of a page, or the reason why it cannot.
//!
//! It copies as little as possible: the text stays in the JSON line, with its escapes.

mod fields;
mod line;
mod linked;
mod scan;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{ErrorKind, Read};

use onecopy_core::{LinkKind, Needs, Record, Text, canonical_id, decode, parse_time, unescape, unix_seconds};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

pub(crate) use self::fields::{FIELDS, Field, FieldNames};
pub use self::fields::{usual_field_names, usual_naming_fields};
pub(crate) use self::line::to_line;
pub(crate) use self::linked::{LinkedLine, read_linked};
use super::format::Format;
use super::inputs::Source;
use super::opener::Opener;
use super::packing::is_no_damage;
use super::reason::{Class, Reason};

/// Reads a line of JSON Lines. Returns the reason if the line has no usable page.
pub(crate) fn read_line<'a>(line: &'a [u8], names: &FieldNames, needs: &Needs) -> Result<Record<'a>, Reason> {
    found_in(line, names)?.record(names, needs)
}

/// The known fields of a line. Returns the reason if it is not JSON.
fn found_in<'a>(line: &'a [u8], names: &FieldNames) -> Result<FoundFields<'a>, Reason> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    // The fast check does not tell where the error is.
    let text = simdutf8::basic::from_utf8(line).or_else(|_| std::str::from_utf8(line)).map_err(|error| {
        Reason::new(Class::NotUtf8, format!("invalid UTF-8 at byte {}", error.valid_up_to()))
    })?;
    found(text, names).map_err(|error| {
        Reason::new(Class::NotJson, error.to_string().replace(" at line 1 column", " at column"))
    })
}

/// The name of a line that was rejected, as JSON: its id, else its address. Empty if neither can be read.
pub(crate) fn name_of_line(line: &[u8], names: &FieldNames) -> String {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let Some(found) = std::str::from_utf8(line).ok().and_then(|text| found(text, names).ok()) else {
        return String::new();
    };
    let id = found.get(Field::Id).and_then(|raw| id(raw).ok()).map(|id| canonical_id(id).into_owned());
    let url = || found.get(Field::Url).and_then(inside).map(|url| as_json(&unescaped(url)));
    id.or_else(url).unwrap_or_default()
}

/// A text as JSON.
pub(crate) fn as_json(text: &str) -> String {
    serde_json::to_string(text).expect("a string is JSON")
}

fn found<'a>(text: &'a str, names: &FieldNames) -> serde_json::Result<FoundFields<'a>> {
    let mut found = FoundFields::default();
    if scan::fields(text, |name, raw| found.take(names.meaning(name), raw)) {
        return Ok(found);
    }
    let mut json = serde_json::Deserializer::from_str(text);
    found = FoundFields::default();
    RawParts { names, found: &mut found }.deserialize(&mut json).and_then(|()| json.end())?;
    Ok(found)
}

/// Reads a file that is one page into `bytes`. The outer error is a system error.
pub(crate) fn read_document<'a>(
    source: &'a Source,
    opener: &Opener,
    bytes: &'a mut Vec<u8>,
) -> std::io::Result<Result<Record<'a>, Reason>> {
    let page_bytes = opener.limits.page_bytes;
    bytes.clear();
    // Reserve the whole size at once: growing by doubling may take twice as much.
    bytes.reserve_exact((source.bytes as usize).min(page_bytes) + 1);
    match opener.unpacked(source)?.take(page_bytes as u64 + 1).read_to_end(bytes) {
        Err(error) if is_no_damage(&error) => return Err(error),
        Err(error) => {
            let class = if error.kind() == ErrorKind::FileTooLarge { Class::Bomb } else { Class::Damaged };
            return Ok(Err(Reason::new(class, format!("damaged: {error}"))));
        }
        Ok(_) => {}
    }
    if bytes.len() > page_bytes {
        return Ok(Err(Reason::overlong(page_bytes)));
    }
    // The path of a file in its folder serves as its address.
    Ok(Ok(document(bytes, source.format, Some(&source.name), &opener.needs)))
}

/// The page in the bytes of a file.
pub(crate) fn document<'a>(
    bytes: &'a [u8],
    format: Format,
    address: Option<&'a str>,
    needs: &Needs,
) -> Record<'a> {
    let text = decode(bytes, None, matches!(format, Format::Html(_)));
    let mut record = Record { url: address.map(Cow::Borrowed), ..Record::default() };
    match format {
        Format::Html(_) => record.html(&text, needs),
        _ => record.plain(Text::Plain(text), needs),
    }
    record
}

/// The inside of a JSON string; `None` for any other value.
fn inside(raw: &str) -> Option<&str> {
    raw.strip_prefix('"')?.strip_suffix('"')
}

/// The raw values of a record, each with the rank of the name it was found under.
#[derive(Default)]
struct FoundFields<'a> {
    values: [Option<(u8, &'a str)>; FIELDS],
}

impl<'a> FoundFields<'a> {
    /// Stores a value whose field name has this meaning.
    fn take(&mut self, meaning: Option<(Field, u8)>, raw: &'a str) {
        let Some((field, place)) = meaning else { return };
        let slot = &mut self.values[field as usize];
        // A null counts as missing, and so does a URL that is not a string. If two names have one meaning, the better
        // rank wins.
        let nothing = raw == "null" || (field == Field::Url && inside(raw).is_none());
        if !nothing && slot.is_none_or(|(better, _)| place < better) {
            *slot = Some((place, raw));
        }
    }

    fn get(&self, field: Field) -> Option<&'a str> {
        self.values[field as usize].map(|(_, raw)| raw)
    }

    fn record(&self, names: &FieldNames, needs: &Needs) -> Result<Record<'a>, Reason> {
        // A field of the wrong type counts as missing: it must not cost the page.
        let mut record = Record {
            id: self.get(Field::Id).map_or(Ok(""), id)?,
            url: self.get(Field::Url).and_then(inside).map(unescaped),
            time: self.get(Field::Time).and_then(time),
            popularity: self.get(Field::Popularity).and_then(|raw| raw.parse().ok()),
            ..Record::default()
        };
        let text = |field| self.get(field).and_then(inside).map(unescaped);
        if let Some(to) = text(Field::Redirect) {
            record.link(LinkKind::Redirect, &to);
        }
        // Archives give a full address here, which need not be a web address.
        let revisit = text(Field::Revisit).filter(|to| !to.trim().is_empty());
        record.links.extend(revisit.map(|to| (LinkKind::Revisit, to.into_owned())));
        if let Some(to) = text(Field::Canonical) {
            record.link(LinkKind::Canonical, &to);
        }
        match (self.get(Field::Text), self.get(Field::Html)) {
            (Some(raw), _) => match string_inside(raw, "text")? {
                raw if looks_like_html(raw) => record.html(&unescape(raw), needs),
                raw => record.plain(Text::Json(raw), needs),
            },
            (None, Some(raw)) => record.html(&unescape(string_inside(raw, "HTML")?), needs),
            (None, None) if record.points_elsewhere() => {}
            (None, None) => {
                let text = format!("no text: none of the fields {} is there", names.text_names());
                return Err(Reason::new(Class::NoText, text));
            }
        }
        Ok(record)
    }
}

fn unescaped(raw: &str) -> Cow<'_, str> {
    if raw.contains('\\') { unescape(raw).into() } else { raw.into() }
}

fn string_inside<'a>(raw: &'a str, what: &str) -> Result<&'a str, Reason> {
    inside(raw).ok_or_else(|| {
        let shown: String = raw.chars().take(20).collect();
        Reason::new(Class::WrongType, format!("the page's {what} is not a string but {shown}"))
    })
}

/// Whether a text field holds a whole HTML document.
fn looks_like_html(raw: &str) -> bool {
    let escapes = ["\\n", "\\r", "\\t", "\\ufeff"];
    let mut start = raw.trim_start();
    while let Some(rest) = escapes.iter().find_map(|escape| start.strip_prefix(escape)) {
        start = rest.trim_start();
    }
    let head = start.as_bytes().get(..14).unwrap_or(start.as_bytes()).to_ascii_lowercase();
    head.starts_with(b"<!doctype html") || head.starts_with(b"<html")
}

/// A raw id: a string or a number.
fn id(raw: &str) -> Result<&str, Reason> {
    let wrong = |text: &str| Err(Reason::new(Class::WrongType, text));
    match raw.as_bytes().first() {
        // The id is copied to the results unchanged, where half a surrogate pair would be invalid JSON.
        Some(b'"') if raw.contains("\\u") && serde_json::from_str::<String>(raw).is_err() => {
            wrong("the id is not valid text: it has an unpaired surrogate")
        }
        Some(b'"' | b'-' | b'0'..=b'9') => Ok(raw),
        _ => wrong("the id is neither a string nor a number"),
    }
}

fn time(raw: &str) -> Option<i64> {
    match inside(raw) {
        Some(text) => parse_time(&unescaped(text)),
        None => raw.parse::<f64>().ok().map(|number| unix_seconds(number as i64)),
    }
}

/// Reads the known fields of a record.
struct RawParts<'n, 'f, 'a> {
    names: &'n FieldNames,
    found: &'f mut FoundFields<'a>,
}

impl<'a> DeserializeSeed<'a> for RawParts<'_, '_, 'a> {
    type Value = ();
    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for RawParts<'_, '_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((meaning, below)) = map.next_key_seed(FieldKey(self.names))? {
            if meaning.is_none() && below.is_empty() {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let raw = map.next_value::<&'a RawValue>().map_err(A::Error::custom)?.get();
            self.found.take(meaning, raw);
            for (path, field) in &below {
                // A field whose own name has the dot comes before one in an object.
                nested(raw, path).into_iter().for_each(|raw| self.found.take(Some((*field, 1)), raw));
            }
        }
        Ok(())
    }
}

/// The value at a path of an object. At each step, a field whose name is the rest of the path comes first.
fn nested<'a>(object: &'a str, path: &str) -> Option<&'a str> {
    let fields: BTreeMap<String, &'a RawValue> = serde_json::from_str(object).ok()?;
    let own = fields.get(path).map(|raw| raw.get());
    let deeper = |(name, raw): (&String, &&'a RawValue)| {
        nested(raw.get(), path.strip_prefix(name.as_str())?.strip_prefix('.')?)
    };
    own.or_else(|| fields.iter().find_map(deeper))
}

/// Maps a field name to its meaning, and to the paths that lead through it.
struct FieldKey<'a>(&'a FieldNames);

/// The meaning of a field name, and the paths from there on.
type KeyMeaning = (Option<(Field, u8)>, Vec<(String, Field)>);

impl<'de> DeserializeSeed<'de> for FieldKey<'_> {
    type Value = KeyMeaning;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for FieldKey<'_> {
    type Value = KeyMeaning;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a field name")
    }
    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        let below = self.0.below(name).map(|(path, field)| (path.to_owned(), field));
        Ok((self.0.meaning(name), below.collect()))
    }
}

#[cfg(test)]
mod tests {
    use onecopy_core::{Canonical, CanonicalRules, Content};

    use super::*;
    use crate::job::Fields;

    fn needs() -> Needs {
        Needs { content: Content::All, ..Needs::default() }
    }

    fn read(line: &str) -> Result<Record<'_>, Reason> {
        read_line(line.as_bytes(), &FieldNames::new(&Fields::default()), &needs())
    }

    fn words(line: &str) -> String {
        let mut out = Canonical::default();
        read(line).map(|record| record.text.canonicalise(&CanonicalRules::default(), &mut out)).unwrap();
        out.text().to_owned()
    }

    #[test]
    fn parts_are_found_under_their_usual_names() {
        let line = r#"{"uri":"http://a.example/\u00e9","body":"x\ny","_id":7,"clicks":3,"date":"1970-01-02","z":[{}]}"#;
        let record = read(line).unwrap();
        assert_eq!((words(line).as_str(), record.id), ("x y", "7"));
        assert_eq!(record.url.as_deref(), Some("http://a.example/é"));
        assert_eq!((record.popularity, record.time), (Some(3.0), Some(86_400)));
    }

    #[test]
    fn the_better_name_counts_whatever_the_order() {
        for line in [
            r#"{"content":"no","text":"yes"}"#,
            r#"{"text":"yes","content":"no"}"#,
            r#"{"text":null,"content":"yes"}"#,
            r#"{"html":"<b>no</b>","text":"yes"}"#,
            r#"{"html":"<b>y</b>es"}"#,
            r#"{"text":"\n<!DOCTYPE html><p class=\"x\">yes"}"#,
        ] {
            assert_eq!(words(line), "yes", "{line}");
        }
    }

    #[test]
    fn a_path_leads_into_objects_unless_a_field_has_its_name() {
        let fields =
            Fields { text: Some("data.text".into()), url: Some("meta.page.url".into()), ..Fields::default() };
        let names = FieldNames::new(&fields);
        for (line, text, url) in [
            (r#"{"data":{"text":"yes"},"meta":{"page":{"url":"u"}}}"#, "yes", Some("u")),
            (r#"{"data":{"text":"no"},"data.text":"yes","meta.page":{"url":"u"}}"#, "yes", Some("u")),
            (r#"{"data.text":"yes","data":{"text":"no"},"meta":{"page.url":"u"}}"#, "yes", Some("u")),
            (r#"{"data":{"text":"yes"},"meta":[],"url":"no"}"#, "yes", None),
        ] {
            let record = read_line(line.as_bytes(), &names, &needs()).unwrap();
            assert_eq!((&*record.text.plain(), record.url.as_deref()), (text, url), "{line}");
        }
        assert!(read_line(br#"{"data":"text","text":"no"}"#, &names, &needs()).is_err());
    }

    #[test]
    fn reasons_name_what_is_wrong() {
        for (line, reason) in [
            (r#"{"id":"a","text":"cut in the mid"#, "EOF while parsing a string"),
            (r#"{"id":"a","text":12}"#, "the page's text is not a string but 12"),
            (r#"{"id":"a"}"#, "no text: none of the fields `text`"),
            (r#"{"id":[1],"text":"a"}"#, "the id is neither"),
            (r#"["a"]"#, "expected a JSON object"),
            (r#"{"text":"a"} x"#, "trailing characters"),
            (r#"{"text":"\x"}"#, "invalid escape"),
        ] {
            let Err(found) = read(line) else { panic!("{line} was read") };
            assert!(found.text.contains(reason), "{line}: {found:?}");
        }
        let invalid = read_line(b"{\"text\":\"\xff\"}", &FieldNames::new(&Fields::default()), &needs());
        assert_eq!(invalid.err(), Some(Reason::new(Class::NotUtf8, "invalid UTF-8 at byte 9")));
    }

    #[test]
    fn a_strange_signal_or_half_a_character_does_not_cost_the_page() {
        let record = read(r#"{"text":"a","url":5,"time":{},"popularity":"high","id":null}"#).unwrap();
        assert_eq!((record.url, record.time, record.popularity, record.id), (None, None, None, ""));
        assert_eq!(words(r#"{"text":"one\ud83dtwo"}"#), "one two");
    }
}

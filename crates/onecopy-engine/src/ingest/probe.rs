//! Checks that some record has each field that a job names, before a run begins. A mistyped name matches nothing.
//!
//! The first record usually has all of them. Only a field that is rare or missing makes this read on.

use std::sync::Mutex;

use memchr::memmem;
use parquet::file::metadata::ParquetMetaData;
use serde_json::Value;

use super::chunks::lines;
use super::format::Format;
use super::inputs::Source;
use super::opener::Opener;
use crate::error::{At, Error, Result};
use crate::parallel::for_each;
use crate::progress::Progress;

/// The most field names in an error, and the most records and sources that they are taken from.
const NAMES: usize = 20;
const RECORDS: usize = 100;
const SOURCES: usize = 16;

/// The part of a record that a field holds, and the name of the field.
type Named<'a> = (&'static str, &'a str);

/// Returns an error if no record of the sources has a field that the job names.
pub(crate) fn check_fields(
    sources: &[Source],
    opener: &Opener,
    threads: usize,
    progress: &dyn Progress,
) -> Result<()> {
    let missing: Vec<Named> = opener.fields.named().collect();
    if missing.is_empty() {
        return Ok(());
    }
    let missing = Mutex::new(missing);
    let records: Vec<&Source> = sources.iter().filter(|source| has_fields(source.format)).collect();
    let state = || ();
    for_each(threads, records.len(), state, |(), at| look(records[at], opener, &missing, progress))?;
    let missing = missing.into_inner().expect("no thread panics with this lock");
    let Some(&(part, name)) = missing.first() else { return Ok(()) };
    let mut known: Vec<String> = Vec::new();
    for source in records.iter().take(SOURCES) {
        let names = field_names(source, opener)?;
        names.into_iter().for_each(|name| {
            if !known.contains(&name) {
                known.push(name)
            }
        });
    }
    known.truncate(NAMES);
    // No field is missing if there is no record.
    if known.is_empty() && !records.is_empty() {
        return Ok(());
    }
    Err(Error::NoField { part, name: name.into(), known })
}

/// Whether records of this format have named fields.
fn has_fields(format: Format) -> bool {
    matches!(format, Format::Lines(_) | Format::Array(_) | Format::Table(_) | Format::Parquet)
}

/// Reads a source until no field is missing.
fn look(
    source: &Source,
    opener: &Opener,
    missing: &Mutex<Vec<Named>>,
    progress: &dyn Progress,
) -> Result<()> {
    let left = || missing.lock().expect("no thread panics with this lock").clone();
    let strike = |has: &dyn Fn(&str) -> bool| {
        missing.lock().expect("no thread panics with this lock").retain(|(_, name)| !has(name));
    };
    if left().is_empty() {
        return Ok(());
    }
    if source.format == Format::Parquet {
        let columns = opener.parquet_metadata(source).at("read", &source.path)?;
        strike(&|name| columns.as_ref().is_some_and(|file| column_names(file).any(|column| column == name)));
        return Ok(());
    }
    if let Format::Table(_) = source.format {
        let titles = opener.titles(source).at("read", &source.path)?;
        strike(&|name| titles.iter().any(|title| title == name));
        return Ok(());
    }
    let (mut chunks, _) = opener.chunks(source).at("read", &source.path)?;
    let mut spare = Vec::new();
    while let Some(chunk) = chunks.next(spare).at("read", &source.path)? {
        for (_, line) in lines(&chunk.bytes) {
            let left = left();
            if left.is_empty() {
                return Ok(());
            }
            // Parsing is slow, and most lines without the field do not have its name anywhere.
            if left.iter().any(|(_, name)| may_have(line, name))
                && let Ok(record) = serde_json::from_slice::<Value>(line)
            {
                strike(&|name| has(&record, name));
            }
        }
        if progress.stopped() {
            return Err(Error::Stopped);
        }
        spare = chunk.bytes;
    }
    Ok(())
}

/// Whether a line has the last part of a name, or the name could be written in another way.
fn may_have(line: &[u8], name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    let is_plain = last.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\' | b'/'));
    !is_plain || memmem::find(line, last.as_bytes()).is_some()
}

/// Whether a record has a field, or one inside another: `a.b`.
fn has(record: &Value, name: &str) -> bool {
    let inside =
        |(at, _): (usize, &str)| record.get(&name[..at]).is_some_and(|outer| has(outer, &name[at + 1..]));
    record.get(name).is_some() || name.match_indices('.').any(inside)
}

/// The columns of a Parquet file, and the columns inside others.
fn column_names(file: &ParquetMetaData) -> impl Iterator<Item = String> {
    let schema = file.file_metadata().schema_descr();
    let top = schema.root_schema().get_fields().iter().map(|field| field.name().to_owned());
    top.chain(schema.columns().iter().map(|leaf| leaf.path().string()))
}

/// The names of the fields of the first records of a source.
fn field_names(source: &Source, opener: &Opener) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    if source.format == Format::Parquet {
        let file = opener.parquet_metadata(source).at("read", &source.path)?;
        names.extend(file.iter().flat_map(column_names));
    } else if let Format::Table(_) = source.format {
        names = opener.titles(source).at("read", &source.path)?;
    } else if let Some(chunk) =
        opener.chunks(source).and_then(|(mut chunks, _)| chunks.next(Vec::new())).at("read", &source.path)?
    {
        let records = lines(&chunk.bytes).take(RECORDS);
        for record in records.filter_map(|(_, line)| serde_json::from_slice::<Value>(line).ok()) {
            names.extend(record.as_object().into_iter().flat_map(|record| record.keys().cloned()));
        }
    }
    Ok(names)
}

/// The known name that was probably meant: the same in another case, or with at most two changed letters.
pub(crate) fn nearest<'a>(name: &str, known: &'a [String]) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let far = |other: &str| distance(&lower, &other.to_lowercase());
    let best = known.iter().map(|other| (far(other), other.as_str())).min_by_key(|(far, _)| *far)?;
    (best.0 <= 2 && best.0 < name.chars().count()).then_some(best.1)
}

/// How many letters must be inserted, deleted or replaced to turn one word into the other (Levenshtein, 1966).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_meant() {
        let known = ["id", "content", "URL"].map(str::to_owned);
        for (name, meant) in [
            ("contnet", Some("content")),
            ("url", Some("URL")),
            ("x", None),
            ("popularity", None),
            ("idd", Some("id")),
        ] {
            assert_eq!(nearest(name, &known), meant, "{name}");
        }
        assert_eq!(nearest("text", &[]), None);
    }

    #[test]
    fn fields_are_found_inside_others() {
        let record = serde_json::json!({"a": {"b.c": {"d": null}}, "e.f": 1});
        for (name, is_there) in [("a", true), ("a.b.c.d", true), ("e.f", true), ("e", false), ("a.d", false)]
        {
            assert_eq!(has(&record, name), is_there, "{name}");
            assert!(!is_there || may_have(record.to_string().as_bytes(), name), "{name}");
        }
    }
}

//! Turns a record of any format into a JSON line that reads back as the same page.

use std::fmt::Write;

use onecopy_core::{LinkKind, Record, Whole};

use super::looks_like_html;

/// A number of seconds from here on would be read as milliseconds.
const MILLISECONDS_FROM: i64 = 100_000_000_000;

/// The page as a line with the usual field names, without a newline. The record must have been read with `whole` set.
/// The line drops the data of the WARC header. A redirect to a non-web address reads back as none.
pub(crate) fn to_line(record: &Record) -> String {
    let mut line = String::from("{");
    if !record.id.is_empty() {
        field(&mut line, "id", record.id);
    }
    if let Some(url) = &record.url {
        field(&mut line, "url", &quoted(url));
    }
    if let Some(time) = record.time {
        let time = if time.abs() < MILLISECONDS_FROM { time } else { time.saturating_mul(1_000) };
        field(&mut line, "time", &time.to_string());
    }
    if let Some(popularity) = record.popularity {
        field(&mut line, "popularity", &number(popularity));
    }
    // Links inside the HTML are found again when the line is read.
    let stated = record.whole.as_ref().map_or(record.links.len(), |whole| whole.stated);
    for (kind, to) in record.links.iter().take(stated) {
        field(&mut line, called(*kind), &quoted(to));
    }
    if let Some(whole) = &record.whole {
        body(&mut line, whole);
    }
    line.push('}');
    line
}

fn called(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::Redirect => "redirect",
        LinkKind::Revisit => "revisit",
        LinkKind::Canonical => "canonical",
    }
}

fn body(line: &mut String, whole: &Whole) {
    let text = quoted(&whole.text);
    if whole.html {
        field(line, "html", &text);
    } else if looks_like_html(&text[1..]) {
        // This text would be read as HTML. A form feed before it prevents that, and no real page starts with one.
        field(line, "text", &format!("\"\\f{}", &text[1..]));
    } else {
        field(line, "text", &text);
    }
}

/// Appends a field whose value is JSON.
fn field(line: &mut String, name: &str, value: &str) {
    let comma = if line.len() > 1 { "," } else { "" };
    write!(line, "{comma}\"{name}\":{value}").expect("a string takes all");
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string is JSON")
}

/// A number that may have overflowed to infinity.
fn number(number: f64) -> String {
    match number {
        f64::INFINITY => "1e999".into(),
        f64::NEG_INFINITY => "-1e999".into(),
        number => format!("{number:?}"),
    }
}

#[cfg(test)]
mod tests;

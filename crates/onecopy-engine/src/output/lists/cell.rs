//! A row of a list: cells under named columns. JSON Lines and Parquet are written from the same row.

use std::fmt::Write;

/// One value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::output) enum Cell<'a> {
    /// A name as JSON: a string or a number.
    Name(&'a str),
    Text(&'a str),
    Number(u64),
    Real(f64),
    Absent,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::output) enum ColumnKind {
    Text,
    Number,
    Real,
}

/// A column: its name and its type.
pub(in crate::output) type Column = (&'static str, ColumnKind);

impl Cell<'_> {
    /// Appends the value as JSON.
    pub(super) fn json(&self, out: &mut String) {
        match self {
            Cell::Name(json) => out.push_str(json),
            // Lists have millions of them, and hardly any needs an escape.
            Cell::Text(text) if text.bytes().all(|byte| !matches!(byte, ..b' ' | b'"' | b'\\')) => {
                out.extend(["\"", text, "\""]);
            }
            Cell::Text(text) => out.push_str(&serde_json::to_string(text).expect("a string is JSON")),
            Cell::Number(number) => push(out, format_args!("{number}")),
            Cell::Real(number) => push(out, format_args!("{number:?}")),
            Cell::Absent => out.push_str("null"),
        }
    }
}

fn push(out: &mut String, number: std::fmt::Arguments) {
    out.write_fmt(number).expect("a string grows");
}

/// Appends a row as a JSON object, without absent cells.
pub(in crate::output) fn object<'a>(
    names: impl Iterator<Item = &'static str>,
    cells: &[Cell<'a>],
    out: &mut String,
) {
    out.push('{');
    let start = out.len();
    for (name, cell) in names.zip(cells).filter(|(_, cell)| **cell != Cell::Absent) {
        if out.len() > start {
            out.push(',');
        }
        out.extend(["\"", name, "\":"]);
        cell.json(out);
    }
    out.push('}');
}

/// A name without the quotes of JSON.
pub(super) fn plain(json: &str) -> String {
    serde_json::from_str::<String>(json).unwrap_or_else(|_| json.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_as_json() {
        for text in ["", "plain", "a \"quote\"", "a\\b", "tab\t", "\u{1f}", " ", "\u{7f}", "é \u{2028} 語"]
        {
            let mut out = String::from("before");
            Cell::Text(text).json(&mut out);
            assert_eq!(out, format!("before{}", serde_json::to_string(text).unwrap()));
        }
    }
}

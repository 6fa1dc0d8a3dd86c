//! Reads the rows of a small table: CSV with a header, or JSON Lines, compressed or not.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::error::{At, Error, Result};
use crate::eval::table::cells;
use crate::ingest::{open, sniff};
use crate::job::Limits;

/// The longest accepted line.
const LINE_BYTES: u64 = 1 << 20;

/// A table, read row by row.
pub(super) struct Rows {
    path: PathBuf,
    reader: BufReader<Box<dyn Read + Send>>,
    /// The names of columns; `None` for JSON Lines.
    titles: Option<Vec<String>>,
    /// The line that was read last, and its number.
    line: Vec<u8>,
    number: u64,
}

/// A row and the number of its line.
pub(super) struct Row<'a> {
    path: &'a Path,
    pub line: u64,
    fields: Fields<'a>,
}

enum Fields<'a> {
    Cells(&'a [String], Vec<String>),
    Object(Map<String, Value>),
}

impl Rows {
    /// Opens a table. A CSV table must have the columns `needed`.
    pub(super) fn open(path: &Path, needed: &[&str]) -> Result<Rows> {
        let mut head = Vec::new();
        File::open(path).and_then(|file| file.take(16).read_to_end(&mut head)).at("read", path)?;
        let (reader, _) = open(path, sniff(&head), Limits::default().expansion).at("read", path)?;
        let reader = BufReader::new(reader);
        let mut rows = Rows { path: path.to_owned(), reader, titles: None, line: Vec::new(), number: 0 };
        if rows.read()? && !rows.line.starts_with(b"{") {
            let titles = rows.text()?.trim_start_matches('\u{feff}').to_lowercase();
            let titles = cells(&titles).ok_or_else(|| rows.wrong("a quotation mark is not closed"))?;
            let titles: Vec<String> = titles.iter().map(|title| title.trim().to_owned()).collect();
            if let Some(missing) = needed.iter().find(|name| !titles.iter().any(|title| title == *name)) {
                let reason =
                    format!("there is no column `{missing}`: begin the table with the names of its columns");
                return Err(rows.wrong(&reason));
            }
            rows.titles = Some(titles);
            rows.line.clear();
        }
        Ok(rows)
    }

    /// The next row that is not blank.
    pub(super) fn next(&mut self) -> Result<Option<Row<'_>>> {
        // The first line of JSON Lines was read already.
        if self.line.is_empty() && !self.read()? {
            return Ok(None);
        }
        let fields = match &self.titles {
            Some(titles) => {
                let cells =
                    cells(self.text()?).ok_or_else(|| self.wrong("a quotation mark is not closed"))?;
                if cells.len() != titles.len() {
                    let reason = format!("it has {} cells, and the header has {}", cells.len(), titles.len());
                    return Err(self.wrong(&reason));
                }
                Fields::Cells(titles, cells)
            }
            None => {
                let object = serde_json::from_str(self.text()?);
                Fields::Object(object.map_err(|error| self.wrong(&format!("it is no JSON object: {error}")))?)
            }
        };
        self.line.clear();
        Ok(Some(Row { path: &self.path, line: self.number, fields }))
    }

    /// Reads the next line that is not blank. False at the end.
    fn read(&mut self) -> Result<bool> {
        loop {
            self.line.clear();
            self.number += 1;
            let read = self.reader.by_ref().take(LINE_BYTES).read_until(b'\n', &mut self.line);
            if read.at("read", &self.path)? == 0 {
                return Ok(false);
            }
            if !self.line.trim_ascii().is_empty() {
                let end = self.line.trim_ascii_end().len();
                self.line.truncate(end);
                return Ok(true);
            }
        }
    }

    fn text(&self) -> Result<&str> {
        std::str::from_utf8(&self.line).map_err(|_| self.wrong("it is not UTF-8"))
    }

    fn wrong(&self, reason: &str) -> Error {
        in_line(&self.path, self.number, reason)
    }
}

impl Row<'_> {
    /// A field as text; `None` if the row does not have it.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>> {
        match &self.fields {
            Fields::Cells(titles, cells) => {
                let cell =
                    titles.iter().position(|title| title == name).map(|at| cells[at].trim().to_owned());
                Ok(cell.filter(|cell| !cell.is_empty()))
            }
            Fields::Object(object) => match object.get(name) {
                None | Some(Value::Null) => Ok(None),
                Some(Value::String(text)) => Ok(Some(text.clone())),
                Some(Value::Number(number)) => Ok(Some(number.to_string())),
                Some(_) => Err(self.wrong(&format!("`{name}` is neither text nor a number"))),
            },
        }
    }

    /// A field as a number from 0 on; `None` if the row does not have it.
    pub(super) fn number(&self, name: &str) -> Result<Option<f64>> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(Some(number)),
            _ => Err(self.wrong(&format!("`{name}` is {text:?}: give a number from 0 on"))),
        }
    }

    pub(super) fn wrong(&self, reason: &str) -> Error {
        in_line(self.path, self.line, reason)
    }
}

fn in_line(path: &Path, number: u64, reason: &str) -> Error {
    Error::Input { input: format!("{}, line {number}", path.display()), reason: reason.into() }
}

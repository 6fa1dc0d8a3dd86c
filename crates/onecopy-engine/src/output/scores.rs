//! Writes the scores of pages as JSON Lines, tab-separated lines or Parquet.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use super::lists::{Cell, Column, ColumnKind, Table, object};
use crate::error::{At, Result};
use crate::pagerank::{RankedPage, ScoreFormat};

const COLUMNS: &[Column] = &[
    ("page", ColumnKind::Text),
    ("pagerank", ColumnKind::Real),
    ("links_in", ColumnKind::Number),
    ("links_out", ColumnKind::Number),
    ("unknown", ColumnKind::Number),
];

/// A file of scores that is being written.
pub(crate) struct ScoreFile(Form);

enum Form {
    Lines(TextScores),
    Tabs(TextScores),
    Parquet(Box<Table>),
}

/// Scores as text.
struct TextScores {
    out: BufWriter<File>,
    path: PathBuf,
    line: String,
}

impl TextScores {
    fn create(path: PathBuf) -> Result<TextScores> {
        let file = File::create(&path).at("create", &path)?;
        Ok(TextScores { out: BufWriter::with_capacity(1 << 18, file), path, line: String::new() })
    }

    /// Writes the line, and empties it.
    fn put(&mut self) -> Result<()> {
        self.line.push('\n');
        self.out.write_all(self.line.as_bytes()).at("write", &self.path)?;
        self.line.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        self.out.flush().at("write", &self.path)
    }
}

impl ScoreFile {
    pub(crate) fn create(path: PathBuf, format: ScoreFormat) -> Result<ScoreFile> {
        Ok(ScoreFile(match format {
            ScoreFormat::Lines => Form::Lines(TextScores::create(path)?),
            ScoreFormat::Tabs => {
                let mut text = TextScores::create(path)?;
                text.line.push_str(&COLUMNS.iter().map(|column| column.0).collect::<Vec<_>>().join("\t"));
                text.put()?;
                Form::Tabs(text)
            }
            ScoreFormat::Parquet => Form::Parquet(Box::new(Table::create(path, COLUMNS)?)),
        }))
    }

    pub(crate) fn row(&mut self, page: &RankedPage) -> Result<()> {
        let unknown = if page.unknown { Cell::Number(1) } else { Cell::Absent };
        let (links_in, links_out) = (Cell::Number(page.links_in.into()), Cell::Number(page.links_out.into()));
        let cells = [Cell::Text(&page.page), Cell::Real(page.pagerank), links_in, links_out, unknown];
        match &mut self.0 {
            Form::Lines(text) => {
                object(COLUMNS.iter().map(|column| column.0), &cells, &mut text.line);
                text.put()
            }
            Form::Tabs(text) => {
                let is_plain = !page.page.contains(['\t', '\n', '\r', '"']);
                if is_plain {
                    text.line.push_str(&page.page);
                } else {
                    // Quoted as in CSV.
                    let _ = write!(text.line, "\"{}\"", page.page.replace('"', "\"\""));
                }
                let unknown = if page.unknown { "1" } else { "" };
                let _ = write!(
                    text.line,
                    "\t{:?}\t{}\t{}\t{unknown}",
                    page.pagerank, page.links_in, page.links_out
                );
                text.put()
            }
            Form::Parquet(table) => table.row(&cells),
        }
    }

    pub(crate) fn finish(self) -> Result<()> {
        match self.0 {
            Form::Lines(text) | Form::Tabs(text) => text.finish(),
            Form::Parquet(table) => table.finish(),
        }
    }
}

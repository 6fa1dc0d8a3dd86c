//! A list in all its forms: JSON Lines always, names as text and Parquet on request.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::cell::{Cell, Column, object, plain};
use super::returned::ListTable;
use super::table::Table;
use crate::error::{At, Result};
use crate::job::{KeptPages, Outputs};

/// A list that is being written.
pub(super) struct List {
    columns: &'static [Column],
    lines: Option<TextFile>,
    table: Option<Table>,
    returned: Option<ListTable>,
    buffer: String,
}

/// Makes the lines of a list. Threads have it while one of them has the list.
#[derive(Clone, Copy)]
pub(super) struct LineRenderer {
    /// `None` if the list has no lines.
    columns: Option<&'static [Column]>,
}

impl LineRenderer {
    /// Appends a row as a line.
    pub(super) fn render(&self, cells: &[Cell], out: &mut String) {
        if let Some(columns) = self.columns {
            object(columns.iter().map(|column| column.0), cells, out);
            out.push('\n');
        }
    }
}

impl List {
    /// Begins the list `name` in `folder`.
    pub(super) fn create(
        folder: &Path,
        name: &str,
        columns: &'static [Column],
        outputs: Outputs,
    ) -> Result<List> {
        if outputs.kept == KeptPages::Returned {
            let returned = Some(ListTable::new(columns));
            return Ok(List { columns, lines: None, table: None, returned, buffer: String::new() });
        }
        let lines = Some(TextFile::create(folder.join(format!("{name}.jsonl")))?);
        let path = folder.join(format!("{name}.parquet"));
        let table = outputs.parquet.then(|| Table::create(path, columns)).transpose()?;
        Ok(List { columns, lines, table, returned: None, buffer: String::new() })
    }

    /// Adds a row to every form.
    pub(super) fn row(&mut self, cells: &[Cell]) -> Result<()> {
        let mut line = std::mem::take(&mut self.buffer);
        line.clear();
        self.renderer().render(cells, &mut line);
        self.part(&line)?;
        self.buffer = line;
        self.table_row(cells)
    }

    /// Makes the lines of this list.
    pub(super) fn renderer(&self) -> LineRenderer {
        LineRenderer { columns: self.lines.is_some().then_some(self.columns) }
    }

    /// Adds lines, or a part of one, to the JSON Lines only.
    pub(super) fn part(&mut self, text: &str) -> Result<()> {
        self.lines.as_mut().map_or(Ok(()), |lines| lines.part(text))
    }

    /// Whether the list is written as a table, too.
    pub(super) fn has_table(&self) -> bool {
        self.table.is_some() || self.returned.is_some()
    }

    /// Adds a row to the table only.
    pub(super) fn table_row(&mut self, cells: &[Cell]) -> Result<()> {
        self.returned.iter_mut().for_each(|table| table.row(cells));
        self.table.as_mut().map_or(Ok(()), |table| table.row(cells))
    }

    /// Ends the list. Returns it if it is in memory.
    pub(super) fn finish(self) -> Result<ListTable> {
        self.lines.map_or(Ok(()), TextFile::finish)?;
        self.table.map_or(Ok(()), Table::finish)?;
        Ok(self.returned.unwrap_or_default())
    }
}

/// Names as text, one on each line, if they are wanted.
pub(super) struct NameList(Option<TextFile>);

impl NameList {
    pub(super) fn create(folder: &Path, name: &str, outputs: Outputs) -> Result<NameList> {
        let create = || TextFile::create(folder.join(format!("{name}.txt")));
        Ok(NameList(outputs.names.then(create).transpose()?))
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Appends the line of a name, which is given as JSON. It stays JSON if it would break its line.
    pub(super) fn render(json: &str, out: &mut String) {
        let name = plain(json);
        out.push_str(if name.contains(['\n', '\r']) { json } else { &name });
        out.push('\n');
    }

    /// Adds lines.
    pub(super) fn part(&mut self, lines: &str) -> Result<()> {
        self.0.as_mut().map_or(Ok(()), |file| file.part(lines))
    }

    pub(super) fn finish(self) -> Result<()> {
        self.0.map_or(Ok(()), TextFile::finish)
    }
}

/// A file of lines.
struct TextFile {
    out: BufWriter<File>,
    path: PathBuf,
}

impl TextFile {
    fn create(path: PathBuf) -> Result<TextFile> {
        let file = File::create(&path).at("create", &path)?;
        Ok(TextFile { out: BufWriter::with_capacity(1 << 16, file), path })
    }

    fn part(&mut self, text: &str) -> Result<()> {
        self.out.write_all(text.as_bytes()).at("write", &self.path)
    }

    fn finish(self) -> Result<()> {
        let TextFile { out, path } = self;
        out.into_inner().map(drop).map_err(|error| error.into_error()).at("write", &path)
    }
}

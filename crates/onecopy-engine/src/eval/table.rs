//! Reads CSV tables: `pairs.csv` and `clusters.csv` of a labelled set.
//!
//! Cells may be in double quotes. Every row is one line, so that an error can name it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::docs::in_line;
use crate::error::{At, Result};

/// The longest accepted line.
const LINE_BYTES: u64 = 1 << 20;

/// A table, read row by row.
pub(super) struct Table {
    pub path: PathBuf,
    reader: BufReader<File>,
    columns: Vec<String>,
    number: u64,
}

impl Table {
    /// Opens the table `name` in `folder`, if it exists, and reads its column names.
    pub(super) fn open(folder: &Path, name: &str) -> Result<Option<Table>> {
        let path = folder.join(name);
        if !path.is_file() {
            return Ok(None);
        }
        let reader = BufReader::new(File::open(&path).at("read", &path)?);
        let mut table = Table { path, reader, columns: Vec::new(), number: 0 };
        table.columns = table.next()?.map(|(_, cells)| cells).unwrap_or_default();
        table.columns.iter_mut().for_each(|column| *column = column.trim().to_lowercase());
        Ok(Some(table))
    }

    /// The index of a column.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// The indexes of required columns.
    pub(super) fn columns<const N: usize>(&self, names: [&str; N]) -> Result<[usize; N]> {
        let mut places = [0; N];
        for (place, name) in places.iter_mut().zip(names) {
            let reason = || format!("there is no column `{name}`: begin the file with {}", names.join(","));
            *place = self.column(name).ok_or_else(|| in_line(&self.path, 1, &reason()))?;
        }
        Ok(places)
    }

    /// The next non-blank row, and its line number.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Vec<String>)>> {
        let mut line = Vec::new();
        loop {
            line.clear();
            self.number += 1;
            let read = self.reader.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line);
            if read.at("read", &self.path)? == 0 {
                return Ok(None);
            }
            let text = std::str::from_utf8(&line).map_err(|_| self.wrong("it is not UTF-8"))?;
            let text = text.trim_start_matches('\u{feff}').trim_end_matches(['\n', '\r']);
            if !text.trim().is_empty() {
                let cells = cells(text).ok_or_else(|| self.wrong("a quotation mark is not closed"))?;
                return Ok(Some((self.number, cells)));
            }
        }
    }

    fn wrong(&self, reason: &str) -> crate::error::Error {
        in_line(&self.path, self.number, reason)
    }
}

/// The cells of a row. `None` if a quotation mark is not closed.
pub(crate) fn cells(line: &str) -> Option<Vec<String>> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' if quoted || cell.is_empty() => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
    }
    cells.push(cell);
    (!quoted).then_some(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_may_be_quoted() {
        let read = |line| cells(line).unwrap();
        assert_eq!(read("a,b,,c"), ["a", "b", "", "c"]);
        assert_eq!(read("\"a,b\",\"say \"\"x\"\"\",5\" disk"), ["a,b", "say \"x\"", "5\" disk"]);
        assert_eq!(cells("\"a,b"), None);
    }
}

//! The list of failed pages: those that the target refused, with the reason.
//!
//! A page enters the list before the cursor moves past it, and leaves it when the target accepts it. Meanwhile the file is
//! only appended to, one line for each change; at the end it is written again with one line for each page.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Row;
use crate::commands::at;

/// A page that the target refused.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failure {
    pub page: Box<RawValue>,
    /// Why; `None` if the target accepted it since.
    pub reason: Option<String>,
}

/// The failed pages of one target.
pub struct Failures {
    path: PathBuf,
    file: Option<File>,
    known: BTreeMap<String, Failure>,
}

impl Failures {
    /// Opens a list. A line that a crash cut off is left out: its page is sent again, because the cursor did not move.
    pub fn open(path: PathBuf) -> Result<Failures> {
        let text = match fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            read => read.map_err(at("read", &path))?,
        };
        let mut known = BTreeMap::new();
        for line in text.split(|&byte| byte == b'\n') {
            let Ok(failure) = serde_json::from_slice::<Failure>(line) else { continue };
            let name = failure.page.get().to_owned();
            match failure.reason {
                Some(_) => known.insert(name, failure),
                None => known.remove(&name),
            };
        }
        Ok(Failures { path, file: None, known })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// The failed pages, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Failure> {
        self.known.values()
    }

    /// The names of the failed pages.
    pub fn names(&self) -> Vec<Box<RawValue>> {
        self.known.values().map(|failure| failure.page.clone()).collect()
    }

    /// Notes which of these rows failed, durably. All others are accepted.
    pub fn record(&mut self, rows: &[Row], failed: &[(usize, String)]) -> Result<()> {
        let reasons: BTreeMap<usize, &String> = failed.iter().map(|(at, reason)| (*at, reason)).collect();
        let mut lines = Vec::new();
        for (row, at) in rows.iter().zip(0..) {
            let reason = reasons.get(&at).map(|reason| reason.to_string());
            if reason.is_none() && !self.known.contains_key(row.name.get()) {
                continue;
            }
            let failure = Failure { page: row.name.clone(), reason };
            serde_json::to_writer(&mut lines, &failure)?;
            lines.push(b'\n');
            match failure.reason {
                Some(_) => self.known.insert(row.name.get().to_owned(), failure),
                None => self.known.remove(row.name.get()),
            };
        }
        self.append(&lines)
    }

    fn append(&mut self, lines: &[u8]) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let mut file = OpenOptions::new().create(true).append(true).open(&self.path);
                // After a line that a crash cut off, the next one must begin with a new line.
                if let Ok(file) = &mut file {
                    file.write_all(b"\n").map_err(at("write", &self.path))?;
                }
                self.file.insert(file.map_err(at("create", &self.path))?)
            }
        };
        Ok(file.write_all(lines).and_then(|()| file.sync_data()).map_err(at("write", &self.path))?)
    }

    /// Forgets all failed pages.
    pub fn clear(&mut self) -> Result<()> {
        self.known.clear();
        self.compact()
    }

    /// Writes the list again with one line for each page. Without pages there is no file.
    pub fn compact(&mut self) -> Result<()> {
        self.file = None;
        if self.known.is_empty() {
            return match fs::remove_file(&self.path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(at("delete", &self.path)(error).into())
                }
                _ => Ok(()),
            };
        }
        replace(&self.path, |out| {
            for failure in self.known.values() {
                serde_json::to_writer(&mut *out, failure)?;
                out.write_all(b"\n")?;
            }
            Ok(())
        })
    }
}

/// Writes a file aside, makes it durable, and renames it into place.
pub fn replace(path: &Path, write: impl FnOnce(&mut BufWriter<&File>) -> std::io::Result<()>) -> Result<()> {
    let mut aside = path.to_owned().into_os_string();
    aside.push(".part");
    let aside = PathBuf::from(aside);
    let file = File::create(&aside).map_err(at("create", &aside))?;
    let mut out = BufWriter::new(&file);
    write(&mut out).and_then(|()| out.flush()).map_err(at("write", &aside))?;
    file.sync_all().map_err(at("write", &aside))?;
    fs::rename(&aside, path).map_err(at("create", path))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(File::open(folder).and_then(|folder| folder.sync_all()).map_err(at("write", folder))?)
}

#[cfg(test)]
mod tests {
    use onecopy_engine::StatusKind;

    use super::*;

    fn row(id: &str) -> Row {
        let name = serde_json::value::to_raw_value(id).unwrap();
        Row {
            name,
            id: id.into(),
            group: None,
            winner: None,
            status: StatusKind::Unique,
            tag: None,
            number: 1,
        }
    }

    #[test]
    fn a_page_leaves_the_list_when_it_is_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("failed.jsonl");
        let rows = [row("a"), row("b"), row("c")];
        let mut list = Failures::open(path.clone()).unwrap();
        list.record(&rows, &[(0, "missing".into()), (2, "conflict".into())]).unwrap();
        let mut cut = fs::read(&path).unwrap();
        cut.extend(br#"{"page":"d","reas"#);
        fs::write(&path, cut).unwrap();
        let mut list = Failures::open(path.clone()).unwrap();
        assert_eq!(list.len(), 2, "after a crash");
        list.record(&rows[..2], &[]).unwrap();
        assert_eq!(Failures::open(path.clone()).unwrap().len(), 1, "the cut line takes none with it");
        list.compact().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"page\":\"c\",\"reason\":\"conflict\"}\n");
        list.record(&rows[2..], &[]).unwrap();
        list.compact().unwrap();
        assert!(!path.exists());
    }
}

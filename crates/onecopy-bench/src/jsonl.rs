//! Opens plain or zstd input files, and iterates over the pages of a JSON Lines file.
//!
//! A line that is not a page is counted and skipped: the tools under test skip such lines too.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

/// The benchmark corpora use long-distance matching, which zstd refuses to unpack by default.
const WINDOW_LOG_MAX: u32 = 27;

/// The fields of a page that the audit needs.
#[derive(Deserialize)]
pub struct Page<'a> {
    /// The name that tools report.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// The text to compare.
    #[serde(borrow)]
    pub text: Cow<'a, str>,
}

/// Opens `path` for reading, and unpacks it if its name ends in `.zst`.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    if path.extension().is_some_and(|extension| extension == "zst") {
        let mut decoder = zstd::stream::read::Decoder::new(file)
            .with_context(|| format!("cannot unpack {}", path.display()))?;
        decoder.window_log_max(WINDOW_LOG_MAX)?;
        return Ok(Box::new(BufReader::with_capacity(1 << 20, decoder)));
    }
    Ok(Box::new(BufReader::with_capacity(1 << 20, file)))
}

/// Calls `visit` for every page of `paths` in order. Returns how many lines were not pages.
pub fn for_each_page(paths: &[PathBuf], mut visit: impl FnMut(Page<'_>)) -> Result<u64> {
    let mut unreadable = 0;
    let mut line = Vec::new();
    for path in paths {
        let mut reader = open(path)?;
        loop {
            line.clear();
            let read = reader.read_until(b'\n', &mut line);
            if read.with_context(|| format!("cannot read {}", path.display()))? == 0 {
                break;
            }
            match serde_json::from_slice(&line) {
                Ok(page) => visit(page),
                Err(_) if line.trim_ascii().is_empty() => {}
                Err(_) => unreadable += 1,
            }
        }
    }
    Ok(unreadable)
}

/// The number of non-blank lines in `path`.
pub fn count_lines(path: &Path) -> Result<u64> {
    let mut reader = open(path)?;
    let mut line = Vec::new();
    let mut lines = 0;
    while reader.read_until(b'\n', &mut line)? > 0 {
        lines += u64::from(!line.trim_ascii().is_empty());
        line.clear();
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_read_plain_and_packed_and_bad_lines_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let text =
            "{\"id\":\"a\",\"url\":\"u\",\"text\":\"x\\ny\"}\nbroken\n\n{\"id\":\"b\",\"text\":\"\"}\n";
        let plain = folder.path().join("p.jsonl");
        let packed = folder.path().join("p.jsonl.zst");
        std::fs::write(&plain, text).unwrap();
        std::fs::write(&packed, zstd::encode_all(text.as_bytes(), 3).unwrap()).unwrap();
        let mut seen = vec![];
        let bad = for_each_page(&[plain.clone(), packed], |page| {
            seen.push((page.id.into_owned(), page.text.len()))
        });
        assert_eq!(bad.unwrap(), 2);
        let once = [("a".to_owned(), 3), ("b".to_owned(), 0)];
        assert_eq!(seen, [once.clone(), once].concat());
        assert_eq!(count_lines(&plain).unwrap(), 3);
    }
}

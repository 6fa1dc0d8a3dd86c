//! Functions for the targets in `fuzz/`: the private readers of JSON Lines, JSON arrays, CSV and Parquet, on bytes
//! in memory.
//!
//! Nothing else uses these functions. They return every line, so that a target can compare two ways of reading.

use std::io;
use std::sync::LazyLock;

use bytes::Bytes;
use onecopy_core::{AddressRules, Needs};

use crate::ingest::{
    ArraySplit, Chunks, FieldNames, LineChunks, ParquetChunks, SplitChunks, TableSplit, Trouble, lines,
    read_line, to_line,
};
use crate::job::{Fields, Limits};
use crate::parallel::Gate;

/// A line, or the reason why it is rejected.
type Line<T> = Result<T, String>;

/// Reads JSON Lines. Returns each page as a line that reads as the same page, without blank lines.
#[doc(hidden)]
pub fn reread_lines(bytes: &[u8], chunk_bytes: usize, limits: &Limits) -> Vec<Line<String>> {
    static READING: LazyLock<(FieldNames, Needs)> = LazyLock::new(|| {
        let links = Some(AddressRules::default());
        let needs = Needs { parts: true, links, whole: true, ..Needs::default() };
        (FieldNames::new(&Fields::default()), needs)
    });
    let (names, needs) = &*READING;
    let chunks = LineChunks::new(bytes, chunk_bytes, limits.page_bytes, Gate::new(1));
    let found = all_lines(chunks, usize::MAX).expect("memory is read without an error");
    let page = |line: Vec<u8>| match line.len() > limits.page_bytes {
        true => Err(overlong()),
        false => read_line(&line, names, needs).map(|record| to_line(&record)).map_err(|reason| reason.text),
    };
    found.into_iter().map(|line| line.and_then(page)).collect()
}

/// Reads the rows of a Parquet file as lines, up to about `most_bytes`.
#[doc(hidden)]
pub fn parquet_lines(
    bytes: &[u8],
    chunk_bytes: usize,
    most_bytes: usize,
    limits: &Limits,
) -> io::Result<Vec<Line<Vec<u8>>>> {
    let file = Bytes::copy_from_slice(bytes);
    all_lines(ParquetChunks::open(file, &Fields::default(), limits, chunk_bytes)?, most_bytes)
}

/// Reads CSV or TSV as lines. Each row is a line, or the reason why there is none.
#[doc(hidden)]
pub fn table_lines(bytes: &[u8], chunk_bytes: usize, limits: &Limits) -> Vec<Line<Vec<u8>>> {
    let split = TableSplit::new(bytes, FieldNames::new(&Fields::default()), limits.page_bytes);
    let chunks = SplitChunks::new(bytes, Box::new(split), chunk_bytes, Gate::new(1));
    all_lines(chunks, usize::MAX).expect("memory is read without an error")
}

/// Reads a JSON array, or JSON objects of several lines, as lines.
#[doc(hidden)]
pub fn array_lines(bytes: &[u8], chunk_bytes: usize, limits: &Limits) -> Vec<Line<Vec<u8>>> {
    let split = ArraySplit::new(limits.page_bytes);
    let chunks = SplitChunks::new(bytes, Box::new(split), chunk_bytes, Gate::new(1));
    all_lines(chunks, usize::MAX).expect("memory is read without an error")
}

fn all_lines(mut chunks: impl Chunks, most_bytes: usize) -> io::Result<Vec<Line<Vec<u8>>>> {
    let (mut found, mut length) = (Vec::new(), 0);
    while length < most_bytes
        && let Some(chunk) = chunks.next(Vec::new())?
    {
        length += chunk.bytes.len() + 1;
        let written = lines(&chunk.bytes).map(|(_, line)| line);
        let full = written.filter(|line| !line.iter().all(u8::is_ascii_whitespace));
        found.extend(full.map(|line| Ok(line.to_vec())));
        found.extend(chunk.trouble.map(|trouble| match trouble {
            Trouble::Overlong | Trouble::Endless => Err(overlong()),
            Trouble::Corrupt(reason) | Trouble::Bomb(reason) | Trouble::Refused(reason) => Err(reason),
        }));
    }
    Ok(found)
}

fn overlong() -> String {
    "longer than the limit".into()
}

//! Reads any bytes as a Parquet file. The chunk size must change no row, and every row with text must be a JSON object.

use std::io::ErrorKind;

use onecopy_engine::{Limits, parquet_lines};
use serde_json::{Map, Value};

const LIMITS: Limits = Limits { page_bytes: 4 << 10, expansion: 100 };
/// A few bytes can encode millions of equal rows, so only some of them are read.
const MOST_BYTES: usize = 64 << 10;

pub fn run(data: &[u8]) {
    let cut_at = 1 + data.first().map_or(0, |byte| usize::from(*byte));
    let whole = parquet_lines(data, MOST_BYTES, MOST_BYTES, &LIMITS);
    let cut = parquet_lines(data, cut_at, MOST_BYTES, &LIMITS);
    match (whole, cut) {
        (Ok(whole), Ok(cut)) => {
            let both = whole.len().min(cut.len());
            assert_eq!(whole[..both], cut[..both], "chunks of {cut_at} bytes");
            whole.iter().flatten().for_each(|line| check(line));
        }
        (Err(error), Err(_)) => assert_eq!(error.kind(), ErrorKind::InvalidData, "{error}"),
        (whole, cut) => panic!("{whole:?} but {cut:?} in chunks of {cut_at} bytes"),
    }
}

fn check(line: &[u8]) {
    assert!(line.len() <= LIMITS.page_bytes, "a line of {} bytes", line.len());
    if let Ok(text) = std::str::from_utf8(line) {
        let row: Result<Map<String, Value>, _> = serde_json::from_str(text);
        assert!(row.is_ok(), "{row:?}: {text}");
    }
}

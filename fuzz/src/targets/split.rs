//! Reads any bytes as CSV and as a JSON array. The chunk size must change no record, and no element may be over the limit.

use onecopy_engine::{Limits, array_lines, table_lines};

const LIMITS: Limits = Limits { page_bytes: 256, expansion: 100 };
const CHUNK_BYTES: usize = 8 << 10;

pub fn run(data: &[u8]) {
    let cut_at = 1 + data.last().map_or(0, |byte| usize::from(*byte));
    for head in [&b""[..], b"text,url,popularity\n"] {
        let text = [head, data].concat();
        let whole = table_lines(&text, CHUNK_BYTES, &LIMITS);
        assert_eq!(table_lines(&text, cut_at, &LIMITS), whole, "chunks of {cut_at} bytes");
    }
    for head in [&b""[..], b"["] {
        let text = [head, data].concat();
        let whole = array_lines(&text, CHUNK_BYTES, &LIMITS);
        assert_eq!(array_lines(&text, cut_at, &LIMITS), whole, "chunks of {cut_at} bytes");
        assert!(whole.iter().flatten().all(|line| line.len() <= LIMITS.page_bytes));
    }
}

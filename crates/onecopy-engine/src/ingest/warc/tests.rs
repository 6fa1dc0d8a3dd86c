//! Helpers of the tests in this folder: handwritten records, and streams that yield small pieces.

mod conformance;
mod meanings;
mod streams;

use super::records::{RecordKind, WarcRecord, records};
use super::*;

/// A record with a correct length.
fn record(kind: &str, fields: &str, block: &str) -> String {
    let length = block.len();
    format!("WARC/1.0\r\nWARC-Type: {kind}\r\n{fields}Content-Length: {length}\r\n\r\n{block}\r\n\r\n")
}

/// Yields `bytes` in small pieces, then an error if there is one.
struct Stuttering<'a>(&'a [u8], Option<&'static str>);

impl Read for Stuttering<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match (self.0, self.1.take()) {
            ([], Some(text)) => return Err(io::Error::other(text)),
            (_, error) => self.1 = error,
        }
        let n = buffer.len().min(37).min(self.0.len());
        buffer[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}

fn chunks(bytes: &[u8], error: Option<&'static str>, chunk: usize, page: usize) -> Vec<Chunk> {
    let mut reader = WarcChunks::new(Stuttering(bytes, error), chunk, page, crate::parallel::Gate::new(9));
    std::iter::from_fn(|| reader.next(vec![1, 2, 3]).unwrap()).collect()
}

/// The items of a stream, in order: the block of a record, `lost` with its bytes, or the trouble.
fn found(bytes: &[u8], chunk: usize, page: usize) -> Vec<String> {
    let mut out = Vec::new();
    for chunk in chunks(bytes, None, chunk, page) {
        for item in records(&chunk.bytes) {
            out.push(match item.record {
                Ok(record) => String::from_utf8_lossy(record.block).into_owned(),
                Err(_) => format!("lost {}", String::from_utf8_lossy(&chunk.bytes[item.range])),
            });
        }
        out.extend(chunk.trouble.map(|trouble| format!("{trouble:?}")));
    }
    out
}

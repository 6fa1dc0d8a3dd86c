//! Writes the generated pages as a WARC file, like a crawler: a request and a response for each page.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Deserialize;

use super::{Corpus, for_each_page};

#[derive(Deserialize)]
struct Page {
    id: String,
    text: String,
}

/// Writes `corpus` to the file `path`. If the name ends in `.gz`, each record is a gzip member.
pub fn write_file(corpus: Corpus, path: &Path) -> Result<()> {
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    let packed = path.extension().is_some_and(|ending| ending == "gz");
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let mut number = 0u64;
    for_each_page(corpus, |line| {
        let page: Page = serde_json::from_slice(line).context("a generated page is not JSON")?;
        for record in records(&page, number) {
            match packed {
                true => {
                    let mut member = GzEncoder::new(&mut out, Compression::default());
                    member.write_all(record.as_bytes())?;
                    member.finish()?;
                }
                false => out.write_all(record.as_bytes())?,
            }
        }
        number += 1;
        Ok(())
    })?;
    out.flush().with_context(|| format!("cannot write {}", path.display()))
}

fn records(page: &Page, number: u64) -> [String; 2] {
    let address = format!("http://site{}.example/{}", number % 1_000, page.id);
    let request =
        format!("GET /{} HTTP/1.1\r\nHost: site{}.example\r\nAccept: */*\r\n\r\n", page.id, number % 1_000);
    let html = page.text.replace('\n', "</p>\n<p class=\"text\">");
    let body = format!(
        "<!DOCTYPE html><html><head><title>{}</title></head><body><p>{html}</p></body></html>",
        page.id
    );
    let response = format!(
        "HTTP/1.1 200 OK\r\nServer: generator\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    [
        record("request", &address, 2 * number, &request),
        record("response", &address, 2 * number + 1, &response),
    ]
}

fn record(kind: &str, address: &str, number: u64, block: &str) -> String {
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {address}\r\nWARC-Date: 2024-05-01T12:00:00Z\r\n\
         WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{number:012}>\r\n\
         Content-Type: application/http; msgtype={kind}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_blocks() {
        let [request, response] = records(&Page { id: "7".into(), text: "é\nx".into() }, 3);
        for record in [request, response] {
            let (head, block) = record.split_once("\r\n\r\n").unwrap();
            let length: usize = head.rsplit_once("Content-Length: ").unwrap().1.parse().unwrap();
            assert_eq!(block.len(), length + 4, "{record}");
            assert!(block.ends_with("\r\n\r\n"));
        }
    }
}

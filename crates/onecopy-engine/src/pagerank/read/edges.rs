//! Reads an edge list: on each line the page that links, and the page that it links to.
//!
//! A tab, a comma or blanks separate them, in this order of preference. Lines that begin with `#` or `%` are comments.

use memchr::memchr;
use onecopy_core::AddressRules;

use crate::ingest::{Chunk, lines};
use crate::pagerank::LinkCounts;
use crate::pagerank::merged::Merged;
use crate::pagerank::named::name;
use crate::pagerank::pages::Batch;

/// Titles of the two columns in lists that have a header.
const TITLES: [&str; 10] =
    ["from", "to", "source", "target", "src", "dst", "fromnodeid", "tonodeid", "source_id", "target_id"];

/// Adds the links of chunks to a batch.
pub(super) struct EdgeReader<'a> {
    addresses: &'a AddressRules,
    merged: &'a Merged,
    batch: &'a mut Batch,
    counts: &'a mut LinkCounts,
    name: String,
}

impl<'a> EdgeReader<'a> {
    pub(super) fn new(
        addresses: &'a AddressRules,
        merged: &'a Merged,
        batch: &'a mut Batch,
        counts: &'a mut LinkCounts,
    ) -> EdgeReader<'a> {
        EdgeReader { addresses, merged, batch, counts, name: String::new() }
    }

    pub(super) fn read(&mut self, source: &str, chunk: &Chunk) {
        // Most lists have the links of a page one after the other.
        let mut last: Option<(&[u8], u32)> = None;
        for ((_, line), number) in lines(&chunk.bytes).zip(0u64..) {
            let line = line.trim_ascii();
            if line.is_empty() || line[0] == b'#' || line[0] == b'%' {
                continue;
            }
            let Some(edge) = split(line) else {
                self.reject(
                    source,
                    chunk,
                    number,
                    "it is not two names: a page, and the page that it links to",
                );
                continue;
            };
            if chunk.index == 0 && number == 0 && is_header(&edge) {
                continue;
            }
            self.counts.extra_columns += u64::from(edge.has_more);
            let from = match last {
                Some((name, mention)) if name == edge.from => Some(mention),
                _ => self.mention(edge.from),
            };
            let (Some(from), Some(to)) = (from, self.mention(edge.to)) else {
                self.reject(source, chunk, number, "it is not UTF-8");
                continue;
            };
            last = Some((edge.from, from));
            self.counts.read += 1;
            self.batch.add_link(from, to);
        }
    }

    fn mention(&mut self, bytes: &[u8]) -> Option<u32> {
        name(std::str::from_utf8(bytes).ok()?, self.addresses, &mut self.name);
        Some(self.batch.page(self.merged.winner(&self.name)))
    }

    fn reject(&mut self, source: &str, chunk: &Chunk, line: u64, reason: &str) {
        self.counts.rejected += 1;
        let place = if chunk.index == 0 { format!("line {}", line + 1) } else { "a later line".into() };
        self.counts.first_rejected.get_or_insert_with(|| format!("{source}, {place}: {reason}"));
    }
}

/// The columns of a line.
#[derive(Debug, PartialEq)]
struct Edge<'a> {
    from: &'a [u8],
    to: &'a [u8],
    has_more: bool,
}

/// The two names on a line. `None` if there are fewer.
fn split(line: &[u8]) -> Option<Edge<'_>> {
    let separator = [b'\t', b','].into_iter().find_map(|byte| memchr(byte, line).map(|at| (byte, at)));
    let (from, rest, next) = match separator {
        Some((byte, at)) => {
            let rest = &line[at + 1..];
            (&line[..at], rest, memchr(byte, rest))
        }
        None => {
            let at = line.iter().position(u8::is_ascii_whitespace)?;
            let rest = line[at..].trim_ascii_start();
            (&line[..at], rest, rest.iter().position(u8::is_ascii_whitespace))
        }
    };
    let (from, to) = (unquoted(from), unquoted(&rest[..next.unwrap_or(rest.len())]));
    (!from.is_empty() && !to.is_empty()).then_some(Edge { from, to, has_more: next.is_some() })
}

fn unquoted(name: &[u8]) -> &[u8] {
    let name = name.trim_ascii();
    name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")).unwrap_or(name)
}

fn is_header(edge: &Edge) -> bool {
    let is_title = |name: &[u8]| TITLES.iter().any(|title| name.eq_ignore_ascii_case(title.as_bytes()));
    is_title(edge.from) && is_title(edge.to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_all_kinds_are_split() {
        for (line, from, to, has_more) in [
            ("1\t2", "1", "2", false),
            ("http://a.example/x,y\thttp://b.example/", "http://a.example/x,y", "http://b.example/", false),
            ("1,2,0.5", "1", "2", true),
            ("1   2", "1", "2", false),
            ("1 2 3", "1", "2", true),
            ("\"a b\",\"c\"", "a b", "c", false),
        ] {
            let expected = Edge { from: from.as_bytes(), to: to.as_bytes(), has_more };
            assert_eq!(split(line.as_bytes()), Some(expected), "{line}");
        }
        for line in ["1", "1\t", ",2", "\"\",2"] {
            assert_eq!(split(line.as_bytes()), None, "{line}");
        }
        assert!(is_header(&split(b"Source,Target").unwrap()));
    }
}

//! A segment: the pages of one chunk of input, sketched.
//!
//! On disk a segment consists of 64-bit words in this machine's byte order, since it never outlives the run. Its parts
//! are a header, the rows, the names, the rejections, the ranks and the sketches. Each part is padded to a whole word.

use onecopy_core::Fingerprint;

use crate::batch::order::links::Link;
use crate::ingest::{Class, Reason, Rejection};

/// One page of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    pub source: u32,
    /// The line in its chunk, from zero.
    pub line: u32,
    /// The start of its record in the chunk, and the record's length.
    pub start: u32,
    pub length: u32,
    pub fingerprint: u128,
    /// The start of its sketch in the segment's sketches, and its size. Zero if another page with the same text has the
    /// sketch.
    pub sketch_start: u32,
    pub sketch_size: u32,
    /// The ends of its name and facts in those of the segment.
    pub name_end: u32,
    pub fact_end: u32,
    /// A hash of its address after normalisation by the rules; zero without an address.
    pub identity: u64,
    /// The number of its language plus one; zero if it is unknown.
    pub language: u8,
    /// Whether it has no words and only names another address.
    pub silent: bool,
    /// Whether its sketch covers more than its canonical text.
    pub own: bool,
    /// One bit for each market it belongs to.
    pub markets: u16,
}

impl Row {
    pub(crate) const WORDS: usize = 8;

    pub(crate) fn fingerprint(&self) -> Fingerprint {
        Fingerprint(self.fingerprint)
    }

    fn to_words(self) -> [u64; Row::WORDS] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        [
            pair(self.source, self.line),
            pair(self.start, self.length),
            self.fingerprint as u64,
            (self.fingerprint >> 64) as u64,
            pair(self.sketch_start, self.sketch_size),
            pair(self.name_end, self.fact_end),
            self.identity,
            u64::from(self.language)
                | u64::from(self.silent) << 8
                | u64::from(self.own) << 9
                | u64::from(self.markets) << 16,
        ]
    }

    pub(crate) fn from_words(words: &[u64]) -> Row {
        let (low, high) = (|i: usize| words[i] as u32, |i: usize| (words[i] >> 32) as u32);
        Row {
            source: low(0),
            line: high(0),
            start: low(1),
            length: high(1),
            fingerprint: u128::from(words[2]) | u128::from(words[3]) << 64,
            sketch_start: low(4),
            sketch_size: high(4),
            name_end: low(5),
            fact_end: high(5),
            identity: words[6],
            language: words[7] as u8,
            silent: words[7] >> 8 & 1 == 1,
            own: words[7] >> 9 & 1 == 1,
            markets: (words[7] >> 16) as u16,
        }
    }
}

/// The pages of one chunk.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Segment {
    /// The lot and the chunk that it was read from: its position in the input.
    pub lot: u32,
    pub chunk: u32,
    /// The position of the chunk in its source, if the source consists of lines.
    pub at: u64,
    /// Lines in the chunk, pages or not.
    pub lines: u32,
    pub rows: Vec<Row>,
    /// The names of the pages as JSON, in sequence. Empty for a page without id and URL.
    pub names: Vec<u8>,
    /// The facts of the pages for the outputs, in sequence (see `facts`).
    pub facts: Vec<u8>,
    /// The redirects and canonical links of pages.
    pub links: Vec<Link>,
    pub rejected: Vec<Rejection>,
    /// For each page: the number of the row, the length of its rank, and the rank.
    pub ranks: Vec<u8>,
}

impl Segment {
    /// Its approximate size in memory, without sketches.
    pub(crate) fn bytes(&self) -> u64 {
        let rejected: usize = self
            .rejected
            .iter()
            .map(|rejection| rejection.name.len() + rejection.reason.text.len() + 64)
            .sum();
        let links: usize = self.links.iter().map(|link| link.to.len() + size_of::<Link>()).sum();
        let texts = self.names.len() + self.facts.len() + self.ranks.len();
        (self.rows.len() * size_of::<Row>() + texts + links + rejected) as u64
    }

    /// The name of a row's page.
    pub(crate) fn name(&self, row: usize) -> &[u8] {
        let start = row.checked_sub(1).map_or(0, |before| self.rows[before].name_end);
        &self.names[start as usize..self.rows[row].name_end as usize]
    }

    /// The facts of a row's page.
    pub(crate) fn facts(&self, row: usize) -> &[u8] {
        let start = row.checked_sub(1).map_or(0, |before| self.rows[before].fact_end);
        &self.facts[start as usize..self.rows[row].fact_end as usize]
    }

    /// Writes the segment and its sketches into a buffer. `buffer` takes the number of words. Returns the positions of
    /// the parts.
    pub(crate) fn encode<'a>(
        &self,
        sketches: &[u64],
        buffer: impl FnOnce(usize) -> &'a mut Vec<u64>,
    ) -> Layout {
        let rejected = encode_rejected(&self.rejected);
        let links = Link::encode(&self.links);
        let layout = Layout {
            lot: self.lot,
            chunk: self.chunk,
            at: self.at,
            lines: self.lines,
            rows: self.rows.len() as u32,
            names: self.names.len() as u32,
            facts: self.facts.len() as u32,
            links: links.len() as u32,
            rejected: rejected.len() as u32,
            ranks: self.ranks.len() as u32,
            sketches: sketches.len() as u32,
        };
        let words = buffer(layout.words());
        words.extend(self.rows.iter().flat_map(|row| row.to_words()));
        push_bytes(&self.names, words);
        push_bytes(&self.facts, words);
        push_bytes(&links, words);
        push_bytes(&rejected, words);
        push_bytes(&self.ranks, words);
        words.extend_from_slice(sketches);
        layout
    }

    /// Decodes a segment, without its ranks and sketches. `words` need not contain those.
    pub(crate) fn decode(layout: &Layout, words: &[u64]) -> Segment {
        let rows = words[..layout.names_at()].chunks_exact(Row::WORDS).map(Row::from_words).collect();
        let part = |at: usize, length: u32| &bytemuck::cast_slice::<u64, u8>(&words[at..])[..length as usize];
        Segment {
            lot: layout.lot,
            chunk: layout.chunk,
            at: layout.at,
            lines: layout.lines,
            rows,
            names: part(layout.names_at(), layout.names).to_vec(),
            facts: part(layout.facts_at(), layout.facts).to_vec(),
            links: Link::decode(part(layout.links_at(), layout.links)),
            rejected: decode_rejected(part(layout.rejected_at(), layout.rejected)),
            ranks: Vec::new(),
        }
    }
}

/// The position of each part of a segment, in words from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    pub lot: u32,
    pub chunk: u32,
    pub at: u64,
    pub lines: u32,
    pub rows: u32,
    pub names: u32,
    pub facts: u32,
    pub links: u32,
    pub rejected: u32,
    pub ranks: u32,
    pub sketches: u32,
}

impl Layout {
    pub(crate) const FIELDS: usize = 12;

    pub(crate) fn names_at(&self) -> usize {
        self.rows as usize * Row::WORDS
    }

    pub(crate) fn facts_at(&self) -> usize {
        self.names_at() + (self.names as usize).div_ceil(8)
    }

    fn links_at(&self) -> usize {
        self.facts_at() + (self.facts as usize).div_ceil(8)
    }

    fn rejected_at(&self) -> usize {
        self.links_at() + (self.links as usize).div_ceil(8)
    }

    pub(crate) fn ranks_at(&self) -> usize {
        self.rejected_at() + (self.rejected as usize).div_ceil(8)
    }

    pub(crate) fn sketches_at(&self) -> usize {
        self.ranks_at() + (self.ranks as usize).div_ceil(8)
    }

    pub(crate) fn words(&self) -> usize {
        self.sketches_at() + self.sketches as usize
    }

    pub(crate) fn to_fields(self) -> [u32; Layout::FIELDS] {
        let Layout { lot, chunk, at, lines, rows, names, facts, links, rejected, ranks, sketches } = self;
        let (at, above) = (at as u32, (at >> 32) as u32);
        [lot, chunk, at, above, lines, rows, names, facts, links, rejected, ranks, sketches]
    }

    pub(crate) fn from_fields(fields: [u32; Layout::FIELDS]) -> Layout {
        let [lot, chunk, at, above, lines, rows, names, facts, links, rejected, ranks, sketches] = fields;
        let at = u64::from(above) << 32 | u64::from(at);
        Layout { lot, chunk, at, lines, rows, names, facts, links, rejected, ranks, sketches }
    }
}

fn push_bytes(bytes: &[u8], words: &mut Vec<u64>) {
    let (whole, rest) = bytes.as_chunks::<8>();
    words.extend(whole.iter().map(|&word| u64::from_ne_bytes(word)));
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        words.push(u64::from_ne_bytes(last));
    }
}

fn encode_rejected(rejected: &[Rejection]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for rejection in rejected {
        let Rejection { source, line, name, reason, lost } = rejection;
        let (class, text) = (reason.class.code(), &reason.text);
        for number in [*source, *line, class, text.len() as u32, name.len() as u32] {
            bytes.extend_from_slice(&number.to_ne_bytes());
        }
        bytes.extend_from_slice(&lost.unwrap_or(u64::MAX).to_ne_bytes());
        bytes.extend_from_slice(text.as_bytes());
        bytes.extend_from_slice(name.as_bytes());
    }
    bytes
}

fn decode_rejected(mut bytes: &[u8]) -> Vec<Rejection> {
    let mut rejected = Vec::new();
    while let Some((head, rest)) = bytes.split_first_chunk::<28>() {
        let (numbers, _) = head.as_chunks::<4>();
        let number = |i: usize| u32::from_ne_bytes(numbers[i]);
        let (text, rest) = rest.split_at((number(3) as usize).min(rest.len()));
        let (name, rest) = rest.split_at((number(4) as usize).min(rest.len()));
        // The checksum of the segment was right, so the code is one of ours.
        let class = Class::from_code(number(2)).unwrap_or(Class::Refused);
        let reason = Reason::new(class, String::from_utf8_lossy(text));
        let lost =
            u64::from_ne_bytes([&numbers[5][..], &numbers[6]].concat().try_into().expect("eight bytes"));
        let lost = Some(lost).filter(|&lost| lost != u64::MAX);
        let name = String::from_utf8_lossy(name).into_owned();
        rejected.push(Rejection { source: number(0), line: number(1), name, reason, lost });
        bytes = rest;
    }
    rejected
}

#[cfg(test)]
mod tests {
    use onecopy_core::LinkKind;

    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let row = Row {
            source: 1,
            line: 2,
            start: 3,
            length: 4,
            fingerprint: 5 << 64 | 6,
            sketch_start: 0,
            sketch_size: 2,
            name_end: 3,
            fact_end: 1,
            identity: 77,
            language: 12,
            silent: true,
            own: true,
            markets: 0x8001,
        };
        let segment = Segment {
            lot: 9,
            chunk: 8,
            at: 6 << 33 | 5,
            lines: 7,
            rows: vec![row, Row { name_end: 9, fact_end: 3, ..row }],
            names: b"\"a\"\"bcde\"".to_vec(),
            facts: b"xyz".to_vec(),
            links: vec![Link {
                row: 1,
                kind: LinkKind::Canonical,
                from: 1,
                address: 2,
                identity: 3,
                to: "ü".into(),
            }],
            rejected: vec![
                Rejection {
                    source: 1,
                    line: 2,
                    name: "\"é\"".into(),
                    reason: Reason::new(Class::Http(404), "füll"),
                    lost: Some(7),
                },
                Rejection {
                    source: 0,
                    line: 0,
                    name: String::new(),
                    reason: Reason::new(Class::Damaged, ""),
                    lost: None,
                },
            ],
            ranks: vec![1, 2, 3],
        };
        let mut words = Vec::new();
        let layout = segment.encode(&[10, 20], |_| &mut words);
        // If this hash changes, folders of sketches that others made cannot be read: raise `run::LAYOUT`, too.
        assert_eq!(xxhash_rust::xxh3::xxh3_64(bytemuck::cast_slice(&words)), 4_785_186_811_825_757_620);
        assert_eq!(words.len(), layout.words());
        assert_eq!(Layout::from_fields(layout.to_fields()), layout);
        let read = Segment::decode(&layout, &words[..layout.ranks_at()]);
        assert_eq!(read, Segment { ranks: vec![], ..segment.clone() });
        assert_eq!(words[layout.sketches_at()..], [10, 20]);
        assert_eq!(segment.name(1), &segment.names[3..9]);
        assert_eq!(segment.facts(1), b"yz");
    }
}

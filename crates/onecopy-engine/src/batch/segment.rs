//! A segment: the pages of one chunk of input, sketched.
//!
//! On disk it is words of 64 bits in this machine's byte order, since it never outlives the run: a header, the rows,
//! the names, the rejections, the ranks, the sketches; each part padded to a whole word.

use onecopy_core::Fingerprint;

use crate::ingest::Rejection;

/// One page of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    pub source: u32,
    /// The line in its chunk, from zero.
    pub line: u32,
    /// Where its record starts in the chunk, and its length.
    pub start: u32,
    pub length: u32,
    pub fingerprint: u128,
    /// Where its sketch is among the segment's, and its size. Zero if another page with the same text has it.
    pub sketch_start: u32,
    pub sketch_size: u32,
    /// Where its name ends among the segment's.
    pub name_end: u32,
}

impl Row {
    pub(crate) const WORDS: usize = 6;

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
            u64::from(self.name_end),
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
        }
    }
}

/// The pages of one chunk.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Segment {
    /// The lot and the chunk that it was read from: its place in the input.
    pub lot: u32,
    pub chunk: u32,
    /// Lines in the chunk, pages or not.
    pub lines: u32,
    pub rows: Vec<Row>,
    /// The names of the pages, one behind the other, as JSON. Empty for a page without id and URL.
    pub names: Vec<u8>,
    pub rejected: Vec<Rejection>,
    /// The pages, best first: the row's number, the length of its rank, its rank.
    pub ranks: Vec<u8>,
}

impl Segment {
    /// About how much memory it takes, without its sketches.
    pub(crate) fn bytes(&self) -> u64 {
        let rejected: usize = self.rejected.iter().map(|rejection| rejection.reason.len() + 40).sum();
        (self.rows.len() * size_of::<Row>() + self.names.len() + self.ranks.len() + rejected) as u64
    }

    /// The name of a row's page.
    pub(crate) fn name(&self, row: usize) -> &[u8] {
        let start = row.checked_sub(1).map_or(0, |before| self.rows[before].name_end);
        &self.names[start as usize..self.rows[row].name_end as usize]
    }

    /// The segment and its sketches in words, and where its parts are.
    pub(crate) fn encode(&self, sketches: &[u64]) -> (Layout, Vec<u64>) {
        let rejected = encode_rejected(&self.rejected);
        let layout = Layout {
            lot: self.lot,
            chunk: self.chunk,
            lines: self.lines,
            rows: self.rows.len() as u32,
            names: self.names.len() as u32,
            rejected: rejected.len() as u32,
            ranks: self.ranks.len() as u32,
            sketches: sketches.len() as u32,
        };
        let mut words = Vec::with_capacity(layout.words());
        words.extend(self.rows.iter().flat_map(|row| row.to_words()));
        push_bytes(&self.names, &mut words);
        push_bytes(&rejected, &mut words);
        push_bytes(&self.ranks, &mut words);
        words.extend_from_slice(sketches);
        (layout, words)
    }

    /// The segment that `words` hold, without its ranks and sketches, which need not be given.
    pub(crate) fn decode(layout: &Layout, words: &[u64]) -> Segment {
        let rows = words[..layout.names_at()].chunks_exact(Row::WORDS).map(Row::from_words).collect();
        let part = |at: usize, length: u32| &bytemuck::cast_slice::<u64, u8>(&words[at..])[..length as usize];
        Segment {
            lot: layout.lot,
            chunk: layout.chunk,
            lines: layout.lines,
            rows,
            names: part(layout.names_at(), layout.names).to_vec(),
            rejected: decode_rejected(part(layout.rejected_at(), layout.rejected)),
            ranks: Vec::new(),
        }
    }
}

/// Where the parts of a segment are, in words from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    pub lot: u32,
    pub chunk: u32,
    pub lines: u32,
    pub rows: u32,
    pub names: u32,
    pub rejected: u32,
    pub ranks: u32,
    pub sketches: u32,
}

impl Layout {
    pub(crate) const FIELDS: usize = 8;

    pub(crate) fn names_at(&self) -> usize {
        self.rows as usize * Row::WORDS
    }

    fn rejected_at(&self) -> usize {
        self.names_at() + (self.names as usize).div_ceil(8)
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
        [self.lot, self.chunk, self.lines, self.rows, self.names, self.rejected, self.ranks, self.sketches]
    }

    pub(crate) fn from_fields(fields: [u32; Layout::FIELDS]) -> Layout {
        let [lot, chunk, lines, rows, names, rejected, ranks, sketches] = fields;
        Layout { lot, chunk, lines, rows, names, rejected, ranks, sketches }
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
        for number in [rejection.source, rejection.line, rejection.reason.len() as u32] {
            bytes.extend_from_slice(&number.to_ne_bytes());
        }
        bytes.extend_from_slice(rejection.reason.as_bytes());
    }
    bytes
}

fn decode_rejected(mut bytes: &[u8]) -> Vec<Rejection> {
    let mut rejected = Vec::new();
    while let Some((head, rest)) = bytes.split_first_chunk::<12>() {
        let number = |i: usize| u32::from_ne_bytes([head[i], head[i + 1], head[i + 2], head[i + 3]]);
        let (reason, rest) = rest.split_at((number(8) as usize).min(rest.len()));
        let reason = String::from_utf8_lossy(reason).into_owned();
        rejected.push(Rejection { source: number(0), line: number(4), reason });
        bytes = rest;
    }
    rejected
}

#[cfg(test)]
mod tests {
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
        };
        let segment = Segment {
            lot: 9,
            chunk: 8,
            lines: 7,
            rows: vec![row, Row { name_end: 9, ..row }],
            names: b"\"a\"\"bcde\"".to_vec(),
            rejected: vec![
                Rejection { source: 1, line: 2, reason: "füll".into() },
                Rejection { source: 0, line: 0, reason: String::new() },
            ],
            ranks: vec![1, 2, 3],
        };
        let (layout, words) = segment.encode(&[10, 20]);
        assert_eq!(words.len(), layout.words());
        assert_eq!(Layout::from_fields(layout.to_fields()), layout);
        let read = Segment::decode(&layout, &words[..layout.ranks_at()]);
        assert_eq!(read, Segment { ranks: vec![], ..segment.clone() });
        assert_eq!(words[layout.sketches_at()..], [10, 20]);
        assert_eq!(segment.name(1), &segment.names[3..9]);
    }
}

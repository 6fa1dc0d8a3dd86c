//! Splits a body into lines. A line that is too long is skipped as it arrives, without buffering it.

use std::collections::VecDeque;

use bytes::Bytes;

/// A line that is not empty.
#[derive(Debug, PartialEq, Eq)]
pub struct Line {
    /// From 1; empty lines count too.
    pub number: u64,
    /// `None` if it was too long.
    pub text: Option<Bytes>,
}

/// Complete lines, and the start of the next.
pub struct Cutter {
    limit: usize,
    lines: VecDeque<Line>,
    bytes: usize,
    begun: Vec<u8>,
    is_skipping: bool,
    number: u64,
}

impl Cutter {
    /// Lines of at most `limit` bytes.
    pub fn new(limit: usize) -> Cutter {
        Cutter { limit, lines: VecDeque::new(), bytes: 0, begun: Vec::new(), is_skipping: false, number: 0 }
    }

    /// Whether a line is complete.
    pub fn has_lines(&self) -> bool {
        !self.lines.is_empty()
    }

    /// The bytes of all lines, including the one that has begun.
    pub fn bytes(&self) -> usize {
        self.bytes + self.begun.len()
    }

    /// Whether there are this many lines or bytes.
    pub fn is_full(&self, lines: usize, bytes: usize) -> bool {
        self.lines.len() >= lines || self.bytes >= bytes
    }

    /// Takes lines up to a number of lines and of bytes.
    pub fn take(&mut self, lines: usize, bytes: usize) -> Vec<Line> {
        let mut taken = Vec::new();
        let mut length = 0;
        while taken.len() < lines && length < bytes {
            let Some(line) = self.lines.pop_front() else { break };
            length += line.text.as_ref().map_or(0, Bytes::len);
            taken.push(line);
        }
        self.bytes -= length;
        taken
    }

    /// Adds a piece.
    pub fn push(&mut self, piece: &Bytes) {
        let mut rest = piece.clone();
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            let part = rest.split_to(end + 1).slice(..end);
            if self.begun.is_empty() && !self.is_skipping {
                // A line within one piece needs no copy.
                self.end_line(part);
            } else {
                self.extend(&part);
                let text = std::mem::take(&mut self.begun);
                self.end_line(text.into());
            }
        }
        self.extend(&rest);
    }

    /// The last line needs no line end.
    pub fn finish(&mut self) {
        if self.is_skipping || !self.begun.is_empty() {
            let text = std::mem::take(&mut self.begun);
            self.end_line(text.into());
        }
    }

    fn extend(&mut self, part: &[u8]) {
        // A carriage return before the line end does not count.
        if self.is_skipping || self.begun.len() + part.len() > self.limit + 1 {
            self.is_skipping = true;
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(part);
        }
    }

    fn end_line(&mut self, text: Bytes) {
        self.number += 1;
        let is_skipped = std::mem::take(&mut self.is_skipping);
        let length = text.strip_suffix(b"\r").map_or(text.len(), <[u8]>::len);
        let text = text.slice(..length);
        if is_skipped || text.len() > self.limit {
            self.lines.push_back(Line { number: self.number, text: None });
        } else if !text.iter().all(u8::is_ascii_whitespace) {
            self.bytes += text.len();
            self.lines.push_back(Line { number: self.number, text: Some(text) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(pieces: &[&str], limit: usize) -> Vec<(u64, Option<String>)> {
        let mut cutter = Cutter::new(limit);
        pieces.iter().for_each(|piece| cutter.push(&Bytes::copy_from_slice(piece.as_bytes())));
        cutter.finish();
        let lines = cutter.take(usize::MAX, usize::MAX).into_iter();
        let text = |text: Option<Bytes>| text.map(|text| String::from_utf8_lossy(&text).into_owned());
        lines.map(|line| (line.number, text(line.text))).collect()
    }

    #[test]
    fn lines_are_the_same_wherever_pieces_are_cut() {
        let text = "one\r\n\n  \ntwo two\r\nmuch too long\nlast";
        let some = |number, text: &str| (number, Some(text.to_owned()));
        let expected = [some(1, "one"), some(4, "two two"), (5, None), some(6, "last")];
        for first in 0..text.len() {
            for second in first..text.len() {
                let pieces = [&text[..first], &text[first..second], &text[second..]];
                assert_eq!(cut(&pieces, 7), expected, "{pieces:?}");
            }
        }
        assert_eq!(cut(&[text, "\n\n"], 7), expected);
        assert_eq!(cut(&["12345678"], 7), [(1, None)]);
        assert_eq!(cut(&[], 7), []);
    }

    #[test]
    fn groups_have_limits() {
        let mut cutter = Cutter::new(10);
        cutter.push(&Bytes::from_static(b"aaaa\nbbbb\ncccc\ndddd\n"));
        assert!(cutter.is_full(4, 100) && cutter.is_full(9, 16) && !cutter.is_full(5, 17));
        assert_eq!(cutter.take(9, 5).len(), 2);
        assert_eq!(cutter.take(1, 100).len(), 1);
        assert_eq!(cutter.take(9, 100).len(), 1);
        assert!(!cutter.has_lines() && !cutter.is_full(1, 1));
    }
}

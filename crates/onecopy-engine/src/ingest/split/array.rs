//! Splits a JSON array into its elements, or a stream of JSON values that are not one per line.
//!
//! It only finds where values end; each is parsed later, and one that is invalid costs only itself.

use memchr::memchr2;

use super::{Frame, Split, SplitEvent, Taken};

/// Finds the values of a file.
pub(crate) struct ArraySplit {
    page_bytes: usize,
    state: State,
    is_array: bool,
    /// The last value, without line ends.
    value: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first value or bracket.
    Start,
    Between,
    /// Inside a value, below so many open brackets.
    Value(u32),
    /// Inside a string of such a value.
    String(u32),
    /// Behind a backslash in such a string.
    Escape(u32),
    /// Behind the array.
    Behind,
}

impl ArraySplit {
    /// A value of more than `page_bytes` is not held in memory.
    pub(crate) fn new(page_bytes: usize) -> ArraySplit {
        ArraySplit { page_bytes, state: State::Start, is_array: false, value: Vec::new() }
    }

    /// Adds bytes to the value, on one line. A line end in a string stays invalid: it becomes another control character.
    fn push(&mut self, bytes: &[u8], line_end: u8) {
        // One byte over the limit tells that the value is too long.
        let room = (self.page_bytes + 1).saturating_sub(self.value.len());
        let bytes = &bytes[..bytes.len().min(room)];
        self.value.extend(bytes.iter().map(|&byte| if byte == b'\n' { line_end } else { byte }));
    }

    /// The end of the value.
    fn ended(&mut self) -> SplitEvent {
        self.state = State::Between;
        if self.value.len() > self.page_bytes { SplitEvent::Overlong } else { SplitEvent::Record }
    }

    /// The end of the file.
    fn end(&mut self) -> SplitEvent {
        match self.state {
            State::Value(0) => self.ended(),
            State::Value(_) | State::String(_) | State::Escape(_) => {
                SplitEvent::End(Some("it ends inside a record"))
            }
            State::Between if self.is_array => SplitEvent::End(Some("it ends before its array does")),
            State::Start | State::Between | State::Behind => SplitEvent::End(None),
        }
    }

    /// Skips bytes between values. Returns how many there are, and the damage that they are.
    fn skip(&mut self, input: &[u8]) -> (usize, Option<&'static str>) {
        for (at, &byte) in input.iter().enumerate() {
            match (self.state, byte) {
                (_, b' ' | b'\t' | b'\r' | b'\n') | (State::Between, b',') => {}
                (State::Start, 0xef | 0xbb | 0xbf) => {}
                (State::Start, b'[') => (self.state, self.is_array) = (State::Between, true),
                (State::Between, b']') if self.is_array => self.state = State::Behind,
                (State::Behind, _) => return (at, Some("there is more after its array")),
                _ => {
                    self.state = State::Value(0);
                    self.value.clear();
                    return (at, None);
                }
            }
        }
        (input.len(), None)
    }

    /// Takes bytes of a value. Returns how many, and whether they end it.
    fn value(&mut self, input: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while let Some(&byte) = input.get(at) {
            match self.state {
                State::String(depth) => {
                    let end = memchr2(b'"', b'\\', &input[at..]).map_or(input.len(), |end| at + end + 1);
                    self.push(&input[at..end], 1);
                    match input[end - 1] {
                        b'\\' => self.state = State::Escape(depth),
                        b'"' => self.state = State::Value(depth),
                        _ => {}
                    }
                    at = end;
                    if self.state == State::Value(0) {
                        return (at, true);
                    }
                    continue;
                }
                State::Escape(depth) => {
                    self.state = State::String(depth);
                    self.push(&[byte], 1);
                    at += 1;
                    continue;
                }
                _ => {}
            }
            let State::Value(depth) = self.state else { return (at, true) };
            match byte {
                b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 && !self.value.is_empty() => {
                    return (at, true);
                }
                b'"' => self.state = State::String(depth),
                b'{' | b'[' => self.state = State::Value(depth + 1),
                b'}' | b']' => self.state = State::Value(depth.saturating_sub(1)),
                _ => {}
            }
            self.push(&[byte], b' ');
            at += 1;
            if self.state == State::Value(0) && matches!(byte, b'}' | b']') {
                return (at, true);
            }
        }
        (at, false)
    }
}

impl Split for ArraySplit {
    fn take(&mut self, input: &[u8]) -> Taken {
        if input.is_empty() {
            return Taken { bytes: 0, content: 0..0, event: self.end() };
        }
        let mut start = 0;
        if matches!(self.state, State::Start | State::Between | State::Behind) {
            let (skipped, damage) = self.skip(input);
            start = skipped;
            if damage.is_some() {
                return Taken { bytes: start, content: 0..0, event: SplitEvent::End(damage) };
            }
        }
        if start == input.len() {
            return Taken { bytes: start, content: 0..0, event: SplitEvent::More };
        }
        let (length, ends) = self.value(&input[start..]);
        let event = if ends { self.ended() } else { SplitEvent::More };
        Taken { bytes: start + length, content: start..start + length, event }
    }

    fn line(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.value);
        out.push(b'\n');
    }

    fn has_header(&self) -> bool {
        false
    }

    fn frame(&self) -> Frame {
        if self.is_array {
            return Frame { open: b"[\n", between: b",\n", after: b"", close: b"\n]\n", empty: b"[]\n" };
        }
        Frame { open: b"", between: b"", after: b"\n", close: b"", empty: b"" }
    }
}

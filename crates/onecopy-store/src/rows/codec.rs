//! Numbers and strings, one behind the other.

use super::At;

/// Appends.
#[derive(Default)]
pub(super) struct Writer {
    out: Vec<u8>,
}

impl Writer {
    pub(super) fn byte(&mut self, value: u8) {
        self.out.push(value);
    }

    pub(super) fn short(&mut self, value: u16) {
        self.out.extend(value.to_le_bytes());
    }

    pub(super) fn word(&mut self, value: u32) {
        self.out.extend(value.to_le_bytes());
    }

    pub(super) fn long(&mut self, value: u64) {
        self.out.extend(value.to_le_bytes());
    }

    pub(super) fn wide(&mut self, value: u128) {
        self.out.extend(value.to_le_bytes());
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u32);
        self.out.extend(bytes);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub(super) fn at(&mut self, at: At) {
        [at.segment, at.offset, at.length].into_iter().for_each(|number| self.word(number));
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.out
    }
}

/// Takes from the front; nothing where there is not enough.
pub(super) struct Reader<'a> {
    left: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { left: bytes }
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.left.split_first_chunk::<N>()?;
        self.left = rest;
        Some(*head)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    pub(super) fn short(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    pub(super) fn word(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(super) fn long(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    pub(super) fn wide(&mut self) -> Option<u128> {
        self.take().map(u128::from_le_bytes)
    }

    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.word()? as usize;
        let (head, rest) = self.left.split_at_checked(length)?;
        self.left = rest;
        Some(head)
    }

    pub(super) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    pub(super) fn at(&mut self) -> Option<At> {
        Some(At { segment: self.word()?, offset: self.word()?, length: self.word()? })
    }

    pub(super) fn is_done(&self) -> bool {
        self.left.is_empty()
    }
}

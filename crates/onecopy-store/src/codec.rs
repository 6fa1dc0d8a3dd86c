//! Encodes numbers and strings as consecutive bytes.

use crate::log::Place;
use crate::rows::LinkRow;

/// Appends values.
#[derive(Default)]
pub(crate) struct Writer {
    out: Vec<u8>,
}

impl Writer {
    pub(crate) fn byte(&mut self, value: u8) {
        self.out.push(value);
    }

    pub(crate) fn short(&mut self, value: u16) {
        self.out.extend(value.to_le_bytes());
    }

    pub(crate) fn word(&mut self, value: u32) {
        self.out.extend(value.to_le_bytes());
    }

    pub(crate) fn long(&mut self, value: u64) {
        self.out.extend(value.to_le_bytes());
    }

    pub(crate) fn wide(&mut self, value: u128) {
        self.out.extend(value.to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u32);
        self.out.extend(bytes);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub(crate) fn at(&mut self, at: Place) {
        [at.segment, at.offset, at.length].into_iter().for_each(|number| self.word(number));
    }

    pub(crate) fn links(&mut self, links: &[LinkRow]) {
        self.word(links.len() as u32);
        for link in links {
            self.byte(link.kind);
            self.long(link.address);
            self.long(link.identity);
            self.text(&link.to);
        }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.out
    }
}

/// Takes values from the front; `None` if too few bytes are left.
pub(crate) struct Reader<'a> {
    left: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { left: bytes }
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.left.split_first_chunk::<N>()?;
        self.left = rest;
        Some(*head)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    pub(crate) fn short(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    pub(crate) fn word(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(crate) fn long(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    pub(crate) fn wide(&mut self) -> Option<u128> {
        self.take().map(u128::from_le_bytes)
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.word()? as usize;
        self.many(length)
    }

    pub(crate) fn many(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.left.split_at_checked(length)?;
        self.left = rest;
        Some(head)
    }

    pub(crate) fn links(&mut self) -> Option<Vec<LinkRow>> {
        let mut links = Vec::new();
        for _ in 0..self.word()? {
            let kind = self.byte()?;
            let (address, identity) = (self.long()?, self.long()?);
            links.push(LinkRow { kind, address, identity, to: self.text()? });
        }
        Some(links)
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    pub(crate) fn at(&mut self) -> Option<Place> {
        Some(Place { segment: self.word()?, offset: self.word()?, length: self.word()? })
    }

    pub(crate) fn is_done(&self) -> bool {
        self.left.is_empty()
    }
}

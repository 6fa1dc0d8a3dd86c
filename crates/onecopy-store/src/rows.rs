//! The rows of the tables and their encoding: little-endian numbers, and strings and lists with a length prefix.

#[cfg(test)]
mod tests;

use crate::codec::{Reader, Writer};
use crate::log::Place;

/// A page's number, assigned when its name first appears and never reused.
pub type PageNumber = u32;
/// A content's number. Numbers of removed contents are reused.
pub type Slot = u32;

/// The state of a page and the decision on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageRow {
    /// Its name as JSON.
    pub name: String,
    /// Its address; empty if it has none.
    pub url: String,
    /// The number of its last change.
    pub accepted: u64,
    /// The location of that change in the log.
    pub at: Place,
    /// Whether it is dead.
    pub dead: bool,
    /// Whether it has no words.
    pub silent: bool,
    /// The hash of its canonical text.
    pub fingerprint: u128,
    /// The hash of its sketch.
    pub sketch: u64,
    /// The number of words in its sketch.
    pub size: u32,
    /// The hash of its address; zero for none.
    pub exact: u64,
    /// The hash of its address, normalised by the rules; zero for none.
    pub identity: u64,
    /// The number of its language; zero for none.
    pub language: u8,
    /// One bit for each of its markets.
    pub markets: u16,
    /// Its rank by the winner rules: smaller is better.
    pub rank: Vec<u8>,
    /// The addresses that it refers to.
    pub links: Vec<LinkRow>,
    /// Its content; `None` if it is not compared.
    pub content: Option<Slot>,
    /// The final target, if it refers to another page.
    pub end: EndRow,
    /// Whether its canonical page is similar. It then ranks after all others.
    pub lesser: bool,
    /// The hash of its last published status; zero for none.
    pub told: u64,
}

/// An address that a page refers to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkRow {
    /// The kind of the reference, as a number.
    pub kind: u8,
    /// The hash of the address.
    pub address: u64,
    /// The hash of the normalised address.
    pub identity: u64,
    /// The address.
    pub to: String,
}

/// The final target of a page that refers to another: a code, and the page if there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndRow {
    /// Zero if the page refers to no other.
    pub how: u8,
    /// The final page.
    pub page: PageNumber,
    /// Whether an archive states that the two are the same.
    pub revisit: bool,
}

/// A content: all pages with one canonical text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContentRow {
    /// The hash of its canonical text.
    pub fingerprint: u128,
    /// Its best page, whose sketch represents all.
    pub best: PageNumber,
    /// The location of that page's version, with its sketch, in the log.
    pub at: Place,
    /// The hash of the sketch.
    pub sketch: u64,
    /// The number of words in the sketch.
    pub size: u32,
    /// The number of its pages, including those that refer to them.
    pub pages: u32,
    /// The generation of the key order by which its keys were chosen.
    pub generation: u32,
    /// The number of its language.
    pub language: u8,
    /// When its keys were added: a larger number is later.
    pub born: u64,
    /// Its rank: smaller is better.
    pub rank: Vec<u8>,
    /// Its winner; itself if it is kept.
    pub winner: Slot,
    /// The score against its winner.
    pub score: u32,
    /// Its group.
    pub group: u64,
}

impl PageRow {
    /// Encodes the row.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.text(&self.name);
        out.text(&self.url);
        out.long(self.accepted);
        out.at(self.at);
        out.byte(u8::from(self.dead) | u8::from(self.silent) << 1 | u8::from(self.lesser) << 2);
        out.wide(self.fingerprint);
        out.long(self.sketch);
        out.word(self.size);
        out.long(self.exact);
        out.long(self.identity);
        out.byte(self.language);
        out.short(self.markets);
        out.bytes(&self.rank);
        out.links(&self.links);
        out.word(self.content.unwrap_or(NO_CONTENT));
        out.byte(self.end.how | u8::from(self.end.revisit) << 7);
        out.word(self.end.page);
        out.long(self.told);
        out.finish()
    }

    /// Decodes a row; `None` if the bytes are invalid.
    pub fn from_bytes(bytes: &[u8]) -> Option<PageRow> {
        let mut from = Reader::new(bytes);
        let mut row = PageRow {
            name: from.text()?,
            url: from.text()?,
            accepted: from.long()?,
            at: from.at()?,
            ..PageRow::default()
        };
        let flags = from.byte()?;
        (row.dead, row.silent, row.lesser) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0);
        row.fingerprint = from.wide()?;
        (row.sketch, row.size) = (from.long()?, from.word()?);
        (row.exact, row.identity) = (from.long()?, from.long()?);
        (row.language, row.markets) = (from.byte()?, from.short()?);
        row.rank = from.bytes()?.to_vec();
        row.links = from.links()?;
        row.content = Some(from.word()?).filter(|&slot| slot != NO_CONTENT);
        let how = from.byte()?;
        row.end = EndRow { how: how & 0x7f, page: from.word()?, revisit: how & 0x80 != 0 };
        row.told = from.long()?;
        from.is_done().then_some(row)
    }
}

/// Stands where earlier versions had the partition of a content.
const UNUSED: u16 = 0;
/// Stands for a missing content.
const NO_CONTENT: Slot = Slot::MAX;

impl ContentRow {
    /// Encodes the row.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.wide(self.fingerprint);
        out.word(self.best);
        out.at(self.at);
        out.long(self.sketch);
        out.word(self.size);
        out.word(self.pages);
        out.word(self.generation);
        out.short(UNUSED);
        out.byte(self.language);
        out.long(self.born);
        out.bytes(&self.rank);
        out.word(self.winner);
        out.word(self.score);
        out.long(self.group);
        out.finish()
    }

    /// Decodes a row; `None` if the bytes are invalid.
    pub fn from_bytes(bytes: &[u8]) -> Option<ContentRow> {
        let mut from = Reader::new(bytes);
        let row = ContentRow {
            fingerprint: from.wide()?,
            best: from.word()?,
            at: from.at()?,
            sketch: from.long()?,
            size: from.word()?,
            pages: from.word()?,
            generation: from.word()?,
            language: from.short().and_then(|_| from.byte())?,
            born: from.long()?,
            rank: from.bytes()?.to_vec(),
            winner: from.word()?,
            score: from.word()?,
            group: from.long()?,
        };
        from.is_done().then_some(row)
    }
}

/// The progress of a collection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heads {
    /// The first record of the log that is not settled yet: its segment and offset.
    pub settled_to: (u32, u32),
    /// The number of the last settled change.
    pub settled: u64,
    /// The number of the next page.
    pub next_page: PageNumber,
    /// The last assigned group number.
    pub last_group: u64,
    /// The last number assigned when the keys of a content were added.
    pub born: u64,
    /// The last number in the feed.
    pub feed: u64,
    /// The number of key order generations.
    pub generations: u32,
    /// Pages by status: kept, removed, dead, rejected.
    pub counts: [u64; 4],
}

impl Heads {
    /// Encodes the heads.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.word(self.settled_to.0);
        out.word(self.settled_to.1);
        out.long(self.settled);
        out.word(self.next_page);
        [self.last_group, self.born, self.feed].into_iter().for_each(|number| out.long(number));
        out.word(self.generations);
        self.counts.into_iter().for_each(|count| out.long(count));
        out.finish()
    }

    /// Decodes heads; `None` if the bytes are invalid.
    pub fn from_bytes(bytes: &[u8]) -> Option<Heads> {
        let mut from = Reader::new(bytes);
        let heads = Heads {
            settled_to: (from.word()?, from.word()?),
            settled: from.long()?,
            next_page: from.word()?,
            last_group: from.long()?,
            born: from.long()?,
            feed: from.long()?,
            generations: from.word()?,
            counts: [from.long()?, from.long()?, from.long()?, from.long()?],
        };
        from.is_done().then_some(heads)
    }
}

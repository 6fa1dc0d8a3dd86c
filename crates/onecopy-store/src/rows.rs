//! The rows of the tables, and their bytes: numbers in little-endian order, strings and lists with their length first.

#[cfg(test)]
mod tests;

use crate::codec::{Reader, Writer};
use crate::log::Place;

/// A page's number, given when its name is first met, and never given again.
pub type PageNumber = u32;
/// A content's number. Numbers of contents that are gone are given again.
pub type Slot = u32;

/// What is known of a page, and what was decided.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageRow {
    /// Its name as JSON.
    pub name: String,
    /// Its address; empty if it has none.
    pub url: String,
    /// The number of the change that made it what it is.
    pub accepted: u64,
    /// That change in the log.
    pub at: Place,
    /// Whether it is dead.
    pub dead: bool,
    /// Whether it has no words.
    pub silent: bool,
    /// The hash of its canonical text.
    pub fingerprint: u128,
    /// The hash of its sketch, and how many words that has.
    pub sketch: u64,
    /// See `sketch`.
    pub size: u32,
    /// The hash of its address, and of what that comes to by the rules; zero for none.
    pub exact: u64,
    /// See `exact`.
    pub identity: u64,
    /// The number of its language; zero for none.
    pub language: u8,
    /// A bit for each market that it is in.
    pub markets: u16,
    /// Its rank by the winner rules: smaller is better.
    pub rank: Vec<u8>,
    /// The addresses that it names.
    pub links: Vec<LinkRow>,
    /// The content that it is; none if it is not compared.
    pub content: Option<Slot>,
    /// Where it ends, if it stands for another page.
    pub end: EndRow,
    /// Whether the page that it gives as its own is alike: it comes behind all others then.
    pub lesser: bool,
    /// The hash of the status that was last told of it; zero for none.
    pub told: u64,
}

/// An address that a page names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkRow {
    /// What the page says of that address, as a number.
    pub kind: u8,
    /// The hash of the address, and of what it comes to.
    pub address: u64,
    /// See `address`.
    pub identity: u64,
    /// The address.
    pub to: String,
}

/// Where a page that stands for another ends: a number for how, and the page if there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndRow {
    /// Zero if the page stands for itself.
    pub how: u8,
    /// The page where it ends.
    pub page: PageNumber,
    /// Whether an archive says that the two are the same.
    pub revisit: bool,
}

/// A content: all pages with one canonical text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContentRow {
    /// The hash of its canonical text.
    pub fingerprint: u128,
    /// Its best page, whose sketch stands for all.
    pub best: PageNumber,
    /// Where that page's version with the sketch is in the log.
    pub at: Place,
    /// The hash of the sketch, and how many words it has.
    pub sketch: u64,
    /// See `sketch`.
    pub size: u32,
    /// How many pages it is, those that stand for them too.
    pub pages: u32,
    /// The order in which its keys were chosen.
    pub generation: u32,
    /// Its home partition.
    pub partition: u16,
    /// The number of its language.
    pub language: u8,
    /// When its keys were entered: larger is later.
    pub born: u64,
    /// Its rank: smaller is better.
    pub rank: Vec<u8>,
    /// Its winner; itself if it stays.
    pub winner: Slot,
    /// Its score with its winner.
    pub score: u32,
    /// Its group.
    pub group: u64,
}

impl PageRow {
    /// The row as bytes.
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

    /// The row that the bytes are; nothing if they are none.
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

/// The number in place of a content where there is none.
const NO_CONTENT: Slot = Slot::MAX;

impl ContentRow {
    /// The row as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.wide(self.fingerprint);
        out.word(self.best);
        out.at(self.at);
        out.long(self.sketch);
        out.word(self.size);
        out.word(self.pages);
        out.word(self.generation);
        out.short(self.partition);
        out.byte(self.language);
        out.long(self.born);
        out.bytes(&self.rank);
        out.word(self.winner);
        out.word(self.score);
        out.long(self.group);
        out.finish()
    }

    /// The row that the bytes are; nothing if they are none.
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
            partition: from.short()?,
            language: from.byte()?,
            born: from.long()?,
            rank: from.bytes()?.to_vec(),
            winner: from.word()?,
            score: from.word()?,
            group: from.long()?,
        };
        from.is_done().then_some(row)
    }
}

/// How far a collection is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heads {
    /// The first record of the log that is not settled: its segment and offset.
    pub settled_to: (u32, u32),
    /// The number of the last change that is settled.
    pub settled: u64,
    /// The number that the next page gets.
    pub next_page: PageNumber,
    /// The last number that was given to a group.
    pub last_group: u64,
    /// The last number that was given to a content when its keys were entered.
    pub born: u64,
    /// The last number of the feed.
    pub feed: u64,
    /// How many orders keys were chosen in.
    pub generations: u32,
    /// Pages by status: that stay, go, are dead, are rejected.
    pub counts: [u64; 4],
}

impl Heads {
    /// The heads as bytes.
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

    /// The heads that the bytes are; nothing if they are none.
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

//! A version of a page in the log: the accepted change, with all that Tier 2 needs to compare it.
//!
//! It is written once on acceptance. Later it is read for its sketch and for the page itself.

use crate::codec::{Reader, Writer};
use crate::rows::LinkRow;

/// The kind of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deed {
    /// Adds or replaces a page.
    #[default]
    Put = 0,
    /// Marks a page as dead.
    Dead = 1,
    /// Deletes a page.
    Delete = 2,
}

/// A version of a page, or its deletion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Version {
    /// The kind of the change. Unless it is `Put`, only the name matters.
    pub deed: Deed,
    /// The number of the change.
    pub accepted: u64,
    /// The page's name as JSON.
    pub name: String,
    /// Its address; empty if it has none.
    pub url: String,
    /// Whether it has no words.
    pub silent: bool,
    /// The hash of its canonical text.
    pub fingerprint: u128,
    /// The hash of its address.
    pub exact: u64,
    /// The hash of its normalised address.
    pub identity: u64,
    /// The number of its language.
    pub language: u8,
    /// One bit for each of its markets.
    pub markets: u16,
    /// Its rank by the winner rules.
    pub rank: Vec<u8>,
    /// The addresses that it refers to.
    pub links: Vec<LinkRow>,
    /// The sketch to compare.
    pub sketch: Vec<u64>,
    /// The original page, compressed; empty if pages are not stored.
    pub page: Vec<u8>,
    /// The bits of its tag; empty if the collection has no tags, or the page no words.
    pub tag: Vec<u8>,
}

impl Version {
    /// Encodes the version. The sketch comes first, since it is read most often. A version without a tag ends with the
    /// page, as all versions did before there were tags.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.byte(self.deed as u8);
        out.word(self.sketch.len() as u32);
        self.sketch.iter().for_each(|&word| out.long(word));
        out.long(self.accepted);
        out.text(&self.name);
        out.text(&self.url);
        out.byte(u8::from(self.silent));
        out.wide(self.fingerprint);
        out.long(self.exact);
        out.long(self.identity);
        out.byte(self.language);
        out.short(self.markets);
        out.bytes(&self.rank);
        out.links(&self.links);
        out.bytes(&self.page);
        if !self.tag.is_empty() {
            out.bytes(&self.tag);
        }
        out.finish()
    }

    /// Decodes a version; `None` if the bytes are invalid.
    pub fn from_bytes(bytes: &[u8]) -> Option<Version> {
        let mut from = Reader::new(bytes);
        let deed = match from.byte()? {
            0 => Deed::Put,
            1 => Deed::Dead,
            2 => Deed::Delete,
            _ => return None,
        };
        let sketch = words(&mut from)?;
        let version = Version {
            deed,
            sketch,
            accepted: from.long()?,
            name: from.text()?,
            url: from.text()?,
            silent: from.byte()? != 0,
            fingerprint: from.wide()?,
            exact: from.long()?,
            identity: from.long()?,
            language: from.byte()?,
            markets: from.short()?,
            rank: from.bytes()?.to_vec(),
            links: from.links()?,
            page: from.bytes()?.to_vec(),
            tag: if from.is_done() { Vec::new() } else { from.bytes()?.to_vec() },
        };
        from.is_done().then_some(version)
    }

    /// Decodes only the name.
    pub fn name_of(bytes: &[u8]) -> Option<String> {
        let mut from = Reader::new(bytes);
        from.byte()?;
        let words = from.word()? as usize;
        from.many(words.checked_mul(8)?)?;
        from.long()?;
        from.text()
    }

    /// Decodes only the sketch.
    pub fn sketch_of(bytes: &[u8]) -> Option<Vec<u64>> {
        let mut from = Reader::new(bytes);
        from.byte()?;
        words(&mut from)
    }
}

fn words(from: &mut Reader) -> Option<Vec<u64>> {
    let count = from.word()? as usize;
    let bytes = from.many(count.checked_mul(8)?)?;
    let (words, _) = bytes.as_chunks::<8>();
    Some(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_come_back_and_cut_ones_do_not() {
        let version = Version {
            deed: Deed::Dead,
            accepted: 1,
            name: "7".into(),
            url: "u".into(),
            silent: true,
            fingerprint: 2,
            exact: 3,
            identity: 4,
            language: 5,
            markets: 6,
            rank: vec![7],
            links: vec![LinkRow { kind: 1, address: 2, identity: 3, to: "t".into() }],
            sketch: vec![u64::MAX, 1],
            page: vec![8, 9],
            tag: Vec::new(),
        };
        let bytes = version.to_bytes();
        assert_eq!(Version::sketch_of(&bytes), Some(vec![u64::MAX, 1]));
        assert_eq!(Version::from_bytes(&bytes), Some(version.clone()));
        for end in 0..bytes.len() {
            assert_eq!(Version::from_bytes(&bytes[..end]), None);
        }
        let tagged = Version { tag: vec![10, 11], ..version };
        let more = tagged.to_bytes();
        assert_eq!(more[..bytes.len()], bytes, "a tag comes last, so versions without one are as before");
        assert_eq!(Version::from_bytes(&more), Some(tagged));
        for end in bytes.len() + 1..more.len() {
            assert_eq!(Version::from_bytes(&more[..end]), None);
        }
        assert_eq!(Version::sketch_of(&[0, 255, 255, 255, 255]), None);
    }
}

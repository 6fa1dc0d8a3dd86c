//! A tag: a page as a Bloom filter of a few hundred bytes, made once and compared later (Jain, Dahlin and Tewari
//! 2005).
//!
//! A tag names its version and its rules, because filters of different rules look comparable and are not. The
//! version stands for all else that decides the bits: which text of a page is taken, its canonical form, the cuts
//! between chunks and the hashes.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::config::{CanonicalRules, ConfigError, Content};
use crate::page::html::html_to_text;
use crate::similarity::filter::FilterRules;
use crate::text::canonical::{Canonical, canonicalise, canonicalise_json};
use crate::text::chunk::chunk_hashes;

/// The version of the tags that this library makes and compares.
pub const TAG_VERSION: u32 = 1;

/// A page as a Bloom filter, with the rules that it was made by. Its text form is
/// `version:chunk:bits:hashes:filter`, with the filter in the URL-safe form of Base64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    rules: FilterRules,
    words: Vec<u64>,
}

/// Why a text or bytes are not a tag that can be compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TagError {
    /// It does not look like a tag.
    #[error("it is not a tag: a tag is written version:chunk:bits:hashes:filter")]
    Form,
    /// Another version of the program made it.
    #[error("the tag has version {version}, and only version {TAG_VERSION} can be compared: make it again")]
    Version {
        /// The version of the tag.
        version: u32,
    },
    /// Its rules cannot be used.
    #[error("the tag has rules that cannot be used: {0}")]
    Rules(ConfigError),
    /// It is cut off or too long.
    #[error("the tag has {bytes} bytes, and its rules say {expected}: it was cut or changed; make it again")]
    Length {
        /// How many bytes there are.
        bytes: usize,
        /// How many its rules say.
        expected: usize,
    },
}

impl Tag {
    /// The tag of plain text, by checked rules.
    pub fn of_text(text: &str, rules: &FilterRules) -> Tag {
        let mut canonical = Canonical::default();
        canonicalise(text, &CanonicalRules::default(), &mut canonical);
        Tag::of_canonical(&canonical, rules)
    }

    /// The tag of plain text given as the inside of a JSON string with its escapes, by checked rules.
    pub fn of_json(raw: &str, rules: &FilterRules) -> Tag {
        let mut canonical = Canonical::default();
        canonicalise_json(raw, &CanonicalRules::default(), &mut canonical);
        Tag::of_canonical(&canonical, rules)
    }

    /// The tag of a text in its canonical form by the default rules, by checked rules.
    pub fn of_canonical(canonical: &Canonical, rules: &FilterRules) -> Tag {
        let mut chunks = Vec::new();
        chunk_hashes(canonical.as_bytes(), rules.chunk, &mut chunks);
        let mut words = vec![0; rules.bits.div_ceil(64)];
        for bit in chunks.iter().flat_map(|&chunk| rules.positions(chunk)) {
            words[bit / 64] |= 1 << (bit % 64);
        }
        Tag { rules: *rules, words }
    }

    /// The tag of an HTML page, by checked rules.
    pub fn of_html(html: &str, rules: &FilterRules) -> Tag {
        let mut text = String::new();
        html_to_text(html, Content::Auto, &mut text);
        Tag::of_text(&text, rules)
    }

    /// A tag from its rules as [`Tag::rules_text`] writes them, and its filter as [`Tag::to_bytes`] does.
    pub fn from_bytes(rules: &str, bytes: &[u8]) -> Result<Tag, TagError> {
        Tag::of_filter(Tag::read_rules(rules)?, bytes)
    }

    /// A tag from checked rules, and its filter as [`Tag::to_bytes`] writes it.
    pub fn of_filter(rules: FilterRules, bytes: &[u8]) -> Result<Tag, TagError> {
        let expected = rules.bits / 8;
        if bytes.len() != expected {
            return Err(TagError::Length { bytes: bytes.len(), expected });
        }
        let words = bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        Ok(Tag { rules, words })
    }

    /// The filter: bit i is bit i % 8 of byte i / 8.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Version and rules: `version:chunk:bits:hashes`.
    pub fn rules_text(&self) -> String {
        Tag::write_rules(&self.rules)
    }

    /// Rules as tags name them, with the version of the tags that this library makes.
    pub fn write_rules(rules: &FilterRules) -> String {
        let FilterRules { chunk, bits, hashes } = rules;
        format!("{TAG_VERSION}:{chunk}:{bits}:{hashes}")
    }

    /// Reads rules as [`Tag::write_rules`] writes them. Refuses those of another version.
    pub fn read_rules(text: &str) -> Result<FilterRules, TagError> {
        let number = |part: &str| part.parse::<u32>().map_err(|_| TagError::Form);
        let version = number(text.split(':').next().unwrap_or_default())?;
        if version != TAG_VERSION {
            return Err(TagError::Version { version });
        }
        let parts: Vec<u32> = text.split(':').map(number).collect::<Result<_, _>>()?;
        let [_, chunk, bits, hashes] = parts[..] else { return Err(TagError::Form) };
        let rules = FilterRules { chunk: chunk as usize, bits: bits as usize, hashes: hashes as usize };
        rules.check().map_err(TagError::Rules)?;
        Ok(rules)
    }

    /// The rules that it was made by.
    pub fn rules(&self) -> &FilterRules {
        &self.rules
    }

    /// Whether the page had no words. Such a page is similar to no other.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}:{}", self.rules_text(), URL_SAFE_NO_PAD.encode(self.to_bytes()))
    }
}

impl FromStr for Tag {
    type Err = TagError;

    fn from_str(text: &str) -> Result<Tag, TagError> {
        let (rules, filter) = text.trim().rsplit_once(':').ok_or(TagError::Form)?;
        // The version decides the form of the rest, so it is judged first.
        let rules = Tag::read_rules(rules)?;
        let bytes = URL_SAFE_NO_PAD.decode(filter).map_err(|_| TagError::Form)?;
        Tag::of_filter(rules, &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_survives_writing_and_reading() {
        let text = (0..900).map(|n| format!("word {} ", n * n)).collect::<String>();
        let tag = Tag::of_text(&text, &FilterRules::default());
        assert_eq!(tag.to_string().parse(), Ok(tag.clone()));
        assert_eq!(Tag::from_bytes(&tag.rules_text(), &tag.to_bytes()), Ok(tag.clone()));
        assert_eq!((tag.to_bytes().len(), tag.to_string().len()), (256, 355));
        assert!(!tag.is_empty() && Tag::of_text(" -- ", &FilterRules::default()).is_empty());
    }

    /// Tags are stored. If this changes, the version must rise.
    #[test]
    fn golden_tag() {
        let rules = FilterRules { bits: 64, ..FilterRules::default() };
        assert_eq!(Tag::of_text("One copy of each page.", &rules).to_string(), GOLDEN);
        assert_eq!(Tag::of_html("<p>One copy of <b>each</b> page", &rules).to_string(), GOLDEN);
    }

    const GOLDEN: &str = "1:256:64:5:ABAAIAQAAAA";

    #[test]
    fn what_is_not_a_tag_is_refused() {
        let good = Tag::of_text("one two three", &FilterRules::default()).to_string();
        let refused = |text: &str| text.parse::<Tag>().unwrap_err().to_string();
        assert!(refused("").contains("not a tag"));
        assert!(refused("1:256:2048:5:!!").contains("not a tag"));
        assert!(refused(&good.replacen("1:", "2:", 1)).contains("version 2"));
        assert!(
            refused("2:sha:whatever").contains("version 2"),
            "a later form is still named by its version"
        );
        assert!(refused(&good.replacen("2048", "2000", 1)).contains("a power of two"));
        assert!(refused(&good.replacen("2048", "4096", 1)).contains("256 bytes, and its rules say 512"));
        assert!(refused(&good[..good.len() - 4]).contains("253 bytes"));
    }
}

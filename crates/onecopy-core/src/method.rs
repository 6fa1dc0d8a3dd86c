//! A method: how pages are sketched, keyed and compared.
//!
//! Each is one file, made from a choice such as `simhash` or `lcs:m=7:n=3`. Engines take any of them and know none of
//! them: what differs between methods is in [`Method`], and what each of its functions must keep is said there.

mod angle;
mod auto;
mod billionths;
mod binomial;
mod bits;
mod bloom;
mod combined;
mod containment;
#[cfg(test)]
mod contract;
mod cosine;
mod jaccard;
mod lcs;
mod links;
mod mix;
mod parameters;
mod projection_c;
mod selection;
mod shingles_b;
mod simhash;
mod tally;

use std::fmt::Debug;
use std::ops::Range;

use crate::candidate::Rarity;
use crate::canonical::Canonical;
use crate::config::{Config, ConfigError, ShingleRules, Unit};
use crate::partition::Lengths;
use crate::sketch::{Sketch, Split};

use parameters::Parameters;
use tally::Tally;

/// How pages are sketched, keyed and compared.
pub trait Method: Debug + Send + Sync {
    /// Pages at least this similar are duplicates. In (0, 1].
    fn threshold(&self) -> f64;

    /// What the similarity is, for people, as in "resemblance of 5-word shingles".
    fn measures(&self) -> String;

    /// What [`Method::sketch`] looks at beside the canonical text.
    fn looks_at(&self) -> LooksAt {
        LooksAt::default()
    }

    /// Appends the sketch of a page to `out`: at least one word for a page with tokens.
    fn sketch(&self, page: &Subject, desk: &mut Desk, out: &mut Vec<u64>);

    /// Whether [`Method::keys`] asks how rare the words of sketches are. If so, a word's leading bits say which one it is,
    /// and a sketch has each once.
    fn asks_rarity(&self) -> bool {
        false
    }

    /// Appends the keys of a sketch to `out`, each once: hashes, of which pages that are alike share one at least. A key
    /// has a number beside it for [`Method::may`]; among keys of one page, it falls in one order of keys for all pages.
    fn keys(&self, sketch: &[u64], rarity: &Rarity, desk: &mut Desk, out: &mut Vec<(u64, u32)>);

    /// Whether two pages that share a key can be alike, if it is the first in the order that they share. Larger numbers
    /// beside the keys never turn a yes into a no.
    fn may(&self, _a: Held, _b: Held) -> bool {
        true
    }

    /// A number beside a key, for pages whose sketch has `size` words: [`Method::may`] denies two pages that both have
    /// less than theirs.
    fn least_rest(&self, _size: u32) -> u32 {
        0
    }

    /// How many words of each class a sketch has, and how much those of an alike page resemble them at least: where in
    /// [`Partitions`](crate::Partitions) alike pages can be. `None` if that cannot be told: they can be anywhere.
    fn lengths(&self, _sketch: &[u64]) -> Option<Lengths> {
        None
    }

    /// Whether [`Method::outline`] draws anything.
    fn has_outlines(&self) -> bool {
        false
    }

    /// Draws the outline of a sketch into words, of which there are some: a summary for [`Method::deny`].
    fn outline(&self, _sketch: &[u64], _desk: &mut Desk, _out: &mut [u64]) {}

    /// Whether two outlines of as many words prove that their pages are not alike.
    fn deny(&self, _a: &[u64], _b: &[u64]) -> bool {
        false
    }

    /// What the similarity of two sketches is made of: the same whichever comes first.
    fn score(&self, a: &[u64], b: &[u64]) -> u32;

    /// The similarity that a score stands for, given the words of both sketches. In [0, 1].
    fn similarity(&self, score: u32, sizes: (usize, usize)) -> f64;

    /// The score of two sketches if they are at least as similar as the threshold. May end early what cannot be.
    fn verify(&self, a: &[u64], b: &[u64]) -> Option<u32> {
        let score = self.score(a, b);
        (self.similarity(score, (a.len(), b.len())) >= self.threshold()).then_some(score)
    }

    /// One minus the similarity, if that is a metric between these two: no way round is shorter than the straight one.
    fn distance(&self, _score: u32, _sizes: (usize, usize)) -> Option<f64> {
        None
    }

    /// How candidates are found.
    fn search(&self) -> Search {
        Search::Keys
    }

    /// The exact method that this one stands in for. `None` if it is exact itself.
    fn stands_for(&self) -> Option<Box<dyn Method>> {
        None
    }

    /// The chance that two of `pages` pages are found, if the method that this one stands for says that they are
    /// `similarity` alike.
    fn chance(&self, _similarity: f64, _pages: u64) -> f64 {
        1.0
    }
}

/// What a method may look at.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The text that is compared.
    pub canonical: &'a Canonical,
    /// The text before it was made canonical. Empty unless [`Method::looks_at`] asks for it.
    pub text: &'a str,
    /// Hashes of the addresses that the page links to, in its order. Empty unless [`Method::looks_at`] asks for them.
    pub links: &'a [u64],
    /// The parts of a page of HTML; `None` for plain text, and unless [`Method::looks_at`] asks for them.
    pub parts: Option<Parts<'a>>,
}

/// A page of HTML, of which main content is told apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parts<'a> {
    /// All of its text.
    pub text: &'a str,
    /// Which parts of the text are main content, in order.
    pub main: &'a [Range<usize>],
}

/// What a method looks at beside the canonical text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LooksAt {
    /// The text before it was made canonical.
    pub text: bool,
    /// The addresses that the page links to.
    pub links: bool,
    /// All text of a page of HTML, and which of it is main content.
    pub parts: bool,
}

/// A page that holds a key.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// The words in its sketch.
    pub size: u32,
    /// The number beside the key.
    pub rest: u32,
}

/// How candidates are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// Pages that share a key.
    Keys,
    /// Pages of one set. Pages that share a key are in one set, and sets that share a page are one, unless it would have
    /// more than `limit` pages.
    Sets {
        /// The most pages of a set.
        limit: u32,
    },
    /// Pages whose sketches, a word each, differ in at most `most` bits, of those at most `window` places apart when the
    /// sketches are sorted, rotated by every multiple of `step` bits.
    Neighbours {
        /// Bits in which two sketches may differ.
        most: u32,
        /// Bits between two rotations.
        step: u32,
        /// Places that are looked at behind each page.
        window: u32,
    },
}

/// What a thread keeps between pages, so that buffers are made once.
#[derive(Clone, Debug, Default)]
pub struct Desk {
    pub(crate) sketch: Sketch,
    pub(crate) split: Split,
    pub(crate) counts: Vec<u8>,
    /// Room for whatever a method hashes.
    pub(crate) words: Vec<u64>,
    pub(crate) tally: Tally,
    /// Room for a part of a page.
    pub(crate) part: Canonical,
}

/// A method's name, what it is, and how it is made.
pub struct MethodEntry {
    /// The name by which it is chosen.
    pub name: &'static str,
    /// A line for people.
    pub about: &'static str,
    make: Make,
}

/// Takes its parameters, and says what is wrong with them.
type Make = fn(&mut Parameters, &Config) -> Result<Box<dyn Method>, ConfigError>;

/// All methods, the default first.
pub const METHODS: &[MethodEntry] = &[
    MethodEntry { name: "auto", about: auto::ABOUT, make: auto::make },
    MethodEntry { name: "jaccard", about: jaccard::ABOUT, make: jaccard::make },
    MethodEntry { name: "containment", about: containment::ABOUT, make: containment::make },
    MethodEntry { name: "cosine", about: cosine::ABOUT, make: cosine::make },
    MethodEntry { name: "shingles-b", about: shingles_b::ABOUT, make: shingles_b::make },
    MethodEntry { name: "projection-c", about: projection_c::ABOUT, make: projection_c::make },
    MethodEntry { name: "combined", about: combined::ABOUT, make: combined::make },
    MethodEntry { name: "simhash", about: simhash::ABOUT, make: simhash::make },
    MethodEntry { name: "lcs", about: lcs::ABOUT, make: lcs::make },
    MethodEntry { name: "bloom", about: bloom::ABOUT, make: bloom::make },
    MethodEntry { name: "links", about: links::ABOUT, make: links::make },
    MethodEntry { name: "mix", about: mix::ABOUT, make: mix::make },
];

/// Makes the method that `config` chooses, or says what is wrong with the choice.
pub fn method(config: &Config) -> Result<Box<dyn Method>, ConfigError> {
    Ok(made(config)?.0)
}

/// A method's parameters and their usual values, in the order in which the method asks for them.
pub fn usual_parameters(name: &str) -> Vec<(&'static str, String)> {
    let config = Config { method: name.into(), ..Config::default() };
    made(&config).map_or_else(|_| Vec::new(), |(_, parameters)| parameters)
}

/// A method, and the parameters that it could have been given with their usual values.
type Made = (Box<dyn Method>, Vec<(&'static str, String)>);

fn made(config: &Config) -> Result<Made, ConfigError> {
    let mut parameters = Parameters::parse(&config.method)?;
    let Some(entry) = METHODS.iter().find(|entry| entry.name == parameters.name()) else {
        let known = METHODS.iter().map(|entry| entry.name).collect();
        return Err(ConfigError::UnknownMethod { name: parameters.name().into(), known });
    };
    let method = (entry.make)(&mut parameters, config)?;
    Ok((method, parameters.finish()?))
}

/// Shingles, for people.
fn shingles_called(rules: &ShingleRules) -> String {
    let unit = match rules.unit {
        Unit::Words => "word",
        Unit::Chars => "character",
    };
    format!("{}-{unit} shingles", rules.length)
}

#[cfg(test)]
mod tests;

//! A method: how pages are sketched, keyed and compared.
//!
//! Each method is one file, made from a choice such as `simhash` or `lcs:m=7:n=3`. Engines run any method and know
//! none of them. All differences between methods are behind [`Method`], which states the contract of each function.

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
mod glossary;
mod hint;
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

use crate::config::{Config, ConfigError, ShingleRules, Unit};
use crate::decide::candidate::Rarity;
use crate::similarity::elsewhere::Elsewhere;
use crate::similarity::outline::Leeway;
use crate::similarity::sketch::{Sketch, Split};
use crate::text::canonical::Canonical;

pub(crate) use bloom::filter_rules;
pub use glossary::{ParameterEntry, parameter_entries};
pub use hint::{MethodHint, method_hint};
use parameters::Parameters;
use tally::Tally;

/// Receives keys, each with the number beside it.
pub type KeySink<'a> = dyn FnMut(&[(u64, u32)]) + 'a;

/// How pages are sketched, keyed and compared.
pub trait Method: Debug + Send + Sync {
    /// Pages at least this similar are duplicates. In (0, 1].
    fn threshold(&self) -> f64;

    /// The similarity in words, as in "resemblance of 5-word shingles".
    fn measures(&self) -> String;

    /// The inputs of [`Method::sketch`] besides the canonical text.
    fn looks_at(&self) -> LooksAt {
        LooksAt::default()
    }

    /// Appends the sketch of a page to `out`: at least one word for a page with tokens.
    fn sketch(&self, page: &Subject, scratch: &mut Scratch, out: &mut Vec<u64>);

    /// Whether [`Method::keys`] needs to know how rare the words of sketches are. If so, the leading bits of a word
    /// identify it, and a sketch has each word once.
    fn asks_rarity(&self) -> bool {
        false
    }

    /// Appends the keys of a sketch to `out`, each once. Keys are hashes, and similar pages share at least one.
    /// Beside each key is a number for [`Method::may`]. Over the keys of a page this number falls in one order that
    /// all pages share.
    fn keys(&self, sketch: &[u64], rarity: &Rarity, scratch: &mut Scratch, out: &mut Vec<(u64, u32)>);

    /// As [`Method::keys`], but calls `each` with some of the keys at a time. A large page may have more keys than fit in
    /// memory.
    fn keys_in_pieces(&self, sketch: &[u64], rarity: &Rarity, scratch: &mut Scratch, each: &mut KeySink) {
        let mut keys = std::mem::take(&mut scratch.keys);
        keys.clear();
        self.keys(sketch, rarity, scratch, &mut keys);
        each(&keys);
        scratch.keys = keys;
    }

    /// Whether two pages can be alike, given the first key in the order that they share. Larger numbers beside the
    /// keys never turn a yes into a no.
    fn may(&self, _a: Held, _b: Held) -> bool {
        true
    }

    /// A number beside a key, for pages whose sketch has `size` words. [`Method::may`] denies two pages if the
    /// number of each is below its own.
    fn least_rest(&self, _size: u32) -> u32 {
        0
    }

    /// A run over more pages is refused: the method compares most pages with most others.
    fn most_pages(&self) -> usize {
        usize::MAX
    }

    /// Whether [`Method::outline`] writes anything.
    fn has_outlines(&self) -> bool {
        false
    }

    /// Writes the outline of a sketch, a summary for [`Method::deny`], into the given words.
    fn outline(&self, _sketch: &[u64], _scratch: &mut Scratch, _out: &mut [u64]) {}

    /// The shingles of a sketch that [`Method::outline`] draws. `scratch` may hold them.
    fn outlined<'a>(&self, sketch: &'a [u64], _scratch: &'a mut Scratch) -> &'a [u64] {
        sketch
    }

    /// Whether two outlines of the same length prove that their pages are not alike.
    fn deny(&self, _a: &[u64], _b: &[u64]) -> bool {
        false
    }

    /// In how many bits outlines of alike pages may differ: at most in the sum of both slacks. `None` if outlines do not
    /// bound that.
    fn slack(&self, _outline: &[u64]) -> Option<u32> {
        None
    }

    /// Adds the shingles of a sketch that are not main content to `elsewhere`.
    fn note_rest(&self, _sketch: &[u64], _elsewhere: &Elsewhere) {}

    /// As [`Method::slack`], with more bounds for those who know the shingles that are not main content on any of the
    /// pages.
    fn leeway(&self, outline: &[u64], _sketch: &[u64], _elsewhere: &Elsewhere) -> Option<Leeway> {
        self.slack(outline).map(|slack| Leeway { slacks: [slack; 2], kin: slack })
    }

    /// Whether a page has the template of a model. Two pages that have it are kin: see [`Leeway`].
    fn has_template(&self, _sketch: &[u64], _model: &[u64]) -> bool {
        false
    }

    /// The score that the similarity of two sketches follows from. It does not depend on their order.
    fn score(&self, a: &[u64], b: &[u64]) -> u32;

    /// The similarity that a score stands for, given the sizes of both sketches in words. In [0, 1].
    fn similarity(&self, score: u32, sizes: (usize, usize)) -> f64;

    /// The score of two sketches if they are at least as similar as the threshold. It may stop early if they cannot
    /// be.
    fn verify(&self, a: &[u64], b: &[u64]) -> Option<u32> {
        let score = self.score(a, b);
        (self.similarity(score, (a.len(), b.len())) >= self.threshold()).then_some(score)
    }

    /// The share of the first page that the second contains, and the other way round. `None` if sketches do not say.
    fn containment(&self, _a: &[u64], _b: &[u64]) -> Option<(f64, f64)> {
        None
    }

    /// The evidence for the similarity of two pages besides the shares of both, in a sentence. `None` if nothing else
    /// counts.
    fn evidence(&self, _a: &[u64], _b: &[u64]) -> Option<String> {
        None
    }

    /// One minus the similarity, if that is a metric for these two, so that the triangle inequality holds.
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

    /// The chance that two of `pages` pages are found if the method that this one stands for gives them this
    /// `similarity`.
    fn chance(&self, _similarity: f64, _pages: u64) -> f64 {
        1.0
    }
}

/// The input of a method.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The text that is compared.
    pub canonical: &'a Canonical,
    /// The text before canonicalisation. Empty unless [`Method::looks_at`] asks for it.
    pub text: &'a str,
    /// Hashes of the addresses that the page links to, in page order. Empty unless [`Method::looks_at`] asks for
    /// them.
    pub links: &'a [u64],
    /// The parts of an HTML page. `None` for plain text, and unless [`Method::looks_at`] asks for them.
    pub parts: Option<Parts<'a>>,
}

/// An HTML page whose main content is separated from the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parts<'a> {
    /// All of its text.
    pub text: &'a str,
    /// Which ranges of the text are main content, in order.
    pub main: &'a [Range<usize>],
    /// The title in the head of the page; may be empty.
    pub title: &'a str,
}

/// The inputs of a method besides the canonical text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LooksAt {
    /// The text before canonicalisation.
    pub text: bool,
    /// The addresses that the page links to.
    pub links: bool,
    /// All text of an HTML page, and which of it is main content.
    pub parts: bool,
}

/// A page that holds a key.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// How many words its sketch has.
    pub size: u32,
    /// The number beside the key.
    pub rest: u32,
}

/// How candidates are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// Pages that share a key.
    Keys,
    /// Pages in the same set. Pages that share a key are in one set, and sets that share a page are merged. A merge
    /// that would exceed `limit` pages does not happen.
    Sets {
        /// The most pages of a set.
        limit: u32,
    },
    /// Pages whose one-word sketches differ in at most `most` bits. The sketches are rotated by every multiple of
    /// `step` bits and sorted, and each page is compared with those at most `window` places away.
    Neighbours {
        /// How many bits of two sketches may differ.
        most: u32,
        /// Bits between two rotations.
        step: u32,
        /// How many places after each page are looked at.
        window: u32,
    },
}

/// Buffers that a thread reuses between pages.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(crate) sketch: Sketch,
    pub(crate) split: Split,
    pub(crate) counts: Vec<u8>,
    /// Room for some keys of a page.
    pub(crate) keys: Vec<(u64, u32)>,
    /// Room for the hashes of a method.
    pub(crate) words: Vec<u64>,
    pub(crate) tally: Tally,
    /// Room for a part of a page.
    pub(crate) part: Canonical,
}

/// A method: its name, its description, and how to make it.
pub struct MethodEntry {
    /// The name to choose it by.
    pub name: &'static str,
    /// A one-line description.
    pub about: &'static str,
    make: Make,
}

/// Makes a method from its parameters, or refuses them.
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

/// A method's parameters and their default values, in the order in which the method reads them.
pub fn usual_parameters(name: &str) -> Vec<(&'static str, String)> {
    let config = Config { method: name.into(), ..Config::default() };
    made(&config).map_or_else(|_| Vec::new(), |(_, parameters)| parameters)
}

/// A method, and all its parameters with their default values.
type Made = (Box<dyn Method>, Vec<(&'static str, String)>);

fn made(config: &Config) -> Result<Made, ConfigError> {
    let mut parameters = Parameters::parse(&config.method)?;
    let Some(entry) = METHODS.iter().find(|entry| entry.name == parameters.name()) else {
        let known = METHODS.iter().map(|entry| entry.name).collect();
        let hint = method_hint(parameters.name()).map(|hint| hint.says);
        return Err(ConfigError::UnknownMethod { name: parameters.name().into(), known, hint });
    };
    let method = (entry.make)(&mut parameters, config)?;
    Ok((method, parameters.finish()?))
}

/// A description of shingles.
fn shingles_called(rules: &ShingleRules) -> String {
    let unit = match rules.unit {
        Unit::Words => "word",
        Unit::Chars => "character",
    };
    format!("{}-{unit} shingles", rules.length)
}

#[cfg(test)]
mod tests;

//! Every threshold, limit and default of the answer, once.
//!
//! Help texts, documents and tests read them from here. What only changes speed (threads, memory) belongs
//! to the engine, not here: nothing in this file may be ignored by any engine.

use serde::{Deserialize, Serialize};

/// What counts as a duplicate and which copy is kept. Two runs with the same `Config` over the same pages
/// give the same answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// Pages at least this similar are duplicates. Higher: fewer pages removed. In (0, 1].
    pub threshold: f64,
    /// How a page's text becomes the text that is compared.
    pub canonical: CanonicalRules,
    /// How the compared text is cut into shingles.
    pub shingles: ShingleRules,
    /// Which of two duplicates is kept, most important rule first. A tie goes to the smaller name.
    pub winner: Vec<WinnerRule>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            threshold: 0.8,
            canonical: CanonicalRules::default(),
            shingles: ShingleRules::default(),
            winner: vec![
                WinnerRule::Popularity,
                WinnerRule::Static,
                WinnerRule::ShortUrl,
                WinnerRule::Older,
                WinnerRule::Longer,
            ],
        }
    }
}

impl Config {
    /// Says what is wrong with the configuration and how to mend it, before any page is read.
    pub fn check(&self) -> Result<(), String> {
        if !(self.threshold > 0.0 && self.threshold <= 1.0) {
            return Err(format!(
                "threshold {} is out of range: give a value above 0 and up to 1, such as 0.8",
                self.threshold
            ));
        }
        if self.shingles.length == 0 || self.shingles.length > SHINGLE_LENGTH_LIMIT {
            return Err(format!(
                "a shingle of {} tokens makes no sense: give a length from 1 to {SHINGLE_LENGTH_LIMIT}, such as 5",
                self.shingles.length
            ));
        }
        Ok(())
    }
}

/// The longest shingle that is accepted, in tokens.
pub const SHINGLE_LENGTH_LIMIT: usize = 64;

/// The choices of canonical form. The defaults compare words only: case, punctuation and white space
/// make no difference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CanonicalRules {
    /// Whether `Word` and `word` are the same.
    pub case: Case,
    /// Whether punctuation marks count as tokens.
    pub punctuation: Punctuation,
    /// Whether bullets and numbering such as `a.1` at the start of a line stay.
    pub numbering: Numbering,
    /// Words that are left out, given in the case that [`CanonicalRules::case`] leaves them in.
    pub stop_words: Vec<String>,
}

/// Which text of an HTML page is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// All text that a reader sees, menus and footers too. Pages that share a template look more alike.
    All,
    /// The main content only: without templates, navigation and advertisements.
    Main,
    /// The main content, or all text where too little main content is found, as in short pages and lists.
    #[default]
    Auto,
}

/// Whether letter case matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Case {
    /// All text is lower-cased.
    #[default]
    Fold,
    /// Text is compared as written.
    Keep,
}

/// Whether punctuation matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Punctuation {
    /// Punctuation separates words and is gone.
    #[default]
    Drop,
    /// Each mark is a token. Dashes, quotes and colons are still only separators.
    Keep,
}

/// Whether numbering at the start of a line matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Numbering {
    /// Numbering is text like any other.
    #[default]
    Keep,
    /// Numbering is removed.
    Drop,
}

/// How shingles are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShingleRules {
    /// What a token is.
    pub unit: Unit,
    /// Tokens in a shingle. Higher: edits cost more similarity, so fewer pages are removed.
    pub length: usize,
    /// Whether a shingle that occurs twice in a page counts twice.
    pub replicas: Replicas,
}

impl Default for ShingleRules {
    fn default() -> ShingleRules {
        ShingleRules { unit: Unit::Words, length: 5, replicas: Replicas::Ignore }
    }
}

/// What a token is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A run of letters, digits and underscores.
    #[default]
    Words,
    /// A character of the canonical text, the space between words included.
    Chars,
}

/// Whether repetitions inside a page count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replicas {
    /// A page is a set of shingles.
    #[default]
    Ignore,
    /// A page is a multiset of shingles.
    Count,
}

/// One rule that prefers a page to another. A page that lacks what the rule looks at comes last in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WinnerRule {
    /// The more popular page: PageRank, clicks, or any number that grows with worth.
    Popularity,
    /// A URL without a query before one with.
    Static,
    /// The shorter URL.
    ShortUrl,
    /// The page that was fetched or dated earlier.
    Older,
    /// The page that was fetched or dated later.
    Newer,
    /// The longer canonical text.
    Longer,
}

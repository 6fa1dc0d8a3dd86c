//! Every threshold, limit and default of the answer, once.
//!
//! Help texts, documents and tests read them from here. Settings that only change speed, such as threads and memory,
//! belong to the engine. No engine may ignore anything in this file.

mod error;

use serde::{Deserialize, Serialize};

use crate::page::address::AddressRules;
use crate::similarity::method::{METHODS, method, usual_parameters};

pub use error::ConfigError;

/// Decides which pages are duplicates and which copy is kept. Two runs with the same `Config` over the same pages
/// give the same answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// How pages are compared: a method's name, and those of its parameters that differ from the default, as in
    /// `simhash:distance=4`.
    pub method: String,
    /// Pages at least this similar are duplicates. Higher: fewer pages removed. In (0, 1]; by default the method's
    /// own.
    pub threshold: Option<f64>,
    /// Which text of an HTML page is compared.
    pub content: Content,
    /// How a page's text becomes the text that is compared.
    pub canonical: CanonicalRules,
    /// How the compared text is cut into shingles.
    pub shingles: ShingleRules,
    /// Which of two duplicates is kept, most important rule first. A tie goes to the smaller name.
    pub winner: Vec<WinnerRule>,
    /// Markets whose pages are preferred, before any rule. Each is the end of its host names, such as `uk`, `gov.uk`
    /// or `com`. The first decides what is kept; each has its own list of winners.
    pub markets: Vec<String>,
    /// Which addresses name the same page.
    pub addresses: AddressRules,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            method: METHODS[0].name.into(),
            threshold: None,
            content: Content::default(),
            canonical: CanonicalRules::default(),
            shingles: ShingleRules::default(),
            winner: vec![
                WinnerRule::Popularity,
                WinnerRule::Static,
                WinnerRule::ShortUrl,
                WinnerRule::Older,
                WinnerRule::Longer,
            ],
            markets: Vec::new(),
            addresses: AddressRules::default(),
        }
    }
}

impl Config {
    /// Refuses a configuration that cannot be used, before any page is read.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.shingles.length == 0 || self.shingles.length > SHINGLE_LENGTH_LIMIT {
            return Err(ConfigError::ShingleLength { length: self.shingles.length });
        }
        let is_suffix = |market: &String| {
            let label =
                |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
            market.strip_prefix('.').unwrap_or(market).split('.').all(label)
        };
        if let Some(market) = self.markets.iter().find(|market| !is_suffix(market)) {
            return Err(ConfigError::Market { market: market.clone() });
        }
        if self.markets.len() > MARKETS_LIMIT {
            return Err(ConfigError::Markets { count: self.markets.len() });
        }
        method(self)?;
        self.check_shingles_are_used()
    }
}

impl Config {
    /// Refuses a shingle length that the method would ignore.
    fn check_shingles_are_used(&self) -> Result<(), ConfigError> {
        let (name, length) = (self.method.split(':').next().unwrap_or_default(), self.shingles.length);
        let is_used = ["auto", "jaccard", "containment"].contains(&name);
        if is_used || length == ShingleRules::default().length {
            return Ok(());
        }
        let has_own = usual_parameters(name).iter().any(|(parameter, _)| *parameter == "k");
        Err(ConfigError::UnusedShingleLength { method: name.into(), length, has_own })
    }
}

/// The most markets of a run. Every page stores one bit per market.
pub const MARKETS_LIMIT: usize = 16;
/// The longest accepted shingle, in tokens.
pub const SHINGLE_LENGTH_LIMIT: usize = 64;
/// How search results are compared if nothing else is chosen: the method with the best F1 on labelled results.
pub const REFINE_METHOD: &str = "auto";
/// How the tags of search results are compared if nothing else is chosen. Its 70 %, the authors' choice, is also the best
/// threshold on labelled results.
pub const TAG_METHOD: &str = "bloom";
/// A page is contained in another that has at least this share of it. Higher: fewer pages are called contained.
pub const CONTAINED: f64 = 0.9;
/// How many words before and after a word of the query belong to its passage. Higher: the rest of the page counts
/// more.
pub const PASSAGE_WORDS: usize = 20;

/// Decides which hosts are mirrors, and how much of the evidence is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MirrorRules {
    /// Mirrors have at least this many paths with the same content. Higher: fewer mirrors.
    pub least_paths: u32,
    /// Mirrors have at least this score. Higher: fewer mirrors. In [0, 1].
    pub score: f64,
    /// How many paths of each kind are shown: matched, mismatched, only left, only right.
    pub examples: usize,
}

impl Default for MirrorRules {
    fn default() -> MirrorRules {
        MirrorRules { least_paths: 5, score: 0.5, examples: 3 }
    }
}

impl MirrorRules {
    /// Refuses rules that cannot be used.
    pub fn check(&self) -> Result<(), ConfigError> {
        if !(0.0..=1.0).contains(&self.score) {
            return Err(ConfigError::MirrorScore { score: self.score });
        }
        if self.least_paths == 0 {
            return Err(ConfigError::MirrorPaths);
        }
        Ok(())
    }
}

/// Decides the scores of pages by their links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PageRankRules {
    /// The chance that a reader starts over instead of following a link. Higher: links count less. In (0, 1).
    pub reset: f64,
    /// Iterations end once all scores together change by less. The error is then at most (1 − reset) / reset times as
    /// much. Lower: more exact.
    pub tolerance: f64,
    /// The most iterations.
    pub iterations: u32,
}

impl Default for PageRankRules {
    /// A reset of 1/8 (Henzinger 2007), and an error of at most 7e-10.
    fn default() -> PageRankRules {
        PageRankRules { reset: 0.125, tolerance: 1e-10, iterations: 300 }
    }
}

impl PageRankRules {
    /// Refuses rules that cannot be used.
    pub fn check(&self) -> Result<(), ConfigError> {
        if !(self.reset > 0.0 && self.reset < 1.0) {
            return Err(ConfigError::Reset { reset: self.reset });
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return Err(ConfigError::Tolerance { tolerance: self.tolerance });
        }
        if self.iterations == 0 {
            return Err(ConfigError::Iterations);
        }
        Ok(())
    }
}

/// The rules of canonical form. By default only words are compared: case, punctuation and white space make no
/// difference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CanonicalRules {
    /// Whether `Word` and `word` are the same.
    pub case: Case,
    /// Whether punctuation marks count as tokens.
    pub punctuation: Punctuation,
    /// Whether bullets and numbering such as `a.1` at the start of a line stay.
    pub numbering: Numbering,
    /// How words are found in scripts without spaces between words.
    pub words: Words,
    /// Words that are left out, given in the case that [`CanonicalRules::case`] leaves them in.
    pub stop_words: Vec<String>,
}

/// Which text of an HTML page is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// All text that a reader sees, including menus and footers. Pages that share a template look more alike.
    All,
    /// The main content only: without templates, navigation and advertisements.
    Main,
    /// The main content, or all text if too little main content is found, as in short pages and lists.
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
    /// Punctuation separates words and is dropped.
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

/// How words are found in scripts without spaces: Chinese, Japanese, Thai, Lao, Khmer, Burmese. Other text is
/// unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Words {
    /// A run of letters, digits and underscores, as in other scripts: the text between two marks.
    Runs,
    /// A dictionary cuts runs into words. Marks such as vowel signs belong to the word around them.
    Segmented,
    /// Segmented on HTML pages that are compared by main content, and on texts of a few runs. In other text, runs of Chinese
    /// and Japanese are cut only if they are very long, and runs of the other scripts if they are longer than a name.
    #[default]
    Auto,
}

/// How shingles are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShingleRules {
    /// The definition of a token.
    pub unit: Unit,
    /// How many tokens a shingle has. Higher: edits cost more similarity, so fewer pages are removed.
    pub length: usize,
    /// Whether a shingle that occurs twice in a page counts twice.
    pub replicas: Replicas,
}

impl Default for ShingleRules {
    fn default() -> ShingleRules {
        ShingleRules { unit: Unit::Words, length: 5, replicas: Replicas::Ignore }
    }
}

/// The definition of a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A run of letters, digits and underscores.
    #[default]
    Words,
    /// A character of the canonical text, including the spaces between words.
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

/// A rule that prefers one page to another. A page that lacks the property comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WinnerRule {
    /// The more popular page: by PageRank, clicks, or any number that grows with value.
    Popularity,
    /// A URL without a query before one with a query.
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

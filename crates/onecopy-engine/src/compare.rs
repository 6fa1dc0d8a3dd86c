//! Compares two pages: every similarity measure, and which passages match.
//!
//! This module decides nothing, and estimates only what a method itself estimates. It reads, prepares and compares two
//! pages directly, whether or not a run would find the pair.

mod align;
mod measure;
mod passage;
mod reading;
mod shortest;
mod words;

use std::path::PathBuf;

use onecopy_core::{
    Canonical, Config, Content, LooksAt, METHODS, Method, Scratch, Sketch, Subject, Unit, canonicalise,
    language, method, overlap, sketch, token_hashes,
};
use serde::Serialize;

use crate::compared_text::{ComparedText, TextFacts};
use crate::environment::Environment;
use crate::error::Result;
use crate::job::Limits;
use crate::run::Run;
use onecopy_core::{Needs, TextParts};

pub use measure::{Measure, MeasureKind};
pub use passage::{Passage, PassageKind, Stretch};

use measure::{Pair, measures};
use passage::passages;
use reading::{Reading, read};
use words::Words;

/// The pages to compare, and the settings.
#[derive(Clone, Debug, Default)]
pub struct Comparing {
    /// A file, `-` for standard input, or the name of a page of the run.
    pub a: String,
    /// The other page, given in the same way.
    pub b: String,
    /// The output folder of a finished run. Its configuration is used in place of `config`.
    pub run: Option<PathBuf>,
    /// How to tokenize and compare the text. Its method is ignored.
    pub config: Config,
    /// Which text of HTML to compare; `None` uses the configuration.
    pub content: Option<Content>,
    /// The methods, as in [`Config::method`]. If empty, all methods are used, and the run's own method with the run's
    /// settings.
    pub methods: Vec<String>,
    /// The limits on input.
    pub limits: Limits,
    /// As in [`Job::environment`](crate::Job::environment).
    pub environment: Environment,
}

/// The result of comparing two pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The first page.
    pub a: Compared,
    /// The second page.
    pub b: Compared,
    /// Whether their compared texts are equal. Every method then counts them as duplicates.
    pub exact: bool,
    /// Whether all their text is equal too: menus and footers of HTML pages need not be compared.
    pub whole_equal: bool,
    /// The number of shared shingles.
    pub shared: usize,
    /// Tokens per shingle.
    pub shingle: usize,
    /// The verdict of each method.
    pub methods: Vec<Verdict>,
    /// Similarity measures that are not methods.
    pub measures: Vec<Measure>,
    /// The passages of both pages and of one only, in order. The passages of one side add up to its text.
    pub passages: Vec<Passage>,
}

/// Facts about one of the two pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// Its name as it was given.
    pub name: String,
    /// Which of its text was compared.
    pub text: ComparedText,
    /// Its language as an ISO 639-1 code, if detected.
    pub language: Option<&'static str>,
    /// Its number of words, as the passages count them.
    pub words: usize,
    /// Its number of tokens in canonical form.
    pub tokens: usize,
    /// Its number of shingles.
    pub shingles: usize,
}

/// The verdict of one method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// The method as it was chosen.
    pub method: String,
    /// The similarity of the pages.
    pub similarity: f64,
    /// The least similarity of duplicates.
    pub threshold: f64,
    /// Whether they are duplicates.
    pub alike: bool,
    /// The evidence for the similarity, in words, if the method has any.
    pub evidence: Option<String>,
    /// A one-line description.
    pub about: &'static str,
}

/// Compares two pages.
pub fn compare(job: &Comparing) -> Result<Comparison> {
    job.limits.check()?;
    let run = job.run.as_deref().map(Run::current).transpose()?;
    let config = run.as_ref().map_or(&job.config, |run| &run.config);
    let methods = methods(job, config, run.is_some())?;
    let content = job.content.unwrap_or(config.content);
    let (parts, links) = (content == Content::Auto, Some(config.addresses.clone()));
    let wanted = Needs { content, parts, links, whole: true };
    let [a, b] = read(job, run.as_ref(), &wanted)?;
    let (a, b) = (Prepared::new(a, config), Prepared::new(b, config));
    let exact = a.canonical.as_bytes() == b.canonical.as_bytes();
    let pair = Pair { a: &a, b: &b, shared: overlap(a.shingles.shingles(), b.shingles.shingles()) };
    let (words_a, words_b) =
        (Words::new(&a.reading.text, &config.canonical), Words::new(&b.reading.text, &config.canonical));
    Ok(Comparison {
        exact,
        whole_equal: exact && a.facts.all == b.facts.all,
        shared: pair.shared,
        shingle: config.shingles.length,
        methods: methods.into_iter().map(|chosen| chosen.verdict(&pair, exact)).collect(),
        measures: measures(&pair),
        passages: passages(&words_a, &words_b),
        a: a.compared(&job.a, &words_a),
        b: b.compared(&job.b, &words_b),
    })
}

/// A selected method.
struct Chosen {
    name: String,
    about: &'static str,
    method: Box<dyn Method>,
}

/// Creates the requested methods, or says what is wrong with one of them.
fn methods(job: &Comparing, config: &Config, is_run: bool) -> Result<Vec<Chosen>> {
    config.check()?;
    let entry = |choice: &str| choice.split(':').next().unwrap_or_default().to_owned();
    let choices = match job.methods.as_slice() {
        [] => METHODS.iter().map(|entry| entry.name.to_owned()).collect(),
        given => given.to_vec(),
    };
    let chosen = |choice: String| {
        // The run's own method uses the run's own parameters.
        let same = is_run && job.methods.is_empty() && entry(&config.method) == choice;
        let (name, threshold) = if same { (config.method.clone(), config.threshold) } else { (choice, None) };
        let about = METHODS.iter().find(|known| known.name == entry(&name)).map_or("", |known| known.about);
        let config = Config { method: name.clone(), threshold, ..config.clone() };
        Ok(Chosen { name, about, method: method(&config)? })
    };
    choices.into_iter().map(chosen).collect()
}

impl Chosen {
    fn verdict(self, pair: &Pair, exact: bool) -> Verdict {
        let sketches = [pair.a, pair.b].map(|page| page.sketch(&*self.method));
        let similarity = match &sketches {
            _ if exact => 1.0,
            // A page without words matches only pages with equal text.
            [a, b] if a.is_empty() || b.is_empty() => 0.0,
            [a, b] => self.method.similarity(self.method.score(a, b), (a.len(), b.len())),
        };
        let threshold = self.method.threshold();
        let evidence = self.method.evidence(&sketches[0], &sketches[1]).filter(|_| !exact);
        let Chosen { name, about, .. } = self;
        Verdict { method: name, similarity, threshold, alike: similarity >= threshold, evidence, about }
    }
}

/// A page ready to be compared.
pub(crate) struct Prepared {
    reading: Reading,
    canonical: Canonical,
    shingles: Sketch,
    facts: TextFacts,
}

impl Prepared {
    fn new(reading: Reading, config: &Config) -> Prepared {
        let (mut canonical, mut shingles) = (Canonical::default(), Sketch::default());
        canonicalise(&reading.text, &config.canonical, &mut canonical);
        sketch(&canonical, &config.shingles, &mut shingles);
        let facts = TextFacts::of(reading.whole.as_ref(), &canonical, &config.canonical);
        Prepared { reading, canonical, shingles, facts }
    }

    /// How many shingles it has.
    fn size(&self) -> usize {
        self.shingles.shingles().len()
    }

    /// The hashes of its words, in order.
    fn words(&self) -> Vec<u64> {
        let mut words = Vec::new();
        token_hashes(&self.canonical, Unit::Words, &mut words);
        words
    }

    fn sketch(&self, method: &dyn Method) -> Vec<u64> {
        let LooksAt { text, links, parts } = method.looks_at();
        let subject = Subject {
            canonical: &self.canonical,
            text: if text { &self.reading.text } else { "" },
            links: if links { &self.reading.links } else { &[] },
            parts: self.reading.parts.as_ref().filter(|_| parts).map(TextParts::parts),
        };
        let mut out = Vec::new();
        method.sketch(&subject, &mut Scratch::default(), &mut out);
        out
    }

    fn compared(&self, name: &str, words: &Words) -> Compared {
        Compared {
            name: name.to_owned(),
            text: self.facts.compared,
            language: language(&self.canonical).map(|language| language.code()),
            words: words.len(),
            tokens: self.canonical.token_count(),
            shingles: self.size(),
        }
    }
}

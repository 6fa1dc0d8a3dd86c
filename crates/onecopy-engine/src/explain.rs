//! Explains why a page of a finished run stayed or went, and why two pages were or were not joined.
//!
//! It uses no index. It reads the pages again from the inputs and compares them again, so the explanation independently
//! checks the run.

mod page;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::Path;

use onecopy_core::{
    Canonical, Config, Method, Needs, Record, Scratch, Sketch, Subject, TextParts, containment, overlap,
    sketch, unshared,
};
use serde::Serialize;

use crate::compared_text::TextFacts;
use crate::environment::Environment;
use crate::error::Result;
use crate::listed::{GroupMember, ListedPage, PageKey, each_removed, group, judged, unknown};
use crate::reread::{FinishedRun, reread};
use crate::run::Run;

pub use page::{GroupFacts, PageExplanation, RelatedPage, explain_page};

/// Larger groups are not searched for a chain.
const CHAIN_PAGES: usize = 2_000;

/// The explanation for two pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The first page.
    pub a: PageFacts,
    /// The second page.
    pub b: PageFacts,
    /// The method of the run.
    pub method: String,
    /// The similarity of the pages.
    pub similarity: f64,
    /// The least similarity of duplicates.
    pub threshold: f64,
    /// Whether they are duplicates of each other.
    pub alike: bool,
    /// Whether their compared texts are equal.
    pub exact: bool,
    /// Whether all their text is equal too: menus and footers of HTML pages need not be compared.
    pub whole_equal: bool,
    /// The number of shared shingles.
    pub shared: usize,
    /// Tokens per shingle.
    pub shingle: usize,
    /// The evidence for the similarity, in words, if the method has any.
    pub evidence: Option<String>,
    /// The winner of their common group, if they have one.
    pub group_winner: Option<String>,
    /// If they are in one group but not similar: pages from the first to the second, each similar to the next.
    pub chain: Vec<String>,
}

/// Facts about one of the pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageFacts {
    /// Its name in the outputs.
    pub name: String,
    /// Its place in the input, such as `a.jsonl:12`.
    pub place: String,
    /// The decision on it.
    pub fate: Fate,
    /// Its number of shingles.
    pub shingles: usize,
    /// The share of its shingles that the other page has.
    pub contained: f64,
    /// Passages that the other page lacks.
    pub only_here: Vec<String>,
}

/// The decision on a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It is kept.
    Kept,
    /// It is removed in favour of a kept page.
    Removed {
        /// The kept page.
        winner: String,
        /// The place of the kept page in the input.
        winner_place: String,
        /// Their similarity.
        similarity: f64,
        /// `exact`, `near`, `url` or `redirect`.
        kind: String,
    },
    /// It could not be judged.
    Rejected {
        /// Why.
        reason: String,
    },
}

/// A page in an explanation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PageRef {
    /// Its name in the outputs.
    pub name: String,
    /// Its place in the input.
    pub place: String,
}

/// Explains why two pages of the finished run in `out` were or were not joined. `a` and `b` are names, addresses or
/// places. See [`Job::environment`](crate::Job::environment) for `environment`.
pub fn explain(out: &Path, a: &str, b: &str, environment: &Environment) -> Result<Explanation> {
    let run = Run::current(out)?;
    let pages = judged(out, &[a, b])?;
    pair(&run, out, [&pages[0], &pages[1]], environment)
}

/// Explains two pages.
fn pair(run: &Run, out: &Path, [a, b]: [&ListedPage; 2], environment: &Environment) -> Result<Explanation> {
    let members = match a.group.filter(|_| a.group == b.group) {
        Some(number) => group(out, number)?,
        None => Vec::new(),
    };
    let mut wanted = vec![a.key.clone(), b.key.clone()];
    let group = members.iter().filter(|_| members.len() <= CHAIN_PAGES);
    wanted.extend(group.map(|member| member.key.clone()));
    let method = run.method()?;
    let again = |page: &Record| Again::new(page, &run.config, &*method);
    let needs = Needs { whole: true, ..Needs::of(&run.config, &*method) };
    let finished = FinishedRun { run, out, environment };
    let found = reread(&finished, &wanted, &needs, again)?;
    let get = |page: &ListedPage| found.get(&page.key).ok_or_else(|| unknown(&page.name));
    let (first, second) = (get(a)?, get(b)?);
    let shared = overlap(first.shingles(), second.shingles());
    let (exact, similarity) = (first.equals(second), first.similarity(second, &*method));
    let alike = similarity >= method.threshold();
    let chain =
        if alike || members.is_empty() { Vec::new() } else { chain(&found, &a.key, &b.key, &*method) };
    Ok(Explanation {
        a: facts(a, fate(out, &a.key)?, [first, second], &run.config),
        b: facts(b, fate(out, &b.key)?, [second, first], &run.config),
        similarity,
        method: run.config.method.clone(),
        threshold: method.threshold(),
        alike,
        exact,
        whole_equal: exact && first.facts.all == second.facts.all,
        shared,
        shingle: run.config.shingles.length,
        evidence: method.evidence(&first.sketch, &second.sketch).filter(|_| !exact),
        chain: chain.iter().map(|key| label(key, &members)).collect(),
        group_winner: members.into_iter().next().map(|member| member.name),
    })
}

/// The name of a page of a group, with its place if others have the same name.
fn label(key: &PageKey, members: &[GroupMember]) -> String {
    let Some(own) = members.iter().find(|member| member.key == *key) else { return key.to_string() };
    let same = members.iter().filter(|member| member.name == own.name).count();
    if same > 1 { format!("{} at {key}", own.name) } else { own.name.clone() }
}

/// A page that was read again.
struct Again {
    canonical: Canonical,
    /// Its shingles, which show the shared text for any method.
    shingles: Sketch,
    /// The sketch of the run's method.
    sketch: Vec<u64>,
    facts: TextFacts,
}

impl Again {
    fn new(page: &Record, config: &Config, method: &dyn Method) -> Again {
        let mut canonical = Canonical::default();
        page.text.canonicalise(&config.canonical, &mut canonical);
        let (mut shingles, mut own) = (Sketch::default(), Vec::new());
        sketch(&canonical, &config.shingles, &mut shingles);
        let parts = page.parts.as_ref().map(TextParts::parts);
        let subject =
            Subject { canonical: &canonical, text: &page.text.plain(), links: &page.out_links, parts };
        method.sketch(&subject, &mut Scratch::default(), &mut own);
        let facts = TextFacts::of(page.whole.as_ref(), &canonical, &config.canonical);
        Again { canonical, shingles, sketch: own, facts }
    }

    fn shingles(&self) -> &[u64] {
        self.shingles.shingles()
    }

    /// Whether their canonical texts are equal.
    fn equals(&self, other: &Again) -> bool {
        self.canonical.as_bytes() == other.canonical.as_bytes()
    }

    fn similarity(&self, other: &Again, method: &dyn Method) -> f64 {
        if self.equals(other) {
            return 1.0;
        }
        let score = method.score(&self.sketch, &other.sketch);
        method.similarity(score, (self.sketch.len(), other.sketch.len()))
    }
}

fn facts(page: &ListedPage, fate: Fate, [own, other]: [&Again; 2], config: &Config) -> PageFacts {
    let passages = unshared(&own.canonical, &config.shingles, other.shingles());
    let shared = overlap(own.shingles(), other.shingles());
    PageFacts {
        name: page.name.clone(),
        place: page.key.to_string(),
        fate,
        shingles: own.shingles().len(),
        contained: containment(shared, own.shingles().len()),
        only_here: passages.into_iter().map(str::to_owned).collect(),
    }
}

/// The shortest chain of pages from `a` to `b`, each similar to the next.
fn chain(pages: &HashMap<PageKey, Again>, a: &PageKey, b: &PageKey, method: &dyn Method) -> Vec<PageKey> {
    let pages: BTreeMap<&PageKey, &Again> = pages.iter().collect();
    let mut before: HashMap<&PageKey, &PageKey> = HashMap::from([(a, a)]);
    let mut queue = VecDeque::from([a]);
    while let Some(at) = queue.pop_front() {
        for (&key, page) in &pages {
            if !before.contains_key(key) && method.verify(&pages[at].sketch, &page.sketch).is_some() {
                before.insert(key, at);
                queue.push_back(key);
            }
        }
    }
    let mut chain = vec![b.clone()];
    let mut at = b;
    while let Some(&previous) = before.get(at).filter(|_| at != a) {
        chain.push(previous.clone());
        at = previous;
    }
    chain.reverse();
    if at == a { chain } else { Vec::new() }
}

/// The decision on a page that was judged.
fn fate(out: &Path, page: &PageKey) -> Result<Fate> {
    let mut fate = Fate::Kept;
    each_removed(out, |removed| {
        let met = removed.page.1 == *page;
        if met {
            let (winner, place) = removed.winner;
            let (similarity, kind) = (removed.similarity, removed.kind);
            fate = Fate::Removed { winner, winner_place: place.to_string(), similarity, kind };
        }
        !met
    })?;
    Ok(fate)
}

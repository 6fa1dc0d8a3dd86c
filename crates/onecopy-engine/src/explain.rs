//! Explains why two pages of a finished run were or were not joined.
//!
//! It uses no index. It reads the pages again from the inputs and compares them again, so the explanation independently
//! checks the run.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::Path;

use onecopy_core::{
    Canonical, Config, Method, Scratch, Sketch, Subject, containment, overlap, sketch, unshared,
};
use serde::{Deserialize, Serialize};

use crate::compared_text::TextFacts;
use crate::environment::Environment;
use crate::error::Result;
use crate::reread::{check_judged, each_line, plain, reread, unknown};
use crate::run::Run;
use onecopy_core::{Needs, Record, TextParts};

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
        /// Their similarity.
        similarity: f64,
        /// `exact` or `near`.
        kind: String,
    },
}

/// Explains why the pages named `a` and `b` of the finished run in `out` were or were not joined. See
/// [`Job::environment`](crate::Job::environment) for `environment`.
pub fn explain(out: &Path, a: &str, b: &str, environment: &Environment) -> Result<Explanation> {
    let run = Run::current(out)?;
    check_judged(out, &[a, b])?;
    let fates = [fate(out, a)?, fate(out, b)?];
    let members = shared_group(out, a, b)?;
    let mut wanted = vec![a.to_owned(), b.to_owned()];
    wanted.extend(members.iter().filter(|_| members.len() <= CHAIN_PAGES).cloned());
    let method = run.method()?;
    let again = |page: &Record| Again::new(page, &run.config, &*method);
    let needs = Needs { whole: true, ..Needs::of(&run.config, &*method) };
    let found = reread(&run, &wanted, &needs, environment, again)?;
    let get = |name: &str| found.get(name).ok_or_else(|| unknown(name));
    let (first, second) = (get(a)?, get(b)?);
    let shared = overlap(first.shingles(), second.shingles());
    let exact = first.canonical.as_bytes() == second.canonical.as_bytes();
    let similarity = if exact { 1.0 } else { first.similarity(second, &*method) };
    let alike = similarity >= method.threshold();
    let [fate_a, fate_b] = fates;
    Ok(Explanation {
        a: facts(a, fate_a, first, second, shared, &run.config),
        b: facts(b, fate_b, second, first, shared, &run.config),
        similarity,
        method: run.config.method.clone(),
        threshold: method.threshold(),
        alike,
        exact,
        whole_equal: exact && first.facts.all == second.facts.all,
        shared,
        shingle: run.config.shingles.length,
        chain: if alike || members.is_empty() { Vec::new() } else { chain(&found, a, b, &*method) },
        group_winner: members.into_iter().next(),
    })
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

    fn similarity(&self, other: &Again, method: &dyn Method) -> f64 {
        let score = method.score(&self.sketch, &other.sketch);
        method.similarity(score, (self.sketch.len(), other.sketch.len()))
    }
}

fn facts(name: &str, fate: Fate, own: &Again, other: &Again, shared: usize, config: &Config) -> PageFacts {
    let passages = unshared(&own.canonical, &config.shingles, other.shingles());
    PageFacts {
        name: name.to_owned(),
        fate,
        shingles: own.shingles().len(),
        contained: containment(shared, own.shingles().len()),
        only_here: passages.into_iter().map(str::to_owned).collect(),
    }
}

/// The shortest chain of pages from `a` to `b`, each similar to the next.
fn chain(pages: &HashMap<String, Again>, a: &str, b: &str, method: &dyn Method) -> Vec<String> {
    let pages: BTreeMap<&str, &Again> = pages.iter().map(|(name, page)| (name.as_str(), page)).collect();
    let mut before: HashMap<&str, &str> = HashMap::from([(a, a)]);
    let mut queue = VecDeque::from([a]);
    while let Some(at) = queue.pop_front() {
        for (&name, page) in &pages {
            if !before.contains_key(name) && method.verify(&pages[at].sketch, &page.sketch).is_some() {
                before.insert(name, at);
                queue.push_back(name);
            }
        }
    }
    let mut chain = vec![b.to_owned()];
    let mut at = b;
    while let Some(&previous) = before.get(at).filter(|_| at != a) {
        chain.push(previous.to_owned());
        at = previous;
    }
    chain.reverse();
    if at == a { chain } else { Vec::new() }
}

fn fate(out: &Path, page: &str) -> Result<Fate> {
    #[derive(Deserialize)]
    struct Removed {
        page: serde_json::Value,
        winner: serde_json::Value,
        similarity: f64,
        kind: String,
    }
    let mut fate = Fate::Kept;
    each_line(&out.join("removed.jsonl"), |removed: Removed| {
        let met = plain(&removed.page) == page;
        if met {
            let Removed { winner, similarity, kind, .. } = removed;
            fate = Fate::Removed { winner: plain(&winner), similarity, kind };
        }
        !met
    })?;
    Ok(fate)
}

/// The members of the group that contains both pages, winner first; empty if there is none.
fn shared_group(out: &Path, a: &str, b: &str) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Group {
        members: Vec<serde_json::Value>,
    }
    let mut found = Vec::new();
    each_line(&out.join("groups.jsonl"), |group: Group| {
        let has = |name: &str| group.members.iter().any(|member| plain(member) == name);
        let met = has(a) && has(b);
        if met {
            found = group.members.iter().map(plain).collect();
        }
        !met
    })?;
    Ok(found)
}

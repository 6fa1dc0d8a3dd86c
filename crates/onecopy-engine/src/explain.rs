//! Why two pages of a finished run were or were not joined.
//!
//! Nothing is looked up in an index: the pages are read again from the inputs and compared again, so the explanation
//! is a second proof of what the run said.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::Path;

use onecopy_core::{
    Canonical, Config, Desk, Method, Sketch, Subject, containment, overlap, sketch, unshared,
};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::reread::{check_judged, each_line, plain, reread};
use crate::run::Run;
use onecopy_core::{Needs, Record, TextParts};

/// Groups of more pages are not searched for a chain.
const CHAIN_PAGES: usize = 2_000;

/// What is to be said of two pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The first page.
    pub a: PageFacts,
    /// The second page.
    pub b: PageFacts,
    /// How they were compared.
    pub method: String,
    /// How alike they are.
    pub similarity: f64,
    /// How alike pages must be to be duplicates.
    pub threshold: f64,
    /// Whether they are duplicates of each other.
    pub alike: bool,
    /// Whether their canonical texts are equal.
    pub exact: bool,
    /// Shingles that both have.
    pub shared: usize,
    /// Tokens in a shingle.
    pub shingle: usize,
    /// The winner of the group that both are in, if they are in one.
    pub group_winner: Option<String>,
    /// If they are in one group without being alike: pages from the first to the second, each alike to the next.
    pub chain: Vec<String>,
}

/// What is to be said of one of the pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageFacts {
    /// Its name in the outputs.
    pub name: String,
    /// What became of it.
    pub fate: Fate,
    /// Its shingles.
    pub shingles: usize,
    /// How much of it is in the other page.
    pub contained: f64,
    /// Passages that the other page does not have.
    pub only_here: Vec<String>,
}

/// What became of a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It stays.
    Kept,
    /// It went in favour of a page that stays.
    Removed {
        /// That page.
        winner: String,
        /// How alike the two are.
        similarity: f64,
        /// `exact` or `near`.
        kind: String,
    },
}

/// Says why the pages named `a` and `b` of the finished run in `out` were or were not joined. `environment` is as in
/// [`Job::environment`](crate::Job::environment).
pub fn explain(out: &Path, a: &str, b: &str, environment: &[(String, String)]) -> Result<Explanation> {
    let run = Run::current(out)?;
    check_judged(out, &[a, b])?;
    let fates = [fate(out, a)?, fate(out, b)?];
    let members = shared_group(out, a, b)?;
    let mut wanted = vec![a.to_owned(), b.to_owned()];
    wanted.extend(members.iter().filter(|_| members.len() <= CHAIN_PAGES).cloned());
    let method = run.method()?;
    let again = |page: &Record| Again::new(page, &run.config, &*method);
    let found = reread(&run, &wanted, &Needs::of(&run.config, &*method), environment, again)?;
    let get = |name: &str| {
        found
            .get(name)
            .ok_or_else(|| Error::NotFound(format!("page `{name}` is not among the pages that were judged")))
    };
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
        shared,
        shingle: run.config.shingles.length,
        chain: if alike || members.is_empty() { Vec::new() } else { chain(&found, a, b, &*method) },
        group_winner: members.into_iter().next(),
    })
}

/// A page that was read again.
struct Again {
    canonical: Canonical,
    /// Its shingles, which say what two pages share whatever the method.
    shingles: Sketch,
    /// What the method compares.
    sketch: Vec<u64>,
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
        method.sketch(&subject, &mut Desk::default(), &mut own);
        Again { canonical, shingles, sketch: own }
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

/// Pages from `a` to `b`, each alike to the next; as few as can be.
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

/// The members of the group that both pages are in, its winner first; none if they are in none.
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

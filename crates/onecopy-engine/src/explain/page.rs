//! Explains why one page of a finished run stayed or went.

use std::path::Path;

use onecopy_core::{Needs, Record};
use serde::Serialize;

use super::{Again, Explanation, Fate, PageRef, fate, pair};
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::listed::{GroupMember, ListedPage, each_removed, find, group, rejection, unknown};
use crate::reread::{FinishedRun, reread};
use crate::run::Run;

/// The most pages that are listed, and compared.
const RELATED: usize = 10;

/// The explanation for one page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PageExplanation {
    /// The page.
    pub page: PageRef,
    /// The decision on it.
    pub fate: Fate,
    /// The method of the run.
    pub method: String,
    /// The least similarity of duplicates.
    pub threshold: f64,
    /// Its group, if it is in one.
    pub group: Option<GroupFacts>,
    /// How many pages were removed for it.
    pub losers: u64,
    /// Some of the pages that were removed for it, in input order.
    pub removed_for_it: Vec<RelatedPage>,
    /// Other kept pages of its group, the most similar first: at most ten, of the ten best.
    pub other_kept: Vec<RelatedPage>,
    /// The comparison with its winner, if it was removed after one.
    pub comparison: Option<Explanation>,
    /// Why the pages could not be compared again: an input is gone or changed since the run.
    pub not_compared: Option<String>,
}

/// The group of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupFacts {
    /// Its number.
    pub group: u64,
    /// Its best page.
    pub winner: PageRef,
    /// The number of its pages.
    pub pages: usize,
    /// The number of kept pages.
    pub kept: usize,
}

/// A page that has to do with another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RelatedPage {
    /// The page.
    #[serde(flatten)]
    pub page: PageRef,
    /// The similarity of the two.
    pub similarity: f64,
    /// Why it was removed, if it was: `exact`, `near`, `url` or `redirect`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// Explains why a page of the finished run in `out` stayed or went. `wanted` is its name, address or place. See
/// [`Job::environment`](crate::Job::environment) for `environment`.
pub fn explain_page(out: &Path, wanted: &str, environment: &Environment) -> Result<PageExplanation> {
    let run = Run::current(out)?;
    let Some(listed) = find(out, &[wanted])?.remove(0) else {
        let reason = rejection(out, wanted)?.ok_or_else(|| unknown(wanted))?;
        let page = PageRef { name: wanted.into(), place: wanted.into() };
        return of_page(&run, page, Fate::Rejected { reason });
    };
    let page = PageRef { name: listed.name.clone(), place: listed.key.to_string() };
    let mut found = of_page(&run, page, fate(out, &listed.key)?)?;
    let members = listed.group.map_or(Ok(Vec::new()), |number| group(out, number))?;
    found.group = listed.group.zip(members.first()).map(|(group, best)| GroupFacts {
        group,
        winner: PageRef { name: best.name.clone(), place: best.key.to_string() },
        pages: members.len(),
        kept: members.iter().filter(|member| member.is_kept).count(),
    });
    let compared = match &found.fate {
        Fate::Removed { kind, .. } if kind == "redirect" => Ok(()),
        Fate::Removed { winner_place, .. } => {
            // A winner of the base is in no list but that of groups.
            let winner = members.iter().find(|member| member.key.to_string() == *winner_place);
            let winner = winner.ok_or_else(|| unknown(winner_place))?;
            let winner =
                ListedPage { name: winner.name.clone(), key: winner.key.clone(), group: listed.group };
            pair(&run, out, [&listed, &winner], environment).map(|it| found.comparison = Some(it))
        }
        _ => {
            found.add_losers(out, &listed)?;
            let finished = FinishedRun { run: &run, out, environment };
            others(&finished, &listed, &members).map(|others| found.other_kept = others)
        }
    };
    match compared {
        Err(error @ (Error::InputGone { .. } | Error::InputChanged { .. })) => {
            found.not_compared = Some(error.to_string());
        }
        compared => compared?,
    }
    Ok(found)
}

fn of_page(run: &Run, page: PageRef, fate: Fate) -> Result<PageExplanation> {
    Ok(PageExplanation {
        page,
        fate,
        method: run.config.method.clone(),
        threshold: run.method()?.threshold(),
        group: None,
        losers: 0,
        removed_for_it: Vec::new(),
        other_kept: Vec::new(),
        comparison: None,
        not_compared: None,
    })
}

impl PageExplanation {
    /// Adds the pages that were removed for a kept page.
    fn add_losers(&mut self, out: &Path, listed: &ListedPage) -> Result<()> {
        each_removed(out, |removed| {
            if removed.winner.1 == listed.key {
                self.losers += 1;
                if self.removed_for_it.len() < RELATED {
                    let (name, key) = removed.page;
                    let page = PageRef { name, place: key.to_string() };
                    let (similarity, kind) = (removed.similarity, Some(removed.kind));
                    self.removed_for_it.push(RelatedPage { page, similarity, kind });
                }
            }
            true
        })
    }
}

/// The best other kept pages of a kept page's group, the most similar first.
fn others(finished: &FinishedRun, listed: &ListedPage, members: &[GroupMember]) -> Result<Vec<RelatedPage>> {
    let run = finished.run;
    let others = members.iter().filter(|member| member.is_kept && member.key != listed.key);
    let others: Vec<&GroupMember> = others.take(RELATED).collect();
    if others.is_empty() {
        return Ok(Vec::new());
    }
    let mut keys: Vec<_> = others.iter().map(|member| member.key.clone()).collect();
    keys.push(listed.key.clone());
    let method = run.method()?;
    let again = |page: &Record| Again::new(page, &run.config, &*method);
    let read = reread(finished, &keys, &Needs::of(&run.config, &*method), again)?;
    let own = read.get(&listed.key).ok_or_else(|| unknown(&listed.name))?;
    let related = |member: &&GroupMember| {
        let similarity = own.similarity(read.get(&member.key)?, &*method);
        let page = PageRef { name: member.name.clone(), place: member.key.to_string() };
        Some(RelatedPage { page, similarity, kind: None })
    };
    let mut found: Vec<RelatedPage> = others.iter().filter_map(related).collect();
    found.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
    Ok(found)
}

//! A labelled set: a folder with pages and labels of pairs.

use std::path::Path;

use onecopy_core::{Config, group};

use super::docs::{self, Docs, EvalPage};
use super::labels::{self, Label, Labels};
use super::tally::Scope;
use crate::error::{Error, Result};
use crate::progress::Progress;

/// A labelled set.
pub(super) struct Set {
    pub name: String,
    pub pages: Vec<EvalPage>,
    /// Pages without words, and listed pairs with such a page. They are left out.
    pub empty_pages: usize,
    pub empty_pairs: usize,
    pub labels: Labels,
    /// The true group of each page, for each scope.
    pub truth: [Vec<u32>; Scope::ALL.len()],
}

impl Set {
    /// Reads the set in `folder`.
    pub(super) fn read(
        folder: &Path,
        config: &Config,
        threads: usize,
        progress: &dyn Progress,
    ) -> Result<Set> {
        let docs = docs::read(folder, config, threads, progress)?;
        let clusters = labels::clusters(folder, &docs)?;
        let mut labels = labels::labels(folder, &docs, clusters.as_deref())?;
        labels::compare_whole(&mut labels, &docs.pages, threads)?;
        let truth = Scope::ALL.map(|scope| match &clusters {
            Some(clusters) => of_clusters(clusters, &docs, scope),
            None => of_pairs(&labels, &docs, scope),
        });
        let empty_pages = docs.empty();
        let empty_pairs = labels.empty;
        Ok(Set { name: name(folder), pages: docs.pages, empty_pages, empty_pairs, labels, truth })
    }

    /// Whether two pages are from one site. `None` if unknown.
    pub(super) fn same_site(&self, a: u32, b: u32) -> Option<bool> {
        same_site(&self.pages, a, b)
    }
}

/// Checks that `folder` exists before anything is read.
pub(super) fn check(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let reason = if folder.exists() { "not a folder" } else { "there is no such folder" };
    let remedy = "give the folder of a labelled set, with docs.jsonl and pairs.csv or clusters.csv";
    let (input, reason) = (folder.display().to_string(), format!("{reason}: {remedy}"));
    Err(Error::Input { input, reason })
}

/// The name of a set, which is its folder's name.
fn name(folder: &Path) -> String {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    whole.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned()
}

fn same_site(pages: &[EvalPage], a: u32, b: u32) -> Option<bool> {
    Some(pages[a as usize].site? == pages[b as usize].site?)
}

/// The groups that the duplicates of a scope form.
fn of_pairs(labels: &Labels, docs: &Docs, scope: Scope) -> Vec<u32> {
    let same = labels.all().iter().filter(|pair| pair.label == Label::Same);
    let within = same.filter(|pair| scope.has(same_site(&docs.pages, pair.a, pair.b)));
    let pairs: Vec<(u32, u32)> = within.map(|pair| (pair.a, pair.b)).collect();
    let groups = group(docs.pages.len(), &pairs);
    (0..docs.pages.len() as u32).map(|page| groups.of(page)).collect()
}

/// The groups that pairs of a scope form within clusters. A chain through the pages of each cluster suffices.
fn of_clusters(clusters: &[u32], docs: &Docs, scope: Scope) -> Vec<u32> {
    let site = |page: u32| docs.pages[page as usize].site;
    let mut order: Vec<u32> = (0..clusters.len() as u32).collect();
    order.sort_unstable_by_key(|&page| (clusters[page as usize], site(page), page));
    let mut pairs = Vec::new();
    for members in order.chunk_by(|&a, &b| clusters[a as usize] == clusters[b as usize]) {
        match scope {
            Scope::All => pairs.extend(members.iter().map(|&page| (members[0], page))),
            Scope::SameSite => {
                let neighbours = members.windows(2).map(|two| (two[0], two[1]));
                pairs.extend(neighbours.filter(|&(a, b)| same_site(&docs.pages, a, b) == Some(true)));
            }
            Scope::CrossSite => {
                let known = &members[members.partition_point(|&page| site(page).is_none())..];
                // Pages are sorted by site. If there are two sites, every page differs in site from the first or the
                // last.
                let ends = [known.last(), known.first()].into_iter().flatten();
                let across = |a: u32, b: u32| same_site(&docs.pages, a, b) == Some(false);
                let partner = |page: u32| ends.clone().find(|&&other| across(page, other));
                pairs.extend(known.iter().filter_map(|&page| Some((page, *partner(page)?))));
            }
        }
    }
    let groups = group(clusters.len(), &pairs);
    (0..clusters.len() as u32).map(|page| groups.of(page)).collect()
}

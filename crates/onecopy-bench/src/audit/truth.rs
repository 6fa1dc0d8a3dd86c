//! The exact similar pairs of a corpus, to which every tool's answer is compared.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::join::{Pair, join};
use super::{pairs, shingle};
use crate::jsonl;

/// The pages of a corpus and, for each, the pages at least as similar as the threshold.
pub struct Truth {
    positions: HashMap<String, u32>,
    /// `neighbours[starts[p]..starts[p + 1]]` belong to page p.
    starts: Vec<usize>,
    neighbours: Vec<(u32, f64)>,
    /// Lines of the input that are not pages.
    pub unreadable: u64,
}

impl Truth {
    /// Reads the pages of `inputs`, and their pairs from `known`. Without `known` it computes the pairs.
    pub fn load(inputs: &[PathBuf], known: Option<&Path>, threshold: f64) -> Result<Truth> {
        let (mut ids, mut sets) = (vec![], vec![]);
        let unreadable = jsonl::for_each_page(inputs, |page| {
            ids.push(page.id.into_owned());
            if known.is_none() {
                sets.push(shingle::shingles(&page.text));
            }
        })?;
        let positions = positions(ids)?;
        let pairs = match known {
            Some(path) => pairs::read(path, &positions, threshold)?,
            None => join(&sets, threshold),
        };
        Ok(Truth { unreadable, ..Truth::new(positions, &pairs) })
    }

    /// A truth from given pages and pairs.
    pub fn new(positions: HashMap<String, u32>, pairs: &[Pair]) -> Truth {
        let mut both: Vec<(u32, u32, f64)> = pairs
            .iter()
            .flat_map(|p| [(p.first, p.second, p.similarity), (p.second, p.first, p.similarity)])
            .collect();
        both.sort_by_key(|&(page, other, _)| (page, other));
        both.dedup_by_key(|&mut (page, other, _)| (page, other));
        let mut starts = vec![0; positions.len() + 1];
        for &(page, ..) in &both {
            starts[page as usize + 1] += 1;
        }
        for page in 0..positions.len() {
            starts[page + 1] += starts[page];
        }
        let neighbours = both.into_iter().map(|(_, other, similarity)| (other, similarity)).collect();
        Truth { positions, starts, neighbours, unreadable: 0 }
    }

    /// The number of pages.
    pub fn pages(&self) -> usize {
        self.positions.len()
    }

    /// The number of similar pairs.
    pub fn pairs(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// The position of a page in the input.
    pub fn position(&self, id: &str) -> Option<u32> {
        self.positions.get(id).copied()
    }

    /// The position of each page in the input.
    pub fn positions(&self) -> &HashMap<String, u32> {
        &self.positions
    }

    /// The pages similar to `page`, in input order, with their similarity.
    pub fn similar_to(&self, page: usize) -> &[(u32, f64)] {
        &self.neighbours[self.starts[page]..self.starts[page + 1]]
    }

    /// The true similarity of two pages; `None` if it is below the threshold.
    pub fn similarity(&self, page: u32, other: u32) -> Option<f64> {
        let similar = self.similar_to(page as usize);
        similar.binary_search_by_key(&other, |&(page, _)| page).ok().map(|found| similar[found].1)
    }

    /// How many pages are removed if only the first page of each transitive group is kept.
    pub fn redundant(&self) -> usize {
        let mut grouped = vec![false; self.pages()];
        let mut groups = 0;
        for page in 0..self.pages() {
            if grouped[page] {
                continue;
            }
            groups += 1;
            grouped[page] = true;
            let mut open = vec![page];
            while let Some(member) = open.pop() {
                for &(other, _) in self.similar_to(member) {
                    if !std::mem::replace(&mut grouped[other as usize], true) {
                        open.push(other as usize);
                    }
                }
            }
        }
        self.pages() - groups
    }

    /// How many of the pages that `is_there` must be removed until no two kept pages are similar. Pages are visited in
    /// input order, and removed if a similar page was kept.
    pub fn must_go(&self, is_there: impl Fn(usize) -> bool) -> usize {
        let mut stays = vec![false; self.pages()];
        let mut gone = 0;
        for page in (0..self.pages()).filter(|&page| is_there(page)) {
            let settled = self.similar_to(page).iter().any(|&(other, _)| stays[other as usize]);
            stays[page] = !settled;
            gone += usize::from(settled);
        }
        gone
    }
}

fn positions(ids: Vec<String>) -> Result<HashMap<String, u32>> {
    let mut positions = HashMap::with_capacity(ids.len());
    for (position, id) in ids.into_iter().enumerate() {
        let position = u32::try_from(position).context("more than 4 G pages: audit a sample")?;
        if let Some(before) = positions.insert(id.clone(), position) {
            anyhow::bail!(
                "pages {before} and {position} share the id {id:?}: ids must be unique to be audited"
            );
        }
    }
    Ok(positions)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Pages "0", "1", … and pairs between them, all of similarity 0.9.
    pub fn truth(pages: u32, pairs: &[(u32, u32)]) -> Truth {
        let positions = (0..pages).map(|page| (page.to_string(), page)).collect();
        let pair = |&(first, second)| Pair { first, second, similarity: 0.9 };
        Truth::new(positions, &pairs.iter().map(pair).collect::<Vec<_>>())
    }

    #[test]
    fn a_chain_is_one_group_but_loses_only_every_other_page() {
        let chain = truth(6, &[(0, 1), (1, 2), (2, 3), (3, 4)]);
        assert_eq!(chain.redundant(), 4);
        assert_eq!(chain.must_go(|_| true), 2);
        assert_eq!(chain.must_go(|page| page % 2 == 0), 0);
    }

    #[test]
    fn similarity_is_looked_up_both_ways() {
        let truth = truth(3, &[(0, 2), (0, 2)]);
        assert_eq!((truth.pages(), truth.pairs()), (3, 1));
        assert_eq!(truth.similarity(2, 0), Some(0.9));
        assert_eq!(truth.similarity(0, 2), Some(0.9));
        assert_eq!(truth.similarity(0, 1), None);
    }

    #[test]
    fn joined_and_listed_pairs_give_the_same_truth() {
        let folder = tempfile::tempdir().unwrap();
        let (input, list) = (folder.path().join("i.jsonl"), folder.path().join("p.csv"));
        let words = "one two three four five six seven eight nine ten";
        let line = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
        let lines = [line("a", words), line("b", "quite another page"), line("c", &format!("{words} more"))];
        std::fs::write(&input, lines.concat()).unwrap();
        std::fs::write(&list, "id1,id2,jaccard\nc,a,0.85714\nb,a,0.2\n").unwrap();
        let inputs = [input];
        let joined = Truth::load(&inputs, None, 0.8).unwrap();
        let listed = Truth::load(&inputs, Some(&list), 0.8).unwrap();
        assert_eq!((joined.pairs(), listed.pairs()), (1, 1));
        let (exact, rounded) = (joined.similarity(0, 2).unwrap(), listed.similarity(0, 2).unwrap());
        assert!((exact - 6.0 / 7.0).abs() < 1e-12 && (exact - rounded).abs() < 1e-5);
    }

    #[test]
    fn a_repeated_id_is_refused() {
        assert!(positions(vec!["a".into(), "b".into(), "a".into()]).is_err());
    }
}

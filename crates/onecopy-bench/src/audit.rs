//! `onecopy-bench audit`: counts the errors of any tool, given the ids of the pages that it removed.
//!
//! *Wrong*: removed although no other page is similar. *Orphaned*: removed although no page that was kept
//! is similar (every wrong page is orphaned too). *Residual*: kept, and would still have to go.

mod join;
mod pairs;
mod removed;
pub mod shingle;
mod truth;

use std::path::PathBuf;

use anyhow::{Result, ensure};
use serde::Serialize;

pub use removed::{Removal, read as read_removed};
pub use truth::Truth;

/// The tolerance for a stated similarity; listed pairs are rounded to five digits.
const TOLERANCE: f64 = 1e-4;

/// Counts the pages that a tool removed or kept in error.
///
/// Similarity is the Jaccard index of 5-word shingles. Words follow Python's `\w+` on the lower-cased text; a page of
/// fewer than five words is one shingle.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  onecopy-bench audit --input pages.jsonl --removed out/removed.jsonl
  onecopy-bench audit --input pages.jsonl --removed ids.txt --pairs oracle.csv.zst --json")]
pub struct Args {
    /// The pages the tool was given, as JSON Lines (plain or .zst); repeat for several files
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    input: Vec<PathBuf>,
    /// The removed pages: one id per line, or onecopy's removed.jsonl, whose claims are then checked
    #[arg(long, value_name = "FILE")]
    removed: PathBuf,
    /// The exact pairs, as CSV with the header id1,id2,jaccard (plain or .zst); computed if not given
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,
    /// Pairs that the tool itself reported (CSV as above), to compute its pair recall
    #[arg(long, value_name = "FILE")]
    found: Option<PathBuf>,
    /// Similarity from which pages count as near-duplicates; higher: fewer do
    #[arg(long, default_value_t = 0.8)]
    threshold: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Fail when there is any error, for use in tests
    #[arg(long)]
    strict: bool,
}

/// The audit of a tool on a corpus.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Audit {
    /// Pages in the input.
    pub pages: usize,
    /// Lines of the input that are not pages.
    pub unreadable: u64,
    /// Pairs at least as similar as the threshold.
    pub pairs: usize,
    /// Pages beyond the first of each transitive group.
    pub redundant: usize,
    /// Pages to remove, in input order, until no two kept pages are similar.
    pub must_go: usize,
    /// Pages removed.
    pub removed: usize,
    /// Pages not removed.
    pub kept: usize,
    /// Ids reported as removed that are not in the input, or were already removed.
    pub unknown: usize,
    /// Removed although no other page is similar.
    pub wrong: usize,
    /// Removed although no kept page is similar.
    pub orphaned: usize,
    /// Kept, and would still have to go.
    pub residual: usize,
    /// The tool's own claims, if it made any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claims: Option<Claims>,
    /// The share of similar pairs that the tool reported, if it reported pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair_recall: Option<f64>,
}

/// The number of claims "removed in favour of this page, with this similarity", and of false ones.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Claims {
    /// The number of claims.
    pub made: usize,
    /// Claims whose winner was not kept.
    pub winner_not_kept: usize,
    /// Claims with a false similarity.
    pub similarity_false: usize,
}

impl Audit {
    /// The number of errors of all kinds.
    fn errors(&self) -> usize {
        let claims =
            self.claims.as_ref().map_or(0, |claims| claims.winner_not_kept + claims.similarity_false);
        self.unknown + self.orphaned + self.residual + claims
    }
}

pub fn run(args: &Args) -> Result<()> {
    ensure!(args.threshold > 0.0 && args.threshold <= 1.0, "--threshold must be above 0 and at most 1");
    let truth = Truth::load(&args.input, args.pairs.as_deref(), args.threshold)?;
    let mut audit = audit(&truth, &read_removed(&args.removed)?);
    if let Some(found) = &args.found {
        let found = pairs::read(found, truth.positions(), 0.0)?;
        let hits = Truth::new(truth.positions().clone(), &found);
        audit.pair_recall = Some(recall(&truth, &hits));
    }
    match args.json {
        true => println!("{}", serde_json::to_string_pretty(&audit)?),
        false => print!("{}", text(&audit)),
    }
    ensure!(!args.strict || audit.errors() == 0, "{} errors found", audit.errors());
    Ok(())
}

/// Compares `removals` with the truth.
pub fn audit(truth: &Truth, removals: &[Removal]) -> Audit {
    let mut gone = vec![false; truth.pages()];
    let mut unknown = 0;
    for removal in removals {
        match truth.position(&removal.page) {
            Some(page) if !gone[page as usize] => gone[page as usize] = true,
            _ => unknown += 1,
        }
    }
    let removed = gone.iter().filter(|gone| **gone).count();
    let without = |is_similar: &dyn Fn(u32) -> bool| {
        let lonely = |page: &usize| !truth.similar_to(*page).iter().any(|&(other, _)| is_similar(other));
        (0..truth.pages()).filter(|page| gone[*page]).filter(lonely).count()
    };
    Audit {
        pages: truth.pages(),
        unreadable: truth.unreadable,
        pairs: truth.pairs(),
        redundant: truth.redundant(),
        must_go: truth.must_go(|_| true),
        removed,
        kept: truth.pages() - removed,
        unknown,
        wrong: without(&|_| true),
        orphaned: without(&|other| !gone[other as usize]),
        residual: truth.must_go(|page| !gone[page]),
        claims: check_claims(truth, removals, &gone),
        pair_recall: None,
    }
}

fn check_claims(truth: &Truth, removals: &[Removal], gone: &[bool]) -> Option<Claims> {
    let mut claims = Claims::default();
    for (page, claim) in removals.iter().filter_map(|r| Some((&r.page, r.claim.as_ref()?))) {
        let (page, winner) = (truth.position(page), truth.position(&claim.winner));
        claims.made += 1;
        claims.winner_not_kept += usize::from(winner.is_none_or(|winner| gone[winner as usize]));
        let similarity = page.zip(winner).and_then(|(page, winner)| truth.similarity(page, winner));
        let is_true = similarity.is_some_and(|truth| (truth - claim.similarity).abs() <= TOLERANCE);
        claims.similarity_false += usize::from(!is_true);
    }
    (claims.made > 0).then_some(claims)
}

/// The share of the pairs of `truth` that are in `found`.
fn recall(truth: &Truth, found: &Truth) -> f64 {
    let pairs =
        (0..truth.pages()).flat_map(|page| truth.similar_to(page).iter().map(move |pair| (page, pair.0)));
    let hits = pairs.filter(|&(page, other)| found.similarity(page as u32, other).is_some()).count();
    hits as f64 / (2 * truth.pairs()).max(1) as f64
}

fn text(audit: &Audit) -> String {
    let mut lines = vec![
        format!("pages      {:>9}   {} lines were not pages", audit.pages, audit.unreadable),
        format!("pairs      {:>9}", audit.pairs),
        format!("redundant  {:>9}   beyond the first of each transitive group", audit.redundant),
        format!("must go    {:>9}   until no two that stay are similar, in input order", audit.must_go),
        format!("removed    {:>9}   {} ids not in the input or repeated", audit.removed, audit.unknown),
        format!("kept       {:>9}", audit.kept),
        format!("wrong      {:>9}   removed although no other page is similar", audit.wrong),
        format!("orphaned   {:>9}   removed although no kept page is similar", audit.orphaned),
        format!("residual   {:>9}   kept, and would still have to go", audit.residual),
    ];
    if let Some(claims) = &audit.claims {
        lines.push(format!(
            "claims     {:>9}   {} with a winner not kept, {} with a false similarity",
            claims.made, claims.winner_not_kept, claims.similarity_false
        ));
    }
    if let Some(recall) = audit.pair_recall {
        lines.push(format!("recall     {recall:>9.4}   of the similar pairs were reported"));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::removed::Claim;
    use super::truth::tests::truth;
    use super::*;

    fn removal(page: &str) -> Removal {
        Removal { page: page.into(), claim: None }
    }

    fn claim(page: &str, winner: &str, similarity: f64) -> Removal {
        Removal { page: page.into(), claim: Some(Claim { winner: winner.into(), similarity }) }
    }

    #[test]
    fn the_three_errors_are_told_apart() {
        // A chain 0-1-2, a pair 3-4, and 5 alone.
        let truth = truth(6, &[(0, 1), (1, 2), (3, 4)]);
        let found = audit(&truth, &[removal("1"), removal("2"), removal("5")]);
        assert_eq!((found.wrong, found.orphaned, found.residual), (1, 2, 1));
        assert_eq!((found.pages, found.removed, found.kept), (6, 3, 3));
        assert_eq!((found.redundant, found.must_go), (3, 2));
    }

    #[test]
    fn a_right_answer_has_no_errors() {
        let truth = truth(6, &[(0, 1), (1, 2), (3, 4)]);
        let found = audit(&truth, &[claim("1", "0", 0.90004), claim("4", "3", 0.9)]);
        assert_eq!(found.errors(), 0);
        assert_eq!(found.claims, Some(Claims { made: 2, ..Claims::default() }));
    }

    #[test]
    fn false_claims_and_unknown_ids_are_counted() {
        let truth = truth(4, &[(0, 1), (1, 2)]);
        let said =
            [claim("1", "2", 0.9), claim("2", "1", 0.9), claim("0", "3", 0.9), removal("x"), removal("2")];
        let found = audit(&truth, &said);
        assert_eq!(found.unknown, 2);
        assert_eq!(found.claims, Some(Claims { made: 3, winner_not_kept: 2, similarity_false: 1 }));
    }

    #[test]
    fn recall_is_the_share_of_true_pairs() {
        let all = truth(5, &[(0, 1), (1, 2), (3, 4), (0, 2)]);
        assert_eq!(recall(&all, &truth(5, &[(0, 1), (0, 2), (0, 3)])), 0.5);
    }
}

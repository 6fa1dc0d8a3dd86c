//! Rankings of links against the whole algorithm of the core, for any order, threads and memory.

use std::fs;
use std::path::Path;

use onecopy_core::{Resets, pagerank};
use proptest::prelude::*;

use super::*;
use crate::progress::Silent;

fn ranked(folder: &Path, lines: &[String], change: impl Fn(&mut PageRankJob)) -> (Ranking, String) {
    let input = folder.join("links.tsv");
    fs::write(&input, lines.join("\n")).unwrap();
    let mut job = PageRankJob::new([input.display().to_string()], folder.join("scores.tsv"));
    (job.kind, job.overwrite, job.threads) = (LinkInput::Links, true, 1);
    change(&mut job);
    let ranking = rank_pages(&job, &Silent).unwrap();
    (ranking, fs::read_to_string(&job.out).unwrap())
}

fn score(written: &str, page: &str) -> f64 {
    let line = written.lines().find(|line| line.split('\t').next() == Some(page)).unwrap();
    line.split('\t').nth(1).unwrap().parse().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn scores_are_those_of_the_core_in_any_order_and_on_any_threads(
        links in prop::collection::vec((0u32..40, 0u32..40), 1..200),
        seed in any::<u64>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut pages: Vec<u32> = links.iter().flat_map(|&(a, b)| [a, b]).collect();
        pages.sort_unstable();
        pages.dedup();
        prop_assume!(links.iter().any(|(a, b)| a != b));
        let number = |page: u32| pages.binary_search(&page).unwrap() as u32;
        let numbered: Vec<(u32, u32)> = links.iter().map(|&(a, b)| (number(a), number(b))).collect();
        let uniform = Resets::Uniform { pages: pages.len() };
        let expected = pagerank(pages.len(), &numbered, uniform, &PageRankRules::default());
        let mut lines: Vec<String> = links.iter().map(|(a, b)| format!("{a}\t{b}")).collect();
        let (ranking, written) = ranked(folder.path(), &lines, |_| {});
        prop_assert_eq!(ranking.pages, pages.len() as u64);
        for page in &pages {
            let found = score(&written, &page.to_string());
            prop_assert!((found - expected.scores[number(*page) as usize]).abs() < 1e-12);
        }
        lines.sort_by_key(|line| onecopy_core::digest(format!("{seed}{line}").as_bytes()));
        let (_, again) = ranked(folder.path(), &lines, |job| job.threads = 3);
        prop_assert_eq!(written, again, "the same bytes");
    }
}

#[test]
fn links_on_disk_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> = (0u64..3_500_000)
        .map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20)
        .map(|n| format!("{}\t{}", n % 5_000, (n >> 20) % 1_200_000))
        .collect();
    let (plain, written) = ranked(folder.path(), &lines, |_| {});
    let (small, again) =
        ranked(folder.path(), &lines, |job| (job.memory_bytes, job.threads) = (LEAST_MEMORY_BYTES, 2));
    assert!(small.out_of_core && !plain.out_of_core);
    assert!(written == again, "the same bytes");
    assert_eq!(plain.changes, small.changes);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left behind");
}

//! Plans against brute force: runs, reached cells, and pairs that must meet.

use proptest::prelude::*;

use super::super::{PageLengths, generated_lengths, plan_figures, variation};
use super::*;
use crate::hash::repeated;
use crate::similarity::measure::resemblance;

fn line(lengths: &[u32]) -> Vec<LengthVector> {
    lengths.iter().map(|&length| LengthVector([length, 0, 0])).collect()
}

#[test]
fn machines_have_runs_of_cells() {
    let pages = line(&[10, 10, 20, 30, 30, 30, 40]);
    let cells = Cells::new(&pages, 0.9, 1);
    assert_eq!(cells.cuts(), [[20, 30, 40]]);
    let counts = cells.counts(&pages);
    assert_eq!(counts, [2, 1, 3, 1]);
    let plan = PartitionPlan::new(cells, &counts, 2);
    assert_eq!((plan.loads(&counts), imbalance(&plan.loads(&counts))), (vec![3, 4], 8.0 / 7.0));
    let many = PartitionPlan::new(plan.cells.clone(), &counts, 9);
    assert_eq!(many.loads(&counts), [3, 3, 1, 0, 0, 0, 0, 0, 0], "no more than the fullest cell");
    assert_eq!(many.machine(3), 2);
}

#[test]
fn figures_as_computed_by_hand() {
    let pages = line(&[10, 20, 40, 80]);
    let cells = Cells::new(&pages, 0.9, 1);
    let counts = cells.counts(&pages);
    let plan = PartitionPlan::new(cells, &counts, 2);
    // 20 has room for 10 missing ones, and reaches from 10 to 40; 40 reaches from 20 to 80.
    let figures = plan_figures(&plan, &counts, &line(&[20, 40]), &Reach::Lossless { threshold: 0.5 });
    assert_eq!((figures.cells, figures.machines_used, figures.imbalance), (4, 2, 1.0));
    assert_eq!((figures.replication, figures.communication_saved, figures.speedup), (2.0, 0.0, 2.0));
    assert_eq!((figures.pages_met, figures.work_imbalance), (0.75, 1.0));
    let near = Reach::Published { threshold: 0.9, rho: 1.1 };
    let figures = plan_figures(&plan, &counts, &line(&[20, 40]), &near);
    // The slice before that of the page ends just below its length.
    assert_eq!((figures.replication, figures.communication_saved, figures.pages_met), (1.5, 0.5, 0.5));
}

#[test]
fn rho_and_its_parts() {
    assert!((rho(0.1, 0.05) - 1.1 * 1.05 / (0.9 * 0.95)).abs() < 1e-12);
    let page = |words, shingles| PageLengths { words: LengthVector(words), shingles: LengthVector(shingles) };
    let sample = [page([10, 10, 10], [9, 9, 9])];
    let found = variation(&sample, 3);
    assert!(found.delta.abs() < 1e-12 && (found.epsilon - 0.1).abs() < 1e-12);
    assert!((variation(&[page([20, 10, 30], [0; 3])], 3).delta - 1.0).abs() < 1e-12);
    assert_eq!(variation(&sample, 1).delta, 0.0, "one dimension has everything");
}

#[test]
fn generated_pages_have_published_lengths() {
    let pages: Vec<PageLengths> = (0..20_000).map(|number| generated_lengths(5, number)).collect();
    let words: Vec<u64> = pages.iter().map(|page| page.words.total()).collect();
    assert!(words.iter().all(|words| (20..=1686).contains(words)));
    let near = |from: u64, to: u64| words.iter().filter(|words| (from..to).contains(words)).count();
    assert!(near(200, 280) > near(100, 180) && near(200, 280) > near(320, 400));
    assert!(pages.iter().all(|page| page.shingles.total() <= page.words.total() + 1));
    assert_ne!(generated_lengths(5, 0), generated_lengths(6, 0));
}

/// The least load of the fullest machine, by trying every way to cut.
fn fullest(counts: &[u64], machines: usize) -> u64 {
    if machines == 1 || counts.is_empty() {
        return counts.iter().sum();
    }
    let cut = |at: usize| counts[..at].iter().sum::<u64>().max(fullest(&counts[at..], machines - 1));
    (0..=counts.len()).map(cut).min().unwrap_or(0)
}

/// All cells that a page reaches, by looking at each.
fn reached_cells(cells: &Cells, page: &LengthVector, reach: &Reach) -> Vec<u32> {
    let mut found = Vec::new();
    cells.reached(page, reach, |first, last| found.extend(first..=last));
    found
}

proptest! {
    #[test]
    fn runs_are_as_even_as_possible(counts in prop::collection::vec(0..20u64, 1..9), machines in 1..5usize) {
        let lengths: Vec<u32> = (0..counts.len() as u32).map(|cell| 1 << cell).collect();
        let plan = PartitionPlan::new(Cells::new(&line(&lengths), 1.0, 1), &counts, machines);
        let loads = plan.loads(&counts);
        prop_assert_eq!(loads.iter().sum::<u64>(), counts.iter().sum::<u64>());
        prop_assert_eq!(loads.iter().max().copied(), Some(fullest(&counts, machines)));
    }

    #[test]
    fn pages_reach_all_cells_within_the_bound(
        sample in prop::collection::vec([0..60u32, 0..60u32, 0..60u32], 1..30),
        page in [0..60u32, 0..60u32, 0..60u32],
        dimensions in 1..=DIMENSIONS,
        ratio in 0.5..=1.0f64,
        threshold in 0.5..=1.0f64,
        rho in 1.0..1.3f64,
        lossless in any::<bool>(),
    ) {
        let sample: Vec<LengthVector> = sample.into_iter().map(LengthVector).collect();
        let cells = Cells::new(&sample, ratio, dimensions);
        let reach = if lossless { Reach::Lossless { threshold } } else { Reach::Published { threshold, rho } };
        let page = LengthVector(page);
        let found = reached_cells(&cells, &page, &reach);
        prop_assert!(found.is_sorted_by(|a, b| a < b) && found.contains(&cells.cell(&page)));
        let own = folded(&page, dimensions);
        for other in &sample {
            let lengths = folded(other, dimensions);
            let pairs = own.iter().zip(&lengths).take(dimensions);
            let within = match reach {
                Reach::Published { .. } => pairs.clone().all(|(&a, &b)| {
                    let (a, b) = (f64::from(a), f64::from(b));
                    b >= a * threshold / rho && b <= a * rho / threshold
                }),
                Reach::Lossless { .. } => {
                    let lacking: u32 = pairs.clone().map(|(&a, &b)| a.saturating_sub(b)).sum();
                    let surplus: u32 = pairs.clone().map(|(&a, &b)| b.saturating_sub(a)).sum();
                    f64::from(lacking) + threshold * f64::from(surplus) <= (1.0 - threshold) * page.total() as f64
                }
            };
            prop_assert!(!within || found.contains(&cells.cell(other)), "{other:?}");
        }
    }

    #[test]
    fn no_similar_page_is_missed(
        common in 0..400u64,
        own in (0..80u64, 0..80u64),
        ratio in 0.5..=1.0f64,
        dimensions in 1..=DIMENSIONS,
        machines in 1..9usize,
        seed in any::<u64>(),
    ) {
        let hashes = |kind: u64, count| (0..count).map(move |n| repeated(seed ^ n, kind));
        let vector = |kind, count| LengthVector::of(hashes(0, common).chain(hashes(kind, count)));
        let (a, b) = (vector(1, own.0), vector(2, own.1));
        let sizes = [own.0, own.1].map(|own| (common + own) as usize);
        let threshold = resemblance(common as usize, sizes[0], sizes[1]).max(f64::MIN_POSITIVE);
        let sample = [a, b, vector(3, 30), vector(4, 200)];
        let cells = Cells::new(&sample, ratio, dimensions);
        let counts = cells.counts(&sample);
        let plan = PartitionPlan::new(cells, &counts, machines);
        let found = reached_cells(&plan.cells, &a, &Reach::Lossless { threshold });
        let machines: Vec<usize> = found.iter().map(|&cell| plan.machine(cell)).collect();
        prop_assert!(machines.contains(&plan.machine(plan.cells.cell(&b))));
    }
}

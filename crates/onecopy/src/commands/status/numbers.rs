//! The numbers of a collection as text, with two small plots.

use std::fmt::Write;

use anyhow::Result;
use onecopy_engine::{Service, Stats};

use crate::plot::plot;
use crate::size::{count, human};

/// The most groups counted for the plot of sizes; more would take too long.
const GROUPS: usize = 1_000_000;
/// Groups read at a time.
const AT_ONCE: usize = 10_000;

/// Groups by size: the first bin has those of two pages, the next those of 3 and 4, then 5 to 8.
pub fn group_sizes(service: &Service) -> Result<Vec<u64>> {
    let (mut bins, mut after, mut seen) = (Vec::new(), 0, 0);
    loop {
        let groups = service.groups(after, AT_ONCE, 2, None)?;
        for group in &groups {
            let bin = (group.pages.max(2) - 1).ilog2() as usize;
            bins.resize(bins.len().max(bin + 1), 0);
            bins[bin] += 1;
        }
        seen += groups.len();
        match groups.last() {
            Some(last) if groups.len() == AT_ONCE && seen < GROUPS => after = last.group,
            _ => return Ok(bins),
        }
    }
}

/// The numbers, ready to print.
pub fn of(stats: &Stats, group_sizes: &[u64]) -> String {
    let mut text = String::new();
    let row = |text: &mut String, label: &str, number: u64, rest: String| {
        let _ = writeln!(text, "{label:>10}  {:>12}  {rest}", count(number));
    };
    let share = |part: u64| format!("{:.1} %", 100.0 * part as f64 / stats.pages.max(1) as f64);
    let per_page = stats.disk_bytes / stats.pages.max(1);
    row(
        &mut text,
        "pages",
        stats.pages,
        format!("{} on disk, {} per page", human(stats.disk_bytes), human(per_page)),
    );
    row(&mut text, "kept", stats.kept, share(stats.kept));
    row(&mut text, "losers", stats.losers, share(stats.losers));
    row(&mut text, "dead", stats.dead, share(stats.dead));
    row(&mut text, "rejected", stats.rejected, share(stats.rejected));
    let largest = format!("largest: {} pages", count(stats.largest_group));
    row(&mut text, "groups", stats.groups, largest);
    let waiting =
        format!("{}; change {} of {} is settled", human(stats.waiting_bytes), stats.settled, stats.accepted);
    row(&mut text, "waiting", stats.waiting, waiting);
    row(&mut text, "feed", stats.feed, "changes of status".into());
    if stats.checked > 0 {
        let failed = format!("{} failed, {} groups repaired", count(stats.failed), count(stats.repaired));
        row(&mut text, "checked", stats.checked, failed);
    }
    let bins =
        [("kept", stats.kept), ("losers", stats.losers), ("dead", stats.dead), ("rejected", stats.rejected)];
    plot("pages by status", &bins.map(|(label, number)| (label.to_owned(), number)), &mut text);
    if !group_sizes.is_empty() {
        let label = |bin: usize| match bin {
            0 => "2".to_owned(),
            bin => format!("{}-{}", (1u64 << bin) + 1, 2u64 << bin),
        };
        let bins: Vec<_> =
            group_sizes.iter().enumerate().map(|(bin, &groups)| (label(bin), groups)).collect();
        plot("groups by number of pages", &bins, &mut text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_plots() {
        let stats = Stats {
            pages: 2_000,
            kept: 1_500,
            losers: 500,
            groups: 3,
            disk_bytes: 4_000_000,
            ..Stats::default()
        };
        let text = of(&stats, &[2, 0, 1]);
        for words in [
            "pages         2,000  4.0 MB on disk, 2.0 kB per page",
            "75.0 %",
            "         2  ████",
            "       5-8  ",
        ] {
            assert!(text.contains(words), "`{words}` is not in\n{text}");
        }
    }
}

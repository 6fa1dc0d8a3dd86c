//! `onecopy rank`: scores pages by their links.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use onecopy_engine::{Ranking, rank_pages};

use crate::args::RankArgs;
use crate::columns::{columns, shown};
use crate::commands::dedup::stop_on_signal;
use crate::commands::{print, report_unreadable};
use crate::size::{count, human};
use crate::terminal::Terminal;

/// The most characters shown of a page's name.
const NAME: usize = 80;
/// Every which iteration is shown, beside the first ones and the last.
const EVERY: usize = 10;

pub fn run(args: &RankArgs) -> Result<ExitCode> {
    let job = args.job()?;
    let terminal = Terminal::new(args.quiet, stop_on_signal());
    let ranking = rank_pages(&job, &terminal)?;
    terminal.end();
    if args.json {
        print(&(serde_json::to_string_pretty(&ranking)? + "\n"))?;
    } else if !args.quiet {
        print(&for_people(&ranking, &job.out))?;
    }
    Ok(report_unreadable(&ranking.counts.unreadable, "`onecopy rank --json`"))
}

fn for_people(ranking: &Ranking, out: &Path) -> String {
    let mut text = String::new();
    for (name, number, note) in numbers(ranking) {
        let _ = writeln!(text, "{name:>10}  {:>12}  {note}", count(number));
    }
    let _ = writeln!(text, "\n iteration        change");
    let last = ranking.changes.len();
    for (change, iteration) in ranking.changes.iter().zip(1..) {
        if iteration <= 3 || iteration % EVERY == 0 || iteration == last {
            let _ = writeln!(text, "{iteration:>10}  {change:>12.2e}");
        }
    }
    let header = ["best pages", "score", "links in"].map(str::to_owned).to_vec();
    let mut rows = vec![header];
    rows.extend(ranking.best.iter().map(|page| {
        vec![shown(&page.page, NAME), format!("{:.3e}", page.pagerank), count(page.links_in.into())]
    }));
    let peak = human(ranking.peak_memory_bytes);
    let _ = write!(
        text,
        "\n{}\n{:.1} s, {:.1} s CPU time, {peak} peak memory{}\n{} has all scores, best first\n",
        columns(&rows, 1),
        ranking.seconds,
        ranking.cpu_seconds,
        if ranking.out_of_core { ", links on disk" } else { "" },
        out.display()
    );
    text
}

/// The numbers of a ranking, each with its name and a remark.
fn numbers(ranking: &Ranking) -> Vec<(&'static str, u64, String)> {
    let counts = &ranking.counts;
    let first = counts.first_rejected.as_deref().map(|first| shown(first, 2 * NAME)).unwrap_or_default();
    let unknown = format!("{} of them only linked to", count(ranking.unknown_pages));
    let mut all = vec![
        ("read", counts.read, String::new()),
        ("rejected", counts.rejected, first),
        ("pages", ranking.pages, unknown),
        ("links", ranking.distinct_links, format!("{} with repeated ones", count(counts.links))),
        ("dangling", ranking.dangling_pages, "pages without a link to another".into()),
        ("self links", counts.own_links, "do not count".into()),
        ("nofollow", counts.nofollow, "do not count; --nofollow counts them".into()),
        (
            "columns",
            counts.extra_columns,
            "lines have more than two; weights and the like do not count".into(),
        ),
        ("merged", ranking.merged_pages, "removed pages of the run".into()),
    ];
    all.retain(|(name, number, _)| *number > 0 || matches!(*name, "read" | "pages" | "links"));
    all
}

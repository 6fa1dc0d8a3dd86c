//! Measures pages per CPU second by method, and the recall that approximate methods report.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::program::{Recall, Run};
use super::{Bench, METHODS, picture};
use crate::table::{Table, count};

/// The goal for `lcs`, in pages per second and core.
const LCS_GOAL: f64 = 2_000.0;
/// The goal for `shingles-b`: its time as a multiple of `jaccard`'s.
const SHINGLES_B_GOAL: f64 = 2.0;

/// Methods that also compare links. Only their time is measured: the labelled sets come from sites that link to
/// themselves.
const LINKING: [&str; 2] = ["links", "mix"];

/// Methods that can miss duplicates. The two search modes of simhash miss different ones.
const APPROXIMATE: [&str; 6] =
    ["shingles-b", "projection-c", "combined", "simhash", "simhash:search=rotate", "lcs"];

/// The time of a method: its fastest run, and the number of runs.
struct Timed {
    method: &'static str,
    best: Option<Run>,
    runs: u32,
}

impl Timed {
    fn pages_per_second(&self) -> Option<f64> {
        self.best.as_ref().map(|run| run.read as f64 / run.cpu_seconds.max(1e-6))
    }
}

pub fn section(bench: &Bench) -> Result<String> {
    let mut timed = vec![];
    for method in METHODS.into_iter().chain(LINKING) {
        eprintln!("time of {method} ...");
        timed.push(time(bench, method)?);
    }
    let name = bench.corpus.file_name().unwrap_or_default().to_string_lossy();
    let mut text = format!(
        "## Speed\n\nOn {name}, one core (`-j 1 --recall-pages 0`), reading and writing included; the least CPU time \
         of {} runs, or of as many as fit into {} s.\n\n",
        bench.runs,
        bench.limit.as_secs()
    );
    text += &format!("{}\n{}\n", table(&timed).markdown(), goals(&timed));
    let bars: Vec<(&str, f64)> =
        timed.iter().filter_map(|one| Some((one.method, one.pages_per_second()?))).collect();
    text += &bench.picture("speed.svg", "Pages a CPU second by method", &picture::bars(&bars, LCS_GOAL))?;
    text += &format!(
        "\n## Recall of approximate methods\n\nOn {name}: the chance that a pair of a similarity is found, by the \
         mathematics; and the share that was, of the pairs of 200 pages with all others, with the interval \
         that holds it by 95 %.\n\n{}",
        recalls(bench)?.markdown()
    );
    Ok(text)
}

/// Runs until there are enough runs, or another could exceed the limit.
fn time(bench: &Bench, method: &'static str) -> Result<Timed> {
    let started = Instant::now();
    let mut timed = Timed { method, best: None, runs: 0 };
    let mut longest = Duration::ZERO;
    while timed.runs < bench.runs && started.elapsed() + longest < bench.limit {
        let begun = Instant::now();
        let left = bench.limit.saturating_sub(started.elapsed());
        let options = ["-j", "1", "--recall-pages", "0"];
        let Some(run) = bench.program.dedup(&bench.corpus, method, &options, left)? else { break };
        longest = longest.max(begun.elapsed());
        timed.runs += 1;
        if timed.best.as_ref().is_none_or(|best| run.cpu_seconds < best.cpu_seconds) {
            timed.best = Some(run);
        }
    }
    Ok(timed)
}

fn pages_per_second(timed: &[Timed], method: &str) -> Option<f64> {
    timed.iter().find(|one| one.method == method)?.pages_per_second()
}

fn table(timed: &[Timed]) -> Table {
    let mut table = Table::new(&["method", "CPU s", "pages a CPU s", "of jaccard's time", "removed", "runs"]);
    let jaccard = pages_per_second(timed, "jaccard");
    for one in timed {
        let cells = match (&one.best, one.pages_per_second()) {
            (Some(run), Some(pages)) => [
                format!("{:.2}", run.cpu_seconds),
                count(pages as u64),
                jaccard.map_or("-".into(), |jaccard| format!("{:.2} x", jaccard / pages)),
                count(run.removed),
                one.runs.to_string(),
            ],
            _ => ["passed the limit", "-", "-", "-", "0"].map(str::to_owned),
        };
        table.push([one.method.to_owned()].into_iter().chain(cells).collect());
    }
    table
}

/// Whether the goals are met.
fn goals(timed: &[Timed]) -> String {
    let said = |met: bool| if met { "met" } else { "missed" };
    let lcs = match pages_per_second(timed, "lcs") {
        Some(pages) => format!("{} ({})", said(pages >= LCS_GOAL), count(pages as u64)),
        None => "missed (passed the limit)".to_owned(),
    };
    let both = pages_per_second(timed, "jaccard").zip(pages_per_second(timed, "shingles-b"));
    let shingles = match both.map(|(jaccard, shingles)| jaccard / shingles) {
        Some(times) => format!("{} ({times:.2} times)", said(times <= SHINGLES_B_GOAL)),
        None => "not measured".to_owned(),
    };
    format!(
        "Goals: lcs at least {} pages a second a core: {lcs}. shingles-b within {SHINGLES_B_GOAL} times of \
         jaccard: {shingles}.\n",
        count(LCS_GOAL as u64)
    )
}

fn recalls(bench: &Bench) -> Result<Table> {
    let mut table = Table::new(&["method", "of", "expected", "pairs", "measured", "interval"]);
    for method in APPROXIMATE {
        eprintln!("recall of {method} ...");
        let run = bench.program.dedup(&bench.corpus, method, &[], bench.limit)?;
        let cells = match run.and_then(|run| run.recall) {
            Some(recall) => recall_cells(&recall),
            None => ["-", "-", "-", "-", "-"].map(str::to_owned),
        };
        table.push([method.to_owned()].into_iter().chain(cells).collect());
    }
    Ok(table)
}

fn recall_cells(recall: &Recall) -> [String; 5] {
    let ends = [recall.expected.first(), recall.expected.last()].into_iter().flatten();
    let expected = ends.map(|end| format!("{:.3} at {:.3}", end.chance, end.similarity));
    let measured = recall.measured.as_ref();
    let interval = measured.and_then(|measured| measured.interval);
    [
        recall.of.clone(),
        expected.collect::<Vec<_>>().join(", "),
        measured.map_or("-".into(), |measured| count(measured.pairs)),
        super::share(measured.and_then(|measured| measured.recall)),
        interval.map_or("-".into(), |[low, high]| format!("{low:.3} to {high:.3}")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(method: &'static str, cpu_seconds: f64) -> Timed {
        let best = Some(Run { read: 20_000, removed: 5_000, cpu_seconds, recall: None });
        Timed { method, best, runs: 3 }
    }

    #[test]
    fn goals_are_met_or_missed() {
        let fast = goals(&[timed("jaccard", 1.0), timed("shingles-b", 2.0), timed("lcs", 10.0)]);
        assert!(fast.contains("core: met (2,000)") && fast.contains("jaccard: met (2.00 times)"), "{fast}");
        let slow = goals(&[timed("jaccard", 1.0), timed("shingles-b", 2.1), timed("lcs", 10.1)]);
        assert_eq!(slow.matches("missed").count(), 2, "{slow}");
    }

    #[test]
    fn a_method_that_passed_the_limit_is_said_to_have() {
        let rows =
            [timed("jaccard", 2.0), Timed { method: "cosine", best: None, runs: 0 }, timed("lcs", 4.0)];
        let text = table(&rows).aligned();
        assert!(text.lines().any(|line| line.starts_with("cosine") && line.contains("passed the limit")));
        assert!(text.lines().any(|line| line.starts_with("lcs") && line.contains("2.00 x")), "{text}");
    }
}

//! `onecopy partitions apply`.

use std::process::ExitCode;

use anyhow::Result;
use onecopy_core::{PlanFigures, plan_figures};
use onecopy_engine::PartitionsFile;
use serde_json::json;

use super::figure::shares_figure;
use super::source::Source;
use crate::args::PartitionsApplyArgs;
use crate::columns::columns;
use crate::commands::{WrongCall, print};
use crate::picture::{picture_format, write_picture};
use crate::size::count;

/// So many pages visit machines.
const VISITING: usize = 20_000;
/// The most machines that are listed.
const LISTED: usize = 64;

pub fn run(args: &PartitionsApplyArgs) -> Result<ExitCode> {
    args.lengths.plot.as_deref().map(picture_format).transpose()?;
    let file = PartitionsFile::read(&args.plan)?;
    let source = Source::read(&args.lengths, file.shingle)?;
    if source.sample.lengths.is_empty() {
        return Err(
            WrongCall("no page of the input has words, so that the plan applies to nothing".into()).into()
        );
    }
    let plan = file.plan();
    let counts = source.counts(&[(file.bound, &plan.cells)]).swap_remove(0);
    let mut visiting = source.vectors(file.bound);
    visiting.truncate(VISITING);
    let figures = plan_figures(&plan, &counts, &visiting, &file.reach());
    let applied = Applied::new(&file, &plan.loads(&counts), figures);
    if let Some(path) = &args.lengths.plot {
        write_picture(path, &shares_figure(&file.shares, &applied.shares))?;
    }
    if args.lengths.json {
        let value = json!({"pages": source.sample.pages, "sample": source.sample.lengths.len(),
            "planned_imbalance": applied.planned, "drift": applied.drift, "figures": applied.figures,
            "planned_shares": file.shares, "shares": applied.shares});
        print(&(serde_json::to_string_pretty(&value)? + "\n"))?;
    } else if !args.lengths.quiet {
        print(&for_people(&file, &applied, source.sample.pages))?;
    }
    Ok(source.code())
}

/// A plan on other pages.
struct Applied {
    figures: PlanFigures,
    shares: Vec<f64>,
    /// The imbalance when it was planned.
    planned: f64,
    drift: f64,
}

impl Applied {
    fn new(file: &PartitionsFile, loads: &[u64], figures: PlanFigures) -> Applied {
        let total = loads.iter().sum::<u64>().max(1) as f64;
        let shares: Vec<f64> = loads.iter().map(|&load| load as f64 / total).collect();
        let moved: f64 = shares.iter().zip(&file.shares).map(|(now, planned)| (now - planned).abs()).sum();
        let planned = file.shares.iter().copied().fold(0.0, f64::max) * file.shares.len() as f64;
        Applied { figures, shares, planned, drift: moved / 2.0 }
    }
}

fn for_people(file: &PartitionsFile, applied: &Applied, pages: u64) -> String {
    let mut table = vec![["machine", "planned", "now"].map(str::to_owned).to_vec()];
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    let both = file.shares.iter().zip(&applied.shares).enumerate();
    let row = |(machine, (planned, now)): (usize, (&f64, &f64))| {
        vec![machine.to_string(), percent(*planned), percent(*now)]
    };
    table.extend(both.take(LISTED).map(row));
    let more = file.shares.len().saturating_sub(LISTED);
    let more = if more > 0 { format!("and {more} more; --json has all\n") } else { String::new() };
    let figures = &applied.figures;
    format!(
        "{}{more}\n{} pages on {} machines\n imbalance  {:.3}, planned {:.3}\n     drift  {} of pages would have to move\n    \
         visits  {:.1} machines for each page; {} of the communication saved\n",
        columns(&table, 1),
        count(pages),
        count(file.machines as u64),
        figures.imbalance,
        applied.planned,
        percent(applied.drift),
        figures.replication,
        percent(figures.communication_saved)
    )
}

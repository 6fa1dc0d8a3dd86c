//! `onecopy partitions plan`.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::Result;
use onecopy_core::{
    Cells, ConfigError, LengthVector, PartitionPlan, PlanFigures, Reach, Variation, plan_figures, rho,
    variation,
};
use onecopy_engine::{BoundKind, Error, PartitionsFile};
use serde::Serialize;
use serde_json::json;

use super::figure::figure;
use super::source::Source;
use crate::args::{BoundArg, PartitionsPlanArgs};
use crate::columns::columns;
use crate::commands::{WrongCall, may_write, print};
use crate::picture::{picture_format, write_picture};
use crate::size::count;

/// The largest factor that the authors of the published bound tested.
const RHO_MOST: f64 = 1.3;
/// So many pages of the sample visit machines.
const VISITING: usize = 20_000;
/// The most machines that are listed.
const LISTED: usize = 64;

pub fn run(args: &PartitionsPlanArgs) -> Result<ExitCode> {
    check(args)?;
    let source = Source::read(&args.lengths, args.shingle)?;
    if source.sample.lengths.is_empty() {
        return Err(WrongCall("no page of the input has words, so that nothing can be planned".into()).into());
    }
    let rows = rows(args, &source);
    if let (Some(path), Some(row)) = (&args.save, rows.last()) {
        PartitionsFile::new(&row.plan, row.bound, &row.reach, args.shingle, &row.loads).write(path)?;
    }
    if let Some(path) = &args.lengths.plot {
        write_picture(path, &figure(&rows))?;
    }
    if args.lengths.json {
        let sample = source.sample.lengths.len();
        let value = json!({"read": source.sample.read, "pages": source.sample.pages, "sample": sample,
            "rejected": source.sample.rejected, "threshold": args.threshold, "plans": rows});
        print(&(serde_json::to_string_pretty(&value)? + "\n"))?;
    } else if !args.lengths.quiet {
        print(&for_people(args, &source, &rows))?;
    }
    Ok(source.code())
}

fn check(args: &PartitionsPlanArgs) -> Result<()> {
    args.lengths.plot.as_deref().map(picture_format).transpose()?;
    if let Some(path) = &args.save {
        may_write(path, args.overwrite)?;
    }
    let within = |value: f64| value > 0.0 && value <= 1.0;
    if !within(args.threshold) {
        return Err(Error::from(ConfigError::Threshold { value: args.threshold, usual: 0.8 }).into());
    }
    if !(1..=onecopy_core::SHINGLE_LENGTH_LIMIT).contains(&args.shingle) {
        return Err(Error::from(ConfigError::ShingleLength { length: args.shingle }).into());
    }
    match (args.ratio, args.rho) {
        (Some(ratio), _) if !within(ratio) => {
            Err(WrongCall(format!("--ratio {ratio}: give a value above 0 and up to 1, such as 0.8")).into())
        }
        (_, Some(rho)) if !(rho.is_finite() && rho >= 1.0) => {
            Err(WrongCall(format!("--rho {rho}: give a factor from 1 on, such as 1.1")).into())
        }
        _ => Ok(()),
    }
}

/// A plan and its figures.
#[derive(Serialize)]
pub struct PlanRow {
    pub bound: BoundKind,
    pub dimensions: usize,
    pub machines: usize,
    /// δ, ε and ρ of the published bound.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    variation: Option<Variation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rho: Option<f64>,
    /// How many slices each dimension has.
    slices: Vec<usize>,
    #[serde(flatten)]
    pub figures: PlanFigures,
    /// The pages of each machine.
    pub loads: Vec<u64>,
    #[serde(skip)]
    reach: Reach,
    #[serde(skip)]
    plan: PartitionPlan,
}

/// A plan for each bound, number of dimensions and number of machines.
fn rows(args: &PartitionsPlanArgs, source: &Source) -> Vec<PlanRow> {
    let bounds: &[BoundKind] = match args.bound {
        BoundArg::Both => &[BoundKind::Published, BoundKind::Lossless],
        BoundArg::Published => &[BoundKind::Published],
        BoundArg::Lossless => &[BoundKind::Lossless],
    };
    let ratio = args.ratio.unwrap_or(args.threshold);
    let mut mappings: Vec<(BoundKind, Cells)> = Vec::new();
    for &bound in bounds {
        let vectors = source.vectors(bound);
        let cells = |&dimensions: &u8| (bound, Cells::new(&vectors, ratio, dimensions.into()));
        mappings.extend(args.dimensions.iter().map(cells));
    }
    let borrowed: Vec<(BoundKind, &Cells)> = mappings.iter().map(|(bound, cells)| (*bound, cells)).collect();
    let counts = source.counts(&borrowed);
    let mut rows = Vec::new();
    for ((bound, cells), counts) in mappings.iter().zip(&counts) {
        let mapping = Mapping::new(args, source, *bound, cells, counts);
        rows.extend(args.machines.iter().map(|&machines| mapping.row(machines as usize)));
    }
    rows
}

/// Cells, their pages, and how far pages reach.
struct Mapping<'a> {
    bound: BoundKind,
    cells: &'a Cells,
    counts: &'a [u64],
    visiting: Vec<LengthVector>,
    variation: Option<Variation>,
    reach: Reach,
}

impl<'a> Mapping<'a> {
    fn new(
        args: &PartitionsPlanArgs,
        source: &Source,
        bound: BoundKind,
        cells: &'a Cells,
        counts: &'a [u64],
    ) -> Mapping<'a> {
        let threshold = args.threshold;
        let (variation, reach) = match bound {
            BoundKind::Lossless => (None, Reach::Lossless { threshold }),
            BoundKind::Published => {
                let found = variation(&source.sample.lengths, cells.cuts().len());
                let rho = args.rho.unwrap_or_else(|| usual_rho(&found));
                (Some(found), Reach::Published { threshold, rho })
            }
        };
        let mut visiting = source.vectors(bound);
        visiting.truncate(VISITING);
        Mapping { bound, cells, counts, visiting, variation, reach }
    }

    fn row(&self, machines: usize) -> PlanRow {
        let plan = PartitionPlan::new(self.cells.clone(), self.counts, machines);
        let rho = match self.reach {
            Reach::Published { rho, .. } => Some(rho),
            Reach::Lossless { .. } => None,
        };
        PlanRow {
            bound: self.bound,
            dimensions: self.cells.cuts().len(),
            machines,
            variation: self.variation,
            rho,
            slices: self.cells.cuts().iter().map(|cuts| cuts.len() + 1).collect(),
            figures: plan_figures(&plan, self.counts, &self.visiting, &self.reach),
            loads: plan.loads(self.counts),
            reach: self.reach,
            plan,
        }
    }
}

/// The factor of the sample, within what was tested. A page without words in a dimension makes it infinite.
fn usual_rho(found: &Variation) -> f64 {
    let factor = rho(found.delta.min(0.99), found.epsilon.min(0.99));
    factor.clamp(1.0, RHO_MOST)
}

fn for_people(args: &PartitionsPlanArgs, source: &Source, rows: &[PlanRow]) -> String {
    let header = [
        "bound",
        "dimensions",
        "machines",
        "cells",
        "used",
        "imbalance",
        "speed-up",
        "visits",
        "saved",
        "met",
    ];
    let mut table = vec![header.map(str::to_owned).to_vec()];
    table.extend(rows.iter().map(line));
    let (pages, sample) = (source.sample.pages, source.sample.lengths.len() as u64);
    let mut text =
        format!("{} pages, lengths of {}\n\n{}\n", count(pages), count(sample), columns(&table, 1));
    for row in rows.iter().filter(|row| row.machines == rows[0].machines) {
        if let (Some(Variation { delta, epsilon }), Some(rho)) = (row.variation, row.rho) {
            let dimensions = row.dimensions;
            let _ = writeln!(
                text,
                "{dimensions}D: delta {delta:.3}, epsilon {epsilon:.3}, rho {rho:.3} (formula {:.3})",
                onecopy_core::rho(delta.min(0.99), epsilon.min(0.99))
            );
        }
    }
    if let [row] = rows {
        text += &machines(row);
    }
    if let Some(path) = &args.save {
        let _ = writeln!(text, "{} has the plan of the last line", path.display());
    }
    text
}

fn line(row: &PlanRow) -> Vec<String> {
    let figures = &row.figures;
    vec![
        name(row.bound).into(),
        row.dimensions.to_string(),
        row.machines.to_string(),
        count(figures.cells),
        count(figures.machines_used),
        format!("{:.3}", figures.imbalance),
        format!("{:.1}", figures.speedup),
        format!("{:.1}", figures.replication),
        format!("{:.1} %", 100.0 * figures.communication_saved),
        format!("{:.1} %", 100.0 * figures.pages_met),
    ]
}

pub fn name(bound: BoundKind) -> &'static str {
    match bound {
        BoundKind::Published => "published",
        BoundKind::Lossless => "lossless",
    }
}

fn machines(row: &PlanRow) -> String {
    let total = row.loads.iter().sum::<u64>().max(1) as f64;
    let mut table = vec![["machine", "pages", "share"].map(str::to_owned).to_vec()];
    table.extend(row.loads.iter().enumerate().take(LISTED).map(|(machine, &load)| {
        vec![machine.to_string(), count(load), format!("{:.2} %", 100.0 * load as f64 / total)]
    }));
    let more = row.loads.len().saturating_sub(LISTED);
    let more = if more > 0 { format!("and {more} more; --json has all\n") } else { String::new() };
    format!("\n{}{more}\n", columns(&table, 1))
}

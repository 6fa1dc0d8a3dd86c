//! Where the lengths of pages come from: pages of files, or generated ones.

use std::process::ExitCode;

use anyhow::{Context, Result};
use onecopy_core::{Cells, LengthVector, PageLengths, ShingleRules, generated_lengths};
use onecopy_engine::{BoundKind, LengthSample, count_generated, length_vector, plan_import, sample_lengths};

use crate::args::LengthArgs;
use crate::commands::dedup::stop_on_signal;
use crate::commands::import::{Rejected, Spool};
use crate::commands::report_unreadable;
use crate::terminal::Terminal;

/// Lengths of pages.
pub struct Source {
    pub sample: LengthSample,
    /// The seed and the number of generated pages, if they are generated.
    generated: Option<(u64, u64)>,
}

impl Source {
    /// Reads or generates the sample.
    pub fn read(args: &LengthArgs, shingle: usize) -> Result<Source> {
        if let Some(pages) = args.generate {
            let lengths = (0..pages.min(args.sample)).map(|number| generated_lengths(args.seed, number));
            let sample = LengthSample::of(lengths.collect(), pages);
            return Ok(Source { sample, generated: Some((args.seed, pages)) });
        }
        let terminal = Terminal::new(args.quiet || args.json, stop_on_signal());
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let spool = Spool::beside(&folder.path().join("pages"), &args.inputs)?;
        let plan = plan_import(&args.job(&spool.folder), &terminal)?;
        let mut rejected = Rejected::new(None)?;
        let rules = ShingleRules { length: shingle, ..ShingleRules::default() };
        let sample = sample_lengths(&plan, &rules, args.sample as usize, &terminal, &mut |rejection| {
            rejected.take(rejection)
        });
        terminal.end();
        Ok(Source { sample: sample?, generated: None })
    }

    /// The vectors of the sample that a bound looks at.
    pub fn vectors(&self, bound: BoundKind) -> Vec<LengthVector> {
        self.sample.lengths.iter().map(|page: &PageLengths| length_vector(page, bound)).collect()
    }

    /// How many pages are in each cell: all generated ones, or those of the sample.
    pub fn counts(&self, mappings: &[(BoundKind, &Cells)]) -> Vec<Vec<u64>> {
        match self.generated {
            Some((seed, pages)) => {
                let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
                count_generated(seed, pages, mappings, threads)
            }
            None => mappings.iter().map(|(bound, cells)| cells.counts(&self.vectors(*bound))).collect(),
        }
    }

    /// Names inputs that could not be read. Returns the exit code.
    pub fn code(&self) -> ExitCode {
        report_unreadable(&self.sample.unreadable, "--json")
    }
}

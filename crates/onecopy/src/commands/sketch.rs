//! `onecopy sketch`: reads pages once, for `onecopy dedup --against`.

use std::process::ExitCode;

use anyhow::Result;
use onecopy_engine::{Outcome, sketch};

use super::dedup::{judged, stop_on_signal};
use crate::args::SketchArgs;
use crate::commands::print;
use crate::size::count;
use crate::terminal::Terminal;

pub fn run(args: &SketchArgs) -> Result<ExitCode> {
    let job = args.job()?;
    let terminal = Terminal::new(args.quiet, stop_on_signal()).within(job.memory_bytes);
    let outcome = sketch(&job, &terminal)?;
    terminal.end();
    let (report, out) = (outcome.report(), job.out.display());
    if args.json {
        print(&(serde_json::to_string_pretty(report)? + "\n"))?;
    } else if !args.quiet {
        let again = match outcome {
            Outcome::AlreadyDone(_) => "were there already",
            Outcome::Finished(_) => "are there now",
        };
        let [pages, rejected] = [report.counts.kept, report.counts.rejected].map(count);
        print(&format!("{out}: sketches of {pages} pages {again}; rejected: {rejected}\n"))?;
    }
    let place = job.out.join("report.json").display().to_string();
    Ok(judged(report, &place, &format!("see the reasons in {}", job.out.join("rejected.jsonl").display())))
}

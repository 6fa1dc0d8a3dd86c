//! `onecopy dedup`: runs a job and prints its report.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use onecopy_engine::{Job, Outcome, Report, dedup, dedup_into};

use crate::args::DedupArgs;
use crate::commands::{WrongCall, print, report_unreadable};
use crate::summary;
use crate::tell::tell;
use crate::terminal::Terminal;

pub fn run(args: &DedupArgs) -> Result<ExitCode> {
    let job = args.job()?;
    if args.to_stdout() {
        return to_stdout(args, job);
    }
    let stop = stop_on_signal();
    let terminal = Terminal::new(args.quiet, stop).within(job.memory_bytes);
    let outcome = dedup(&job, &terminal)?;
    terminal.end();
    let report = outcome.report();
    if args.json {
        print(&(serde_json::to_string_pretty(report)? + "\n"))?;
    } else if !args.quiet {
        if let Outcome::AlreadyDone(_) = outcome {
            let out = job.out.display();
            print(&format!("{out} already has the results of this run; nothing was repeated.\n\n"))?;
        }
        print(&summary::of(report, Some(&job.out)))?;
        if args.timings {
            print(&summary::timings(report))?;
        }
    }
    let list = job.out.join("rejected.jsonl");
    Ok(judged(
        report,
        &job.out.join("report.json").display().to_string(),
        &format!("see the reasons in {}", list.display()),
    ))
}

/// Writes kept pages to standard output and everything else to standard error. The lists do not outlive the run.
fn to_stdout(args: &DedupArgs, mut job: Job) -> Result<ExitCode> {
    if args.lists_only || !args.lists.is_empty() || args.overwrite {
        let reason = "--out - keeps no lists and no folder: leave --lists-only, --lists and --overwrite out";
        return Err(WrongCall(reason.into()).into());
    }
    let folder = tempfile::Builder::new().prefix("onecopy-").tempdir()?;
    job.out = folder.path().join("out");
    let terminal = Terminal::new(args.quiet, stop_on_signal()).within(job.memory_bytes);
    let outcome = dedup_into(&job, &terminal, &mut BufWriter::new(io::stdout().lock()))?;
    terminal.end();
    let report = outcome.report();
    let text = if args.json {
        format!("{}\n", serde_json::to_string_pretty(report)?)
    } else if args.quiet {
        String::new()
    } else {
        let timings = if args.timings { summary::timings(report) } else { String::new() };
        summary::of(report, None) + &timings
    };
    io::stderr().write_all(text.as_bytes()).context("cannot write the report to standard error")?;
    Ok(judged(report, "the report", "give --out and a folder to see the reasons"))
}

/// The exit code of a finished run. It fails if an input could not be read, or no record could be judged. `place` has
/// the report.
pub fn judged(report: &Report, place: &str, remedy: &str) -> ExitCode {
    let code = report_unreadable(&report.unreadable, place);
    if report.read != report.counts.rejected {
        return code;
    }
    tell!("onecopy: none of the {} records could be judged: {remedy}", report.read);
    ExitCode::FAILURE
}

/// A flag that Ctrl-C or a termination signal sets. A second signal ends the process at once.
pub fn stop_on_signal() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let handler = move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        tell!("onecopy: cannot handle Ctrl-C, which will end the run at once: {error}");
    }
    stop
}

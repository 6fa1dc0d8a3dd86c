//! `onecopy dedup`: runs a job and prints its report.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use onecopy_engine::{Outcome, dedup};

use crate::args::DedupArgs;
use crate::commands::{print, report_unreadable};
use crate::summary;
use crate::terminal::Terminal;

pub fn run(args: &DedupArgs) -> Result<ExitCode> {
    let job = args.job()?;
    let stop = stop_on_signal();
    let terminal = Terminal::new(args.quiet, stop);
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
        print(&summary::of(report, &job.out))?;
    }
    let code = report_unreadable(&report.unreadable, &job.out.join("report.json").display().to_string());
    if report.read == report.counts.rejected {
        let list = job.out.join("rejected.jsonl");
        eprintln!(
            "onecopy: none of the {} records could be judged: see the reasons in {}",
            report.read,
            list.display()
        );
        return Ok(ExitCode::FAILURE);
    }
    Ok(code)
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
        eprintln!("onecopy: cannot handle Ctrl-C, which will end the run at once: {error}");
    }
    stop
}

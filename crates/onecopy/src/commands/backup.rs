//! `onecopy backup` and `onecopy restore`: snapshots of collections, and collections made of them.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::Result;
use onecopy_engine::{BackedUp, SnapshotLine, backup, list_backups, restore};

use crate::args::{BackupArgs, RestoreArgs};
use crate::columns::shown;
use crate::commands::dedup::stop_on_signal;
use crate::commands::print;
use crate::size::{count, human};
use crate::terminal::Terminal;

/// The most characters shown of a reason.
const REASON: usize = 200;

pub fn run(args: &BackupArgs) -> Result<ExitCode> {
    let Some(data) = args.data.clone() else { return list(args) };
    let terminal = Terminal::new(args.quiet, stop_on_signal());
    let done = backup(&args.job(data), &terminal);
    terminal.end();
    let done = done?;
    if args.json {
        print(&(serde_json::to_string(&done)? + "\n"))?;
    } else if !args.quiet {
        print(&for_people(&done))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn list(args: &BackupArgs) -> Result<ExitCode> {
    let lines = list_backups(&args.depot())?;
    let mut text = String::new();
    for line in &lines {
        let _ = match args.json {
            true => writeln!(text, "{}", serde_json::to_string(line)?),
            false => writeln!(text, "{}", listed(line)),
        };
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

pub fn run_restore(args: &RestoreArgs) -> Result<ExitCode> {
    let terminal = Terminal::new(args.quiet, stop_on_signal());
    let restored = restore(&args.job(), &terminal);
    terminal.end();
    let line = restored?;
    if args.json {
        print(&(serde_json::to_string(&line)? + "\n"))?;
    } else if !args.quiet {
        print(&format!("Restored into {}: {}\n", args.data.display(), listed(&line)))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn listed(line: &SnapshotLine) -> String {
    match &line.damaged {
        Some(reason) => format!("{}: cannot be used: {}", line.snapshot, shown(reason, REASON)),
        None => format!(
            "{}: pages {}, feed number {}, {}, collection {}",
            line.snapshot,
            count(line.pages),
            line.feed,
            human(line.bytes),
            if line.collection.is_empty() { "without a name" } else { &line.collection },
        ),
    }
}

fn for_people(done: &BackedUp) -> String {
    let mut text = format!("{}\n", listed(&done.line));
    let (new, all, bytes) = (count(done.new_pieces), count(done.pieces), human(done.new_bytes));
    let _ = writeln!(text, "Written: {new} of {all} pieces, {bytes}. The others were there.");
    if done.removed > 0 {
        let _ = writeln!(text, "Removed: {} older snapshots.", count(done.removed));
    }
    text
}

//! `onecopy tag`: writes a tag for each page of files.

use std::process::ExitCode;

use anyhow::Result;
use onecopy_engine::{plan_import, tag_pages};
use serde_json::json;

use crate::args::TagArgs;
use crate::commands::dedup::stop_on_signal;
use crate::commands::import::{Rejected, Spool};
use crate::commands::{print, report_unreadable};
use crate::size::counted;
use crate::tell::tell;
use crate::terminal::Terminal;

pub fn run(args: &TagArgs) -> Result<ExitCode> {
    let rules = args.rules();
    rules.check().map_err(onecopy_engine::Error::from)?;
    // The tags get their name when they are complete. A device such as /dev/stdout would be lost.
    if args.out.exists() && !(args.overwrite && args.out.is_file()) {
        return Err(onecopy_engine::Error::FileExists { path: args.out.clone() }.into());
    }
    let terminal = Terminal::new(args.quiet, stop_on_signal());
    let spool = Spool::beside(&args.out, &args.inputs)?;
    let plan = plan_import(&args.job(spool.folder.clone()), &terminal)?;
    let mut rejected = Rejected::new(args.rejected.as_deref())?;
    let tagged = tag_pages(&plan, &rules, &args.out, &terminal, &mut |rejection| rejected.take(rejection));
    terminal.end();
    let tagged = tagged?;
    rejected.finish()?;
    if args.json {
        let summary = json!({"tagged": tagged, "first_rejected": rejected.first});
        print(&(serde_json::to_string_pretty(&summary)? + "\n"))?;
    } else if !args.quiet {
        let mut text = format!(
            "{} of {} in {}\n",
            counted(tagged.tagged, "tag"),
            counted(tagged.read, "record"),
            args.out.display()
        );
        rejected.show(tagged.rejected, args.rejected.as_deref(), &mut text);
        print(&text)?;
    }
    let code = report_unreadable(&tagged.unreadable, "--json");
    if tagged.tagged == 0 && tagged.rejected > 0 {
        tell!("onecopy: no tag could be made of {}", counted(tagged.read, "record"));
        return Ok(ExitCode::FAILURE);
    }
    Ok(code)
}

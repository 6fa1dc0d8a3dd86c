//! `onecopy status`: shows the status of pages, or the numbers of a collection.

mod numbers;

use std::process::ExitCode;

use anyhow::Result;
use onecopy_engine::{Service, Status};

use crate::args::StatusArgs;
use crate::columns::{columns, shown};
use crate::commands::collection::{line, name};
use crate::commands::{collection, print};
use crate::tell::tell;

/// The most characters shown of a name.
const NAME: usize = 100;

pub fn run(args: &StatusArgs) -> Result<ExitCode> {
    let service = collection::open(&args.collection.data)?;
    let code = if args.pages.is_empty() { all(&service, args)? } else { pages(&service, args)? };
    service.close()?;
    Ok(code)
}

fn all(service: &Service, args: &StatusArgs) -> Result<ExitCode> {
    let stats = service.stats();
    let text = match args.json {
        true => serde_json::to_string_pretty(&stats)? + "\n",
        false => numbers::of(&stats, &numbers::group_sizes(service)?),
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Exits with 1 if a page is unknown, so that a script notices.
fn pages(service: &Service, args: &StatusArgs) -> Result<ExitCode> {
    let names: Vec<&str> = args.pages.iter().map(String::as_str).collect();
    let found = service.status(&names, args.verify)?;
    let text = match args.json {
        true => serde_json::to_string_pretty(&found)? + "\n",
        false => for_people(&names, &found),
    };
    print(&text)?;
    let unknown: Vec<&str> =
        names.iter().zip(&found).filter(|(_, status)| status.is_none()).map(|(name, _)| *name).collect();
    for page in &unknown {
        tell!(
            "onecopy: no page is called `{}`: give its id, or its address if it has no id",
            shown(page, NAME)
        );
    }
    Ok(if unknown.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn for_people(names: &[&str], found: &[Option<Status>]) -> String {
    let row = |(asked, status): (&&str, &Option<Status>)| match status {
        Some(status) => {
            let group = status.group.map(|group| format!("group {group}")).unwrap_or_default();
            vec![name(&status.page), line(status), group]
        }
        None => vec![shown(asked, NAME), "unknown".into(), String::new()],
    };
    columns(&names.iter().zip(found).map(row).collect::<Vec<_>>(), 3)
}

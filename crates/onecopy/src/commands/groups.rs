//! `onecopy groups`: lists the groups of a collection, or the pages of one.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::Result;
use onecopy_engine::{GroupLine, GroupView, Service};

use crate::args::GroupsArgs;
use crate::columns::columns;
use crate::commands::collection::{line, name};
use crate::commands::{collection, print};
use crate::size::count;

pub fn run(args: &GroupsArgs) -> Result<ExitCode> {
    let data = &args.collection.data;
    let service = if args.repair { collection::open_alone(data)? } else { collection::open(data)? };
    let text = match args.group {
        Some(group) => one(&service, group, args)?,
        None => list(&service, args)?,
    };
    service.close()?;
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn one(service: &Service, group: u64, args: &GroupsArgs) -> Result<String> {
    let unknown =
        || anyhow::anyhow!("no group has the number {group}: `onecopy groups --data DIR` lists the groups");
    let changed = if args.repair { Some(service.repair(group)?.ok_or_else(unknown)?) } else { None };
    let found = service.group(group)?;
    if found.is_none() && changed.is_none() {
        return Err(unknown());
    }
    if args.json {
        // Null if the repair dissolved the group.
        return Ok(serde_json::to_string_pretty(&found)? + "\n");
    }
    let mut text = changed.map_or(String::new(), |pages| {
        format!("Compared again: {} pages changed their status.\n\n", count(pages))
    });
    match &found {
        Some(found) => text += &view(found),
        None => {
            text += &format!(
                "Group {group} no longer exists: its pages are not similar, or are in other groups.\n"
            )
        }
    }
    Ok(text)
}

fn list(service: &Service, args: &GroupsArgs) -> Result<String> {
    let found = service.groups(args.after, args.limit, args.least, args.search.as_deref())?;
    if args.json {
        return Ok(serde_json::to_string_pretty(&found)? + "\n");
    }
    if found.is_empty() {
        return Ok("No groups found.\n".into());
    }
    let mut text = table(&found);
    if let Some(last) = found.last().filter(|_| found.len() >= args.limit) {
        let _ = writeln!(
            text,
            "\nThere may be more: use --after {} for the next groups, or a higher --limit.",
            last.group
        );
    }
    Ok(text)
}

fn table(found: &[GroupLine]) -> String {
    let header = ["winner", "group", "pages", "kept", "checked", "failed"].map(str::to_owned).to_vec();
    let row = |group: &GroupLine| {
        let numbers = [group.pages, group.kept, group.checked, group.failed].map(count);
        [name(&group.winner), group.group.to_string()].into_iter().chain(numbers).collect()
    };
    columns(&std::iter::once(header).chain(found.iter().map(row)).collect::<Vec<_>>(), 1)
}

fn view(group: &GroupView) -> String {
    let GroupLine { group: number, winner, pages, kept, checked, failed } = &group.line;
    let mut text =
        format!("group {number}: {} pages, {} kept, winner {}\n", count(*pages), count(*kept), name(winner));
    if *checked > 0 {
        let _ = writeln!(
            text,
            "checks of losers against their winner: {}, failed: {}",
            count(*checked),
            count(*failed)
        );
    }
    let rows: Vec<Vec<String>> =
        group.members.iter().map(|status| vec![name(&status.page), line(status)]).collect();
    text.push('\n');
    text + &columns(&rows, 2)
}

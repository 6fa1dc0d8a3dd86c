//! `onecopy mirrors`: hosts and folders of a finished run that mirror each other.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::Result;
use onecopy_engine::{Example, ExampleKind, Mirror, Prefix, mirrors};

use crate::args::MirrorsArgs;
use crate::commands::print;
use crate::size::count;

/// Characters of a path that are shown.
const PATH: usize = 100;

pub fn run(args: &MirrorsArgs) -> Result<ExitCode> {
    let mut found = mirrors(&args.dir, &args.rules())?;
    let all = found.len();
    found.truncate(args.limit.unwrap_or(all));
    if args.json {
        print(&(serde_json::to_string_pretty(&found)? + "\n"));
    } else {
        print(&for_people(&found, all));
    }
    Ok(ExitCode::SUCCESS)
}

fn for_people(found: &[Mirror], all: usize) -> String {
    if all == 0 {
        return "No mirrors were found.\n".into();
    }
    let mut text = table(found);
    for mirror in found {
        let _ = writeln!(text, "\n{}  =  {}", shown(&mirror.left), shown(&mirror.right));
        for example in &mirror.examples {
            let _ = writeln!(text, "  {:<11} {}", kind(example), path(&example.path));
        }
    }
    if found.len() < all {
        let _ = writeln!(
            text,
            "\n{} of {} pairs; the others need a higher --limit.",
            found.len(),
            count(all as u64)
        );
    }
    text
}

/// A line a pair, columns aligned: two of text, the rest numbers.
fn table(found: &[Mirror]) -> String {
    let header = ["left", "right", "score", "matched", "mismatched", "only left", "only right", "set"];
    let mut lines = vec![header.map(str::to_owned)];
    lines.extend(found.iter().map(|mirror| {
        let number = |number: u32| count(u64::from(number));
        [
            shown(&mirror.left),
            shown(&mirror.right),
            format!("{:.3}", mirror.score),
            number(mirror.matched),
            number(mirror.mismatched),
            number(mirror.only_left),
            number(mirror.only_right),
            count(mirror.set as u64),
        ]
    }));
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 8] = std::array::from_fn(width);
    let line = |line: &[String; 8]| {
        let cells = line.iter().zip(widths).enumerate().map(|(column, (cell, width))| match column {
            0 | 1 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ") + "\n"
    };
    lines.iter().map(line).collect()
}

fn shown(prefix: &Prefix) -> String {
    path(&format!("{}{}", prefix.host, prefix.path))
}

fn kind(example: &Example) -> &'static str {
    match example.kind {
        ExampleKind::Matched => "matched",
        ExampleKind::Mismatched => "mismatched",
        ExampleKind::OnlyLeft => "only left",
        ExampleKind::OnlyRight => "only right",
    }
}

/// A path fit for a terminal: without control characters, and cut where it is long.
fn path(path: &str) -> String {
    let mut shown: String = path.chars().take(PATH).filter(|c| !c.is_control()).collect();
    if path.chars().nth(PATH).is_some() {
        shown.push('…');
    }
    shown
}

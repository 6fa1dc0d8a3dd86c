//! `onecopy mirrors`: lists hosts and folders of a finished run that mirror each other.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::Result;
use onecopy_engine::{Example, ExampleKind, Mirror, Prefix, mirrors};

use crate::args::MirrorsArgs;
use crate::columns::{columns, shown};
use crate::commands::print;
use crate::size::count;

/// The most characters shown of a path.
const PATH: usize = 100;

pub fn run(args: &MirrorsArgs) -> Result<ExitCode> {
    let mut found = mirrors(&args.dir, &args.rules())?;
    let all = found.len();
    found.truncate(args.limit.unwrap_or(all));
    if args.json {
        print(&(serde_json::to_string_pretty(&found)? + "\n"))?;
    } else {
        print(&for_people(&found, all))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn for_people(found: &[Mirror], all: usize) -> String {
    if all == 0 {
        return "No mirrors found.\n".into();
    }
    let mut text = table(found);
    for mirror in found {
        let _ = writeln!(text, "\n{}  =  {}", prefix(&mirror.left), prefix(&mirror.right));
        for example in &mirror.examples {
            let _ = writeln!(text, "  {:<11} {}", kind(example), shown(&example.path, PATH));
        }
    }
    if found.len() < all {
        let _ = writeln!(
            text,
            "\n{} of {} pairs; use a higher --limit for the others.",
            found.len(),
            count(all as u64)
        );
    }
    text
}

/// One line per pair, in aligned columns: two of text, the rest numbers.
fn table(found: &[Mirror]) -> String {
    let header = ["left", "right", "score", "matched", "mismatched", "only left", "only right", "set"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(found.iter().map(|mirror| {
        let number = |number: u32| count(u64::from(number));
        vec![
            prefix(&mirror.left),
            prefix(&mirror.right),
            format!("{:.3}", mirror.score),
            number(mirror.matched),
            number(mirror.mismatched),
            number(mirror.only_left),
            number(mirror.only_right),
            count(mirror.set as u64),
        ]
    }));
    columns(&rows, 2)
}

fn prefix(prefix: &Prefix) -> String {
    shown(&format!("{}{}", prefix.host, prefix.path), PATH)
}

fn kind(example: &Example) -> &'static str {
    match example.kind {
        ExampleKind::Matched => "matched",
        ExampleKind::Mismatched => "mismatched",
        ExampleKind::OnlyLeft => "only left",
        ExampleKind::OnlyRight => "only right",
    }
}

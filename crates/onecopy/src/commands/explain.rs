//! `onecopy explain`: why a page of a finished run stayed or went, and why two were or were not joined.

mod page;

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::Result;
use onecopy_engine::{Explanation, Fate, PageFacts, explain, explain_page};

use crate::args::{ExplainArgs, environment};
use crate::commands::print;
use crate::size::count;

/// The most passages shown of each page, and characters of each.
const PASSAGES: usize = 5;
const PASSAGE: usize = 160;

pub fn run(args: &ExplainArgs) -> Result<ExitCode> {
    let (json, text) = match &args.b {
        Some(b) => {
            let found = explain(&args.dir, &args.a, b, &environment())?;
            (serde_json::to_string_pretty(&found)?, for_people(&found))
        }
        None => {
            let found = explain_page(&args.dir, &args.a, &environment())?;
            (serde_json::to_string_pretty(&found)?, page::for_people(&found))
        }
    };
    print(&if args.json { json + "\n" } else { text })?;
    Ok(ExitCode::SUCCESS)
}

fn for_people(found: &Explanation) -> String {
    let mut text = String::new();
    for (letter, page) in [("A", &found.a), ("B", &found.b)] {
        let at = place(&page.name, &page.place);
        let _ = writeln!(text, "{letter}  {}{at}  {}", page.name, fate(&page.fate));
    }
    let _ = writeln!(text, "\n{}\n", verdict(found));
    numbers(found, &mut text);
    text
}

/// Where a page is, unless its place is its name.
fn place(name: &str, place: &str) -> String {
    if name == place { String::new() } else { format!(" at {place}") }
}

/// The numbers of a comparison, and the passages of one page only.
fn numbers(found: &Explanation, text: &mut String) {
    let _ = writeln!(text, "similarity  {:.5}  (threshold {})", found.similarity, found.threshold);
    let _ = writeln!(
        text,
        "shared      {} shingles of {} tokens; A has {}, B has {}",
        count(found.shared as u64),
        found.shingle,
        count(found.a.shingles as u64),
        count(found.b.shingles as u64)
    );
    let _ = writeln!(
        text,
        "contained   {:.1} % of A is in B, {:.1} % of B in A",
        100.0 * found.a.contained,
        100.0 * found.b.contained
    );
    if let Some(evidence) = &found.evidence {
        let _ = writeln!(text, "evidence    {evidence}");
    }
    passages("only in A", &found.a, text);
    passages("only in B", &found.b, text);
}

fn fate(fate: &Fate) -> String {
    match fate {
        Fate::Kept => "kept".into(),
        Fate::Removed { winner, winner_place, similarity, kind } => {
            let at = place(winner, winner_place);
            format!("removed for {winner}{at} ({kind}, {similarity:.5})")
        }
        Fate::Rejected { reason } => format!("rejected: {reason}"),
    }
}

fn verdict(found: &Explanation) -> String {
    let redirects = |page: &PageFacts| matches!(&page.fate, Fate::Removed { kind, .. } if kind == "redirect");
    let pointing = [&found.a, &found.b].into_iter().find(|page| redirects(page));
    if let Some(page) = pointing.filter(|_| !found.exact && !found.alike) {
        let group =
            if found.group_winner.is_some() { "they are in one group" } else { "they share no group" };
        return format!("{} redirects and follows its target; {group}.", page.name);
    }
    match (found.exact, found.alike, &found.group_winner) {
        (true, ..) if found.whole_equal => "They are exact duplicates: their texts are equal.".into(),
        (true, ..) => {
            "They are exact duplicates by main content, which is equal. Other text of the pages differs."
                .into()
        }
        (_, true, _) => "They are near-duplicates: their similarity reaches the threshold.".into(),
        (_, _, Some(_)) if !found.chain.is_empty() => {
            format!(
                "They are not duplicates, but a chain of pairs puts them in one group: {}.",
                found.chain.join(" ~ ")
            )
        }
        (_, _, Some(winner)) => {
            format!(
                "They are not duplicates, but both are in the group of {winner}, which is too large to search for the chain."
            )
        }
        _ => "They are not duplicates, and share no group.".into(),
    }
}

fn passages(title: &str, page: &PageFacts, text: &mut String) {
    if page.only_here.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{title}");
    for passage in page.only_here.iter().take(PASSAGES) {
        let shown: String = passage.chars().take(PASSAGE).collect();
        let more = if shown.len() < passage.len() { " …" } else { "" };
        let _ = writeln!(text, "  {shown}{more}");
    }
    if page.only_here.len() > PASSAGES {
        let _ = writeln!(text, "  and {} more passages", page.only_here.len() - PASSAGES);
    }
}

//! `onecopy explain`: why two pages of a finished run were or were not joined.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::Result;
use onecopy_engine::{Explanation, Fate, PageFacts, explain};

use crate::args::{ExplainArgs, environment};
use crate::commands::print;
use crate::size::count;

/// The most passages shown of each page, and characters of each.
const PASSAGES: usize = 5;
const PASSAGE: usize = 160;

pub fn run(args: &ExplainArgs) -> Result<ExitCode> {
    let explanation = explain(&args.dir, &args.a, &args.b, &environment())?;
    if args.json {
        print(&(serde_json::to_string_pretty(&explanation)? + "\n"))?;
    } else {
        print(&for_people(&explanation))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn for_people(found: &Explanation) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "A  {}  {}", found.a.name, fate(&found.a));
    let _ = writeln!(text, "B  {}  {}\n", found.b.name, fate(&found.b));
    let _ = writeln!(text, "{}\n", verdict(found));
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
    passages("only in A", &found.a, &mut text);
    passages("only in B", &found.b, &mut text);
    text
}

fn fate(page: &PageFacts) -> String {
    match &page.fate {
        Fate::Kept => "kept".into(),
        Fate::Removed { winner, similarity, kind } => {
            format!("removed for {winner} ({kind}, {similarity:.5})")
        }
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

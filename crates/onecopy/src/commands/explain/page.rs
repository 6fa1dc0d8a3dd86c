//! The explanation for one page, as text.

use std::fmt::Write;

use onecopy_engine::{Fate, GroupFacts, PageExplanation, RelatedPage};

use super::{fate, numbers, place};
use crate::size::count;

pub fn for_people(found: &PageExplanation) -> String {
    let mut text = String::new();
    let at = place(&found.page.name, &found.page.place);
    let _ = writeln!(text, "{}{at}  {}\n\n{}", found.page.name, fate(&found.fate), why(found));
    if let Some(group) = &found.group {
        let _ = writeln!(text, "{}", grouped(group));
    }
    if let Some(reason) = &found.not_compared {
        let _ = writeln!(text, "The pages were not compared again: {reason}.");
    }
    if let Some(comparison) = &found.comparison {
        let _ = writeln!(text, "\nA is this page, B is its winner.");
        numbers(comparison, &mut text);
    } else {
        let _ = writeln!(text, "\nthreshold   {} by method {}", found.threshold, found.method);
    }
    related("removed for it", &found.removed_for_it, found.losers, &mut text);
    let others = found.other_kept.len() as u64;
    related("other kept pages of the group", &found.other_kept, others, &mut text);
    text
}

fn why(found: &PageExplanation) -> String {
    let threshold = found.threshold;
    match &found.fate {
        Fate::Rejected { .. } => "It was not judged, so it was compared with no page.".into(),
        Fate::Removed { kind, .. } if kind == "redirect" => {
            "It redirects, and follows the page where the redirect ends.".into()
        }
        Fate::Removed { kind, .. } if kind == "exact" => {
            "It went because its canonical text equals its winner's, and its winner ranks before it.".into()
        }
        Fate::Removed { similarity, .. } => format!(
            "It went because its similarity to its winner, {similarity:.5}, reaches the threshold {threshold}, and its winner ranks before it."
        ),
        Fate::Kept if found.group.is_none() => {
            format!("It stayed because no page of the input reaches the threshold {threshold} with it.")
        }
        Fate::Kept => format!(
            "It stayed because no kept page that ranks before it reaches the threshold {threshold} with it."
        ),
    }
}

fn grouped(group: &GroupFacts) -> String {
    let GroupFacts { group, winner, pages, kept } = group;
    let at = place(&winner.name, &winner.place);
    let (pages, kept) = (count(*pages as u64), count(*kept as u64));
    format!("Group {group} has {pages} pages, of which {kept} stayed; the best is {}{at}.", winner.name)
}

fn related(title: &str, pages: &[RelatedPage], all: u64, text: &mut String) {
    if pages.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{title}");
    for RelatedPage { page, similarity, kind } in pages {
        let at = place(&page.name, &page.place);
        let kind = kind.as_ref().map_or(String::new(), |kind| format!("{kind}, "));
        let _ = writeln!(text, "  {}{at}  {kind}{similarity:.5}", page.name);
    }
    if all > pages.len() as u64 {
        let _ = writeln!(text, "  and {} more", count(all - pages.len() as u64));
    }
}

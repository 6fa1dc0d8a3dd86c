//! `onecopy check`: looks for damage and wrong decisions in a collection.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::Result;
use onecopy_engine::{CheckReport, ServiceOptions};

use crate::args::CheckArgs;
use crate::columns::shown;
use crate::commands::{collection, print};
use crate::size::count;

/// The most characters shown of a finding.
const FINDING: usize = 300;

pub fn run(args: &CheckArgs) -> Result<ExitCode> {
    let mut options = ServiceOptions::new(&args.collection.data);
    options.check_tables = true;
    let service = collection::open_with(options)?;
    let report = service.check()?;
    service.close()?;
    if args.json {
        print(&(serde_json::to_string_pretty(&report)? + "\n"))?;
    } else {
        print(&for_people(&report))?;
    }
    Ok(if report.wrong_count == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn for_people(report: &CheckReport) -> String {
    let mut text = String::new();
    for wrong in &report.wrong {
        let _ = writeln!(text, "{}", shown(wrong, FINDING));
    }
    let more = report.wrong_count.saturating_sub(report.wrong.len() as u64);
    if more > 0 {
        let _ = writeln!(text, "and {} more", count(more));
    }
    let (pages, groups) = (count(report.pages), count(report.groups));
    let _ = match report.wrong_count {
        0 if !report.compared => writeln!(
            text,
            "No problems found. Checked: pages {pages}. The collection is being served, so its decisions were not \
             recomputed."
        ),
        0 => writeln!(text, "No problems found. Checked: pages {pages}, groups {groups}."),
        wrong => writeln!(
            text,
            "\nProblems found: {}, in {pages} pages and {groups} groups. The stored pages are unchanged: export them, \
             and import them into a new collection.",
            count(wrong)
        ),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_listed_and_counted() {
        let right = CheckReport { pages: 1_234, groups: 7, compared: true, ..CheckReport::default() };
        let served = for_people(&CheckReport { compared: false, ..right.clone() });
        assert!(served.ends_with("its decisions were not recomputed.\n"), "{served}");
        assert_eq!(for_people(&right), "No problems found. Checked: pages 1,234, groups 7.\n");
        let wrong = CheckReport { wrong: vec!["page \u{1b}a".into()], wrong_count: 1_001, ..right };
        let text = for_people(&wrong);
        assert!(text.starts_with("page a\nand 1,000 more\n\nProblems found: 1,001, in"), "{text}");
    }
}

//! `onecopy eval`: measures methods on labelled sets.

mod plot;
mod svg;
mod tables;

use std::fmt::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use onecopy_engine::{Evaluation, Mistake, MistakeKind, eval};

use crate::args::EvalArgs;
use crate::columns::shown;
use crate::commands::print;
use crate::size::count;
use crate::terminal::Terminal;

/// The most characters shown of an id and of an address.
const ID: usize = 60;
const ADDRESS: usize = 100;

pub fn run(args: &EvalArgs) -> Result<ExitCode> {
    let job = args.job()?;
    // Nothing on disk can be left half done, so Ctrl-C simply ends the process.
    let terminal = Terminal::new(args.quiet, Arc::new(AtomicBool::new(false)));
    let found = eval(&job, &terminal)?;
    terminal.end();
    // The evaluations are ordered by set, each with all methods.
    let sets: Vec<&[Evaluation]> = found.chunks(job.methods.len().max(1)).collect();
    if let Some(path) = &args.plot {
        let picture = svg::svg(&sets);
        std::fs::write(path, picture).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if args.json {
        print(&(serde_json::to_string_pretty(&found)? + "\n"))?;
    } else {
        print(&for_people(&sets))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn for_people(sets: &[&[Evaluation]]) -> String {
    let mut text = String::new();
    for set in sets {
        let _ = writeln!(text, "{}\n\n{}", heading(&set[0]), tables::scores(set));
        let _ = writeln!(text, "{}\n{}", tables::bands(set), tables::thresholds(set));
        let _ = writeln!(text, "{}", plot::plots(set));
        set.iter().for_each(|evaluation| mistakes(evaluation, &mut text));
    }
    if sets.len() > 1 {
        let _ = writeln!(text, "{}", tables::overview(sets));
    }
    text.push_str("± is half of the 95 % interval for independent pairs. Pairs of one cluster are not\n");
    text.push_str("independent, so the true interval is wider.\n");
    if sets.iter().copied().flatten().any(|evaluation| !evaluation.mistakes.is_empty()) {
        text.push_str(
            "To see what two pages share and where they differ: onecopy dedup SET/docs.jsonl --out RUN, then\n",
        );
        text.push_str("onecopy compare ID1 ID2 --run RUN\n");
    }
    text
}

/// The title of a set.
fn heading(set: &Evaluation) -> String {
    let among = if set.listed_only { "listed pairs" } else { "pairs" };
    let mut text = format!(
        "{}: {} pages, {} duplicates among {} {among}",
        set.set,
        count(set.pages as u64),
        count(set.score.duplicates),
        count(set.score.pairs)
    );
    if set.unscored > 0 {
        let _ = write!(text, ", {} not scored", count(set.unscored));
    }
    if set.empty_pages > 0 {
        let _ = write!(text, "; {} pages without words left out", count(set.empty_pages as u64));
    }
    text
}

/// The worst mistakes of a method.
fn mistakes(evaluation: &Evaluation, text: &mut String) {
    for (kind, title) in [
        (MistakeKind::FalsePositive, "found, but not duplicates"),
        (MistakeKind::FalseNegative, "duplicates, but missed"),
    ] {
        let wrong = evaluation.mistakes.iter().filter(|mistake| mistake.kind == kind);
        if wrong.clone().next().is_none() {
            continue;
        }
        let number = match kind {
            MistakeKind::FalsePositive => evaluation.score.found - evaluation.score.right,
            MistakeKind::FalseNegative => evaluation.score.duplicates - evaluation.score.right,
        };
        let _ = writeln!(text, "{}: {title}, the worst of {}", evaluation.method, count(number));
        wrong.for_each(|mistake| one(mistake, text));
        text.push('\n');
    }
}

fn one(mistake: &Mistake, text: &mut String) {
    let (a, b) = (shown(&mistake.id1, ID), shown(&mistake.id2, ID));
    let width = a.chars().count().max(b.chars().count());
    let address = |url: &Option<String>| url.as_ref().map(|url| shown(url, ADDRESS)).unwrap_or_default();
    let searched =
        if mistake.candidate { "" } else { "  (never compared: the search of the method misses it)" };
    match (&mistake.url1, &mistake.url2) {
        (None, None) => {
            let _ = writeln!(text, "  {:.3}  {a}  {b}{searched}", mistake.similarity);
        }
        (url1, url2) => {
            let _ = writeln!(text, "  {:.3}  {a:<width$}  {}{searched}", mistake.similarity, address(url1));
            let _ = writeln!(text, "         {b:<width$}  {}", address(url2));
        }
    }
}

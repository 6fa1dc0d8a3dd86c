//! `onecopy eval`: measures methods on labelled sets.

mod figure;
mod plot;
mod tables;

use std::fmt::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use onecopy_engine::{Evaluation, Mistake, MistakeKind, eval};

use crate::args::EvalArgs;
use crate::columns::shown;
use crate::commands::print;
use crate::paint::{columns, wrap};
use crate::picture::{picture_format, write_picture};
use crate::size::count;
use crate::terminal::Terminal;
use crate::width;

/// The most characters shown of an id and of an address.
const ID: usize = 60;
const ADDRESS: usize = 100;

pub fn run(args: &EvalArgs) -> Result<ExitCode> {
    let job = args.job()?;
    args.plot.as_deref().map(picture_format).transpose()?;
    // Nothing on disk can be left half done, so Ctrl-C simply ends the process.
    let terminal = Terminal::new(args.quiet, Arc::new(AtomicBool::new(false)));
    let found = eval(&job, &terminal)?;
    terminal.end();
    // The evaluations are ordered by set, each with all methods.
    let sets: Vec<&[Evaluation]> = found.chunks(job.methods.len().max(1)).collect();
    if let Some(path) = &args.plot {
        write_picture(path, &figure::figure(&sets))?;
    }
    if args.json {
        print(&(serde_json::to_string_pretty(&found)? + "\n"))?;
    } else {
        print(&for_people(&sets, width::of_stdout()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn for_people(sets: &[&[Evaluation]], most: usize) -> String {
    let mut text = String::new();
    for set in sets {
        let heading = wrap(&heading(&set[0]), most).join("\n");
        let _ = writeln!(text, "{heading}\n\n{}", tables::scores(set, most));
        let _ = writeln!(text, "{}\n{}", tables::bands(set, most), tables::thresholds(set, most));
        let _ = writeln!(text, "{}", plot::plots(set, most));
        set.iter().for_each(|evaluation| mistakes(evaluation, most, &mut text));
    }
    if sets.len() > 1 {
        let _ = writeln!(text, "{}", tables::overview(sets, most));
    }
    let mut notes = vec![INTERVALS, SIMILARITY];
    if sets.iter().copied().flatten().any(|evaluation| !evaluation.mistakes.is_empty()) {
        notes.extend([TO_SEE, "onecopy dedup SET/docs.jsonl --out RUN", "onecopy compare ID1 ID2 --run RUN"]);
    }
    for note in notes {
        let _ = writeln!(text, "{}", wrap(note, most).join("\n"));
    }
    text
}

const INTERVALS: &str = "[low, high] is the 95 % interval for independent pairs. Pairs of one cluster are not \
                         independent, so the true interval is wider.";
const SIMILARITY: &str = "Similarity is that of whole texts. P is precision, R recall.";
const TO_SEE: &str = "To see what two pages share and where they differ:";

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
fn mistakes(evaluation: &Evaluation, most: usize, text: &mut String) {
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
        let title = format!("{}: {title}, the worst of {}", evaluation.method, count(number));
        let _ = writeln!(text, "{}", wrap(&title, most).join("\n"));
        wrong.for_each(|mistake| one(mistake, most, text));
        text.push('\n');
    }
}

/// A mistake: the two pages beside their similarity, with their addresses beside or below them.
fn one(mistake: &Mistake, most: usize, text: &mut String) {
    const INDENT: usize = 9;
    let ids = [&mistake.id1, &mistake.id2].map(|id| shown(id, ID));
    let urls = [&mistake.url1, &mistake.url2].map(|url| url.as_ref().map(|url| shown(url, ADDRESS)));
    let id_width = ids.iter().map(|id| columns(id)).max().unwrap_or(0);
    let url_width = urls.iter().flatten().map(|url| columns(url)).max().unwrap_or(0);
    let is_beside = INDENT + id_width + 2 + url_width <= most;
    let mut lines: Vec<String> = Vec::new();
    if urls == [None, None] && INDENT + 2 * id_width + 2 <= most {
        lines.push(ids.join("  "));
    }
    let below = if lines.is_empty() { 2 } else { 0 };
    for (id, url) in ids.into_iter().zip(urls).take(below) {
        match url {
            Some(url) if is_beside => {
                lines.push(format!("{id}{}  {url}", " ".repeat(id_width - columns(&id))));
            }
            url => lines.extend([Some(id), url].into_iter().flatten()),
        }
    }
    if !mistake.candidate {
        let note = wrap("never compared: the search of the method misses it", most - INDENT);
        lines.extend(note.into_iter().map(str::to_owned));
    }
    let mut start = format!("  {:.3}  ", mistake.similarity);
    for line in lines {
        let _ = writeln!(text, "{start}{line}");
        start = " ".repeat(INDENT);
    }
}

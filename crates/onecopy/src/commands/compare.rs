//! `onecopy compare`: compares two pages by every method, and shows what matches.

mod side_by_side;
mod table;

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use onecopy_engine::{Comparison, Passage, PassageKind, Stretch, compare};

use crate::args::CompareArgs;
use crate::commands::{WrongCall, print};
use crate::paint::{Paint, Tone, columns, head_end, plain, tail_start, wrap};
use crate::size::count;

/// Lines shown of a differing passage.
const LINES: usize = 8;
/// The most differing passages shown.
const PASSAGES: usize = 40;

pub fn run(args: &CompareArgs) -> Result<ExitCode> {
    if let Some(path) = &args.html {
        spare_pages(args, path)?;
    }
    let found = compare(&args.comparing())?;
    if let Some(path) = &args.html {
        fs::write(path, side_by_side::page(&found))
            .map_err(|error| anyhow!("cannot write {}: {error}", path.display()))?;
    }
    if args.json {
        print(&(serde_json::to_string_pretty(&found)? + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let paint = Paint::for_stdout();
    let mut text = table::for_people(&found, paint);
    match &args.html {
        Some(path) => {
            let _ = writeln!(text, "\nSide by side: {}", path.display());
        }
        None => passages(&found, args.full, paint, &mut text),
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses to overwrite one of the two pages.
fn spare_pages(args: &CompareArgs, path: &Path) -> Result<()> {
    let full = |path: &Path| fs::canonicalize(path).ok();
    let same = |page: &String| full(path).is_some_and(|html| full(Path::new(page)) == Some(html));
    if [&args.a, &args.b].into_iter().any(same) {
        let reason = format!("--html {} would overwrite a compared page", path.display());
        return Err(WrongCall(reason + ": choose another file").into());
    }
    Ok(())
}

fn passages(found: &Comparison, full: bool, paint: Paint, text: &mut String) {
    let differs = |passage: &&Passage| passage.kind != PassageKind::Same;
    let differing = found.passages.iter().filter(differs).count();
    if differing == 0 {
        return;
    }
    text.push('\n');
    let most = if full { usize::MAX } else { PASSAGES };
    let mut shown = 0;
    for (i, passage) in found.passages.iter().enumerate() {
        if shown == most {
            break;
        }
        shown += usize::from(differs(&passage));
        let ends = Ends { is_first: i == 0, is_last: i + 1 == found.passages.len() };
        write_passage(passage, ends, full, paint, text);
    }
    if shown < differing {
        let rest = count((differing - shown) as u64);
        let _ = writeln!(
            text,
            "\nand {rest} more passages: --full prints all, --html FILE shows them side by side"
        );
    }
}

/// Whether a passage is at an end of the page.
#[derive(Clone, Copy)]
struct Ends {
    is_first: bool,
    is_last: bool,
}

fn write_passage(passage: &Passage, ends: Ends, full: bool, paint: Paint, text: &mut String) {
    let Some(stretch) = passage.a.as_ref().or(passage.b.as_ref()) else { return };
    let (mark, tone) = match (passage.kind, &passage.a) {
        (PassageKind::Same, _) => (" ", Tone::Faint),
        (PassageKind::OnlyA, _) => ("-", Tone::Gone),
        (PassageKind::OnlyB, _) => ("+", Tone::Come),
        (PassageKind::Moved, Some(_)) => ("<", Tone::Moved),
        (PassageKind::Moved, None) => (">", Tone::Moved),
    };
    let shown = match passage.kind {
        PassageKind::Same => wrapped(&shortened(stretch, ends, paint.columns), paint.columns),
        _ => whole(stretch, passage.moved, if full { usize::MAX } else { LINES }, paint.columns),
    };
    for line in shown {
        let _ = writeln!(text, "{}", paint.paint(tone, &format!("{mark} {line}")));
    }
}

/// The lines of a differing passage, up to a limit.
fn whole(stretch: &Stretch, moved: Option<usize>, most: usize, width: usize) -> Vec<String> {
    let number = moved.map_or(String::new(), |number| format!("[{number}] "));
    let text = number + stretch.text.trim_start();
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        lines.extend(wrapped(&plain(line), width));
        if lines.len() > most {
            lines.truncate(most);
            lines.push(format!("… {} words in all", count(stretch.words as u64)));
            break;
        }
    }
    lines
}

/// Shared text on one line: the parts next to a difference, and the number of words.
fn shortened(same: &Stretch, ends: Ends, width: usize) -> String {
    let Ends { is_first, is_last } = ends;
    let line = plain(&same.text);
    // Three quarters of a line on either side of a difference.
    let [head, tail] = [is_first, is_last].map(|is_end| if is_end { 0 } else { width * 3 / 4 });
    if columns(&line) <= head + tail + width {
        return line;
    }
    let amount = format!("{} equal words", count(same.words as u64));
    let (head, tail) = (&line[..head_end(&line, head)], &line[tail_start(&line, tail)..]);
    match (is_first, is_last) {
        (true, _) => format!("… {amount} … {tail}"),
        (false, true) => format!("{head} … {amount} …"),
        (false, false) => format!("{head} … {amount} … {tail}"),
    }
}

fn wrapped(line: &str, width: usize) -> Vec<String> {
    wrap(line, width - 2).into_iter().map(str::to_owned).collect()
}

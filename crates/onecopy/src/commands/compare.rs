//! `onecopy compare`: two pages by every measure, and what matched.

mod html;
mod table;

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use onecopy_engine::{Comparison, Error, Passage, PassageKind, Stretch, compare};

use crate::args::CompareArgs;
use crate::commands::print;
use crate::paint::{COLUMNS, Paint, Tone, columns, head_end, plain, tail_start, wrap};
use crate::size::count;

/// Columns that are shown of shared text on either side of a difference.
const CONTEXT: usize = 60;
/// Columns that are shown of a differing passage.
const PASSAGE: usize = 6 * COLUMNS;
/// Differing passages that are shown.
const PASSAGES: usize = 40;

pub fn run(args: &CompareArgs) -> Result<ExitCode> {
    if let Some(path) = &args.html {
        spare_pages(args, path)?;
    }
    let found = compare(&args.comparing())?;
    if let Some(path) = &args.html {
        fs::write(path, html::page(&found))
            .map_err(|error| anyhow!("cannot write {}: {error}", path.display()))?;
    }
    if args.json {
        print(&(serde_json::to_string_pretty(&found)? + "\n"));
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
    print(&text);
    Ok(ExitCode::SUCCESS)
}

/// Refuses to write over one of the two pages.
fn spare_pages(args: &CompareArgs, path: &Path) -> Result<()> {
    let full = |path: &Path| fs::canonicalize(path).ok();
    let same = |page: &String| full(path).is_some_and(|html| full(Path::new(page)) == Some(html));
    if [&args.a, &args.b].into_iter().any(same) {
        let reason = format!("--html {} would write over a page that is compared", path.display());
        return Err(Error::Config(reason + ": give another name").into());
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
        let is_end = i + 1 == found.passages.len();
        write_passage(passage, (i == 0, is_end), full, paint, text);
    }
    if shown < differing {
        let rest = count((differing - shown) as u64);
        let _ = writeln!(
            text,
            "\nand {rest} more passages: --full prints all, --html FILE shows them side by side"
        );
    }
}

fn write_passage(passage: &Passage, ends: (bool, bool), full: bool, paint: Paint, text: &mut String) {
    let stretch = passage.a.as_ref().or(passage.b.as_ref());
    let Some(stretch) = stretch else { return };
    let (mark, tone) = match (passage.kind, &passage.a) {
        (PassageKind::Same, _) => {
            let line = shortened(stretch, ends);
            return lines(" ", Tone::Faint, &line, paint, text);
        }
        (PassageKind::OnlyA, _) => ("-", Tone::Gone),
        (PassageKind::OnlyB, _) => ("+", Tone::Come),
        (PassageKind::Moved, Some(_)) => ("<", Tone::Moved),
        (PassageKind::Moved, None) => (">", Tone::Moved),
    };
    let number = passage.moved.map_or(String::new(), |number| format!("[{number}] "));
    let line = number + &plain(&stretch.text);
    let end = if full { line.len() } else { head_end(&line, PASSAGE) };
    let more = if end < line.len() {
        format!(" … {} words in all", count(stretch.words as u64))
    } else {
        String::new()
    };
    lines(mark, tone, &(line[..end].to_owned() + &more), paint, text);
}

/// Shared text in one line: what is next to a difference, and how much is between.
fn shortened(same: &Stretch, (is_first, is_last): (bool, bool)) -> String {
    let line = plain(&same.text);
    let [head, tail] = [is_first, is_last].map(|is_end| if is_end { 0 } else { CONTEXT });
    if columns(&line) <= head + tail + 30 {
        return line;
    }
    let (head, tail) = (&line[..head_end(&line, head)], &line[tail_start(&line, tail)..]);
    format!("{head} … {} words the same … {tail}", count(same.words as u64)).trim().to_owned()
}

fn lines(mark: &str, tone: Tone, line: &str, paint: Paint, text: &mut String) {
    for line in wrap(line, COLUMNS - 2) {
        let _ = writeln!(text, "{}", paint.paint(tone, &format!("{mark} {line}")));
    }
}

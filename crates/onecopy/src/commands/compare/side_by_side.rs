//! Two pages side by side, as one self-contained HTML page.
//!
//! The content of the pages is only text here: it is escaped, and the page allows no scripts and no resources.

use std::fmt::Write;

use onecopy_engine::{Comparison, Passage, PassageKind, Stretch};

use super::table::{Headline, MeasureRow, compared, facts, headline, rows, summary, verdict};
use crate::paint::{head_end, plain, tail_start};
use crate::size::count;

const STYLE: &str = include_str!("side_by_side.css");
/// Shared text of more words than this is folded.
const FOLDED: usize = 60;
/// After this many differing words on one side, shared text starts a new row, so that it stays side by side.
const LONG_ROW: usize = 40;
/// Columns of folded text that stay visible beside a difference.
const CONTEXT: usize = 120;
/// Columns shown of folded text.
const GLIMPSE: usize = 80;

/// The page.
pub fn page(found: &Comparison) -> String {
    let mut out = String::new();
    let (a, b) = (escaped(&found.a.name), escaped(&found.b.name));
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{a} and {b} compared</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         "
    );
    verdict_first(found, &mut out);
    measures(found, &mut out);
    let _ = writeln!(out, "<p class=\"summary\">{}</p>", escaped(&summary(found)));
    key(found, &mut out);
    out.push_str("<div class=\"pages\">");
    for (letter, name, page) in [("A", a, &found.a), ("B", b, &found.b)] {
        let (facts, text) = (facts(page), compared(page));
        let _ = write!(out, "<div><b>{letter}&ensp;{name}</b><span>{facts}; compared: {text}</span></div>");
    }
    out.push_str("</div>\n<main>\n");
    passages(&found.passages, &mut out);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

/// The headline: the verdict, and the sentence that gives its reason.
fn verdict_first(found: &Comparison, out: &mut String) {
    let Headline { is_alike, short, text } = headline(found);
    let class = if is_alike { "alike" } else { "unlike" };
    let _ = writeln!(out, "<h1 class=\"{class}\">{short}</h1>\n<p class=\"lead\">{}</p>", escaped(&text));
}

fn measures(found: &Comparison, out: &mut String) {
    out.push_str(
        "<div class=\"scroll\"><table>\n<thead><tr><th>Measure</th><th class=\"number\">Value</th><td class=\"meter\"></td>\
         <th class=\"number least\">Threshold</th><th>Verdict</th><th>What it is</th></tr></thead>\n<tbody>\n",
    );
    for MeasureRow { name, value, share, least, threshold, alike, about } in rows(found) {
        let bar = share.map_or(String::new(), |share| bar(share, least));
        let alike = alike.map_or(String::new(), |alike| {
            let class = if alike { "alike" } else { "unlike" };
            format!("<span class=\"{class}\">{}</span>", verdict(alike))
        });
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td class=\"number\">{value}</td><td class=\"meter\">{bar}</td>\
             <td class=\"number least\">{threshold}</td><td class=\"verdict\">{alike}</td><td class=\"about\">{}</td></tr>",
            escaped(name),
            escaped(about)
        );
    }
    out.push_str("</tbody>\n</table></div>\n");
    let sample = "<span class=\"bar least sample\" style=\"--share:80%;--least:60%\"></span>";
    let _ = writeln!(out, "<p class=\"faint\">{sample}The mark on a bar is the threshold of the method.</p>");
}

/// A similarity as a bar, with a mark at the threshold.
fn bar(share: f64, least: Option<f64>) -> String {
    let share = format!("--share:{:.1}%", 100.0 * share);
    match least {
        Some(least) => {
            format!("<span class=\"bar least\" style=\"{share};--least:{:.1}%\"></span>", 100.0 * least)
        }
        None => format!("<span class=\"bar\" style=\"{share}\"></span>"),
    }
}

/// The legend of the colours that occur.
fn key(found: &Comparison, out: &mut String) {
    let has = |kind: PassageKind| found.passages.iter().any(|passage| passage.kind == kind);
    let kinds = [
        (PassageKind::OnlyA, "<del>only in A</del>"),
        (PassageKind::OnlyB, "<ins>only in B</ins>"),
        (PassageKind::Moved, "<span class=\"moved\">in both, elsewhere</span>"),
    ];
    let shown: String =
        kinds.iter().filter(|(kind, _)| has(*kind)).map(|(_, text)| format!("<li>{text}</li>")).collect();
    if !shown.is_empty() {
        let _ = writeln!(out, "<ul class=\"key\">{shown}</ul>");
    }
}

/// A row under construction.
#[derive(Default)]
struct Cells {
    /// The HTML of its two cells.
    insides: [String; 2],
    /// Words that only one side has.
    differing: [usize; 2],
}

impl Cells {
    fn add(&mut self, passage: &Passage) {
        let sides = [&passage.a, &passage.b];
        for (side, stretch) in sides.into_iter().enumerate() {
            let Some(stretch) = stretch else { continue };
            let text = escaped(&without_blank_lines(&stretch.text));
            let marked = match (passage.kind, passage.moved) {
                (PassageKind::OnlyA, _) => tagged("del", &text),
                (PassageKind::OnlyB, _) => tagged("ins", &text),
                (PassageKind::Moved, Some(number)) => moved(number, side, &text),
                _ => text,
            };
            self.insides[side] += &marked;
            self.differing[side] += if passage.kind == PassageKind::Same { 0 } else { stretch.words };
        }
    }

    fn flush(&mut self, out: &mut String) {
        let Cells { insides: [a, b], .. } = std::mem::take(self);
        if a.trim().is_empty() && b.trim().is_empty() {
            return;
        }
        let _ = writeln!(out, "<div class=\"row\">{}{}</div>", cell("A", &a), cell("B", &b));
    }
}

fn cell(side: &str, inside: &str) -> String {
    let class = if inside.trim().is_empty() { "cell none" } else { "cell" };
    format!("<div class=\"{class}\" data-side=\"{side}\" dir=\"auto\">{}</div>", inside.trim())
}

/// The text in an element for each line, with the white space around it outside.
fn tagged(tag: &str, text: &str) -> String {
    let tagged = |line: &str| {
        let (start, inside, end) = edges(line);
        if inside.is_empty() { line.to_owned() } else { format!("{start}<{tag}>{inside}</{tag}>{end}") }
    };
    text.split('\n').map(tagged).collect::<Vec<_>>().join("\n")
}

/// The text without its blank lines: they would be empty boxes.
fn without_blank_lines(text: &str) -> String {
    let last = text.split('\n').count() - 1;
    let lines = text.split('\n').enumerate();
    // The first and the last are parts of lines that other passages continue.
    let kept = lines.filter(|(number, line)| *number == 0 || *number == last || !line.trim().is_empty());
    kept.map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

/// A passage that also occurs in the other text, with a link to it.
fn moved(number: usize, side: usize, text: &str) -> String {
    let (start, inside, end) = edges(text);
    let [here, there] = if side == 0 { ["a", "b"] } else { ["b", "a"] };
    format!(
        "{start}<span class=\"moved\" id=\"{here}{number}\"><a href=\"#{there}{number}\" \
         title=\"the same passage in the other page\">[{number}]</a> {inside}</span>{end}"
    )
}

fn edges(text: &str) -> (&str, &str, &str) {
    let inside = text.trim();
    let start = text.len() - text.trim_start().len();
    (&text[..start], inside, &text[start + inside.len()..])
}

fn passages(passages: &[Passage], out: &mut String) {
    let mut cells = Cells::default();
    for (i, passage) in passages.iter().enumerate() {
        let (Some(a), Some(b)) = (&passage.a, &passage.b) else {
            cells.add(passage);
            continue;
        };
        if cells.differing.iter().any(|words| *words > LONG_ROW) {
            cells.flush(out);
        }
        if a.words <= FOLDED {
            cells.add(passage);
            continue;
        }
        let most = [i > 0, i + 1 < passages.len()].map(|near| if near { CONTEXT } else { 0 });
        let texts = [a, b].map(|stretch| without_blank_lines(&stretch.text));
        let sides = [&texts[0], &texts[1]].map(|text| parts(text, most));
        let side = |part: usize| sides.map(|side| escaped(side[part]));
        let [near_a, near_b] = side(0);
        cells.insides[0] += &near_a;
        cells.insides[1] += &near_b;
        cells.flush(out);
        let open = if passages.len() == 1 { " open" } else { "" };
        folded(a, sides.map(|side| side[1]), open, out);
        cells.insides = side(2);
    }
    cells.flush(out);
}

/// Splits a text in three: the part near the previous passage, the rest, the part near the next passage.
fn parts(text: &str, [head, tail]: [usize; 2]) -> [&str; 3] {
    let head = head_end(text, head);
    let tail = tail_start(text, tail).max(head);
    [&text[..head], &text[head..tail], &text[tail..]]
}

/// Shared text that a click shows, or that is open from the start.
fn folded(same: &Stretch, inside: [&str; 2], open: &str, out: &mut String) {
    let line = plain(inside[0]);
    let glimpse = escaped(&line[..head_end(&line, GLIMPSE)]);
    let words = count(same.words as u64);
    let [a, b] = inside.map(escaped);
    let _ = writeln!(
        out,
        "<details{open}><summary><b>{words} equal words</b>&ensp;{glimpse} …</summary>\
         <div class=\"row\">{}{}</div></details>",
        cell("A", &a),
        cell("B", &b)
    );
}

/// Escapes text for HTML. Control characters become spaces.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push('\n'),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(escaped("<script>\"&'\0\n"), "&lt;script&gt;&quot;&amp;&#39; \n");
        assert_eq!(tagged("del", "\n gone "), "\n <del>gone</del> ");
        assert_eq!(edges("  "), ("  ", "", ""));
        assert_eq!(tagged("ins", "one\n \ntwo"), "<ins>one</ins>\n \n<ins>two</ins>");
    }

    #[test]
    fn blank_lines_are_no_boxes() {
        assert_eq!(without_blank_lines("one\n\n  \ntwo\n\n"), "one\ntwo\n");
        assert_eq!(without_blank_lines("\n\none"), "\none");
        assert_eq!(without_blank_lines("one"), "one");
    }

    #[test]
    fn the_threshold_is_marked_on_its_bar() {
        assert!(bar(0.5, Some(0.8)).contains("--share:50.0%;--least:80.0%"));
        assert!(!bar(0.5, None).contains("least"));
    }

    #[test]
    fn three_parts_are_the_text() {
        let text = "one two three four five six seven";
        for most in [[0, 0], [8, 9], [99, 99], [9, 0], [0, 9]] {
            assert_eq!(parts(text, most).concat(), text, "{most:?}");
        }
        assert_eq!(parts(text, [7, 9]), ["one two", " three four five ", "six seven"]);
    }
}

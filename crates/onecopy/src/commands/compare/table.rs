//! The measures of two pages as a table, and a sentence that sums them up.

use std::fmt::Write;

use onecopy_engine::{Compared, ComparedText, Comparison, Measure, MeasureKind, PassageKind, Verdict};

use crate::paint::{Paint, Tone, columns, plain, wrap};
use crate::size::count;

/// Descriptions in fewer columns than this are left out.
const ABOUT_MIN: usize = 24;

/// A line of the table: the measure, its value, and for methods the threshold and whether it is reached.
pub struct MeasureRow<'a> {
    pub name: &'a str,
    pub value: String,
    /// The value as a share, if it is a similarity.
    pub share: Option<f64>,
    /// The least similarity of duplicates, if it is a method.
    pub least: Option<f64>,
    pub threshold: String,
    pub alike: Option<bool>,
    pub about: &'a str,
}

/// The lines of the table: methods, then plain measures.
pub fn rows(found: &Comparison) -> Vec<MeasureRow<'_>> {
    found.methods.iter().map(of_method).chain(found.measures.iter().map(of_measure)).collect()
}

fn of_method(verdict: &Verdict) -> MeasureRow<'_> {
    MeasureRow {
        name: &verdict.method,
        value: format!("{:.5}", verdict.similarity),
        share: Some(verdict.similarity),
        least: Some(verdict.threshold),
        threshold: threshold(verdict.threshold),
        alike: Some(verdict.alike),
        about: verdict.about,
    }
}

fn of_measure(measure: &Measure) -> MeasureRow<'_> {
    let is_share = measure.kind == MeasureKind::Similarity;
    let value = match measure.value {
        value if is_share => format!("{value:.5}"),
        value if value.fract() == 0.0 && value < 1e15 => count(value as u64),
        value => format!("{value:.2}"),
    };
    let share = is_share.then_some(measure.value);
    MeasureRow {
        name: measure.name,
        value,
        share,
        least: None,
        threshold: String::new(),
        alike: None,
        about: measure.about,
    }
}

/// Few digits if they are enough.
fn threshold(value: f64) -> String {
    let short = format!("{value}");
    if short.len() <= 7 { short } else { format!("{value:.5}") }
}

pub fn verdict(alike: bool) -> &'static str {
    if alike { "alike" } else { "not alike" }
}

/// The numbers of one page.
pub fn facts(page: &Compared) -> String {
    let number = |number: usize, thing: &str| {
        format!("{} {thing}{}", count(number as u64), if number == 1 { "" } else { "s" })
    };
    let language = page.language.map_or(String::new(), |language| format!(", language {language}"));
    format!("{}, {}{language}", number(page.words, "word"), number(page.shingles, "shingle"))
}

/// A sentence about the shared text.
pub fn summary(found: &Comparison) -> String {
    let same = found.passages.iter().filter(|passage| passage.kind == PassageKind::Same);
    let words: usize = same.filter_map(|passage| passage.a.as_ref()).map(|stretch| stretch.words).sum();
    let share = |page: &Compared| 100.0 * words as f64 / page.words.max(1) as f64;
    if found.a.words == 0 && found.b.words == 0 {
        return "Neither page has words.".into();
    }
    let start = format!("They share {} shingles of {} tokens.", count(found.shared as u64), found.shingle);
    let same = count(words as u64);
    format!(
        "{start} {same} words are equal and in the same order: {:.1} % of A, {:.1} % of B.",
        share(&found.a),
        share(&found.b)
    )
}

/// The verdict of the method that decides: the first, which is the default or the one that was chosen.
pub struct Headline {
    pub is_alike: bool,
    /// In a word or two.
    pub short: &'static str,
    /// In a sentence, with the reason.
    pub text: String,
}

/// Whether the pages are duplicates.
pub fn headline(found: &Comparison) -> Headline {
    let first = found.methods.first();
    let is_alike = found.exact || first.is_some_and(|first| first.alike);
    let by = first.map_or(String::new(), |first| {
        let (value, least) = (format!("{:.3}", first.similarity), threshold(first.threshold));
        let side = if first.alike { "reaches" } else { "is below" };
        format!("Their similarity by {}, {value}, {side} the threshold {least}.", first.method)
    });
    let (short, text) = match (found.exact, found.whole_equal, is_alike) {
        (true, true, _) => ("Exact duplicates", "Their texts are equal.".into()),
        (true, false, _) => (
            "Exact duplicates by main content",
            "Their main contents are equal. Other text of the pages differs.".into(),
        ),
        (false, _, true) => ("Near-duplicates", by),
        (false, _, false) => ("Not duplicates", by),
    };
    Headline { is_alike, short, text }
}

/// Which text of a page was compared, in words.
pub fn compared(page: &Compared) -> &'static str {
    match page.text {
        ComparedText::Plain => "plain text",
        ComparedText::Main => "main content of HTML",
        _ => "all text of HTML",
    }
}

pub fn for_people(found: &Comparison, paint: Paint) -> String {
    let mut text = String::new();
    for (letter, page) in [("A", &found.a), ("B", &found.b)] {
        let (name, facts) = (plain(&page.name), format!("{}; {}", facts(page), compared(page)));
        let is_long = 5 + columns(&name) + columns(&facts) > paint.columns;
        let (strong, between) = (paint.paint(Tone::Strong, &name), if is_long { "\n   " } else { "  " });
        let _ =
            writeln!(text, "{letter}  {strong}{between}{}", wrap(&facts, paint.columns - 3).join("\n   "));
    }
    let Headline { is_alike, short, text: reason } = headline(found);
    let tone = if is_alike { Tone::Come } else { Tone::Gone };
    let lines: Vec<String> = wrap(&format!("{short}. {reason}"), paint.columns)
        .into_iter()
        .map(|line| paint.paint(tone, line))
        .collect();
    let _ = writeln!(text, "\n{}\n", lines.join("\n"));
    table(found, paint, &mut text);
    let _ = writeln!(text, "\n{}", wrap(&summary(found), paint.columns).join("\n"));
    if let Some(evidence) = found.methods.first().and_then(|first| first.evidence.as_ref()) {
        let _ = writeln!(text, "{}", wrap(evidence, paint.columns).join("\n"));
    }
    text
}

/// Writes the table. On a narrow terminal it has no descriptions, and on a very narrow one no thresholds.
fn table(found: &Comparison, paint: Paint, text: &mut String) {
    let rows = rows(found);
    let name_width = rows.iter().map(|row| columns(row.name)).max().unwrap_or(0).max(7);
    let has_threshold = paint.columns >= name_width + 33;
    let line = |name: &str, value: &str, threshold: &str| match has_threshold {
        true => format!("{name:<name_width$}  {value:>9}  {threshold:>9}  "),
        false => format!("{name:<name_width$}  {value:>9}  "),
    };
    let room = paint.columns.saturating_sub(name_width + 35);
    let header = line("measure", "value", "threshold") + "verdict";
    let _ = writeln!(text, "{}", paint.paint(Tone::Strong, &header));
    for row in rows {
        let (alike, tone) = match row.alike {
            Some(true) => (verdict(true), Tone::Come),
            Some(false) => (verdict(false), Tone::Gone),
            None => ("", Tone::Faint),
        };
        let about = if room >= ABOUT_MIN { wrap(row.about, room) } else { Vec::new() };
        let mut about = about.into_iter().map(|line| paint.paint(Tone::Faint, line));
        let mut first = line(row.name, &row.value, &row.threshold) + &paint.paint(tone, alike);
        if let Some(about) = about.next() {
            let _ = write!(first, "{}  {about}", " ".repeat(9 - alike.len().min(9)));
        }
        let _ = writeln!(text, "{}", first.trim_end());
        about.for_each(|line| {
            let _ = writeln!(text, "{}{line}", " ".repeat(name_width + 35));
        });
    }
}

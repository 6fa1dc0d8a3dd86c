//! The measures of two pages as a table, and a sentence that sums them up.

use std::fmt::Write;

use onecopy_engine::{Compared, Comparison, Measure, MeasureKind, PassageKind, Verdict};

use crate::paint::{COLUMNS, Paint, Tone, plain, wrap};
use crate::size::count;

/// A line of the table: the measure, its value, and for methods the threshold and whether it is reached.
pub struct MeasureRow<'a> {
    pub name: &'a str,
    pub value: String,
    /// The value as a share, if it is a similarity.
    pub share: Option<f64>,
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
    let start = match found.exact {
        true => "Their canonical texts are equal: they are exact duplicates.".to_owned(),
        false => format!("They share {} shingles of {} tokens.", count(found.shared as u64), found.shingle),
    };
    let same = count(words as u64);
    format!(
        "{start} {same} words are equal and in the same order: {:.1} % of A, {:.1} % of B.",
        share(&found.a),
        share(&found.b)
    )
}

pub fn for_people(found: &Comparison, paint: Paint) -> String {
    let mut text = String::new();
    for (letter, page) in [("A", &found.a), ("B", &found.b)] {
        let name = paint.paint(Tone::Strong, &plain(&page.name));
        let _ = writeln!(text, "{letter}  {name}  {}", facts(page));
    }
    text.push('\n');
    let rows = rows(found);
    let name_width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max(7);
    let header = format!("{:<name_width$}  {:>9}  {:>9}  {:<9}", "measure", "value", "threshold", "verdict");
    let _ = writeln!(text, "{}", paint.paint(Tone::Strong, header.trim_end()));
    for row in rows {
        let (alike, tone) = match row.alike {
            Some(true) => (verdict(true), Tone::Come),
            Some(false) => (verdict(false), Tone::Gone),
            None => ("", Tone::Faint),
        };
        let padding = " ".repeat(9 - alike.len().min(9));
        let (alike, about) = (paint.paint(tone, alike), paint.paint(Tone::Faint, row.about));
        let (name, value, threshold) = (row.name, row.value, row.threshold);
        let _ = writeln!(text, "{name:<name_width$}  {value:>9}  {threshold:>9}  {alike}{padding}  {about}");
    }
    let _ = writeln!(text, "\n{}", wrap(&summary(found), COLUMNS).join("\n"));
    text
}

//! How many of the results repeat a better one: by threshold, by rank and by query (Figures 6 to 15).

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::json;

use super::Bench;
use super::answers::{Answer, Answers, write_lines};
use super::picture::{self, Line, Panel};
use super::published::{EMACS_REPEATS, OHIO_REPEATS};
use super::refined::Place;
use crate::table::{Table, count};

/// How many results are refined.
pub const DEPTHS: [usize; 6] = [10, 20, 40, 80, 160, 320];
const THRESHOLDS: [&str; 5] = ["0.5", "0.6", "0.7", "0.8", "0.9"];
/// The paper's threshold, and its place among all.
const USUAL: usize = 2;

/// The repeats of a query.
struct Counted {
    matched: u64,
    is_title: bool,
    /// Repeats among the first results by the paper's grouping: a row per threshold, a column per depth.
    transitive: [[f64; DEPTHS.len()]; THRESHOLDS.len()],
    /// The same by onecopy's: each repeat is similar to its anchor.
    by_anchor: [[f64; DEPTHS.len()]; THRESHOLDS.len()],
    /// The same, texts compared by onecopy's default method.
    usual: [f64; DEPTHS.len()],
    /// The share of results between two depths that have a copy in the answer, at the paper's threshold.
    copied: [f64; DEPTHS.len()],
}

pub fn section(bench: &Bench, answers: &Answers) -> Result<String> {
    eprintln!("repeats in {} answers ...", answers.all.len());
    let tags = tags(bench, answers)?;
    let mut counted = Vec::new();
    for answer in &answers.all {
        counted.push(count_repeats(bench, answers, answer, &tags)?);
    }
    counted.sort_by_key(|one| one.matched);
    let mut text = format!(
        "## Repeats (Figures 6 to 15)\n\n{} queries, up to {} results each, compared by tags of 256 bytes. Each cell is \
         the mean share of results that repeat a better one.\n\n",
        count(counted.len() as u64),
        DEPTHS[DEPTHS.len() - 1]
    );
    text += &format!(
        "By threshold, grouped as in the paper (`--transitive`):\n\n{}\n",
        by_threshold(&counted).markdown()
    );
    text += &format!("By kind of query, at 70 %:\n\n{}\n", by_query(&counted).markdown());
    text += &bench.picture("results-repeats.svg", "Repeats in search results", &draw(&counted))?;
    Ok(text)
}

fn tags(bench: &Bench, answers: &Answers) -> Result<HashMap<String, String>> {
    let pages = bench.program.work.join("results-hits.jsonl");
    let line = |(id, text): (&String, &String)| json!({"id": id, "text": text}).to_string();
    write_lines(&pages, answers.texts.iter().map(line))?;
    bench.program.tags(&pages)
}

fn count_repeats(
    bench: &Bench,
    answers: &Answers,
    answer: &Answer,
    tags: &HashMap<String, String>,
) -> Result<Counted> {
    let files = DEPTHS.map(|depth| bench.program.work.join(format!("results-{depth}.jsonl")));
    for (depth, file) in DEPTHS.iter().zip(&files) {
        let line = |hit: &String| Some(json!({"id": hit, "tag": tags.get(hit)?}).to_string());
        write_lines(file, answer.hits.iter().take(*depth).filter_map(line))?;
    }
    let (mut transitive, mut by_anchor) = ([[0.0; DEPTHS.len()]; THRESHOLDS.len()], [[0.0; DEPTHS.len()]; 5]);
    let mut copied = [0.0; DEPTHS.len()];
    for (number, threshold) in THRESHOLDS.iter().enumerate() {
        transitive[number] = each(bench, &files, threshold)?;
        let places = bench.program.refine(last(&files)?, &["--threshold", threshold])?;
        by_anchor[number] = DEPTHS.map(|depth| share(&places[..depth.min(places.len())], Place::is_repeat));
        if number == USUAL {
            copied = copied_by_rank(&places);
        }
    }
    let texts = bench.program.work.join("results-texts.jsonl");
    answers.write_texts(answer, DEPTHS[DEPTHS.len() - 1], &texts)?;
    let places = bench.program.refine(&texts, &[])?;
    let usual = DEPTHS.map(|depth| share(&places[..depth.min(places.len())], Place::is_repeat));
    Ok(Counted {
        matched: answer.matched,
        is_title: answer.kind == "title",
        transitive,
        by_anchor,
        usual,
        copied,
    })
}

fn last(files: &[PathBuf]) -> Result<&PathBuf> {
    files.last().context("there are depths")
}

/// Repeats by union-find among the first results of each depth. A further result can join two groups, so that each depth
/// is refined by itself.
fn each(bench: &Bench, files: &[PathBuf; DEPTHS.len()], threshold: &str) -> Result<[f64; DEPTHS.len()]> {
    let mut shares = [0.0; DEPTHS.len()];
    for (file, of) in files.iter().zip(&mut shares) {
        *of = share(
            &bench.program.refine(file, &["--transitive", "--threshold", threshold])?,
            Place::is_repeat,
        );
    }
    Ok(shares)
}

/// The share of places that pass.
fn share(places: &[Place], passes: impl Fn(&Place) -> bool) -> f64 {
    places.iter().filter(|place| passes(place)).count() as f64 / places.len().max(1) as f64
}

/// The share of results that have a copy, between one depth and the next.
fn copied_by_rank(places: &[Place]) -> [f64; DEPTHS.len()] {
    let mut from = 0;
    DEPTHS.map(|depth| {
        let to = depth.min(places.len());
        let part = &places[from.min(to)..to];
        from = to;
        share(part, |place| place.repeats.is_none_or(|repeats| repeats > 0))
    })
}

fn mean(counted: &[&Counted], value: impl Fn(&Counted) -> f64) -> f64 {
    counted.iter().map(|one| value(one)).sum::<f64>() / counted.len().max(1) as f64
}

fn percent(value: f64) -> String {
    format!("{:.1} %", value * 100.0)
}

fn by_threshold(counted: &[Counted]) -> Table {
    let all: Vec<&Counted> = counted.iter().collect();
    let mut header = vec!["first results".to_owned()];
    header.extend(DEPTHS.map(|depth| depth.to_string()));
    header.extend(["by anchor, 320", "paper: emacs, 493", "paper: ohio, 836"].map(str::to_owned));
    let mut table = Table::new(&header.iter().map(String::as_str).collect::<Vec<_>>());
    for (number, threshold) in THRESHOLDS.iter().enumerate() {
        let mut row = vec![format!("at {threshold}")];
        row.extend((0..DEPTHS.len()).map(|depth| percent(mean(&all, |one| one.transitive[number][depth]))));
        row.push(percent(mean(&all, |one| one.by_anchor[number][DEPTHS.len() - 1])));
        row.push(percent(EMACS_REPEATS[number]));
        row.push(match number {
            0 => percent(OHIO_REPEATS[0]),
            4 => percent(OHIO_REPEATS[1]),
            _ => "-".to_owned(),
        });
        table.push(row);
    }
    table
}

/// Thirds by the number of matching pages, which stands for how popular a query is, and the two kinds of queries.
fn kinds(counted: &[Counted]) -> Vec<(&'static str, Vec<&Counted>)> {
    let third = counted.len().div_ceil(3).max(1);
    let mut kinds: Vec<(&str, Vec<&Counted>)> = ["fewest matches", "medium", "most matches"]
        .into_iter()
        .zip(counted.chunks(third))
        .map(|(name, part)| (name, part.iter().collect()))
        .collect();
    kinds.push(("words of titles", counted.iter().filter(|one| one.is_title).collect()));
    kinds.push(("words of texts", counted.iter().filter(|one| !one.is_title).collect()));
    kinds.push(("all", counted.iter().collect()));
    kinds
}

fn by_query(counted: &[Counted]) -> Table {
    let mut header = vec!["queries".to_owned(), "number".to_owned()];
    header.extend(DEPTHS.map(|depth| depth.to_string()));
    header.extend(["least, 320", "most, 320"].map(str::to_owned));
    let mut table = Table::new(&header.iter().map(String::as_str).collect::<Vec<_>>());
    let deepest = DEPTHS.len() - 1;
    for (name, part) in kinds(counted) {
        let mut row = vec![name.to_owned(), part.len().to_string()];
        row.extend((0..DEPTHS.len()).map(|depth| percent(mean(&part, |one| one.transitive[USUAL][depth]))));
        let (low, high) = range(&part, |one| one.transitive[USUAL][deepest]);
        row.extend([percent(low), percent(high)]);
        table.push(row);
    }
    let all: Vec<&Counted> = counted.iter().collect();
    let mut row = vec!["all, texts by the default".to_owned(), counted.len().to_string()];
    row.extend((0..DEPTHS.len()).map(|depth| percent(mean(&all, |one| one.usual[depth]))));
    let (low, high) = range(&all, |one| one.usual[deepest]);
    row.extend([percent(low), percent(high)]);
    table.push(row);
    table
}

fn range(counted: &[&Counted], value: impl Fn(&Counted) -> f64) -> (f64, f64) {
    let values = counted.iter().map(|one| value(one));
    let (low, high) = values.fold((f64::INFINITY, 0.0f64), |(low, high), one| (low.min(one), high.max(one)));
    (low.min(high), high)
}

/// The share of repeats that each tenth of the queries stays below, among the first and among all results.
fn shares_by_query(counted: &[&Counted]) -> Vec<Line> {
    let line = |(depth, name): (usize, &str)| {
        let mut shares: Vec<f64> = counted.iter().map(|one| one.transitive[USUAL][depth]).collect();
        shares.sort_by(f64::total_cmp);
        let at = |tenth: usize| shares[tenth * (shares.len() - 1) / 10];
        Line { name: name.into(), values: (0..=10).map(at).collect() }
    };
    [(0, "first 10"), (DEPTHS.len() - 1, "first 320")].into_iter().map(line).collect()
}

fn draw(counted: &[Counted]) -> String {
    let all: Vec<&Counted> = counted.iter().collect();
    let depths = || DEPTHS.iter().map(ToString::to_string).collect::<Vec<_>>();
    let values = |part: &[&Counted], value: &dyn Fn(&Counted, usize) -> f64| -> Vec<f64> {
        (0..DEPTHS.len()).map(|depth| mean(part, |one| value(one, depth))).collect()
    };
    let of_thresholds = |value: &dyn Fn(&Counted, usize, usize) -> f64| -> Vec<Line> {
        let line = |(number, name): (usize, &&str)| Line {
            name: format!("at {name}"),
            values: values(&all, &|one, depth| value(one, number, depth)),
        };
        THRESHOLDS.iter().enumerate().map(line).collect()
    };
    let panel = |title: &str, lines| Panel {
        title: title.into(),
        places_are: "first results",
        places: depths(),
        lines,
        ranges: vec![],
        beside: vec![],
    };
    let of_kinds = kinds(counted).into_iter().map(|(name, part)| Line {
        name: name.into(),
        values: values(&part, &|one, depth| one.transitive[USUAL][depth]),
    });
    let mut by_query = panel("Least, mean and most repeats of a query at 70 %", vec![]);
    by_query
        .lines
        .push(Line { name: "mean".into(), values: values(&all, &|one, depth| one.transitive[USUAL][depth]) });
    by_query.ranges =
        (0..DEPTHS.len()).map(|depth| range(&all, |one| one.transitive[USUAL][depth])).collect();
    let copied = Line { name: "with a copy".into(), values: values(&all, &|one, depth| one.copied[depth]) };
    let mut by_rank = panel("Results that have a copy in the answer, at 70 %", vec![copied]);
    by_rank.places_are = "rank, up to";
    let mut sorted = panel("Repeats of each query at 70 %, sorted", shares_by_query(&all));
    sorted.places_are = "share of queries, %";
    sorted.places = (0..=10).map(|tenth| (tenth * 10).to_string()).collect();
    picture::svg(&[
        panel(
            "Repeats by threshold, grouped as in the paper",
            of_thresholds(&|one, number, depth| one.transitive[number][depth]),
        ),
        panel(
            "Repeats by threshold, each similar to its anchor",
            of_thresholds(&|one, number, depth| one.by_anchor[number][depth]),
        ),
        panel("Repeats by kind of query at 70 %", of_kinds.collect()),
        by_query,
        by_rank,
        sorted,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(rank: usize, repeats: Option<usize>) -> Place {
        Place { rank, repeats, anchor_rank: None, similarity: None }
    }

    #[test]
    fn a_result_has_a_copy_if_it_is_repeated_or_repeats() {
        let mut places: Vec<Place> = (1..=12).map(|rank| place(rank, Some(0))).collect();
        (places[0], places[11]) = (place(1, Some(1)), place(12, None));
        assert_eq!(copied_by_rank(&places), [0.1, 0.5, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(share(&places, Place::is_repeat), 1.0 / 12.0);
    }

    #[test]
    fn every_query_is_in_one_third_and_of_one_kind() {
        let counted = |matched: u64| Counted {
            matched,
            is_title: matched.is_multiple_of(2),
            transitive: [[0.25; 6]; 5],
            by_anchor: [[0.2; 6]; 5],
            usual: [0.1; 6],
            copied: [0.5; 6],
        };
        let all: Vec<Counted> = (0..7).map(counted).collect();
        let sizes: Vec<usize> = kinds(&all).iter().map(|(_, part)| part.len()).collect();
        assert_eq!(sizes, [3, 3, 1, 4, 3, 7]);
        let text = by_threshold(&all).markdown();
        assert!(text.contains("| at 0.5") && text.contains("25.0 %") && text.contains("88.6 %"), "{text}");
        assert!(by_query(&all).markdown().contains("10.0 %"));
        assert_eq!(draw(&all).matches("<polyline").count(), 5 + 5 + 6 + 1 + 1 + 2);
    }
}

//! Chooses the method and the threshold of `refine` by F1 on one half of the labelled pairs, and reports the other half.

use std::path::Path;

use anyhow::Result;

use super::Bench;
use super::answers::Answers;
use super::bootstrap;
use super::labels::{self, Half, Labelled};
use super::picture::{self, Line, Panel};
use super::scores::{
    FROM, METHODS, Of, PASSAGES, Score, Scored, evaluate, passages, similarities, thresholds,
};
use crate::table::Table;

/// The threshold of `auto` if none is chosen.
const USUAL: f64 = 0.8;

pub fn section(bench: &Bench, answers: &Answers, path: &Path) -> Result<String> {
    eprintln!("quality ...");
    let labels = labels::read(path)?;
    let mut scored = Vec::new();
    let mut text = "## Quality on labelled pairs of results\n\n".to_owned();
    for half in [Half::Choose, Half::Report] {
        let pairs: Vec<&Labelled> = labels.iter().filter(|pair| pair.half() == half).collect();
        let repeats = pairs.iter().filter(|pair| pair.is_repeat()).count();
        text += &format!("The half to {}: {} pairs, {repeats} of them repeats. ", half.name(), pairs.len());
        let set = labels::write_set(&pairs, half, answers, &bench.program.work)?;
        scored.extend(evaluate(bench, &set, half)?);
        scored.extend(passages(bench, answers, &pairs, half)?);
    }
    text += "\n\n";
    text += &format!("F1 on the half to choose by:\n\n{}\n", grid(&scored, Half::Choose).markdown());
    text += &format!("F1 on the half to report:\n\n{}\n", grid(&scored, Half::Report).markdown());
    text += &format!(
        "The best threshold of each method on the half to choose by, and its quality on the other:\n\n{}\n",
        best_of_each(&scored).markdown()
    );
    text += &certainty(bench, answers, &labels, &scored)?;
    text += &bench.picture("results-quality.svg", "F1 by method and threshold", &draw(&scored))?;
    Ok(text)
}

/// How certain it is that the best threshold of `auto` is better than its usual one.
fn certainty(bench: &Bench, answers: &Answers, labels: &[Labelled], scored: &[Scored]) -> Result<String> {
    let Some(best) = best(scored, "auto") else { return Ok(String::new()) };
    let best = f64::from(best) / 100.0;
    let mut text = format!("F1 of auto at {best} minus F1 at {USUAL}, with its 95 % interval:");
    for half in [Half::Choose, Half::Report] {
        let pairs: Vec<&Labelled> = labels.iter().filter(|pair| pair.half() == half).collect();
        let pairs = similarities(bench, answers, &pairs, Of::Pages)?;
        let (difference, [low, high]) = bootstrap::difference(&pairs, best, USUAL);
        text += &format!(" {difference:+.3} ({low:+.3} to {high:+.3}) on the half to {};", half.name());
    }
    Ok(text.trim_end_matches(';').to_owned() + ".\n\n")
}

fn find<'a>(scored: &'a [Scored], method: &str, threshold: Option<u32>, half: Half) -> Option<&'a Score> {
    let is_it = |one: &&Scored| (one.method, one.threshold, one.half) == (method, threshold, half);
    scored.iter().find(is_it).map(|one| &one.score)
}

fn names() -> impl Iterator<Item = &'static str> {
    METHODS.iter().map(|method| method.0).chain([PASSAGES])
}

fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}

fn grid(scored: &[Scored], half: Half) -> Table {
    let header = thresholds().map(|threshold| format!("{:.2}", f64::from(threshold) / 100.0));
    let header: Vec<String> =
        ["method".to_owned()].into_iter().chain(header).chain(["its own".into()]).collect();
    let mut table = Table::new(&header.iter().map(String::as_str).collect::<Vec<_>>());
    for method in names() {
        let cell = |threshold| share(find(scored, method, threshold, half).and_then(|score| score.f1));
        let cells = thresholds().map(Some).chain([None]).map(cell);
        table.push([method.to_owned()].into_iter().chain(cells).collect());
    }
    table
}

/// The threshold with the best F1 on the half to choose by; of equals, the highest, which removes the fewest pages.
fn best(scored: &[Scored], method: &str) -> Option<u32> {
    let f1 = |threshold: u32| find(scored, method, Some(threshold), Half::Choose)?.f1;
    let known = thresholds().filter_map(|threshold| Some((threshold, f1(threshold)?)));
    known.max_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0))).map(|found| found.0)
}

fn best_of_each(scored: &[Scored]) -> Table {
    let mut table = Table::new(&[
        "method",
        "threshold",
        "F1 on the half to choose by",
        "precision, other half",
        "recall",
        "F1",
    ]);
    for method in names() {
        let Some(threshold) = best(scored, method) else { continue };
        let at = |half| find(scored, method, Some(threshold), half).copied().unwrap_or_default();
        let (chosen, other) = (at(Half::Choose), at(Half::Report));
        table.push(vec![
            method.to_owned(),
            format!("{:.2}", f64::from(threshold) / 100.0),
            share(chosen.f1),
            share(other.precision),
            share(other.recall),
            share(other.f1),
        ]);
    }
    table
}

fn draw(scored: &[Scored]) -> String {
    let panel = |half: Half, title: &str| {
        // A line starts at .5, so methods that cannot be used there are not drawn.
        let drawn =
            names().filter(|method| find(scored, method, Some(FROM), half).is_some() && *method != "jaccard");
        let line = |method: &'static str| {
            let value = |threshold| find(scored, method, Some(threshold), half).and_then(|score| score.f1);
            let values = thresholds().map(|threshold| value(threshold).unwrap_or_default()).collect();
            Line { name: method.to_owned(), values }
        };
        Panel {
            title: title.into(),
            places_are: "threshold",
            places: thresholds().map(|threshold| format!("{:.2}", f64::from(threshold) / 100.0)).collect(),
            lines: drawn.map(line).collect(),
            ranges: vec![],
            beside: vec![],
        }
    };
    picture::svg(&[
        panel(Half::Choose, "F1 on the half to choose by"),
        panel(Half::Report, "F1 on the other half"),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_threshold_is_that_of_the_half_to_choose_by() {
        let scored = |threshold: u32, half, f1| Scored {
            method: "auto",
            threshold: Some(threshold),
            half,
            score: Score { f1: Some(f1), ..Score::default() },
        };
        let all = [
            scored(50, Half::Choose, 0.7),
            scored(60, Half::Choose, 0.8),
            scored(65, Half::Choose, 0.8),
            scored(50, Half::Report, 0.9),
            scored(65, Half::Report, 0.6),
        ];
        assert_eq!(best(&all, "auto"), Some(65));
        let text = best_of_each(&all).markdown();
        assert!(text.contains("0.65") && text.contains("0.800") && text.contains("0.600"), "{text}");
        assert!(!draw(&all).contains("NaN"));
    }
}

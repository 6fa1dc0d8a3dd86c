//! The report as text: the numbers and two small plots.

use std::fmt::Write;
use std::path::Path;

use onecopy_engine::{
    Archives, Kinds, ReasonCount, Recall, RejectionKind, Report, SIMILARITY_BINS, StageTime, Unreadable,
};

use crate::columns::shown;
use crate::plot::plot;
use crate::remedy::LIMITS;
use crate::size::{count, human};

/// The report, ready to print. `out` is the folder with the lists, if they were kept.
pub fn of(report: &Report, out: Option<&Path>) -> String {
    let counts = &report.counts;
    let mut text = String::new();
    let share = |part: u64| 100.0 * part as f64 / report.read.max(1) as f64;
    let row = |text: &mut String, label: &str, number: u64, rest: String| {
        let _ = writeln!(text, "{label:>10}  {:>12}  {rest}", count(number));
    };
    row(&mut text, "read", report.read, human(report.input_bytes));
    row(&mut text, "kept", counts.kept, format!("{:.1} %", share(counts.kept)));
    row(
        &mut text,
        "removed",
        counts.removed,
        format!("{:.1} %{}", share(counts.removed), kinds(&counts.kinds)),
    );
    if counts.main_content {
        let _ = writeln!(text, "{:>26}exact by main content: other text of HTML pages may differ", "");
    }
    if let Some(archives) = report.archives.filter(|archives| *archives != Archives::default()) {
        let _ = writeln!(text, "{:>26}{}", "", archived(&archives));
    }
    row(&mut text, "rejected", counts.rejected, format!("{:.1} %", share(counts.rejected)));
    reasons(&counts.reasons, &mut text);
    unreadable(&report.unreadable, &mut text);
    row(&mut text, "groups", counts.groups, format!("largest: {} pages", count(counts.largest_group)));
    if let Some(recall) = &report.recall {
        recalled(recall, &mut text);
    }
    similarities(report, &mut text);
    group_sizes(report, &mut text);
    let _ = writeln!(
        text,
        "\n{:.1} s, {:.1} s CPU time, {} peak memory{}",
        report.seconds,
        report.cpu_seconds,
        human(report.peak_memory_bytes),
        if report.out_of_core { ", sketches on disk" } else { "" }
    );
    let Some(out) = out else { return text };
    let _ = writeln!(
        text,
        "{} names the winner and similarity of every removed page",
        out.join("removed.jsonl").display()
    );
    if counts.rejected > 0 {
        let list = out.join("rejected.jsonl");
        let limited = counts.reasons.iter().any(|count| count.kind == RejectionKind::Limit);
        let remedy = if limited { format!("; {LIMITS}") } else { String::new() };
        let _ = writeln!(text, "{} has the reason for every rejected record{remedy}", list.display());
    }
    text
}

/// The most reasons named on a line, and the most inputs.
const NAMED: usize = 5;
/// The most characters shown of a name.
const NAME: usize = 100;

/// Rejected records by reason: a line for each kind, split by whether `kept/` has the records.
fn reasons(counts: &[ReasonCount], text: &mut String) {
    for (kind, what) in [
        (RejectionKind::NotAPage, "not pages"),
        (RejectionKind::Unreadable, "unreadable"),
        (RejectionKind::Limit, "over a limit"),
        (RejectionKind::NotRead, "not read"),
    ] {
        for (copied, place) in [(true, "copied unchanged"), (false, "not in kept/")] {
            let these = counts.iter().filter(|it| it.kind == kind && it.copied == copied).collect::<Vec<_>>();
            if these.is_empty() {
                continue;
            }
            let all = these.iter().map(|it| it.records).sum();
            let mut named: Vec<String> = these.iter().take(NAMED).map(|it| counted(it)).collect();
            if these.len() > NAMED {
                let rest = these[NAMED..].iter().map(|it| it.records).sum();
                named.push(format!("{} for {} other reasons", count(rest), these.len() - NAMED));
            }
            let named = named.join(", ");
            let _ = match kind {
                RejectionKind::NotRead => writeln!(text, "{:>10}  {what}: {named}", ""),
                _ => writeln!(text, "{:>10}  {what}: {}, {place}: {named}", "", count(all)),
            };
        }
    }
}

/// A number and its reason, such as `14 images`.
/// How long each stage took, and about how long only one thread worked.
pub fn timings(report: &Report) -> String {
    let mut text =
        format!("\n{:>10}  {:>9}  {:>9}  {:>15}\n", "stage", "seconds", "CPU s", "one thread only");
    for time in &report.stages {
        let alone = time.alone_seconds(report.threads);
        let StageTime { stage, seconds, cpu_seconds } = time;
        let _ = writeln!(text, "{stage:>10}  {seconds:>9.2}  {cpu_seconds:>9.2}  {alone:>15.2}");
    }
    text
}

fn counted(of: &ReasonCount) -> String {
    match of.reason.strip_prefix("files").map(|rest| format!("file{rest}")) {
        Some(one) if of.records == 1 => format!("1 {one}"),
        None if of.records == 1 => format!("1 {}", of.reason.strip_suffix('s').unwrap_or(&of.reason)),
        _ => format!("{} {}", count(of.records), of.reason),
    }
}

/// The inputs that could not be read.
fn unreadable(inputs: &[Unreadable], text: &mut String) {
    if inputs.is_empty() {
        return;
    }
    let _ =
        writeln!(text, "{:>10}  {:>12}  inputs, wholly or in part", "unreadable", count(inputs.len() as u64));
    for input in inputs.iter().take(NAMED) {
        let kept = input.kept.iter().map(|kept| format!(", see kept/{}", shown(kept, NAME)));
        let (source, kept) = (shown(&input.source, NAME), kept.collect::<String>());
        let _ = writeln!(text, "{:>10}  {source} {}{kept}", "", loss(input));
    }
    if inputs.len() > NAMED {
        let _ = writeln!(text, "{:>10}  and {} more", "", count((inputs.len() - NAMED) as u64));
    }
}

/// How much of an input is lost.
pub fn loss(input: &Unreadable) -> String {
    let several = |number: u64, what: &str| {
        let ending = if number == 1 { "" } else { "s" };
        format!("{} {what}{ending}", count(number))
    };
    let lost = input.lost.map(|lost| format!(", {} lost", several(lost, "record"))).unwrap_or_default();
    match input.kept.is_some() || input.pages > 0 {
        true => format!("breaks off after {}{lost}", several(input.pages, "page")),
        false => format!("could not be read{lost}"),
    }
}

/// How many pages of each kind were removed. Rare kinds are named only if they occur.
fn kinds(kinds: &Kinds) -> String {
    let mut text = format!(", {} exact, {} near", count(kinds.exact), count(kinds.near));
    for (number, what) in [(kinds.url, "same address"), (kinds.redirect, "redirects")] {
        if number > 0 {
            let _ = write!(text, ", {} {what}", count(number));
        }
    }
    text
}

/// How archives hold what was removed.
fn archived(archives: &Archives) -> String {
    let Archives { revisits, whole, left_out, payloads, companions } = *archives;
    let parts = [
        (revisits, "as revisits"),
        (whole, "whole"),
        (left_out, "left out"),
        (companions, "requests and metadata left out with them"),
        (payloads, "other records as revisits"),
    ];
    let some = parts.iter().filter(|(number, _)| *number > 0);
    let parts: Vec<String> = some.map(|(number, what)| format!("{} {what}", count(*number))).collect();
    format!("in archives: {}", parts.join(", "))
}

/// The expected and the measured recall of an approximate method.
fn recalled(recall: &Recall, text: &mut String) {
    let Recall { of, threshold, expected, measured } = recall;
    let chances = expected.iter().map(|at| format!("{:.0} % at {:.3}", 100.0 * at.chance, at.similarity));
    let chances = chances.collect::<Vec<_>>().join(", ");
    let _ = writeln!(text, "\n    recall  of pairs by {of}; expected {chances}");
    let Some(measured) = measured else { return };
    let [low, high] = measured.interval.map(|bound| 100.0 * bound);
    let _ = writeln!(
        text,
        "            found {} of {} pairs from {threshold:.3} of {} pages: {:.1} % ({low:.1}-{high:.1} %)",
        count(measured.found),
        count(measured.pairs),
        count(measured.pages),
        100.0 * measured.recall
    );
}

/// Removed pages by similarity, from the threshold up.
fn similarities(report: &Report, text: &mut String) {
    if report.counts.removed == 0 {
        return;
    }
    let from = (report.threshold * SIMILARITY_BINS as f64) as usize;
    let bins: Vec<(String, u64)> = (from.min(SIMILARITY_BINS - 1)..SIMILARITY_BINS)
        .map(|bin| {
            let low = bin as f64 / SIMILARITY_BINS as f64;
            (format!("{low:.2}"), report.counts.similarities[bin])
        })
        .collect();
    plot("removed pages by similarity to their winner", &bins, text);
}

/// Groups by size.
fn group_sizes(report: &Report, text: &mut String) {
    let bins: Vec<(String, u64)> = report
        .counts
        .group_sizes
        .iter()
        .enumerate()
        .map(|(bin, &groups)| {
            let (low, high) = ((1u64 << bin) + 1, 2u64 << bin);
            (if low == high { low.to_string() } else { format!("{low}-{high}") }, groups)
        })
        .collect();
    if !bins.is_empty() {
        plot("groups by number of pages", &bins, text);
    }
}

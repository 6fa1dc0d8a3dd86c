//! Measures the value of each stage of LCS: time and precision with and without it (Table 2 of Huang, Wang and Li
//! 2008).

use std::fs::{self, File};
use std::io::{BufRead, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Bench;
use super::quality::three;
use crate::jsonl;
use crate::table::{Table, count};

/// Subsets whose pairs are all compared, to extrapolate the time for all pairs of the corpus.
const SUBSETS: [u64; 2] = [1_250, 2_500];

/// Accepts any page in the same perhaps-similar set with something in common: the result of stage one alone.
const STAGE_ONE: &str = "lcs:threshold=0.001";

const VARIANTS: [(&str, &str); 5] = [
    ("perhaps-similar sets alone", STAGE_ONE),
    ("no sets, plain LCS", "lcs:search=all:trust=off"),
    ("no sets, trustable LCS", "lcs:search=all"),
    ("sets, plain LCS", "lcs:trust=off"),
    ("sets, trustable LCS (the default)", "lcs"),
];

const SETS: [&str; 3] = ["ota-pages-dev", "docs-numpy-versions", "docs-kafka-versions"];

pub fn section(bench: &Bench) -> Result<String> {
    let times = times(bench)?.markdown();
    let mut text = format!("## Stages of LCS\n\n{times}\n{NOTE}\n");
    text += "Precision / recall / F1 of the variants, on the labelled sets:\n";
    for (title, content) in
        [("whole pages (`--content all`)", "all"), ("the content of pages (the default)", "auto")]
    {
        text += &format!("\n{}", variants(bench, title, content)?.markdown());
    }
    Ok(text)
}

const NOTE: &str = "\
CPU seconds on one core. Comparing all pairs takes time by the square of the pages: it is measured on the first pages of
the corpus and extrapolated. Rows of `eval` compare in full and count the comparing alone (what `eval` takes for
shingles-b, which compares next to nothing, is subtracted); rows of `dedup` are end to end, with reading and writing.
The paper's hours are of 400 million pages on six servers; its precision was 0.67 after stage one and 0.95 in the end.
";

fn times(bench: &Bench) -> Result<Table> {
    let mut table = Table::new(&["stage", "how", "pages", "CPU s", "paper"]);
    let pages = jsonl::count_lines(&bench.corpus)?;
    let mut row = |stage: &str, how: &str, pages: String, seconds: String, paper: &str| {
        table.push([stage, how, &pages, &seconds, paper].map(str::to_owned).to_vec());
    };
    let mut last = (1, 0.0);
    for size in SUBSETS {
        let seconds = comparing(bench, "lcs:search=all", size)?;
        row("without stage one", "eval, all pairs", count(size), format!("{seconds:.2}"), "");
        last = (size, seconds);
    }
    let all = last.1 * (pages as f64 / last.0 as f64).powi(2);
    row("without stage one", "extrapolated", count(pages), format!("{all:.0}"), "several years");
    let one = comparing(bench, "lcs", pages)?;
    row("after stage one: sets", "eval, pairs of a set", count(pages), format!("{one:.1}"), "5700 hours");
    for (stage, method) in [
        ("after stage two: filter, bound on D; no trust", "lcs:trust=off"),
        ("after stage three: trustable portion", "lcs"),
    ] {
        eprintln!("{stage} ...");
        let run =
            bench.program.dedup(&bench.corpus, method, &["-j", "1", "--recall-pages", "0"], bench.limit)?;
        let seconds = run.map_or("passed the limit".into(), |run| format!("{:.2}", run.cpu_seconds));
        row(stage, "dedup", count(pages), seconds, if method == "lcs" { "118 hours" } else { "" });
    }
    Ok(table)
}

/// CPU seconds to compare the pairs of the first pages of the corpus with `method`.
fn comparing(bench: &Bench, method: &str, pages: u64) -> Result<f64> {
    eprintln!("{method} on {} pages ...", count(pages));
    let set = bench.program.work.join("first-pages");
    write_first(&bench.corpus, pages, &set)?;
    let sets: [PathBuf; 1] = [set.clone()];
    let cost = |method: &str| bench.program.eval(&sets, &[method], &["-j", "1", "--mistakes", "0"]);
    let seconds = cost(method)?.1.cpu_seconds - cost("shingles-b")?.1.cpu_seconds;
    fs::remove_dir_all(&set)?;
    Ok(seconds.max(0.0))
}

fn write_first(corpus: &Path, pages: u64, set: &Path) -> Result<()> {
    fs::create_dir_all(set).with_context(|| format!("cannot create {}", set.display()))?;
    fs::write(set.join("pairs.csv"), "id1,id2,label\n")?;
    let mut reader = jsonl::open(corpus)?;
    let mut file = BufWriter::new(File::create(set.join("docs.jsonl"))?);
    let mut line = vec![];
    for _ in 0..pages {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        file.write_all(&line)?;
    }
    file.flush().context("cannot write the first pages")
}

fn variants(bench: &Bench, title: &str, content: &str) -> Result<Table> {
    eprintln!("variants of lcs, --content {content} ...");
    let sets: Vec<&str> = SETS.into_iter().filter(|set| bench.data.join(set).is_dir()).collect();
    let mut table = Table::new(&[title].into_iter().chain(sets.iter().copied()).collect::<Vec<_>>());
    let folders: Vec<PathBuf> = sets.iter().map(|set| bench.data.join(set)).collect();
    if folders.is_empty() {
        return Ok(table);
    }
    let methods = VARIANTS.map(|(_, method)| method);
    let found = bench.program.eval(&folders, &methods, &["--content", content, "--mistakes", "0"])?.0;
    for (name, method) in VARIANTS {
        let cell = |set: &&str| {
            let one = found.iter().find(|one| one.set == **set && one.method == method);
            one.map_or("-".into(), |one| three(&one.all))
        };
        table.push([name.to_owned()].into_iter().chain(sets.iter().map(cell)).collect());
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subset_is_the_first_pages_without_labels() {
        let folder = tempfile::tempdir().unwrap();
        let corpus = folder.path().join("pages.jsonl");
        fs::write(&corpus, "{\"id\":\"a\"}\n{\"id\":\"b\"}\n{\"id\":\"c\"}\n").unwrap();
        let set = folder.path().join("set");
        write_first(&corpus, 2, &set).unwrap();
        assert_eq!(fs::read_to_string(set.join("docs.jsonl")).unwrap(), "{\"id\":\"a\"}\n{\"id\":\"b\"}\n");
        assert_eq!(fs::read_to_string(set.join("pairs.csv")).unwrap(), "id1,id2,label\n");
        write_first(&corpus, 9, &set).unwrap();
        assert_eq!(jsonl::count_lines(&set.join("docs.jsonl")).unwrap(), 3);
    }
}

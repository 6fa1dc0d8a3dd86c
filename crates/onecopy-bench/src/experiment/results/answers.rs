//! The answers of a real engine: tantivy, driven by a Python script, over the corpus. They are kept in the work folder.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::json;

use super::Args;
use crate::jsonl;
use crate::measure;
use crate::peers::{self, install::peers_folder};

/// The packages of the script.
const PACKAGES: [&str; 1] = ["tantivy"];

/// The answer to a query.
#[derive(Clone, Deserialize)]
pub struct Answer {
    pub query: String,
    /// Where the words of the query are from: a title or a text.
    pub kind: String,
    /// How many pages have any of the words.
    pub matched: u64,
    /// The pages that were found, best first.
    pub hits: Vec<String>,
}

/// All answers, and the texts of all pages in them.
pub struct Answers {
    pub all: Vec<Answer>,
    pub texts: HashMap<String, String>,
}

impl Answers {
    /// Asks the engine, unless the answers of this corpus are in the work folder.
    pub fn get(args: &Args) -> Result<Answers> {
        let path = match &args.answers {
            Some(path) => path.clone(),
            None => ask(args)?,
        };
        let all = read(&path)?;
        ensure!(!all.is_empty(), "{} has no answers", path.display());
        let mut texts: HashMap<String, String> =
            all.iter().flat_map(|answer| &answer.hits).map(|hit| (hit.clone(), String::new())).collect();
        jsonl::for_each_page(std::slice::from_ref(&args.corpus), |page| {
            if let Some(text) = texts.get_mut(&*page.id) {
                *text = page.text.into_owned();
            }
        })?;
        Ok(Answers { all, texts })
    }

    /// Writes the first `most` results of an answer, with their texts.
    pub fn write_texts(&self, answer: &Answer, most: usize, path: &Path) -> Result<()> {
        let line = |hit: &String| Some(json!({"id": hit, "text": self.texts.get(hit)?}).to_string());
        write_lines(path, answer.hits.iter().take(most).filter_map(line))
    }
}

fn ask(args: &Args) -> Result<PathBuf> {
    let name = args.corpus.file_stem().unwrap_or_default().to_string_lossy();
    let out = args.work.join(format!("{name}.{}-queries.jsonl", args.queries));
    if out.exists() {
        eprintln!("the answers are in {}", out.display());
        return Ok(out);
    }
    let python = match &args.python {
        Some(python) => python.clone(),
        None => {
            let workshop = peers::Workshop { work: args.work.clone(), onecopy: None };
            workshop.python(&PACKAGES, "search")?
        }
    };
    eprintln!("indexing {} and asking {} queries ...", args.corpus.display(), args.queries);
    let unfinished = out.with_extension("unfinished");
    let mut command = Command::new(python);
    command.arg(peers_folder().join("search_answers.py")).arg(&args.corpus);
    command.arg("--index").arg(args.work.join(format!("{name}.index"))).arg("--out").arg(&unfinished);
    command.arg("--queries").arg(args.queries.to_string()).env("PYTHONDONTWRITEBYTECODE", "1");
    measure::run(&command, &args.work.join("search-answers.log"))?;
    fs::rename(&unfinished, &out).context("the engine wrote no answers")?;
    Ok(out)
}

fn read(path: &Path) -> Result<Vec<Answer>> {
    let line = |line: std::io::Result<String>| -> Result<Answer> { Ok(serde_json::from_str(&line?)?) };
    let lines: Result<Vec<Answer>> = jsonl::open(path)?.lines().map(line).collect();
    lines.with_context(|| format!("{} has no answers that can be read", path.display()))
}

/// Writes lines into a file.
pub fn write_lines(path: &Path, lines: impl Iterator<Item = String>) -> Result<()> {
    let wrote = || -> std::io::Result<()> {
        let mut out = BufWriter::new(File::create(path)?);
        for line in lines {
            writeln!(out, "{line}")?;
        }
        out.flush()
    };
    wrote().with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_and_their_texts_are_written_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers.jsonl");
        let line =
            r#"{"query":"q","kind":"title","source":"s","matched":9,"hits":["b","a","gone"]}"#.to_owned();
        write_lines(&path, [line].into_iter()).unwrap();
        let all = read(&path).unwrap();
        let text = |name: &str| (name.to_owned(), format!("text of {name}"));
        let answers = Answers { all: all.clone(), texts: ["a", "b"].map(text).into() };
        let out = folder.path().join("results.jsonl");
        answers.write_texts(&all[0], 320, &out).unwrap();
        let wrote = fs::read_to_string(&out).unwrap();
        assert_eq!(wrote, "{\"id\":\"b\",\"text\":\"text of b\"}\n{\"id\":\"a\",\"text\":\"text of a\"}\n");
    }
}

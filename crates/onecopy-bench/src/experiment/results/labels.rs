//! The pairs of results that a person labelled, and the two halves that they are split into.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use xxhash_rust::xxh3::xxh3_64;

use super::answers::{Answers, write_lines};

/// The labels, in the source tree: this program is never installed elsewhere.
pub fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("labels").join("results.csv")
}

/// A labelled pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Labelled {
    pub query: String,
    pub ids: [String; 2],
    /// The relation of the two pages, by the words that labels/README.md defines.
    pub verdict: String,
}

impl Labelled {
    /// Whether a person who has read one needs the other.
    pub fn is_repeat(&self) -> bool {
        matches!(self.verdict.as_str(), "same" | "minor")
    }

    /// Pairs of one query are in one half, because they may share pages.
    pub fn half(&self) -> Half {
        if xxh3_64(self.query.as_bytes()).is_multiple_of(2) { Half::Choose } else { Half::Report }
    }
}

/// What a pair is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// The default is chosen by these.
    Choose,
    /// The quality of the default is measured on these.
    Report,
}

impl Half {
    pub fn name(self) -> &'static str {
        match self {
            Half::Choose => "choose",
            Half::Report => "report",
        }
    }
}

const VERDICTS: [&str; 6] = ["same", "minor", "part", "revised", "template", "other"];

/// Reads all labels.
pub fn read(path: &Path) -> Result<Vec<Labelled>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    text.lines().skip(1).map(parse).collect()
}

/// A line: query, two ids, the verdict and where the pair was drawn from. No field has a comma.
fn parse(line: &str) -> Result<Labelled> {
    let fields: Vec<&str> = line.split(',').collect();
    let [query, one, other, verdict, _drawn] = fields[..] else { bail!("not a labelled pair: {line}") };
    ensure!(VERDICTS.contains(&verdict), "there is no verdict {verdict}: {line}");
    let ids = [one, other].map(str::to_owned);
    Ok(Labelled { query: query.to_owned(), ids, verdict: verdict.to_owned() })
}

/// Writes the pairs of a half as a labelled set for `onecopy eval`. Returns its folder.
pub fn write_set(pairs: &[&Labelled], half: Half, answers: &Answers, work: &Path) -> Result<PathBuf> {
    let folder = work.join(half.name());
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let pages: BTreeSet<&String> = pairs.iter().flat_map(|pair| &pair.ids).collect();
    let mut documents = Vec::new();
    for page in pages {
        let text = answers.texts.get(page).filter(|text| !text.is_empty());
        let text = text.with_context(|| format!("no answer has the labelled page {page}"))?;
        documents.push(json!({"id": page, "text": text}).to_string());
    }
    write_lines(&folder.join("docs.jsonl"), documents.into_iter())?;
    let line = |pair: &&Labelled| format!("{},{},{}", pair.ids[0], pair.ids[1], u8::from(pair.is_repeat()));
    let header = "id1,id2,label".to_owned();
    write_lines(&folder.join("pairs.csv"), [header].into_iter().chain(pairs.iter().map(line)))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_labels_of_the_repository_are_whole() {
        let labels = read(&path()).unwrap();
        assert!(labels.len() >= 300, "{} pairs are labelled", labels.len());
        let pairs: BTreeSet<&[String; 2]> = labels.iter().map(|pair| &pair.ids).collect();
        assert_eq!(pairs.len(), labels.len(), "a pair is labelled once");
        for half in [Half::Choose, Half::Report] {
            let part: Vec<&Labelled> = labels.iter().filter(|pair| pair.half() == half).collect();
            assert!(part.len() >= 100, "{} pairs in the half {}", part.len(), half.name());
            assert!(part.iter().any(|pair| pair.is_repeat()) && part.iter().any(|pair| !pair.is_repeat()));
        }
    }

    #[test]
    fn an_unknown_verdict_is_refused() {
        assert!(parse("a b,x,y,same,random").unwrap().is_repeat());
        assert!(!parse("a b,x,y,template,random").unwrap().is_repeat());
        assert!(parse("a b,x,y,perhaps,random").unwrap_err().to_string().contains("perhaps"));
        assert!(parse("a b,x,y").is_err());
    }
}

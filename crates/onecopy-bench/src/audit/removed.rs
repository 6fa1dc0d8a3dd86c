//! Reads the pages that a tool removed: one id per line, or onecopy's `removed.jsonl` with a claim for each page.

use std::io::BufRead;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::jsonl;

/// A removed page, and the tool's reason if it gave one.
#[derive(Debug, PartialEq)]
pub struct Removal {
    /// The id of the removed page.
    pub page: String,
    /// The claimed kept page.
    pub claim: Option<Claim>,
}

/// The claim "removed in favour of this page, with this similarity".
#[derive(Debug, PartialEq)]
pub struct Claim {
    /// The id of the page claimed to be kept.
    pub winner: String,
    /// The claimed similarity.
    pub similarity: f64,
}

#[derive(Deserialize)]
struct Line {
    page: String,
    winner: String,
    similarity: f64,
}

/// Reads `path` in either format, detected line by line.
pub fn read(path: &Path) -> Result<Vec<Removal>> {
    let mut removals = vec![];
    for (number, line) in jsonl::open(path)?.lines().enumerate() {
        let place = || format!("{}, line {}", path.display(), number + 1);
        let line = line.with_context(place)?;
        if !line.trim().is_empty() {
            removals.push(parse(line.trim()).with_context(place)?);
        }
    }
    Ok(removals)
}

fn parse(line: &str) -> Result<Removal> {
    if !line.starts_with('{') {
        return Ok(Removal { page: line.to_owned(), claim: None });
    }
    let Line { page, winner, similarity } = serde_json::from_str(line)?;
    Ok(Removal { page, claim: Some(Claim { winner, similarity }) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        assert_eq!(parse("np-1").unwrap(), Removal { page: "np-1".into(), claim: None });
        let line = r#"{"page":"a","winner":"b","similarity":0.93,"kind":"near"}"#;
        let claim = Some(Claim { winner: "b".into(), similarity: 0.93 });
        assert_eq!(parse(line).unwrap(), Removal { page: "a".into(), claim });
        assert!(parse("{\"page\":1}").is_err());
    }
}

//! Runs `onecopy refine` and `onecopy tag` as children, and reads where each result stands.

use std::collections::HashMap;
use std::fs;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::jsonl;

/// The place of a result.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
pub struct Place {
    /// Its rank among all results, from 1.
    pub rank: usize,
    /// How many repeats it has; only anchors have this.
    pub repeats: Option<usize>,
    /// The rank of the result that it repeats.
    pub anchor_rank: Option<usize>,
    /// How similar it is to that.
    pub similarity: Option<f64>,
}

impl Place {
    /// Whether a better result has the same content.
    pub fn is_repeat(&self) -> bool {
        self.repeats.is_none()
    }
}

#[derive(Deserialize)]
struct Line {
    onecopy: Place,
}

#[derive(Deserialize)]
struct Tagged {
    id: String,
    tag: String,
}

/// The program and its work folder.
pub struct Program {
    pub path: PathBuf,
    pub work: PathBuf,
}

impl Program {
    /// Refines a file of results. Returns their places, best first.
    pub fn refine(&self, results: &Path, options: &[&str]) -> Result<Vec<Place>> {
        let output =
            self.output(Command::new(&self.path).arg("refine").arg(results).args(options).arg("--jsonl"))?;
        let line = |line: &str| serde_json::from_str::<Line>(line).map(|line| line.onecopy);
        let mut places: Vec<Place> =
            output.lines().map(line).collect::<Result<_, _>>().context("refine printed no places")?;
        places.sort_by_key(|place| place.rank);
        Ok(places)
    }

    /// The tag of each page of a JSON Lines file.
    pub fn tags(&self, pages: &Path) -> Result<HashMap<String, String>> {
        let out = self.work.join("results-tags.jsonl");
        if out.exists() {
            fs::remove_file(&out).with_context(|| format!("cannot remove {}", out.display()))?;
        }
        self.output(Command::new(&self.path).arg("tag").arg(pages).arg("--out").arg(&out).arg("--quiet"))?;
        let line = |line: std::io::Result<String>| -> Result<(String, String)> {
            let Tagged { id, tag } = serde_json::from_str(&line?)?;
            Ok((id, tag))
        };
        jsonl::open(&out)?.lines().map(line).collect::<Result<_>>().context("tag wrote no tags")
    }

    /// Runs a command to its end and returns its output.
    pub fn output(&self, command: &mut Command) -> Result<String> {
        let output = command.output().with_context(|| format!("cannot start {}", self.path.display()))?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "{}",
            said.lines().next().unwrap_or("onecopy failed and said nothing")
        );
        String::from_utf8(output.stdout).context("onecopy printed invalid UTF-8")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_and_repeats_are_distinguished() {
        let place = |text: &str| serde_json::from_str::<Line>(text).unwrap().onecopy;
        let anchor = place(r#"{"id":1,"onecopy":{"rank":1,"relation":"anchor","repeats":2}}"#);
        let text =
            r#"{"onecopy":{"rank":3,"relation":"similar","anchor_rank":1,"anchor":"a","similarity":0.9}}"#;
        assert!(!anchor.is_repeat() && place(text).is_repeat());
        assert_eq!((place(text).anchor_rank, place(text).similarity), (Some(1), Some(0.9)));
    }
}

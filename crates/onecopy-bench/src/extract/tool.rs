//! The tools that turn HTML into text, and how to run them.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::score::{Bag, Score, words};
use super::set::Set;
use crate::peers::install::{Workshop, extract_program, peers_folder};

/// A tool with one of its settings.
pub struct Tool {
    pub name: &'static str,
    pub setting: &'static str,
    /// Its script and packages; `None` for onecopy.
    script: Option<(&'static str, &'static [&'static str])>,
}

const TRAFILATURA: Option<(&str, &[&str])> =
    Some(("extract_trafilatura.py", &["trafilatura", "lxml", "lxml_html_clean"]));
const RESILIPARSE: Option<(&str, &[&str])> = Some(("extract_resiliparse.py", &["resiliparse"]));
const READABILITY: Option<(&str, &[&str])> =
    Some(("extract_readability.py", &["readability-lxml", "lxml", "lxml_html_clean"]));

/// Every tool. Those with the setting `all` keep all text; the others choose the main content.
pub const TOOLS: [Tool; 10] = [
    Tool { name: "onecopy", setting: "main", script: None },
    Tool { name: "onecopy", setting: "auto", script: None },
    Tool { name: "trafilatura", setting: "default", script: TRAFILATURA },
    Tool { name: "trafilatura", setting: "recall", script: TRAFILATURA },
    Tool { name: "trafilatura", setting: "precision", script: TRAFILATURA },
    Tool { name: "trafilatura", setting: "fast", script: TRAFILATURA },
    Tool { name: "resiliparse", setting: "main", script: RESILIPARSE },
    Tool { name: "readability-lxml", setting: "main", script: READABILITY },
    Tool { name: "onecopy", setting: "all", script: None },
    Tool { name: "resiliparse", setting: "all", script: RESILIPARSE },
];

/// The result of a tool on a set.
#[derive(Clone, Copy)]
pub struct Outcome {
    pub score: Score,
    pub cpu_seconds: f64,
}

/// A tool ready to run.
pub struct Ready {
    program: PathBuf,
    script: Option<PathBuf>,
}

/// A line of a tool's output: a page, or the cost at the end.
#[derive(Deserialize)]
struct Line {
    id: Option<String>,
    text: Option<String>,
    cpu_seconds: Option<f64>,
}

impl Tool {
    /// Builds or installs the tool. This cost is not measured.
    pub fn ready(&self, workshop: &Workshop) -> Result<Ready> {
        match self.script {
            None => Ok(Ready { program: extract_program()?, script: None }),
            Some((script, packages)) => {
                let program = workshop.python(packages, &format!("extract-{}", self.name))?;
                Ok(Ready { program, script: Some(peers_folder().join(script)) })
            }
        }
    }

    /// Extracts the pages of `input`, which are those of `set`, and scores them.
    pub fn run(&self, ready: &Ready, set: &Set, input: &Path) -> Result<Outcome> {
        let out = input.with_extension(format!("{}-{}.jsonl", self.name, self.setting));
        extract(ready, input, &out, self.setting)?;
        let mut texts = HashMap::new();
        let mut cpu_seconds = None;
        for line in BufReader::new(std::fs::File::open(&out)?).lines() {
            let line: Line = serde_json::from_str(&line?).context("it wrote a line that is no JSON")?;
            cpu_seconds = line.cpu_seconds.or(cpu_seconds);
            texts.extend(line.id.zip(line.text));
        }
        let mut score = Score::default();
        for page in &set.pages {
            let text = texts.get(&page.id).with_context(|| format!("it lost the page {}", page.id))?;
            score.add(&Bag::of(&words(text)), &page.gold_bag());
        }
        Ok(Outcome { score, cpu_seconds: cpu_seconds.context("it did not say what it cost")? })
    }
}

/// Runs the tool once and waits for it.
pub fn extract(ready: &Ready, input: &Path, out: &Path, setting: &str) -> Result<()> {
    let mut command = Command::new(&ready.program);
    command.args(&ready.script).arg(input).arg("--out").arg(out).arg("--setting").arg(setting);
    // Without this, Python leaves compiled scripts in the source tree.
    let output = command.env("PYTHONDONTWRITEBYTECODE", "1").output().context("cannot start it")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "it failed: {}", said.lines().last().unwrap_or("it said nothing"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_its_script_and_every_package_its_version() {
        let pins = std::fs::read_to_string(peers_folder().join("requirements.txt")).unwrap();
        for (script, packages) in TOOLS.iter().filter_map(|tool| tool.script) {
            assert!(peers_folder().join(script).exists(), "{script}");
            for package in packages {
                assert!(pins.contains(&format!("\n{package}==")), "{package} is not pinned");
            }
        }
    }
}

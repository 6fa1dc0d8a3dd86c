//! The names of results: which ones a run writes, and which files in an output folder a run made.

use std::collections::BTreeMap;
use std::path::Path;

use onecopy_core::Config;
use serde::Deserialize;
use serde_json::Value;

use super::folder::{PUBLISHING, WORKING};
use crate::batch::sketches::SKETCHES;
use crate::error::Result;
use crate::job::{KeptPages, Outputs};
use crate::run::{self, Extent, is_results};

/// All results, in the order in which they appear.
pub(super) const RESULTS: [&str; 15] = [
    SKETCHES,
    "kept",
    "markets",
    "kept.txt",
    "removed.txt",
    "pages.parquet",
    "removed.parquet",
    "groups.parquet",
    "rejected.parquet",
    "pages.jsonl",
    "removed.jsonl",
    "groups.jsonl",
    "rejected.jsonl",
    "run.json",
    "report.json",
];

/// The results whose sizes are not recorded.
pub(super) const DESCRIPTIONS: [&str; 2] = ["run.json", "report.json"];

/// The results that a run with these outputs writes.
pub(super) fn wanted(outputs: Outputs, config: &Config) -> Vec<&'static str> {
    if outputs.kept == KeptPages::Sketches {
        return vec![SKETCHES, "rejected.jsonl", "run.json", "report.json"];
    }
    let is_wanted = |name: &&str| match *name {
        SKETCHES => false,
        "kept" => outputs.kept == KeptPages::Folder,
        "markets" => !config.markets.is_empty(),
        name if name.ends_with(".txt") => outputs.names,
        name if name.ends_with(".parquet") => outputs.parquet,
        _ => true,
    };
    RESULTS.into_iter().filter(is_wanted).collect()
}

/// These outputs, and those that an earlier run has recorded.
pub(super) fn also(outputs: Outputs, recorded: &BTreeMap<String, Extent>) -> Outputs {
    let has = |name: &str| recorded.contains_key(name);
    let kept = match outputs.kept {
        KeptPages::Nowhere if has("kept") => KeptPages::Folder,
        kept => kept,
    };
    Outputs {
        kept,
        names: outputs.names || has("kept.txt"),
        parquet: outputs.parquet || has("pages.parquet"),
    }
}

/// The results in `out` that a run made, or was about to replace when it was killed. Other files are somebody else's,
/// whatever their names.
pub(super) fn owned(out: &Path) -> Vec<&'static str> {
    #[derive(Deserialize)]
    struct Recorded {
        #[serde(default)]
        results: BTreeMap<String, Value>,
    }
    let mark = out.join(WORKING).join(PUBLISHING);
    let recorded: Vec<String> = if mark.exists() {
        run::read(&mark).unwrap_or_default()
    } else if is_results(out) {
        let recorded = run::read::<Recorded>(&out.join("run.json"));
        recorded.map(|run| run.results.into_keys().collect()).unwrap_or_default()
    } else {
        return Vec::new();
    };
    let is_owned = |name: &&str| {
        DESCRIPTIONS.contains(name)
            || recorded.iter().any(|recorded| recorded == name)
            // Versions before 0.2 recorded nothing.
            || recorded.is_empty() && !name.ends_with(".txt") && !name.ends_with(".parquet")
    };
    RESULTS.into_iter().filter(is_owned).collect()
}

/// Records in the working folder which results a run is about to replace.
pub(super) fn mark(working: &Path, published: &Published) -> Result<()> {
    let names: Vec<&str> = published.old.iter().chain(&published.new).copied().collect();
    run::write(&working.join(PUBLISHING), &names)
}

/// The results that a run replaces, and those that it writes.
pub(super) struct Published {
    pub old: Vec<&'static str>,
    pub new: Vec<&'static str>,
}

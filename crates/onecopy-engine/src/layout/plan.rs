//! The plan of a layout as a JSON file.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use onecopy_core::{IndexFile, Layout, LayoutRules, plan_layout};
use serde::{Deserialize, Serialize};

use super::NamedIndexFile;
use crate::error::{At, Error, Result};

/// The mark of such a file.
const KIND: &str = "onecopy layout 1";

/// Which servers have which files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayoutPlan {
    /// The mark of such a file.
    kind: String,
    /// The number of servers. They are numbered from 0.
    pub servers: usize,
    /// The files, in the order of their table.
    pub files: Vec<PlannedFile>,
}

/// A file and its servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedFile {
    /// Its name.
    pub file: String,
    /// The expected load of its requests.
    pub load: f64,
    /// Its bytes.
    pub size: u64,
    /// The servers that have it, ascending.
    pub servers: Vec<u32>,
}

impl LayoutPlan {
    /// Plans a layout.
    pub fn new(files: Vec<NamedIndexFile>, rules: &LayoutRules) -> Result<LayoutPlan> {
        let known: Vec<IndexFile> = files.iter().map(|named| named.file).collect();
        let layout = plan_layout(&known, rules)?;
        let planned = |(named, servers): (NamedIndexFile, Vec<u32>)| PlannedFile {
            file: named.name,
            load: named.file.load,
            size: named.file.bytes,
            servers,
        };
        let files = files.into_iter().zip(layout.holders).map(planned).collect();
        Ok(LayoutPlan { kind: KIND.into(), servers: rules.servers, files })
    }

    /// Reads a plan that [`LayoutPlan::write`] wrote.
    pub fn read(path: &Path) -> Result<LayoutPlan> {
        let text = fs::read_to_string(path).at("read", path)?;
        let wrong = |reason: String| Error::Input {
            input: path.display().to_string(),
            reason: format!("not a plan of a layout ({reason}): give a saved plan"),
        };
        let plan: LayoutPlan = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        match plan.fault() {
            Some(reason) => Err(wrong(reason)),
            None => Ok(plan),
        }
    }

    /// Writes the plan.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string(self).expect("a plan is JSON") + "\n";
        fs::write(path, text).at("write", path)
    }

    /// Why this is not a plan that somebody made with onecopy.
    fn fault(&self) -> Option<String> {
        if self.kind != KIND {
            return Some(format!("its kind is {:?}, not {KIND:?}", self.kind));
        }
        if self.files.is_empty() {
            return Some("it has no files".into());
        }
        let mut names = HashSet::new();
        let wrong = self.files.iter().find(|file| self.is_wrong(file) || !names.insert(&file.file));
        wrong.map(|file| format!("the entry of file {:?} is wrong", file.file))
    }

    fn is_wrong(&self, file: &PlannedFile) -> bool {
        let on_servers = file.servers.iter().all(|&server| (server as usize) < self.servers);
        let sorted = file.servers.is_sorted_by(|a, b| a < b);
        let has_load = file.load.is_finite() && file.load >= 0.0;
        file.servers.is_empty() || !on_servers || !sorted || !has_load
    }

    /// The layout alone.
    pub fn layout(&self) -> Layout {
        Layout {
            servers: self.servers,
            holders: self.files.iter().map(|file| file.servers.clone()).collect(),
        }
    }

    /// The expected loads and the sizes of the files.
    pub fn index_files(&self) -> Vec<IndexFile> {
        self.files.iter().map(|file| IndexFile { load: file.load, bytes: file.size }).collect()
    }
}

//! The files around the layout of an index: the table of its files, the plan, and the log of requests.

mod plan;
mod rows;

pub use plan::{LayoutPlan, PlannedFile};

use std::collections::HashMap;
use std::path::Path;

use onecopy_core::{IndexFile, Request};

use crate::error::{Error, Result};
use rows::{Row, Rows};

/// A file of an index and its name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedIndexFile {
    /// Its name.
    pub name: String,
    /// Its load and size.
    pub file: IndexFile,
}

/// Reads a table of files: CSV with a header, or JSON Lines. `file` is the name, `load` the expected load of its
/// requests (1 if there is no such column), and `size` its bytes (0 likewise). Tables may be compressed.
pub fn read_index_files(path: &Path) -> Result<Vec<NamedIndexFile>> {
    let mut rows = Rows::open(path, &["file"])?;
    let (mut files, mut names) = (Vec::new(), HashMap::new());
    while let Some(row) = rows.next()? {
        let name = row.text("file")?.ok_or_else(|| row.wrong("there is no `file`"))?;
        let load = row.number("load")?.unwrap_or(1.0);
        let bytes = row.number("size")?.unwrap_or(0.0) as u64;
        if let Some(first) = names.insert(name.clone(), row.line) {
            return Err(row.wrong(&format!("the file {name:?} is also in line {first}: name each file once")));
        }
        files.push(NamedIndexFile { name, file: IndexFile { load, bytes } });
    }
    if files.is_empty() {
        return Err(empty(path, "no file is in it: give a table with the columns file, load and size"));
    }
    Ok(files)
}

/// Reads a log of requests to the files of a plan, in the order of time: CSV with a header, or JSON Lines. `file` names
/// a file, `load` is the load of the request (1 if there is no such column). Logs may be compressed.
pub fn read_requests(path: &Path, plan: &LayoutPlan) -> Result<Vec<Request>> {
    let mut rows = Rows::open(path, &["file"])?;
    let numbers: HashMap<&str, u32> =
        plan.files.iter().zip(0..).map(|(file, number)| (file.file.as_str(), number)).collect();
    let mut requests = Vec::new();
    while let Some(row) = rows.next()? {
        let file = asked(&row, &numbers)?;
        requests.push(Request { file, load: row.number("load")?.unwrap_or(1.0) });
    }
    if requests.is_empty() {
        return Err(empty(path, "no request is in it: give a log with the columns file and load"));
    }
    Ok(requests)
}

/// The number of the file that a request asks.
fn asked(row: &Row, numbers: &HashMap<&str, u32>) -> Result<u32> {
    let name = row.text("file")?.ok_or_else(|| row.wrong("there is no `file`"))?;
    numbers.get(name.as_str()).copied().ok_or_else(|| {
        let remedy = "give the plan of these files, or plan them again";
        row.wrong(&format!("the file {name:?} is not in the plan, which is one of other files: {remedy}"))
    })
}

fn empty(path: &Path, reason: &str) -> Error {
    Error::Input { input: path.display().to_string(), reason: reason.into() }
}

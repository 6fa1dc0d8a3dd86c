//! The tidy test: checks the style rules that a machine can check, over the whole repository.
//!
//! It reads the repository as text and knows rustfmt's layout, not Rust's grammar: a function ends at the first `}`
//! that is indented like its `fn`. That is exact for formatted code, and formatting is checked too. Every check is a
//! function from text to offences, so tests can show that it catches one.

mod code; //       functions, files, `unwrap`, `unsafe`, names
mod committed; //  no large files, no third-party data
mod documents; //  the architecture page names existing things, dependencies have a reason
mod prose; //      sentences of documents and comments are short and plain
mod rust; //       Rust as text

use std::fs;
use std::path::{Path, PathBuf};

/// The folders to read, besides the files at the root.
const FOLDERS: &[&str] = &["crates", "web", "python", "fuzz", "docs", "examples", "corpora"];
/// The folders to skip: made by tools, or input for onecopy.
const SKIPPED: &[&str] = &["target", ".git", "node_modules", "__pycache__", "crawl"];

/// A file of the repository.
struct Source {
    /// Relative to the root, with `/` between parts.
    path: String,
    text: String,
}

impl Source {
    fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }

    fn may_unwrap(&self) -> bool {
        self.is_test() || self.path.contains("/benches/") || self.path.contains("/examples/")
    }

    fn offence(&self, line_index: usize, what: &str) -> String {
        format!("{}:{}: {what}", self.path, line_index + 1)
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every checked file and folder, relative to the root, sorted. Folders end in `/`.
fn paths() -> Vec<String> {
    let mut found = Vec::new();
    for entry in list(&root()) {
        let name = file_name(&entry);
        if FOLDERS.contains(&name.as_str()) {
            walk(&entry, &name, &mut found);
        } else if entry.is_file() {
            found.push(name);
        }
    }
    assert!(found.len() > 10, "the walk found only {found:?}; is the root right?");
    found.sort();
    found
}

fn walk(folder: &Path, path: &str, found: &mut Vec<String>) {
    found.push(format!("{path}/"));
    for entry in list(folder) {
        let name = file_name(&entry);
        let below = format!("{path}/{name}");
        if entry.is_symlink() || SKIPPED.contains(&name.as_str()) {
            continue;
        } else if entry.is_dir() {
            walk(&entry, &below, found);
        } else {
            found.push(below);
        }
    }
}

fn list(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("cannot list {}: {e}", folder.display()));
    entries.filter_map(|entry| entry.ok().map(|e| e.path())).collect()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn sources(endings: &[&str]) -> Vec<Source> {
    let wanted = |path: &String| endings.iter().any(|ending| path.ends_with(ending));
    paths().into_iter().filter(wanted).map(read).collect()
}

fn read(path: String) -> Source {
    let bytes = fs::read(root().join(&path)).unwrap_or_else(|e| panic!("cannot read {path}: {e}"));
    Source { text: String::from_utf8_lossy(&bytes).into_owned(), path }
}

fn report(offences: Vec<String>) {
    assert!(offences.is_empty(), "{} offences\n{}", offences.len(), offences.join("\n"));
}

// A source, for the tests of the checks.

fn source(path: &str, text: impl Into<String>) -> Source {
    Source { path: path.to_string(), text: text.into() }
}

/// Asserts the number of offences, and that each names its place.
fn caught(offences: impl IntoIterator<Item = String>, at: &[&str]) {
    let offences: Vec<String> = offences.into_iter().collect();
    assert_eq!(offences.len(), at.len(), "{offences:?}");
    for (offence, start) in offences.iter().zip(at) {
        assert!(offence.starts_with(start), "{offence} should start with {start}");
    }
}

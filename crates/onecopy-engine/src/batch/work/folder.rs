//! Recognises onecopy's output folders by the content of their files, not by their names alone.
//!
//! onecopy never deletes or replaces a file that no run made.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::delete;
use super::names::owned;
use crate::error::{At, Error, Result};
use crate::run::{self, is_results};

/// The working folder, inside the output folder.
pub(super) const WORKING: &str = ".onecopy";
/// A file in the working folder that exists from just before the first result is moved out.
pub(super) const PUBLISHING: &str = "publishing";

/// The contents of an output folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// No results: the folder is empty, or a run works in it.
    NoResults,
    /// The results of a finished run.
    Results,
}

/// Returns the contents of a folder. Fails if it has files that no run made where a run would write these results.
pub(super) fn look(out: &Path, results: &[&str]) -> Result<Holds> {
    let names = match names(out) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Holds::NoResults),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            return Err(Error::OutputNotOurs { folder: out.to_owned() });
        }
        names => names.at("read", out)?,
    };
    let working = out.join(WORKING);
    let begun = working.is_dir() && is_working(&working)?;
    let is_finished = is_results(out);
    let others = names.iter().any(|name| name != WORKING);
    if others && !begun && !is_finished {
        return Err(Error::OutputNotOurs { folder: out.to_owned() });
    }
    refuse_others(out, results)?;
    Ok(if is_finished { Holds::Results } else { Holds::NoResults })
}

/// The version of onecopy that made the results in `out`.
pub(super) fn maker(out: &Path) -> Option<String> {
    run::maker(&out.join("run.json"))
}

/// Fails if a folder has files with the names of these results that no run made.
pub(super) fn refuse_others(out: &Path, results: &[&str]) -> Result<()> {
    let owned = owned(out);
    let is_other = |name: &&&str| !owned.contains(*name) && out.join(name).symlink_metadata().is_ok();
    match results.iter().find(is_other) {
        Some(name) => Err(foreign(out, name)),
        None => Ok(()),
    }
}

/// Whether a run began in a working folder. Fails if the folder has files that no run made.
fn is_working(working: &Path) -> Result<bool> {
    let names = names(working).at("read", working)?;
    if let Some(other) = names.iter().find(|name| !is_ours(name)) {
        return Err(foreign(working, &other.to_string_lossy()));
    }
    let path = working.join("run.json");
    if !path.exists() {
        return Ok(false);
    }
    match run::maker(&path) {
        Some(_) => Ok(true),
        None => Err(foreign(working, "run.json")),
    }
}

/// Whether a run makes files of this name in its working folder.
fn is_ours(name: &OsStr) -> bool {
    const NAMES: [&str; 14] = [
        "lock",
        "stdin",
        "run.json",
        "run.part",
        "segments.bin",
        "segments.log",
        "decisions",
        "decisions.part",
        "ends.json",
        "ends.part",
        "results",
        "recall",
        PUBLISHING,
        "publishing.part",
    ];
    // Version 0.2 wrote `runs.` for `lists.`.
    const STARTS: [&str; 8] =
        ["fingerprints.", "keys-", "lists.", "runs.", "section-", "sketches-", "kept-", "spool-"];
    name.to_str()
        .is_some_and(|name| NAMES.contains(&name) || STARTS.iter().any(|start| name.starts_with(start)))
}

/// Deletes the files of a run in its working folder, except the lock and the copied input.
pub(super) fn clear(working: &Path) -> Result<()> {
    let stay = |name: &OsStr| name == "lock" || name == "stdin" || !is_ours(name);
    let names = names(working).at("read", working)?;
    names.iter().filter(|name| !stay(name)).try_for_each(|name| delete(&working.join(name)))
}

/// Deletes a working folder, but not files that no run made.
pub(super) fn remove(working: &Path) -> Result<()> {
    clear(working)?;
    delete(&working.join("stdin"))?;
    delete(&working.join("lock"))?;
    match fs::remove_dir(working) {
        Err(error) if error.kind() != ErrorKind::DirectoryNotEmpty => Err(error).at("delete", working),
        _ => Ok(()),
    }
}

/// Deletes a working folder in which no run began.
pub(super) fn leave(working: &Path) {
    let unused = |name: &OsStr| name == "lock" || name == "stdin";
    if names(working).is_ok_and(|names| names.iter().all(|name| unused(name))) {
        let _ = remove(working);
    }
}

fn names(folder: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
}

fn foreign(folder: &Path, name: &str) -> Error {
    Error::OutputForeign { folder: folder.to_owned(), name: name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = r#"{"version":"0.0.1","config":{},"inputs":{}}"#;
    const REPORT: &str = r#"{"version":"0.0.1","read":1,"kept":1,"removed":0}"#;

    /// Checks a folder with these files.
    fn holds(files: &[(&str, &str)]) -> Result<Holds> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        look(folder.path(), &WANTED)
    }

    const WANTED: [&str; 4] = ["kept", "removed.parquet", "run.json", "report.json"];

    #[test]
    fn a_folder_is_ours_by_what_it_holds() {
        assert_eq!(holds(&[]).unwrap(), Holds::NoResults);
        let done = [("run.json", RUN), ("report.json", REPORT), ("kept/x", "x")];
        assert_eq!(holds(&done).unwrap(), Holds::Results);
        for files in [
            &[(".onecopy/lock", "")][..],
            &[(".onecopy/stdin", "text")],
            &[(".onecopy/run.json", RUN), ("notes.txt", "")],
            &[(".onecopy/run.json", RUN), (".onecopy/publishing", ""), ("kept/x", "")],
            &[(".onecopy/run.json", RUN), (".onecopy/lists.3", ""), (".onecopy/runs.3", "")],
        ] {
            assert_eq!(holds(files).unwrap(), Holds::NoResults, "{files:?}");
        }
    }

    #[test]
    fn a_folder_is_not_ours_by_its_names() {
        for files in [
            &[("run.json", "{}"), ("report.json", "{}"), ("kept/x", "x")][..],
            &[("run.json", RUN), ("report.json", "nonsense"), ("kept/x", "x")],
            &[("run.json", "nonsense"), ("report.json", REPORT)],
            &[(".onecopy/lock", ""), ("kept/x", "x")],
            &[(".onecopy/run.json", RUN), ("kept/x", "x")],
            &[(".onecopy/run.json", "{}")],
            &[(".onecopy/run.json", RUN), (".onecopy/mine", "x")],
            &[(".onecopy/mine", "x"), ("run.json", RUN), ("report.json", REPORT)],
            &[("removed.parquet", "x"), ("run.json", RUN), ("report.json", REPORT)],
            &[(".onecopy/run.json", RUN), (".onecopy/publishing", r#"["kept"]"#), ("removed.parquet", "x")],
            &[("notes.txt", "x")],
        ] {
            let refused =
                matches!(holds(files), Err(Error::OutputForeign { .. } | Error::OutputNotOurs { .. }));
            assert!(refused, "{files:?}");
        }
    }

    #[test]
    fn only_our_files_are_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let working = folder.path().join(WORKING);
        fs::create_dir_all(working.join("results/kept")).unwrap();
        for name in ["lock", "keys-7", "decisions", "mine"] {
            fs::write(working.join(name), "").unwrap();
        }
        remove(&working).unwrap();
        assert_eq!(names(&working).unwrap(), ["mine"]);
        fs::remove_file(working.join("mine")).unwrap();
        remove(&working).unwrap();
        assert!(!working.exists());
    }
}

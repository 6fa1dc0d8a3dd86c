//! Recognises onecopy's output folders by the content of their files, not by their names alone.
//!
//! Nothing is deleted or replaced that a run of onecopy did not make.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{RESULTS, delete};
use crate::error::{At, Error, Result};
use crate::run;

/// The working folder, inside the output folder.
pub(super) const WORKING: &str = ".onecopy";
/// A file in the working folder, there from when the first result is about to be moved out.
pub(super) const PUBLISHING: &str = "publishing";

/// What an output folder holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// Nothing, or what a run is working on.
    NoResults,
    /// The results of a finished run.
    Results,
}

/// What every `run.json` of ours has, whatever its version.
#[derive(Deserialize)]
#[allow(dead_code, reason = "that they can be read is what counts")]
struct RunMark {
    version: String,
    config: Map<String, Value>,
    inputs: Map<String, Value>,
}

/// What every `report.json` of ours has.
#[derive(Deserialize)]
#[allow(dead_code, reason = "that they can be read is what counts")]
struct ReportMark {
    version: String,
    read: u64,
    kept: u64,
    removed: u64,
}

/// Says what a folder holds. Refuses one that has anything in it and is not ours.
pub(super) fn look(out: &Path) -> Result<Holds> {
    let names = match names(out) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Holds::NoResults),
        names => names.at("read", out)?,
    };
    let working = out.join(WORKING);
    let begun = working.is_dir() && is_working(&working)?;
    if is_finished(out) {
        return Ok(Holds::Results);
    }
    let others = names.iter().any(|name| name != WORKING);
    if others && !begun {
        return Err(foreign(out, "it is not empty and onecopy did not make it"));
    }
    refuse_results(out)?;
    Ok(Holds::NoResults)
}

/// The version of onecopy that made the results in `out`.
pub(super) fn maker(out: &Path) -> Option<String> {
    run::read::<RunMark>(&out.join("run.json")).map(|mark| mark.version)
}

/// Refuses a folder with results that no finished run made, and no run is about to publish.
pub(super) fn refuse_results(out: &Path) -> Result<()> {
    if is_finished(out) || out.join(WORKING).join(PUBLISHING).exists() {
        return Ok(());
    }
    match RESULTS.iter().find(|name| out.join(name).symlink_metadata().is_ok()) {
        Some(name) => Err(foreign(out, &format!("it has {name}, which onecopy did not make"))),
        None => Ok(()),
    }
}

fn is_finished(out: &Path) -> bool {
    maker(out).is_some() && run::read::<ReportMark>(&out.join("report.json")).is_some()
}

/// Whether a run was begun in a working folder. Refuses one with files that are not ours.
fn is_working(working: &Path) -> Result<bool> {
    let names = names(working).at("read", working)?;
    if let Some(other) = names.iter().find(|name| !is_ours(name)) {
        let what = format!("it has {}, which onecopy did not make", other.to_string_lossy());
        return Err(foreign(working, &what));
    }
    let path = working.join("run.json");
    if !path.exists() {
        return Ok(false);
    }
    match run::read::<RunMark>(&path) {
        Some(_) => Ok(true),
        None => Err(foreign(working, "its run.json is none of onecopy")),
    }
}

/// Whether a run makes files of this name in its working folder.
fn is_ours(name: &OsStr) -> bool {
    const NAMES: [&str; 11] = [
        "lock",
        "stdin",
        "run.json",
        "run.part",
        "segments.bin",
        "segments.log",
        "decisions",
        "decisions.part",
        "results",
        "recall",
        PUBLISHING,
    ];
    const STARTS: [&str; 6] = ["fingerprints.", "keys-", "runs.", "section-", "sketches-", "kept-"];
    name.to_str()
        .is_some_and(|name| NAMES.contains(&name) || STARTS.iter().any(|start| name.starts_with(start)))
}

/// Deletes what a run left in its working folder, but the lock and the input.
pub(super) fn clear(working: &Path) -> Result<()> {
    let stay = |name: &OsStr| name == "lock" || name == "stdin" || !is_ours(name);
    let names = names(working).at("read", working)?;
    names.iter().filter(|name| !stay(name)).try_for_each(|name| delete(&working.join(name)))
}

/// Deletes a working folder, unless there is something in it that is not ours.
pub(super) fn remove(working: &Path) -> Result<()> {
    clear(working)?;
    delete(&working.join("stdin"))?;
    delete(&working.join("lock"))?;
    match fs::remove_dir(working) {
        Err(error) if error.kind() != ErrorKind::DirectoryNotEmpty => Err(error).at("delete", working),
        _ => Ok(()),
    }
}

/// Takes away a working folder that nothing was done in.
pub(super) fn leave(working: &Path) {
    let unused = |name: &OsStr| name == "lock" || name == "stdin";
    if names(working).is_ok_and(|names| names.iter().all(|name| unused(name))) {
        let _ = remove(working);
    }
}

fn names(folder: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
}

fn foreign(folder: &Path, what: &str) -> Error {
    Error::OutputNotOurs { folder: folder.to_owned(), reason: what.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = r#"{"version":"0.0.1","config":{},"inputs":{}}"#;
    const REPORT: &str = r#"{"version":"0.0.1","read":1,"kept":1,"removed":0}"#;

    /// What is said of a folder with these files.
    fn holds(files: &[(&str, &str)]) -> Result<Holds> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        look(folder.path())
    }

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
            &[("notes.txt", "x")],
        ] {
            assert!(matches!(holds(files), Err(Error::OutputNotOurs { .. })), "{files:?}");
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

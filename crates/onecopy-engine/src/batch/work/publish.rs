//! Publishes results all at once, so that they survive a power loss.
//!
//! If `report.json` exists, all other results are complete on disk. So every file and folder is synced before
//! `report.json` is renamed into place, and the output folder once more after that.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::delete;
use super::names::Published;
use crate::error::{At, Result};

/// The result that is published last.
const LAST: &str = "report.json";
/// The most files that are synced one by one. Each takes the disk some milliseconds.
const FEW: usize = 32;

/// A step of publishing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PublishStep {
    /// Syncs the bytes of a file.
    SyncFile(PathBuf),
    /// Syncs the names in a folder.
    SyncFolder(PathBuf),
    /// Syncs everything below a folder.
    SyncBelow(PathBuf),
    Delete(PathBuf),
    Rename(PathBuf, PathBuf),
}

impl PublishStep {
    /// Takes the step.
    pub(super) fn take(self) -> Result<()> {
        match self {
            PublishStep::SyncFile(path) => {
                File::open(&path).and_then(|file| file.sync_all()).at("sync", &path)
            }
            PublishStep::SyncFolder(path) => sync_folder(&path),
            PublishStep::SyncBelow(path) => sync_below(&path),
            PublishStep::Delete(path) => delete(&path),
            PublishStep::Rename(from, to) => fs::rename(&from, &to).at("create", &to),
        }
    }
}

/// Moves the `results` of a run to `out`, step by step, and replaces old ones. `results` is a folder inside the working
/// folder.
pub(super) fn publish(
    results: &Path,
    out: &Path,
    published: &Published,
    step: &mut dyn FnMut(PublishStep) -> Result<()>,
) -> Result<()> {
    sync_results(results, step)?;
    let (working, above) = (results.parent(), out.parent());
    let above = above.map(|above| if above.as_os_str().is_empty() { Path::new(".") } else { above });
    working
        .into_iter()
        .chain(above)
        .try_for_each(|folder| step(PublishStep::SyncFolder(folder.to_owned())))?;
    let there = |folder: &Path, name: &str| folder.join(name).symlink_metadata().is_ok();
    let old: Vec<&str> = published.old.iter().copied().filter(|name| there(out, name)).collect();
    if old.contains(&LAST) {
        step(PublishStep::Delete(out.join(LAST)))?;
        step(PublishStep::SyncFolder(out.to_owned()))?;
    }
    for name in old.iter().filter(|name| **name != LAST) {
        step(PublishStep::Delete(out.join(name)))?;
    }
    for name in published.new.iter().filter(|name| **name != LAST) {
        step(PublishStep::Rename(results.join(name), out.join(name)))?;
    }
    step(PublishStep::SyncFolder(out.to_owned()))?;
    step(PublishStep::Rename(results.join(LAST), out.join(LAST)))?;
    step(PublishStep::SyncFolder(out.to_owned()))
}

fn sync_results(results: &Path, step: &mut dyn FnMut(PublishStep) -> Result<()>) -> Result<()> {
    let mut found = Vec::new();
    let most = if cfg!(target_os = "linux") { FEW } else { usize::MAX };
    collect(results, most, &mut found)?;
    if found.len() > most {
        return step(PublishStep::SyncBelow(results.to_owned()));
    }
    found.into_iter().try_for_each(step)
}

/// Collects the steps that sync a folder and everything below it. Stops soon after `most` steps.
fn collect(folder: &Path, most: usize, found: &mut Vec<PublishStep>) -> Result<()> {
    for entry in fs::read_dir(folder).at("read", folder)? {
        let entry = entry.at("read", folder)?;
        if found.len() > most {
            return Ok(());
        }
        if entry.file_type().at("read", &entry.path())?.is_dir() {
            collect(&entry.path(), most, found)?;
        } else {
            found.push(PublishStep::SyncFile(entry.path()));
        }
    }
    found.push(PublishStep::SyncFolder(folder.to_owned()));
    Ok(())
}

/// Syncs a folder, unless the file system refuses to.
fn sync_folder(path: &Path) -> Result<()> {
    let synced = File::open(path).and_then(|folder| folder.sync_all());
    let refused =
        |kind| matches!(kind, ErrorKind::PermissionDenied | ErrorKind::InvalidInput | ErrorKind::Unsupported);
    match synced {
        Err(error) if refused(error.kind()) => Ok(()),
        synced => synced.at("sync", path),
    }
}

/// Syncs the whole file system of a folder.
#[cfg(target_os = "linux")]
fn sync_below(path: &Path) -> Result<()> {
    let folder = File::open(path).at("sync", path)?;
    nix::unistd::syncfs(folder).map_err(std::io::Error::from).at("sync", path)
}

#[cfg(not(target_os = "linux"))]
fn sync_below(path: &Path) -> Result<()> {
    let mut found = Vec::new();
    collect(path, usize::MAX, &mut found)?;
    found.into_iter().try_for_each(PublishStep::take)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::work::names::wanted;
    use crate::job::Outputs;

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Publishes results with `documents` kept files over old ones. Returns the steps.
    fn published(folder: &Path, documents: usize) -> Vec<PublishStep> {
        let (results, out) = (folder.join("out/.onecopy/results"), folder.join("out"));
        let new = wanted(Outputs { names: true, ..Outputs::default() }, &Default::default());
        let old = [&new[..], &["markets"]].concat();
        for name in new.iter().filter(|name| name.contains('.')) {
            write(&results, name, "new");
            write(&out, name, "old");
        }
        (0..documents).for_each(|n| write(&results, &format!("kept/site/{n}.txt"), "new"));
        write(&out, "kept/old.txt", "old");
        write(&out, "markets/uk/removed.jsonl", "old");
        write(&out, "removed.parquet", "somebody's");
        let mut steps = Vec::new();
        publish(&results, &out, &Published { old, new }, &mut |step| {
            steps.push(step.clone());
            step.take()?;
            // If a report is visible, its results are complete.
            if let Ok(seen) = fs::read_to_string(out.join(LAST)) {
                let same = |name: &str| fs::read_to_string(out.join(name)).is_ok_and(|text| text == seen);
                assert!(["run.json", "pages.jsonl"].into_iter().all(same), "{:?}", steps.last());
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(fs::read_to_string(out.join(LAST)).unwrap(), "new");
        assert!(!out.join("kept/old.txt").exists() && !out.join("markets").exists());
        assert_eq!(fs::read_to_string(out.join("removed.parquet")).unwrap(), "somebody's");
        steps
    }

    fn place(steps: &[PublishStep], wanted: &PublishStep) -> usize {
        steps
            .iter()
            .position(|step| step == wanted)
            .unwrap_or_else(|| panic!("{wanted:?} is not in {steps:?}"))
    }

    #[test]
    fn everything_is_on_disk_before_the_report_appears() {
        let folder = tempfile::tempdir().unwrap();
        let (results, out) = (folder.path().join("out/.onecopy/results"), folder.path().join("out"));
        let steps = published(folder.path(), 2);
        let report = place(&steps, &PublishStep::Rename(results.join(LAST), out.join(LAST)));
        for name in ["kept/site/0.txt", "kept/site/1.txt", "removed.jsonl", "run.json", LAST] {
            let renamed = steps.iter().position(|step| matches!(step, PublishStep::Rename(..))).unwrap();
            assert!(place(&steps, &PublishStep::SyncFile(results.join(name))) < renamed, "{name}");
        }
        for inner in ["", "kept", "kept/site"] {
            assert!(place(&steps, &PublishStep::SyncFolder(results.join(inner))) < report, "{inner}");
        }
        assert!(place(&steps, &PublishStep::SyncFolder(folder.path().to_owned())) < report);
        // The other names are durable before the report appears.
        assert_eq!(steps[report - 1], PublishStep::SyncFolder(out.clone()));
        assert_eq!(steps[report + 1..], [PublishStep::SyncFolder(out.clone())]);
        // The old report disappears before the old results.
        let gone = place(&steps, &PublishStep::Delete(out.join(LAST)));
        assert_eq!(steps[gone + 1], PublishStep::SyncFolder(out.clone()));
        assert!(
            steps[..gone]
                .iter()
                .all(|step| !matches!(step, PublishStep::Delete(_) | PublishStep::Rename(..)))
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn many_files_are_synced_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let steps = published(folder.path(), FEW + 1);
        assert_eq!(steps[0], PublishStep::SyncBelow(folder.path().join("out/.onecopy/results")));
        assert!(!steps.iter().any(|step| matches!(step, PublishStep::SyncFile(_))));
    }
}

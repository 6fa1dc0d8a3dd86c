//! The measured collection, loaded or kept from an earlier run, and the numbers of its changes.
//!
//! A note next to a kept collection describes it. A run changes the collection, so the numbers of changes continue
//! after those of the last run: a repeated change would change nothing.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::stream::Stream;
use super::{Program, emptied};
use crate::measure::Cost;
use crate::table::count;

/// The requested collection.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The number of pages to load.
    pub pages: u64,
    /// The seed of the pages.
    pub seed: u64,
    /// Whether to keep it between runs.
    pub keep: bool,
}

/// The description of a collection.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Note {
    /// The number of loaded pages, and their seed.
    pages: u64,
    seed: u64,
    /// The first unused change number.
    next_change: u64,
    /// The cost of loading.
    import: Cost,
}

/// A collection on disk.
pub struct Collection {
    pub data: PathBuf,
    /// The path of the note, if the collection is kept.
    kept: Option<PathBuf>,
    note: Note,
}

impl Collection {
    /// Loads the pages, or opens the kept collection with the same pages.
    pub fn open(program: &Program, stream: &Stream, wanted: &Wanted) -> Result<Collection> {
        let Wanted { pages, seed, keep } = *wanted;
        let data = program.work.join(if keep { "service-kept" } else { "service-data" });
        let kept = keep.then(|| data.with_extension("json"));
        let note = kept.as_deref().filter(|_| data.exists()).and_then(|path| noted(path, wanted));
        if let Some(note) = note {
            eprintln!("a kept collection of {} pages, changed before ...", count(note.pages));
            return Ok(Collection { data, kept, note });
        }
        // A partly loaded collection must not count as kept.
        if let Some(path) = kept.as_deref().filter(|path| path.exists()) {
            fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        let import = load(program, stream, pages, &emptied(data.clone())?)?;
        let collection = Collection { data, kept, note: Note { pages, seed, next_change: 0, import } };
        collection.write_note()?;
        Ok(collection)
    }

    /// The cost of loading, in this run or an earlier one.
    pub fn import(&self) -> Cost {
        self.note.import
    }

    /// Reserves numbers for `changes` changes, never to be used again. They are noted before use, so that an aborted
    /// run has used them up.
    pub fn take_numbers(&mut self, changes: u64) -> Result<Range<u64>> {
        let first = self.note.next_change;
        // Changes alternate between three kinds; each measurement begins with the first kind.
        self.note.next_change = first + changes.next_multiple_of(3);
        self.write_note()?;
        Ok(first..first + changes)
    }

    /// Keeps or removes the collection after use.
    pub fn close(self) -> Result<()> {
        match self.kept {
            Some(_) => Ok(()),
            None => fs::remove_dir_all(&self.data)
                .with_context(|| format!("cannot remove {}", self.data.display())),
        }
    }

    fn write_note(&self) -> Result<()> {
        let Some(path) = &self.kept else { return Ok(()) };
        let text = serde_json::to_string_pretty(&self.note)? + "\n";
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// The note, if it exists and matches these pages and this seed.
fn noted(path: &Path, wanted: &Wanted) -> Option<Note> {
    let note: Note = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    (note.pages == wanted.pages && note.seed == wanted.seed).then_some(note)
}

fn load(program: &Program, stream: &Stream, pages: u64, data: &Path) -> Result<Cost> {
    let input = program.work.join("service.jsonl");
    eprintln!("generating {} pages ...", count(pages));
    stream.write(0..pages, &input)?;
    eprintln!("importing ...");
    let import = program.import(data, &input)?;
    fs::remove_file(&input)?;
    Ok(import)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collection(folder: &Path, keep: bool) -> Collection {
        let import = Cost { cpu_seconds: 2.0, system_seconds: 0.0, wall_seconds: 1.0, peak_bytes: 7 };
        let data = folder.join("service-kept");
        fs::create_dir_all(&data).unwrap();
        let kept = keep.then(|| data.with_extension("json"));
        Collection { data, kept, note: Note { pages: 100, seed: 5, next_change: 0, import } }
    }

    #[test]
    fn numbers_never_meet_and_begin_with_the_first_kind() {
        let folder = tempfile::tempdir().unwrap();
        let mut collection = collection(folder.path(), false);
        let taken = [7, 0, 3, 1].map(|changes| collection.take_numbers(changes).unwrap());
        assert_eq!(taken, [0..7, 9..9, 9..12, 12..13]);
        collection.close().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_kept_collection_is_known_again_and_its_numbers_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = collection(folder.path(), true);
        first.take_numbers(10).unwrap();
        let program = Program { onecopy: PathBuf::new(), work: folder.path().to_owned() };
        let wanted = Wanted { pages: 100, seed: 5, keep: true };
        // It is not closed, like an aborted run.
        let mut next = Collection::open(&program, &Stream::new(5, 100), &wanted).unwrap();
        assert_eq!((next.import(), next.take_numbers(3).unwrap()), (first.import(), 12..15));
        next.close().unwrap();
        let path = folder.path().join("service-kept.json");
        assert!(folder.path().join("service-kept").exists());
        assert_eq!(noted(&path, &wanted).map(|note| note.next_change), Some(15));
        let others = [Wanted { pages: 101, ..wanted }, Wanted { seed: 6, ..wanted }];
        assert_eq!(others.map(|other| noted(&path, &other)), [None, None]);
        fs::write(&path, "{").unwrap();
        assert_eq!(noted(&path, &wanted), None);
    }
}

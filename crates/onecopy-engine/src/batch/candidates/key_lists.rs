//! StoredLists: the contents that hold one key, in memory while they fit, else on disk. Written once, then gone through any
//! number of times.
//!
//! A run that has the same contents as another, and fewer shingles behind its key, adds nothing: two near-duplicates share
//! most of their keys, and the first in the order says as much as all. Most such runs are known again and left out, and one
//! that comes earlier in the order takes the place of the other.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use onecopy_core::settle::{Holder, KeyLists};
use xxhash_rust::xxh3::xxh3_128;

use crate::batch::candidates::known::{Known, Written};
use crate::error::{At, Error, Result};
use crate::io::{read_block, write_block};
use crate::progress::Progress;

/// StoredLists in parts, each run with its contents ascending.
pub(crate) struct StoredLists {
    parts: Vec<Mutex<Part>>,
    /// Holders that may still go to memory.
    room: AtomicUsize,
    /// Where those go that do not fit in memory: this and a number.
    path: PathBuf,
    runs: usize,
    entries: usize,
    known: Known,
}

/// Some of the runs: for each, a holder that is its length, then its holders.
#[derive(Default)]
struct Part {
    /// The first runs.
    memory: Vec<Holder>,
    /// The rest.
    disk: Option<PathBuf>,
    runs: usize,
    entries: usize,
}

impl StoredLists {
    /// No runs yet; at most `room` holders of them will be in memory.
    pub(crate) fn new(parts: usize, room: usize, path: &Path) -> StoredLists {
        let parts = (0..parts).map(|_| Mutex::default()).collect();
        let (room, path, known) = (AtomicUsize::new(room), path.to_owned(), Known::new(0));
        StoredLists { parts, room, path, runs: 0, entries: 0, known }
    }

    /// So many runs are to be known again, and left out where they add nothing. Which of two that are the same is left out
    /// depends on which part is written first.
    pub(crate) fn knowing(self, runs: usize) -> StoredLists {
        StoredLists { known: Known::new(runs), ..self }
    }

    /// Writes a part.
    pub(crate) fn writer(&self, part: usize) -> ListWriter<'_> {
        let (part, number) = (Part::default(), part);
        ListWriter { runs: self, number, part, contents: Vec::new(), disk: None, block: Vec::new() }
    }

    /// Ends the writing.
    pub(crate) fn finish(mut self) -> Result<StoredLists> {
        self.known = Known::new(0);
        for part in &mut self.parts {
            let part = part.get_mut().expect("no thread panics with this lock");
            self.runs += part.runs;
            self.entries += part.entries;
        }
        Ok(self)
    }

    /// No runs yet, where these are: they are given up.
    pub(crate) fn emptied(self) -> StoredLists {
        let held: usize = self.parts.iter().map(|part| part.lock().map_or(0, |part| part.memory.len())).sum();
        StoredLists::new(1, self.room.into_inner() + held, &self.path)
    }

    /// How many runs there are.
    pub(crate) fn len(&self) -> usize {
        self.runs
    }

    fn part(&self, number: usize) -> MutexGuard<'_, Part> {
        self.parts[number].lock().expect("no thread panics with this lock")
    }
}

impl KeyLists for StoredLists {
    type Error = Error;

    fn entries(&self) -> usize {
        self.entries
    }

    fn for_each(&self, mut each: impl FnMut(&[Holder]) -> Result<()>) -> Result<()> {
        (0..self.parts.len()).try_for_each(|number| self.part(number).for_each(&mut each))
    }
}

/// Lists that report the holders of each list that was gone through.
pub(crate) struct WatchedLists<'a> {
    pub lists: &'a StoredLists,
    pub progress: &'a dyn Progress,
}

impl KeyLists for WatchedLists<'_> {
    type Error = Error;

    fn entries(&self) -> usize {
        self.lists.entries()
    }

    fn for_each(&self, mut each: impl FnMut(&[Holder]) -> Result<()>) -> Result<()> {
        self.lists.for_each(|list| {
            if self.progress.stopped() {
                return Err(Error::Stopped);
            }
            self.progress.advance(list.len() as u64);
            each(list)
        })
    }
}

impl Part {
    fn for_each(&self, each: &mut impl FnMut(&[Holder]) -> Result<()>) -> Result<()> {
        each_list(&self.memory, each)?;
        let Some(path) = &self.disk else { return Ok(()) };
        let file = File::open(path).at("read", path)?;
        let mut left = file.metadata().at("read", path)?.len();
        let (mut reader, mut block) = (BufReader::with_capacity(1 << 13, file), Vec::new());
        while read_block(&mut reader, &mut left, &mut block).at("read", path)? {
            each_list(&block, each)?;
        }
        Ok(())
    }
}

/// Calls `each` with every list of a block. Each list follows its length.
fn each_list(mut rest: &[Holder], each: &mut impl FnMut(&[Holder]) -> Result<()>) -> Result<()> {
    while let Some((&[length, _], tail)) = rest.split_first() {
        let (list, tail) = tail.split_at(length as usize);
        each(list)?;
        rest = tail;
    }
    Ok(())
}

/// The least number of holders in a block on disk.
const BLOCK: usize = 1 << 13;

/// Writes the runs of one part.
pub(crate) struct ListWriter<'a> {
    runs: &'a StoredLists,
    number: usize,
    part: Part,
    /// The contents of a run, to be hashed.
    contents: Vec<u32>,
    /// The file of the lists that do not fit in memory, and its next block.
    disk: Option<File>,
    block: Vec<Holder>,
}

impl ListWriter<'_> {
    /// Adds a run, unless it has fewer than two contents: nobody shares such a key. One that was written before is not
    /// written again.
    pub(crate) fn push(&mut self, run: &[Holder]) -> Result<()> {
        if run.len() < 2 {
            return Ok(());
        }
        if self.runs.known.is_empty() {
            return self.write(run).map(drop);
        }
        self.contents.clear();
        self.contents.extend(run.iter().map(|[content, _]| content));
        let hash = xxh3_128(bytemuck::cast_slice(&self.contents));
        let mut place = self.runs.known.place(hash);
        let known = place.get();
        if known.hash == hash && self.is_written(known, run) {
            return Ok(());
        }
        *known = Written { hash, rest: run[0][1], part: self.number as u32, at: self.write(run)? };
        Ok(())
    }

    /// Whether a run that has the contents of a known one need not be written. If it has more behind its key, that is noted
    /// where the other is.
    fn is_written(&mut self, known: &mut Written, run: &[Holder]) -> bool {
        // The order is one for all contents: what is further on for the first is so for the others.
        if known.rest >= run[0][1] {
            return true;
        }
        let Some(at) = known.at.map(|at| at as usize) else { return false };
        let (mut other, number) = (None, known.part as usize);
        let memory = match number == self.number {
            true => &mut self.part.memory,
            false => &mut other.insert(self.runs.part(number)).memory,
        };
        // A part that another thread is still writing is not there yet.
        let Some(holders) = memory.get_mut(at..at + run.len()) else { return false };
        holders.copy_from_slice(run);
        known.rest = run[0][1];
        true
    }

    /// Writes a run; says where in memory it is, if it is there.
    fn write(&mut self, run: &[Holder]) -> Result<Option<u32>> {
        self.part.runs += 1;
        self.part.entries += run.len();
        let fits = |room: usize| room.checked_sub(run.len() + 1);
        let room = &self.runs.room;
        if self.disk.is_some() || room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_err() {
            return self.push_to_disk(run).map(|()| None);
        }
        self.part.memory.push([run.len() as u32, 0]);
        // A list beyond 32 bits is not remembered. It may be written twice, which only costs space.
        let at = u32::try_from(self.part.memory.len()).ok();
        self.part.memory.extend_from_slice(run);
        Ok(at)
    }

    fn push_to_disk(&mut self, run: &[Holder]) -> Result<()> {
        if self.disk.is_none() {
            let path = self.runs.path.with_extension(self.number.to_string());
            self.disk = Some(File::create(&path).at("create", &path)?);
            self.part.disk = Some(path);
        }
        self.block.push([run.len() as u32, 0]);
        self.block.extend_from_slice(run);
        if self.block.len() < BLOCK { Ok(()) } else { self.write_block() }
    }

    fn write_block(&mut self) -> Result<()> {
        let (Some(file), Some(path)) = (&mut self.disk, &self.part.disk) else { return Ok(()) };
        write_block(file, &self.block).at("write", path)?;
        self.block.clear();
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<()> {
        self.part.memory.shrink_to_fit();
        self.write_block()?;
        *self.runs.part(self.number) = self.part;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes `input` to each of two parts; what comes back.
    fn written(runs: StoredLists, input: &[Vec<Holder>]) -> (StoredLists, Vec<Vec<Holder>>) {
        for part in 0..2 {
            let mut writer = runs.writer(part);
            for run in input {
                writer.push(run).unwrap();
            }
            writer.finish().unwrap();
        }
        let runs = runs.finish().unwrap();
        let mut found = Vec::new();
        runs.for_each(|run| {
            found.push(run.to_vec());
            Ok(())
        })
        .unwrap();
        (runs, found)
    }

    #[test]
    fn runs_come_back_from_memory_and_disk_in_one_order() {
        let folder = tempfile::tempdir().unwrap();
        let input: Vec<Vec<Holder>> = (1..40).map(|n| (0..n).map(|c| [c, c + n]).collect()).collect();
        for room in [10_000, 200, 0] {
            let (runs, found) = written(StoredLists::new(2, room, &folder.path().join("runs")), &input);
            assert_eq!(found, [&input[1..], &input[1..]].concat());
            assert_eq!((runs.len(), runs.entries()), (76, 2 * (2..40).sum::<usize>()));
        }
    }

    #[test]
    fn of_equal_runs_only_those_that_come_first_in_the_order_count() {
        let folder = tempfile::tempdir().unwrap();
        let [first, other] = [vec![[1, 9], [2, 3]], vec![[1, 4], [3, 1]]];
        let [less, more] = [vec![[1, 8], [2, 2]], vec![[1, 10], [2, 4]]];
        let input = [first.clone(), other.clone(), less, more.clone()];
        for (room, expected) in [(100, vec![more.clone(), other.clone()]), (0, vec![first, other, more])] {
            let (runs, found) =
                written(StoredLists::new(2, room, &folder.path().join("runs")).knowing(1_000), &input);
            assert_eq!(found, expected);
            assert_eq!((runs.len(), runs.entries()), (expected.len(), 2 * expected.len()));
        }
    }

    #[test]
    fn a_run_takes_the_place_of_one_in_another_part_once_that_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let runs = StoredLists::new(3, 100, &folder.path().join("runs")).knowing(1_000);
        let run = |rest| [[4, rest], [5, rest], [8, rest]];
        let mut first = runs.writer(1);
        first.push(&[[0, 1], [1, 1]]).unwrap();
        first.push(&run(10)).unwrap();
        let mut second = runs.writer(2);
        second.push(&run(20)).unwrap();
        second.finish().unwrap();
        first.push(&run(30)).unwrap();
        first.finish().unwrap();
        let mut found = Vec::new();
        runs.for_each(|run| {
            found.push(run.to_vec());
            Ok(())
        })
        .unwrap();
        assert_eq!(found, [vec![[0, 1], [1, 1]], run(10).to_vec(), run(30).to_vec()]);
    }

    #[test]
    fn damage_on_disk_is_noticed_before_a_run_is_handed_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs");
        let (runs, _) = written(StoredLists::new(2, 0, &path), &[vec![[1, 9], [2, 3]]]);
        let file = path.with_extension("1");
        let whole = std::fs::read(&file).unwrap();
        for byte in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[byte] ^= 0x40;
            std::fs::write(&file, damaged).unwrap();
            let mut met = 0;
            let read = runs.for_each(|_| {
                met += 1;
                Ok(())
            });
            assert!(read.is_err() && met == 1, "{byte}");
        }
    }
}

//! Runs: the contents that hold one key, in memory while they fit, else on disk. Written once, then gone through any
//! number of times.
//!
//! A run that has the same contents as another, and fewer shingles behind its key, adds nothing: two near-duplicates share
//! most of their keys, and the first in the order says as much as all. Most such runs are known again and left out.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use xxhash_rust::xxh3::xxh3_128;

use crate::error::{At, Result};

/// A content that holds a key, and how many of its shingles come behind the key.
pub(crate) type Holder = [u32; 2];

/// Runs in parts, each run with its contents ascending.
pub(crate) struct Runs {
    parts: Vec<Mutex<Part>>,
    /// Holders that may still go to memory.
    room: AtomicUsize,
    folder: PathBuf,
    runs: usize,
    entries: usize,
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

impl Runs {
    /// No runs yet; at most `room` holders of them will be in memory.
    pub(crate) fn new(parts: usize, room: usize, folder: &Path) -> Runs {
        let parts = (0..parts).map(|_| Mutex::default()).collect();
        Runs { parts, room: AtomicUsize::new(room), folder: folder.to_owned(), runs: 0, entries: 0 }
    }

    /// Writes a part. `known` may have been used for another part.
    pub(crate) fn writer<'a>(&'a self, part: usize, known: &'a mut Known) -> RunWriter<'a> {
        RunWriter { runs: self, number: part, part: Part::default(), known, disk: None }
    }

    /// Ends the writing.
    pub(crate) fn finish(mut self) -> Result<Runs> {
        for part in &mut self.parts {
            let part = part.get_mut().expect("no thread panics with this lock");
            self.runs += part.runs;
            self.entries += part.entries;
        }
        Ok(self)
    }

    /// No runs yet, where these are: they are given up.
    pub(crate) fn emptied(self) -> Runs {
        let held: usize = self.parts.iter().map(|part| part.lock().map_or(0, |part| part.memory.len())).sum();
        Runs::new(1, self.room.into_inner() + held, &self.folder)
    }

    /// How many runs there are.
    pub(crate) fn len(&self) -> usize {
        self.runs
    }

    /// How many holders there are in all runs together.
    pub(crate) fn entries(&self) -> usize {
        self.entries
    }

    /// Calls `each` with every run, always in the same order.
    pub(crate) fn for_each(&self, mut each: impl FnMut(&[Holder]) -> Result<()>) -> Result<()> {
        for part in &self.parts {
            part.lock().expect("no thread panics with this lock").for_each(&mut each)?;
        }
        Ok(())
    }
}

impl Part {
    fn for_each(&self, each: &mut impl FnMut(&[Holder]) -> Result<()>) -> Result<()> {
        let mut rest = self.memory.as_slice();
        while let Some((&[length, _], tail)) = rest.split_first() {
            let (run, tail) = tail.split_at(length as usize);
            each(run)?;
            rest = tail;
        }
        let Some(path) = &self.disk else { return Ok(()) };
        let file = File::open(path).at("read", path)?;
        let mut left = file.metadata().at("read", path)?.len();
        let mut reader = BufReader::with_capacity(1 << 16, file);
        let mut run: Vec<Holder> = Vec::new();
        while left > 0 {
            let mut head: Holder = [0; 2];
            reader.read_exact(bytemuck::bytes_of_mut(&mut head)).at("read", path)?;
            run.resize(head[0] as usize, [0; 2]);
            reader.read_exact(bytemuck::cast_slice_mut(&mut run)).at("read", path)?;
            left -= (size_of::<Holder>() * (1 + run.len())) as u64;
            each(&run)?;
        }
        Ok(())
    }
}

/// Runs that were written: the hash of each, with what comes behind the key in its first content. A hash has one place,
/// and takes it from the one before, so this may forget.
pub(crate) struct Known {
    places: Vec<([u64; 2], u32)>,
    /// The contents of a run, to be hashed.
    contents: Vec<u32>,
}

impl Known {
    /// Remembers some `runs`.
    pub(crate) fn new(runs: usize) -> Known {
        // No zeros: memory that is zero is given when it is read, and again when it is written.
        Known { places: vec![([1; 2], 0); runs.max(1)], contents: Vec::new() }
    }

    /// Whether a run with these contents and as much behind its key was written; notes it if not.
    fn has(&mut self, run: &[Holder]) -> bool {
        self.contents.clear();
        self.contents.extend(run.iter().map(|[content, _]| content));
        // 128 bits: runs are taken to be equal by their hash alone.
        let hash = xxh3_128(bytemuck::cast_slice(&self.contents));
        let (hash, rest) = ([hash as u64, (hash >> 64) as u64], run[0][1]);
        let place = hash[0] as usize % self.places.len();
        let known = &mut self.places[place];
        // The order is one for all contents: what is further on for the first is so for the others.
        if known.0 == hash && known.1 >= rest {
            return true;
        }
        *known = (hash, rest);
        false
    }
}

/// Writes the runs of one part.
pub(crate) struct RunWriter<'a> {
    runs: &'a Runs,
    number: usize,
    part: Part,
    known: &'a mut Known,
    disk: Option<BufWriter<File>>,
}

impl RunWriter<'_> {
    /// Adds a run, unless it has fewer than two contents: nobody shares such a key.
    pub(crate) fn push(&mut self, run: &[Holder]) -> Result<()> {
        if run.len() < 2 || self.known.has(run) {
            return Ok(());
        }
        self.part.runs += 1;
        self.part.entries += run.len();
        let fits = |room: usize| room.checked_sub(run.len() + 1);
        if self.disk.is_none()
            && self.runs.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
        {
            self.part.memory.push([run.len() as u32, 0]);
            self.part.memory.extend_from_slice(run);
            return Ok(());
        }
        self.push_to_disk(run)
    }

    fn push_to_disk(&mut self, run: &[Holder]) -> Result<()> {
        if self.disk.is_none() {
            let path = self.runs.folder.join(format!("runs-{}", self.number));
            let file = File::create(&path).at("create", &path)?;
            self.disk = Some(BufWriter::with_capacity(1 << 16, file));
            self.part.disk = Some(path);
        }
        let (Some(out), Some(path)) = (&mut self.disk, &self.part.disk) else { return Ok(()) };
        out.write_all(bytemuck::bytes_of(&[run.len() as u32, 0])).at("write", path)?;
        out.write_all(bytemuck::cast_slice(run)).at("write", path)
    }

    pub(crate) fn finish(self) -> Result<()> {
        if let (Some(mut out), Some(path)) = (self.disk, &self.part.disk) {
            out.flush().at("write", path)?;
        }
        *self.runs.parts[self.number].lock().expect("no thread panics with this lock") = self.part;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(room: usize, input: &[Vec<Holder>]) -> (Runs, Vec<Vec<Holder>>, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let runs = Runs::new(2, room, folder.path());
        for part in 0..2 {
            let mut known = Known::new(1_000);
            let mut writer = runs.writer(part, &mut known);
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
        (runs, found, folder)
    }

    #[test]
    fn runs_come_back_from_memory_and_disk_in_one_order() {
        let input: Vec<Vec<Holder>> = (1..40).map(|n| (0..n).map(|c| [c, c + n]).collect()).collect();
        for room in [10_000, 200, 0] {
            let (runs, found, _folder) = written(room, &input);
            assert_eq!(found, [&input[1..], &input[1..]].concat());
            assert_eq!((runs.len(), runs.entries()), (76, 2 * (2..40).sum::<usize>()));
        }
    }

    #[test]
    fn of_equal_runs_only_those_that_come_first_in_the_order_count() {
        let input = [vec![[1, 9], [2, 3]], vec![[1, 4], [3, 1]], vec![[1, 8], [2, 2]], vec![[1, 10], [2, 4]]];
        for room in [100, 0] {
            let (_, found, _folder) = written(room, &input);
            assert_eq!(found[..3], [input[0].clone(), input[1].clone(), input[3].clone()]);
        }
    }
}

//! Runs: lists of contents that share a key, in memory while they fit, else on disk. Written once, then gone through
//! any number of times.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{At, Result};

/// Runs in parts. In each, a run is its length and its contents, in 32-bit numbers.
pub(crate) struct Runs {
    parts: Vec<Mutex<Part>>,
    /// Numbers that may still go to memory.
    room: AtomicUsize,
    folder: PathBuf,
    runs: usize,
    entries: usize,
}

#[derive(Default)]
struct Part {
    /// The first runs.
    memory: Vec<u32>,
    /// The rest.
    disk: Option<PathBuf>,
    runs: usize,
    entries: usize,
}

impl Runs {
    /// No runs yet; at most `room` numbers of them will be held in memory.
    pub(crate) fn new(parts: usize, room: usize, folder: &Path) -> Runs {
        let parts = (0..parts).map(|_| Mutex::default()).collect();
        Runs { parts, room: AtomicUsize::new(room), folder: folder.to_owned(), runs: 0, entries: 0 }
    }

    pub(crate) fn writer(&self, part: usize) -> RunWriter<'_> {
        RunWriter { runs: self, number: part, part: Part::default(), disk: None }
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

    /// How many runs there are.
    pub(crate) fn len(&self) -> usize {
        self.runs
    }

    /// How many contents there are in all runs together.
    pub(crate) fn entries(&self) -> usize {
        self.entries
    }

    /// Calls `each` with every run, always in the same order.
    pub(crate) fn for_each(&self, mut each: impl FnMut(&[u32]) -> Result<()>) -> Result<()> {
        for part in &self.parts {
            part.lock().expect("no thread panics with this lock").for_each(&mut each)?;
        }
        Ok(())
    }
}

impl Part {
    fn for_each(&self, each: &mut impl FnMut(&[u32]) -> Result<()>) -> Result<()> {
        let mut rest = self.memory.as_slice();
        while let Some((&length, tail)) = rest.split_first() {
            let (run, tail) = tail.split_at(length as usize);
            each(run)?;
            rest = tail;
        }
        let Some(path) = &self.disk else { return Ok(()) };
        let file = File::open(path).at("read", path)?;
        let mut left = file.metadata().at("read", path)?.len();
        let mut reader = BufReader::with_capacity(1 << 16, file);
        let mut run: Vec<u32> = Vec::new();
        while left > 0 {
            let mut length = [0; 4];
            reader.read_exact(&mut length).at("read", path)?;
            run.resize(u32::from_ne_bytes(length) as usize, 0);
            reader.read_exact(bytemuck::cast_slice_mut(&mut run)).at("read", path)?;
            left -= 4 + 4 * run.len() as u64;
            each(&run)?;
        }
        Ok(())
    }
}

/// Writes the runs of one part.
pub(crate) struct RunWriter<'a> {
    runs: &'a Runs,
    number: usize,
    part: Part,
    disk: Option<BufWriter<File>>,
}

impl RunWriter<'_> {
    pub(crate) fn push(&mut self, run: &[u32]) -> Result<()> {
        self.part.runs += 1;
        self.part.entries += run.len();
        let words = run.len() + 1;
        let fits = |room: usize| room.checked_sub(words);
        if self.disk.is_none()
            && self.runs.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
        {
            self.part.memory.push(run.len() as u32);
            self.part.memory.extend_from_slice(run);
            return Ok(());
        }
        let path = self.runs.folder.join(format!("runs-{}", self.number));
        let out = match &mut self.disk {
            Some(out) => out,
            None => {
                self.part.disk = Some(path.clone());
                self.disk.insert(BufWriter::with_capacity(1 << 16, File::create(&path).at("create", &path)?))
            }
        };
        out.write_all(&(run.len() as u32).to_ne_bytes()).at("write", &path)?;
        out.write_all(bytemuck::cast_slice(run)).at("write", &path)
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

    #[test]
    fn runs_come_back_from_memory_and_disk_in_one_order() {
        let folder = tempfile::tempdir().unwrap();
        let input: Vec<Vec<u32>> = (2..40).map(|n| (0..n).collect()).collect();
        for room in [10_000, 200, 0] {
            let runs = Runs::new(2, room, folder.path());
            for part in 0..2 {
                let mut writer = runs.writer(part);
                for run in &input {
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
            assert_eq!(found, [input.clone(), input.clone()].concat());
            assert_eq!((runs.len(), runs.entries()), (76, 2 * (2..40).sum::<usize>()));
        }
    }
}

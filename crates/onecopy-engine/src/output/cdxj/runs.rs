//! Sorts lines within a memory limit: sorted runs go to disk, and are merged at the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{At, Result};

/// Lines to sort. Each ends with a line feed.
pub(super) struct Runs {
    target: PathBuf,
    memory: usize,
    text: Vec<u8>,
    /// Where each line ends in `text`.
    ends: Vec<usize>,
    /// The number of runs on disk.
    runs: usize,
}

impl Runs {
    /// Lines for the file `target`. Runs are beside it.
    pub(super) fn new(target: PathBuf, memory: usize) -> Runs {
        Runs { target, memory, text: Vec::new(), ends: Vec::new(), runs: 0 }
    }

    pub(super) fn add(&mut self, line: &[u8]) -> Result<()> {
        // A line takes its bytes, its end, and its place in the sorted order.
        if self.text.len() + line.len() + 32 * (self.ends.len() + 1) > self.memory && !self.ends.is_empty() {
            self.write(&self.run(self.runs))?;
            self.runs += 1;
            self.text.clear();
            self.ends.clear();
        }
        self.text.extend_from_slice(line);
        self.ends.push(self.text.len());
        Ok(())
    }

    /// Writes all lines in order, and returns the path.
    pub(super) fn finish(self) -> Result<PathBuf> {
        if self.runs == 0 {
            self.write(&self.target)?;
            return Ok(self.target);
        }
        self.write(&self.run(self.runs))?;
        let runs: Vec<PathBuf> = (0..=self.runs).map(|run| self.run(run)).collect();
        merge(&runs, &self.target).at("write", &self.target)?;
        runs.iter().try_for_each(|run| fs::remove_file(run).at("delete", run))?;
        Ok(self.target)
    }

    fn run(&self, number: usize) -> PathBuf {
        self.target.with_extension(format!("cdxj-{number}"))
    }

    /// Writes the lines in memory in order.
    fn write(&self, path: &Path) -> Result<()> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let mut lines: Vec<&[u8]> =
            starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end]).collect();
        lines.sort_unstable();
        let mut out = BufWriter::new(File::create(path).at("create", path)?);
        lines.iter().try_for_each(|line| out.write_all(line)).and_then(|()| out.flush()).at("write", path)
    }
}

fn merge(runs: &[PathBuf], target: &Path) -> io::Result<()> {
    let mut readers = Vec::new();
    let mut heap = BinaryHeap::new();
    for (number, run) in runs.iter().enumerate() {
        let mut reader = BufReader::with_capacity(16 << 10, File::open(run)?);
        let mut line = Vec::new();
        if reader.read_until(b'\n', &mut line)? > 0 {
            heap.push(Reverse((line, number)));
        }
        readers.push(reader);
    }
    let mut out = BufWriter::new(File::create(target)?);
    while let Some(Reverse((mut line, number))) = heap.pop() {
        out.write_all(&line)?;
        line.clear();
        if readers[number].read_until(b'\n', &mut line)? > 0 {
            heap.push(Reverse((line, number)));
        }
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_sorted_within_any_memory() {
        let folder = tempfile::tempdir().unwrap();
        let lines: Vec<String> = (0..50u32).map(|n| format!("{:03}\n", n * 37 % 50)).collect();
        for memory in [1, 200, 1 << 20] {
            let mut runs = Runs::new(folder.path().join("kept-0.cdxj"), memory);
            lines.iter().for_each(|line| runs.add(line.as_bytes()).unwrap());
            let written = fs::read_to_string(runs.finish().unwrap()).unwrap();
            let expected: String = (0..50).map(|n| format!("{n:03}\n")).collect();
            assert_eq!(written, expected, "{memory}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "runs are deleted");
        }
    }
}

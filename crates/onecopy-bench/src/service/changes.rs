//! Prepares changes before the clock starts, so that a measurement pays for sending them, not for making them.
//!
//! They are stored in a file: those of a minute take a gigabyte, and the server needs the memory.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// How often a thread that waits for a change checks whether to stop.
const MOMENT: Duration = Duration::from_millis(10);

/// When to send changes: as fast as the server accepts them, or at a fixed rate. At a fixed rate each change has a due
/// time, and a late client catches up; the delay counts as waiting.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    begin: Instant,
    a_second: Option<u64>,
}

impl Pace {
    /// Starts now.
    pub fn start(a_second: Option<u64>) -> Pace {
        Pace { begin: Instant::now(), a_second }
    }

    fn due(&self, at: usize) -> Option<Instant> {
        Some(self.begin + Duration::from_secs_f64(at as f64 / self.a_second? as f64))
    }
}

/// Changes, each to be sent once.
pub struct Changes {
    file: File,
    /// The end of each change, where the next one begins.
    ends: Vec<u64>,
    next: AtomicUsize,
}

impl Changes {
    /// Makes the changes with these numbers: `make` appends the line of one. The file at `path` is unlinked at once and lives while it is open.
    pub fn make(numbers: Range<u64>, path: &Path, make: impl Fn(u64, &mut Vec<u8>)) -> Result<Changes> {
        let what = || format!("cannot write {}", path.display());
        let mut options = File::options();
        let file =
            options.read(true).write(true).create(true).truncate(true).open(path).with_context(what)?;
        fs::remove_file(path).with_context(what)?;
        let mut out = BufWriter::with_capacity(1 << 20, &file);
        let (mut ends, mut line, mut end) = (Vec::new(), Vec::new(), 0);
        for number in numbers {
            line.clear();
            make(number, &mut line);
            out.write_all(&line).with_context(what)?;
            end += line.len() as u64;
            ends.push(end);
        }
        out.flush().with_context(what)?;
        drop(out);
        // Otherwise the system would write it while the server syncs its own files.
        file.sync_all().with_context(what)?;
        Ok(Changes { file, ends, next: AtomicUsize::new(0) })
    }

    /// Takes the next change. Returns its index and due time; `None` if no change is due yet.
    pub fn take(&self, pace: &Pace) -> Option<(usize, Instant)> {
        let (now, next) = (Instant::now(), self.next.load(Ordering::Relaxed));
        if pace.due(next).is_some_and(|due| due > now) {
            return None;
        }
        // Another thread may have taken that one, and then this one is due shortly.
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        (at < self.ends.len()).then_some((at, pace.due(at).unwrap_or(now)))
    }

    /// The time until the next change is due, capped so that threads check for a stop.
    pub fn wait(&self, pace: &Pace) -> Duration {
        let due = pace.due(self.next.load(Ordering::Relaxed));
        due.map_or(Duration::ZERO, |due| due.saturating_duration_since(Instant::now())).min(MOMENT)
    }

    /// Whether all changes are taken.
    pub fn is_over(&self) -> bool {
        self.next.load(Ordering::Relaxed) >= self.ends.len()
    }

    /// Appends the change at an index, with its line end.
    pub fn read(&self, at: usize, out: &mut Vec<u8>) -> Result<()> {
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let start = out.len();
        out.resize(start + (self.ends[at] - begin) as usize, 0);
        self.file.read_exact_at(&mut out[start..], begin).context("a change cannot be read back")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::stream::Stream;

    fn made(stream: &Stream, numbers: Range<u64>, path: &Path) -> Changes {
        Changes::make(numbers, path, |number, out| drop(stream.change(number, out))).unwrap()
    }

    #[test]
    fn changes_are_read_back_as_they_were_made() {
        let (folder, stream) = (tempfile::tempdir().unwrap(), Stream::new(3, 100));
        let changes = made(&stream, 7..12, &folder.path().join("changes"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let (mut read, mut made) = (Vec::new(), Vec::new());
        for number in 7..12 {
            assert!(!changes.is_over());
            changes.read(changes.take(&Pace::start(None)).unwrap().0, &mut read).unwrap();
            stream.change(number, &mut made);
        }
        assert_eq!(read, made);
        assert!(changes.take(&Pace::start(None)).is_none() && changes.is_over());
    }

    #[test]
    fn changes_are_due_at_their_times() {
        let (folder, stream) = (tempfile::tempdir().unwrap(), Stream::new(3, 100));
        let changes = made(&stream, 0..5, &folder.path().join("changes"));
        let pace = Pace { begin: Instant::now() - Duration::from_secs(100), a_second: Some(1) };
        let (first, second) = (changes.take(&pace).unwrap(), changes.take(&pace).unwrap());
        assert_eq!((first.0, second.0, second.1 - first.1), (0, 1, Duration::from_secs(1)));
        let later = Pace { begin: Instant::now() + Duration::from_secs(100), ..pace };
        assert_eq!((changes.take(&later), changes.wait(&later), changes.is_over()), (None, MOMENT, false));
    }
}

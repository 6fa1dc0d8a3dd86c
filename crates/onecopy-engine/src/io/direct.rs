//! Writes large files, bypassing the page cache if the disk is fast. Most are temporary files of the run itself.
//!
//! Copying into the page cache can cost more CPU time than all other work on a byte, because the cache needs fresh
//! memory. It also evicts pages that other programs want. With direct I/O the disk reads our memory, but we wait for
//! it. So slow disks, and systems without direct I/O, use the page cache.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::error::{At, Result};

/// Words per block: offsets and lengths of whole blocks are aligned for any disk.
pub(crate) const BLOCK: usize = 512;

/// Measures how fast a disk accepts direct writes. Several files share one measurement.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    bytes: AtomicU64,
    nanoseconds: AtomicU64,
    /// The number of writes that are under way. They share the speed of the disk.
    under_way: AtomicU32,
}

impl Pace {
    /// Bytes to write before the speed is judged.
    const TRIED: u64 = 32 << 20;
    /// Below this many bytes per second the cache is faster: about the speed of copying into fresh memory.
    const SLOW: u64 = 400 << 20;

    /// Measures a write of `bytes`.
    fn measure(&self, bytes: usize, write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let (before, begun) = (self.under_way.fetch_add(1, Ordering::Relaxed) + 1, Instant::now());
        let written = write();
        let (took, after) = (begun.elapsed(), self.under_way.fetch_sub(1, Ordering::Relaxed));
        written.map(|()| self.note(bytes, took / before.max(after)))
    }

    fn note(&self, bytes: usize, took: Duration) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.nanoseconds.fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
    }

    fn is_slow(&self) -> bool {
        let bytes = self.bytes.load(Ordering::Relaxed);
        let seconds = self.nanoseconds.load(Ordering::Relaxed) as f64 / 1e9;
        bytes >= Pace::TRIED && (bytes as f64) < seconds * Pace::SLOW as f64
    }
}

/// A buffer of words, aligned for direct I/O.
#[derive(Default)]
pub(crate) struct Aligned {
    words: Vec<u64>,
    start: usize,
}

impl Aligned {
    /// Clears it and reserves space for `room` words. Pushing more reallocates, and unaligned words go through the
    /// cache.
    pub(crate) fn begin(&mut self, room: usize) -> &mut Vec<u64> {
        self.words.clear();
        self.words.reserve(BLOCK + room.next_multiple_of(BLOCK));
        self.start = self.words.as_ptr().align_offset(BLOCK * size_of::<u64>()).min(BLOCK);
        self.words.resize(self.start, 0);
        &mut self.words
    }

    /// Space for `count` words, with arbitrary contents.
    pub(crate) fn room(&mut self, count: usize) -> &mut [u64] {
        if self.words.len() < self.start + count {
            // A new buffer avoids copying the old contents.
            *self = Aligned::default();
            self.begin(count);
            self.words.resize(self.start + count, 0);
        }
        &mut self.words[self.start..self.start + count]
    }

    /// The pushed words.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words[self.start..]
    }

    /// Like [`Aligned::words`], but mutable.
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words[self.start..]
    }

    /// Like [`Aligned::words`], padded with zeros to whole blocks.
    pub(crate) fn blocks(&mut self) -> &[u64] {
        let length = self.words().len().next_multiple_of(BLOCK);
        self.words.resize(self.start + length, 0);
        self.words()
    }
}

/// A file of whole blocks.
pub(crate) struct Spill {
    path: PathBuf,
    /// Random reads use the page cache.
    cached: File,
    /// `None` if all I/O goes through the page cache.
    direct: Option<Direct>,
}

/// A way to the disk past the page cache.
struct Direct {
    file: File,
    pace: Arc<Pace>,
    /// Whether the disk is too slow, or needs another alignment: writes then go through the cache.
    refused: AtomicBool,
}

impl Spill {
    /// Creates a file, replacing one that an earlier run left.
    pub(crate) fn create(path: &Path, pace: Arc<Pace>) -> Result<Spill> {
        Ok(Spill::create_cached(path)?.past_cache(pace))
    }

    /// Creates a file without direct I/O.
    fn create_cached(path: &Path) -> Result<Spill> {
        let mut options = OpenOptions::new();
        let cached =
            options.create(true).truncate(true).read(true).write(true).open(path).at("create", path)?;
        Ok(Spill { path: path.to_owned(), cached, direct: None })
    }

    /// Opens a file that an earlier run may have left.
    pub(crate) fn open(path: &Path, pace: Arc<Pace>) -> Result<Spill> {
        let mut options = OpenOptions::new();
        let cached =
            options.create(true).truncate(false).read(true).write(true).open(path).at("read", path)?;
        Ok(Spill { path: path.to_owned(), cached, direct: None }.past_cache(pace))
    }

    /// Opens a file that is only read.
    pub(crate) fn open_to_read(path: &Path, pace: Arc<Pace>) -> Result<Spill> {
        let cached = File::open(path).at("read", path)?;
        Ok(Spill { path: path.to_owned(), cached, direct: None }.past_cache(pace))
    }

    fn past_cache(mut self, pace: Arc<Pace>) -> Spill {
        self.direct = direct(&self.path).map(|file| Direct { file, pace, refused: AtomicBool::new(false) });
        self
    }

    /// Reserves room for `bytes`, if the system can. A full disk is known at once, and several threads can write at the
    /// same time: while a file grows, they wait for each other.
    pub(crate) fn reserve(&self, bytes: u64) -> Result<()> {
        match self.direct.as_ref().map_or(Ok(()), |direct| reserve(&direct.file, bytes)) {
            Err(error) if error.kind() == ErrorKind::StorageFull => Err(error).at("write", &self.path),
            _ => Ok(()),
        }
    }

    /// The file size that `words` words need.
    pub(crate) fn bytes(words: usize) -> u64 {
        (words.next_multiple_of(BLOCK) * size_of::<u64>()) as u64
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes whole blocks at `at`, which is a block boundary. Several threads may write at once.
    pub(crate) fn write(&self, blocks: &[u64], at: u64) -> Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(blocks);
        if !self.write_direct(bytes, at).at("write", &self.path)? {
            self.cached.write_all_at(bytes, at).at("write", &self.path)?;
        }
        Ok(())
    }

    /// Writes directly; returns false if direct I/O is unavailable or too slow.
    fn write_direct(&self, bytes: &[u8], at: u64) -> io::Result<bool> {
        let Some(direct) = self.direct.as_ref().filter(|direct| !direct.is_refused()) else {
            return Ok(false);
        };
        match direct.pace.measure(bytes.len(), || direct.file.write_all_at(bytes, at)) {
            Ok(()) => Ok(true),
            // The disk requires another alignment, or was full in the middle of a block: a cached write gives a better
            // error.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
                direct.refused.store(true, Ordering::Relaxed);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Truncates the file to `bytes` and syncs it to disk.
    pub(crate) fn finish(self, bytes: u64) -> Result<()> {
        self.cached.set_len(bytes).and_then(|()| self.cached.sync_data()).at("write", &self.path)
    }

    /// Reads bytes at random.
    pub(crate) fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.cached.read_exact_at(bytes, at)
    }

    /// Reads `count` words that are needed only once, from a block boundary.
    pub(crate) fn read_once<'a>(&self, at: u64, count: usize, out: &'a mut Aligned) -> Result<&'a [u64]> {
        let blocks = out.room(count.next_multiple_of(BLOCK));
        self.read_blocks(at, blocks)?;
        Ok(&blocks[..count])
    }

    /// Reads whole blocks that are needed only once, from a block boundary.
    pub(crate) fn read_blocks(&self, at: u64, blocks: &mut [u64]) -> Result<()> {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(blocks);
        let direct = self.direct.as_ref().filter(|direct| !direct.refused.load(Ordering::Relaxed));
        let read = direct.map(|direct| direct.file.read_exact_at(bytes, at));
        if !matches!(read, Some(Ok(()))) {
            self.cached.read_exact_at(bytes, at).at("read", &self.path)?;
        }
        Ok(())
    }
}

impl Direct {
    fn is_refused(&self) -> bool {
        if !self.refused.load(Ordering::Relaxed) && self.pace.is_slow() {
            self.refused.store(true, Ordering::Relaxed);
        }
        self.refused.load(Ordering::Relaxed)
    }
}

/// Opens the file for direct I/O, if the system supports it. A file in memory has no disk behind it.
#[cfg(target_os = "linux")]
fn direct(path: &Path) -> Option<File> {
    use nix::sys::statfs::{TMPFS_MAGIC, statfs};
    use std::os::unix::fs::OpenOptionsExt;
    if statfs(path).is_ok_and(|system| system.filesystem_type() == TMPFS_MAGIC) {
        return None;
    }
    OpenOptions::new().read(true).write(true).custom_flags(nix::libc::O_DIRECT).open(path).ok()
}

#[cfg(not(target_os = "linux"))]
fn direct(_: &Path) -> Option<File> {
    None
}

#[cfg(target_os = "linux")]
fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    use nix::fcntl::{FallocateFlags, fallocate};
    if bytes == 0 {
        return Ok(());
    }
    Ok(fallocate(file, FallocateFlags::empty(), 0, bytes as i64)?)
}

#[cfg(not(target_os = "linux"))]
fn reserve(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aligned(words: std::ops::Range<u64>) -> Aligned {
        let mut aligned = Aligned::default();
        aligned.begin(words.clone().count()).extend(words);
        aligned
    }

    /// Writes and reads three pieces in all ways.
    fn check(spill: &Spill) {
        let mut at = 0;
        for piece in [0..1_000, 1_000..1_512, 5..6] {
            spill.write(aligned(piece.clone()).blocks(), at).unwrap();
            let (mut some, mut out) = (vec![0u64; piece.clone().count()], Aligned::default());
            spill.read(at, bytemuck::cast_slice_mut(&mut some)).unwrap();
            assert!(some.iter().copied().eq(piece.clone()));
            assert_eq!(spill.read_once(at, some.len(), &mut out).unwrap(), some);
            at += Spill::bytes(some.len());
        }
        let mut three = [0u64; 3];
        spill.read(8 * 700, bytemuck::cast_slice_mut(&mut three)).unwrap();
        assert_eq!(three, [700, 701, 702]);
        assert_eq!(std::fs::metadata(spill.path()).unwrap().len(), at);
    }

    #[test]
    fn what_was_written_is_read_past_the_cache_and_through_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spill");
        std::fs::write(&path, "left by an earlier run").unwrap();
        check(&Spill::create(&path, Arc::default()).unwrap());
        check(&Spill::create_cached(&path).unwrap());
        let again = Spill::open(&path, Arc::default()).unwrap();
        let mut word = [0; 8];
        again.read(8 * 999, &mut word).unwrap();
        assert_eq!(u64::from_ne_bytes(word), 999);
        again.finish(8_001).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 8_001);
    }

    #[test]
    fn a_file_has_its_room_before_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spill");
        let length = || std::fs::metadata(&path).unwrap().len();
        for bytes in [0, 1 << 20] {
            let spill = Spill::create(&path, Arc::default()).unwrap();
            spill.reserve(bytes).unwrap();
            // Some systems cannot reserve.
            assert!(length() == bytes || cfg!(not(target_os = "linux")) || spill.direct.is_none());
            spill.write(aligned(0..512).blocks(), 0).unwrap();
            spill.finish(10).unwrap();
            assert_eq!(length(), 10);
        }
    }

    #[test]
    fn a_slow_disk_gets_the_rest_through_the_cache() {
        let pace = Arc::new(Pace::default());
        pace.note(1 << 20, Duration::from_secs(9));
        assert!(!pace.is_slow(), "too early to tell");
        pace.note(63 << 20, Duration::from_millis(1));
        assert!(pace.is_slow());
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::create(&folder.path().join("spill"), pace.clone()).unwrap();
        check(&spill);
        assert!(spill.direct.as_ref().is_none_or(|direct| direct.refused.load(Ordering::Relaxed)));
        pace.note(1 << 40, Duration::from_millis(1));
        assert!(!pace.is_slow());
    }

    #[test]
    fn room_is_aligned_and_holds_what_it_held() {
        let mut aligned = aligned(0..600);
        assert_eq!(aligned.room(600), (0..600).collect::<Vec<_>>());
        for count in [5_000, 10, 20_000] {
            let room = aligned.room(count);
            assert_eq!((room.len(), room.as_ptr().align_offset(8 * BLOCK)), (count, 0));
        }
    }

    #[test]
    fn words_that_are_not_aligned_are_written_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::create(&folder.path().join("spill"), Arc::default()).unwrap();
        let mut moved = aligned(0..1_024);
        moved.words.insert(0, 7);
        moved.start += 1;
        spill.write(moved.blocks(), 0).unwrap();
        let mut word = [0; 8];
        spill.read(8 * 1_023, &mut word).unwrap();
        assert_eq!(u64::from_ne_bytes(word), 1_023);
    }
}

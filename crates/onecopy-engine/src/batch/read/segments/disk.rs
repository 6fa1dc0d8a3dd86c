//! Segments on disk.
//!
//! `segments.bin` holds them in sequence, each from the start of a block. `segments.log` has one record per complete
//! segment. A killed run loses the segments that are not logged yet; checksums identify the others.
//!
//! Readers check the checksum of a part whenever they read all of it. Before they read a piece of a part, they check the
//! part once.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use crate::batch::read::segment::{Layout, Segment};
use crate::error::{At, Result};
use crate::io::{Aligned, BLOCK, Spill, check, checksum_of, damaged};

/// The two files on disk.
pub(super) struct Disk {
    data: Spill,
    log: File,
    end: u64,
    /// A buffer for the segment being written.
    words: Aligned,
}

/// A segment on disk.
#[derive(Debug, Default)]
pub(super) struct OnDisk {
    pub layout: Layout,
    /// Its position in the file.
    pub at: u64,
    /// The checksums of its parts: everything before the ranks, the ranks, the sketches.
    sums: [u64; 3],
    /// Whether the first part and the sketches passed their check.
    rows_checked: AtomicBool,
    sketches_checked: AtomicBool,
}

impl OnDisk {
    /// The start and end of its parts, in words.
    fn parts(layout: &Layout) -> [std::ops::Range<usize>; 3] {
        let (ranks, sketches, end) = (layout.ranks_at(), layout.sketches_at(), layout.words());
        [0..ranks, ranks..sketches, sketches..end]
    }

    /// The position of its sketches in the file.
    pub(super) fn sketches_at(&self) -> u64 {
        self.at + 8 * self.layout.sketches_at() as u64
    }

    /// The checksums of the parts of a segment.
    fn sums(layout: &Layout, words: &[u64]) -> [u64; 3] {
        OnDisk::parts(layout).map(|part| checksum_of(&words[part]))
    }
}

/// The size of a log record: layout, position, checksums of the parts, checksum of the record.
const RECORD: usize = 4 * Layout::FIELDS + 40;

/// The number of words in a typical segment. The buffer of a larger one is freed.
const USUAL: usize = 1 << 20;

impl Disk {
    pub(super) fn create(folder: &Path) -> Result<Disk> {
        let (path, log) = (folder.join("segments.bin"), folder.join("segments.log"));
        let data = Spill::create(&path, Arc::default())?;
        Ok(Disk { data, log: File::create(&log).at("create", &log)?, end: 0, words: Aligned::default() })
    }

    /// Recovers the segments of an earlier run that are logged and intact.
    pub(super) fn recover(folder: &Path) -> Result<(Disk, Vec<OnDisk>)> {
        let (path, log_path) = (folder.join("segments.bin"), folder.join("segments.log"));
        let data = Spill::open(&path, Arc::default())?;
        let mut log = OpenOptions::new().read(true).write(true).open(&log_path).at("read", &log_path)?;
        let mut records = Vec::new();
        log.read_to_end(&mut records).at("read", &log_path)?;
        let length = std::fs::metadata(&path).at("read", &path)?.len();
        let mut disk = Disk { data, log, end: 0, words: Aligned::default() };
        let mut found = Vec::new();
        for record in records.chunks_exact(RECORD) {
            let Some(segment) = read_record(record) else { break };
            let OnDisk { layout, at, sums, .. } = &segment;
            // No memory is taken for words beyond the end of the file.
            let end = u128::from(*at) + 8 * layout.words() as u128;
            if end > u128::from(length) {
                break;
            }
            let mut words = vec![0; layout.words()];
            let read = disk.data.read(*at, bytemuck::cast_slice_mut(&mut words));
            if read.is_err() || OnDisk::sums(layout, &words) != *sums {
                break;
            }
            disk.end = disk.end.max(at + Spill::bytes(layout.words()));
            found.push(segment);
        }
        // New records overwrite everything after the last intact one.
        let whole = (found.len() * RECORD) as u64;
        disk.log.set_len(whole).at("write", &log_path)?;
        disk.log.seek(SeekFrom::Start(whole)).at("write", &log_path)?;
        Ok((disk, found))
    }

    /// Opens the segments of a folder of sketches, to read them. Fails if a part of the log is missing or damaged.
    pub(super) fn open(folder: &Path) -> Result<(Disk, Vec<OnDisk>)> {
        let (path, log_path) = (folder.join("segments.bin"), folder.join("segments.log"));
        let records = std::fs::read(&log_path).at("read", &log_path)?;
        let found: Option<Vec<OnDisk>> = records.chunks(RECORD).map(read_record).collect();
        let found = found.ok_or_else(damaged).at("read", &log_path)?;
        // Whole blocks are read.
        let end =
            |segment: &OnDisk| u128::from(segment.at) + u128::from(Spill::bytes(segment.layout.words()));
        let length = std::fs::metadata(&path).at("read", &path)?.len();
        if found.iter().any(|segment| end(segment) > u128::from(length)) {
            return Err(damaged()).at("read", &path);
        }
        let log = File::open(&log_path).at("read", &log_path)?;
        let data = Spill::open_to_read(&path, Arc::default())?;
        Ok((Disk { data, log, end: length, words: Aligned::default() }, found))
    }

    /// The size of all segments in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.end
    }

    /// Appends a segment. Returns its position.
    pub(super) fn append(&mut self, segment: &Segment, sketches: &[u64]) -> Result<OnDisk> {
        let at = self.end;
        let layout = segment.encode(sketches, |words| self.words.begin(words));
        let sums = OnDisk::sums(&layout, self.words.words());
        self.data.write(self.words.blocks(), at)?;
        self.end += Spill::bytes(layout.words());
        let mut record = Vec::with_capacity(RECORD);
        record.extend(layout.to_fields().iter().flat_map(|field| field.to_ne_bytes()));
        record.extend(at.to_ne_bytes());
        record.extend(sums.iter().flat_map(|sum| sum.to_ne_bytes()));
        record.extend(xxh3_64(&record).to_ne_bytes());
        self.log.write_all(&record).at("write", self.data.path())?;
        if layout.words() > USUAL {
            self.words = Aligned::default();
        }
        Ok(OnDisk { layout, at, sums, ..OnDisk::default() })
    }

    /// Reads everything of a segment before its ranks.
    pub(super) fn rows(&self, segment: &OnDisk) -> Result<Vec<u64>> {
        let mut words = vec![0; segment.layout.ranks_at()];
        self.read(segment.at, bytemuck::cast_slice_mut(&mut words))?;
        check(&words, segment.sums[0], self.data.path())?;
        segment.rows_checked.store(true, Ordering::Relaxed);
        Ok(words)
    }

    /// Reads a piece of the part before a segment's ranks, from byte `from` on.
    pub(super) fn some_of_rows(&self, segment: &OnDisk, from: usize, bytes: &mut [u8]) -> Result<()> {
        if !segment.rows_checked.load(Ordering::Relaxed) {
            self.rows(segment)?;
        }
        self.read(segment.at + from as u64, bytes)
    }

    /// All sketches of a segment. Sketches that are needed `again` stay in the system's cache.
    pub(super) fn sketches<'a>(
        &self,
        segment: &OnDisk,
        again: bool,
        buffer: &'a mut Aligned,
    ) -> Result<&'a [u64]> {
        let (at, count) = (segment.sketches_at(), segment.layout.sketches as usize);
        let words = if again {
            let words = buffer.room(count);
            self.read(at, bytemuck::cast_slice_mut(words))?;
            words
        } else {
            self.read_once(at, count, buffer)?
        };
        check(words, segment.sums[2], self.data.path())?;
        segment.sketches_checked.store(true, Ordering::Relaxed);
        Ok(words)
    }

    /// Reads a sketch of a segment, from word `start` of its sketches on.
    pub(super) fn sketch(&self, segment: &OnDisk, start: usize, words: &mut [u64]) -> Result<()> {
        if !segment.sketches_checked.load(Ordering::Relaxed) {
            self.sketches(segment, true, &mut Aligned::default())?;
        }
        self.read(segment.sketches_at() + 8 * start as u64, bytemuck::cast_slice_mut(words))
    }

    /// Reads the ranks of a segment.
    pub(super) fn ranks<'a>(&self, segment: &OnDisk, buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        let layout = &segment.layout;
        // The checksum covers the zeros that pad the last word.
        buffer.resize(8 * (layout.sketches_at() - layout.ranks_at()), 0);
        self.read(segment.at + 8 * layout.ranks_at() as u64, buffer)?;
        if xxh3_64(buffer) != segment.sums[1] {
            return Err(damaged()).at("read", self.data.path());
        }
        buffer.truncate(layout.ranks as usize);
        Ok(buffer)
    }

    /// Reads words that are not needed again, at any offset.
    fn read_once<'a>(&self, at: u64, count: usize, buffer: &'a mut Aligned) -> Result<&'a [u64]> {
        const BYTES: u64 = (BLOCK * size_of::<u64>()) as u64;
        let before = (at % BYTES) as usize / size_of::<u64>();
        let words = self.data.read_once(at / BYTES * BYTES, before + count, buffer)?;
        Ok(&words[before..])
    }

    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        self.data.read(at, bytes).at("read", self.data.path())
    }
}

fn read_record(record: &[u8]) -> Option<OnDisk> {
    if record.len() != RECORD {
        return None;
    }
    let (body, own) = record.split_at(RECORD - 8);
    let number = |at: usize| u64::from_ne_bytes(body[at..at + 8].try_into().expect("eight bytes"));
    if xxh3_64(body).to_ne_bytes() != *own {
        return None;
    }
    let mut fields = [0; Layout::FIELDS];
    for (field, bytes) in fields.iter_mut().zip(body.chunks_exact(4)) {
        *field = u32::from_ne_bytes(bytes.try_into().expect("four bytes"));
    }
    let (layout, end) = (Layout::from_fields(fields), 4 * Layout::FIELDS);
    let sums = [number(end + 8), number(end + 16), number(end + 24)];
    Some(OnDisk { layout, at: number(end), sums, ..OnDisk::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_longer_than_the_file_takes_no_memory() {
        let folder = tempfile::tempdir().unwrap();
        drop(Disk::create(folder.path()).unwrap());
        let mut record = [u8::MAX; RECORD - 8].to_vec();
        record.extend(xxh3_64(&record).to_ne_bytes());
        std::fs::write(folder.path().join("segments.log"), record).unwrap();
        let (_, found) = Disk::recover(folder.path()).unwrap();
        assert!(found.is_empty());
    }
}

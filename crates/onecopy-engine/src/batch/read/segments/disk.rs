//! Segments on disk.
//!
//! They lie one behind the other in `segments.bin`, each from the beginning of a block, and `segments.log` has a record
//! for each that is complete. A run that is killed loses what was not yet logged; the rest is found again by its checksums.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::batch::read::segment::{Layout, Segment};
use crate::error::{At, Result};
use crate::io::{Aligned, BLOCK, Spill};

/// The two files.
pub(super) struct Disk {
    data: Spill,
    log: File,
    end: u64,
    /// The segment that is being written.
    words: Aligned,
}

/// A log record: the layout, where the segment is, the checksum of its words, and one of the record.
const RECORD: usize = 4 * Layout::FIELDS + 24;

/// Words of a segment of usual size. The buffer of a larger one is given back.
const USUAL: usize = 1 << 20;

impl Disk {
    pub(super) fn create(folder: &Path) -> Result<Disk> {
        let (path, log) = (folder.join("segments.bin"), folder.join("segments.log"));
        let data = Spill::create(&path, Arc::default())?;
        Ok(Disk { data, log: File::create(&log).at("create", &log)?, end: 0, words: Aligned::default() })
    }

    /// What an earlier run left: the segments that are logged and whole, each with where it is.
    pub(super) fn recover(folder: &Path) -> Result<(Disk, Vec<(Layout, u64)>)> {
        let (path, log_path) = (folder.join("segments.bin"), folder.join("segments.log"));
        let data = Spill::open(&path, Arc::default())?;
        let mut log = OpenOptions::new().read(true).write(true).open(&log_path).at("read", &log_path)?;
        let mut records = Vec::new();
        log.read_to_end(&mut records).at("read", &log_path)?;
        let mut disk = Disk { data, log, end: 0, words: Aligned::default() };
        let mut found = Vec::new();
        for record in records.chunks_exact(RECORD) {
            let Some((layout, at, checksum)) = read_record(record) else { break };
            let mut bytes = vec![0; 8 * layout.words()];
            if disk.data.read(at, &mut bytes).is_err() || xxh3_64(&bytes) != checksum {
                break;
            }
            disk.end = disk.end.max(at + Spill::bytes(layout.words()));
            found.push((layout, at));
        }
        // What follows the last whole record is overwritten by the next ones.
        let whole = (found.len() * RECORD) as u64;
        disk.log.set_len(whole).at("write", &log_path)?;
        disk.log.seek(SeekFrom::Start(whole)).at("write", &log_path)?;
        Ok((disk, found))
    }

    /// Bytes of all segments.
    pub(super) fn bytes(&self) -> u64 {
        self.end
    }

    /// Adds a segment; says where it is.
    pub(super) fn append(&mut self, segment: &Segment, sketches: &[u64]) -> Result<(Layout, u64)> {
        let at = self.end;
        let layout = segment.encode(sketches, |words| self.words.begin(words));
        let checksum = xxh3_64(bytemuck::cast_slice(self.words.words()));
        self.data.write(self.words.blocks(), at)?;
        self.end += Spill::bytes(layout.words());
        let mut record = Vec::with_capacity(RECORD);
        record.extend(layout.to_fields().iter().flat_map(|field| field.to_ne_bytes()));
        record.extend(at.to_ne_bytes());
        record.extend(checksum.to_ne_bytes());
        record.extend(xxh3_64(&record).to_ne_bytes());
        self.log.write_all(&record).at("write", self.data.path())?;
        if layout.words() > USUAL {
            self.words = Aligned::default();
        }
        Ok((layout, at))
    }

    /// Reads words that are not needed again, from any place.
    pub(super) fn read_once<'a>(&self, at: u64, count: usize, buffer: &'a mut Aligned) -> Result<&'a [u64]> {
        const BYTES: u64 = (BLOCK * size_of::<u64>()) as u64;
        let before = (at % BYTES) as usize / size_of::<u64>();
        let words = self.data.read_once(at / BYTES * BYTES, before + count, buffer)?;
        Ok(&words[before..])
    }

    pub(super) fn read(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        self.data.read(at, bytes).at("read", self.data.path())
    }
}

fn read_record(record: &[u8]) -> Option<(Layout, u64, u64)> {
    let (body, own) = record.split_at(RECORD - 8);
    let number = |at: usize| u64::from_ne_bytes(body[at..at + 8].try_into().expect("eight bytes"));
    if xxh3_64(body).to_ne_bytes() != *own {
        return None;
    }
    let mut fields = [0; Layout::FIELDS];
    for (field, bytes) in fields.iter_mut().zip(body.chunks_exact(4)) {
        *field = u32::from_ne_bytes(bytes.try_into().expect("four bytes"));
    }
    Some((Layout::from_fields(fields), number(4 * Layout::FIELDS), number(4 * Layout::FIELDS + 8)))
}

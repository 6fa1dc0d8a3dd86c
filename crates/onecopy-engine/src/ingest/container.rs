//! Files that hold files: ZIP, WACZ and tar. Each member is a source of its own, and is read in place.
//!
//! A member of a compressed tar file has no place to be read at, so that file is unpacked once, into a spool.

mod reach;
mod spool;
mod tar;
mod zip;

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::Bytes;
use parquet::file::reader::{ChunkReader, Length};
use serde::{Deserialize, Serialize};

pub(crate) use self::reach::Reach;
pub(crate) use self::spool::Spools;
use super::packing::{Packing, by_ending};

/// The kind of a file that holds files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Container {
    Zip,
    /// A ZIP file of a web archive: its pages are in WARC files.
    Wacz,
    Tar(Packing),
}

/// The kind of container that a file name indicates.
pub(crate) fn container_by_name(name: &str) -> Option<Container> {
    let name = name.to_ascii_lowercase();
    if let (stem, packing) = by_ending(&name)
        && stem.ends_with(".tar")
    {
        return Some(Container::Tar(packing));
    }
    Some(match name.rsplit_once('.')?.1 {
        "zip" => Container::Zip,
        "wacz" => Container::Wacz,
        "tgz" => Container::Tar(Packing::Gzip),
        "tzst" => Container::Tar(Packing::Zstd),
        "txz" => Container::Tar(Packing::Xz),
        "tbz2" | "tbz" => Container::Tar(Packing::Bzip2),
        _ => return None,
    })
}

/// Whether a file begins as a ZIP file does. An empty one has only an end.
pub(crate) fn is_zip(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

/// Whether a file begins as a tar file does.
pub(crate) fn is_tar(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}

/// Where the bytes of a member are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Member {
    /// Its path in the container.
    pub name: String,
    /// The compression of the whole container.
    pub container: Packing,
    /// The size of the container's file. A run does not resume over a changed file.
    pub file_bytes: u64,
    /// Where its bytes start in the container, once that is unpacked, and how many there are.
    pub start: u64,
    pub bytes: u64,
    /// Whether its own bytes are compressed with Deflate.
    pub deflated: bool,
    /// The checksum of its unpacked bytes, if the container has one.
    pub crc32: Option<u32>,
}

/// A member as a container lists it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Its path in the container.
    pub name: String,
    /// Where it is, or why it is not read.
    pub place: Result<Place, &'static str>,
}

/// Why an encrypted member is not read.
pub(crate) const ENCRYPTED: &str = "it is encrypted: unpack the ZIP file with its password first";

/// The place of a member in its container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub start: u64,
    pub bytes: u64,
    /// Its size once it is unpacked, as the container says.
    pub unpacked_bytes: u64,
    pub deflated: bool,
    pub crc32: Option<u32>,
}

/// The members of a container, and the damage that hides others.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub members: Vec<Listed>,
    pub damage: Option<String>,
}

/// Lists the members of a container in the order that it has them in. Folders are left out.
pub(crate) fn list(section: &Section, kind: Container) -> io::Result<Listing> {
    let mut listing = match kind {
        Container::Zip | Container::Wacz => zip::list(section)?,
        Container::Tar(_) => tar::list(section)?,
    };
    part_members(&mut listing.members);
    Ok(listing)
}

/// Refuses members whose names lead out of the folder, or are those of others.
fn part_members(members: &mut [Listed]) {
    let mut names = HashSet::new();
    let parents =
        members.iter().flat_map(|member| member.name.match_indices('/').map(|(at, _)| &member.name[..at]));
    let folders: HashSet<String> = parents.map(str::to_owned).collect();
    // The last member of a name replaces the others, as it does when they are unpacked.
    for member in members.iter_mut().rev().filter(|member| member.place.is_ok()) {
        if !is_below(&member.name) {
            member.place = Err("its name leads out of the folder: refused");
        } else if !names.insert(member.name.clone()) {
            member.place = Err("a later member of this name replaces it");
        } else if folders.contains(&member.name) {
            member.place = Err("a folder has this name too");
        }
    }
}

/// Whether a path stays in its folder.
fn is_below(name: &str) -> bool {
    !name.contains(['\\', '\0']) && name.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// A part of an open file. Several readers may share it.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub file: Arc<File>,
    pub start: u64,
    pub bytes: u64,
}

impl Section {
    /// The whole of a file.
    pub(crate) fn of(file: File) -> io::Result<Section> {
        let bytes = file.metadata()?.len();
        Ok(Section { file: Arc::new(file), start: 0, bytes })
    }

    /// A part of this part.
    pub(crate) fn part(&self, start: u64, bytes: u64) -> Section {
        let start = start.min(self.bytes);
        let bytes = bytes.min(self.bytes - start);
        Section { file: self.file.clone(), start: self.start + start, bytes }
    }

    /// Reads it from the front.
    pub(crate) fn reader(&self) -> SectionReader {
        SectionReader { section: self.clone(), at: 0 }
    }

    /// Reads up to `buffer.len()` bytes at an offset.
    pub(crate) fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let left = self.bytes.saturating_sub(at).min(buffer.len() as u64) as usize;
        self.file.read_at(&mut buffer[..left], self.start + at)
    }
}

/// Reads a section.
pub(crate) struct SectionReader {
    section: Section,
    at: u64,
}

impl Read for SectionReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.section.read_at(buffer, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl io::Seek for SectionReader {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        let at = match to {
            io::SeekFrom::Start(at) => Some(at),
            io::SeekFrom::End(by) => self.section.bytes.checked_add_signed(by),
            io::SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

impl Length for Section {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for Section {
    type T = io::BufReader<SectionReader>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<io::BufReader<SectionReader>> {
        Ok(io::BufReader::new(self.part(start, u64::MAX).reader()))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let mut bytes = Vec::with_capacity(length);
        self.part(start, length as u64).reader().read_to_end(&mut bytes)?;
        if bytes.len() < length {
            let error = format!("{length} bytes at {start} of {}", self.bytes);
            return Err(parquet::errors::ParquetError::EOF(error));
        }
        Ok(bytes.into())
    }
}

#[cfg(test)]
mod tests;

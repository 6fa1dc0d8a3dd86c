//! Opens the bytes of sources, wherever they are: in files, in containers, and in object stores.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::Crc;

use super::spool::Spooled;
use super::{Container, Section, Spools};
use crate::ingest::inputs::Source;
use crate::ingest::packing::{Packing, inflate};
use crate::ingest::remote::{RemoteFile, Stores};

/// What opens the bytes of sources.
pub(crate) struct Reach {
    pub stores: Stores,
    pub spools: Spools,
}

impl Reach {
    /// The bytes of a source. Its own compression is left to the caller.
    pub(crate) fn bytes(&self, source: &Source) -> io::Result<Box<dyn Read + Send>> {
        let Some(member) = &source.member else { return self.file(&source.path, source.remote().as_ref()) };
        let container =
            self.container(&source.path, source.remote().as_ref(), member.container, &|| false)?;
        let packed = container.section.part(member.start, member.bytes).reader();
        let bytes: Box<dyn Read + Send> = match member.deflated {
            true => inflate(Box::new(packed), self.spools.expansion),
            false => Box::new(packed),
        };
        Ok(match member.crc32 {
            Some(expected) => Box::new(Checked { bytes, sum: Crc::new(), expected }),
            None => bytes,
        })
    }

    /// A local source as a part of a file, for a format that is not read from front to back.
    pub(crate) fn section(&self, source: &Source) -> io::Result<Section> {
        let Some(member) = &source.member else { return Section::of(File::open(&source.path)?) };
        if !member.deflated {
            let container =
                self.container(&source.path, source.remote().as_ref(), member.container, &|| false)?;
            return Ok(container.section.part(member.start, member.bytes));
        }
        let place = (source.path.as_path(), member.start);
        let spooled = self.spools.take(place, Packing::Plain, || self.bytes(source), &|| false)?;
        match spooled.damage {
            None => Ok(spooled.section),
            Some(damage) => Err(io::Error::new(io::ErrorKind::InvalidData, damage)),
        }
    }

    /// An opened container, unpacked if it is compressed as a whole or far away.
    pub(crate) fn container(
        &self,
        path: &Path,
        remote: Option<&RemoteFile>,
        packing: Packing,
        stopped: &dyn Fn() -> bool,
    ) -> io::Result<Spooled> {
        if packing == Packing::Plain && remote.is_none() {
            return Ok(Spooled { section: Section::of(File::open(path)?)?, damage: None });
        }
        self.spools.take((path, 0), packing, || self.file(path, remote), stopped)
    }

    fn file(&self, path: &Path, remote: Option<&RemoteFile>) -> io::Result<Box<dyn Read + Send>> {
        Ok(match remote {
            Some(file) => Box::new(self.stores.read(file)?),
            None => Box::new(File::open(path)?),
        })
    }
}

impl Container {
    /// The compression of the whole file.
    pub(crate) fn packing(self) -> Packing {
        match self {
            Container::Tar(packing) => packing,
            Container::Zip | Container::Wacz => Packing::Plain,
        }
    }
}

/// Compares the checksum of what was read when it has been read whole.
struct Checked {
    bytes: Box<dyn Read + Send>,
    sum: Crc,
    expected: u32,
}

impl Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.bytes.read(buffer)?;
        self.sum.update(&buffer[..n]);
        if n == 0 && !buffer.is_empty() && self.sum.sum() != self.expected {
            return Err(io::Error::other("its checksum in the ZIP file is another"));
        }
        Ok(n)
    }
}

//! A folder beside the output for files that do not outlive the process.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{At, Result};

/// The folder. It is deleted when this is dropped.
pub(super) struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    /// Creates the folder beside the file `out`.
    pub(super) fn beside(out: &Path) -> Result<Scratch> {
        let name = out.file_name().unwrap_or_default().to_string_lossy();
        let folder = out.with_file_name(format!(".{name}.{}", std::process::id()));
        fs::create_dir(&folder).at("create", &folder)?;
        Ok(Scratch { folder })
    }

    pub(super) fn path(&self) -> &Path {
        &self.folder
    }

    /// A file to collect bytes in.
    pub(super) fn spill(&self, name: &str, number: usize, buffer_bytes: usize) -> Spill {
        Spill {
            path: self.folder.join(format!("{name}-{number}")),
            buffer: Vec::new(),
            buffer_bytes,
            bytes: 0,
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing depends on it, and an error was reported before if there was one.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Bytes that are appended in memory, and in a file once they are many.
pub(super) struct Spill {
    path: PathBuf,
    buffer: Vec<u8>,
    buffer_bytes: usize,
    /// The bytes in the file.
    bytes: u64,
}

impl Spill {
    /// The buffer to append to. Call [`Spill::tidy`] after that.
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Writes the buffer to the file if it is full.
    pub(super) fn tidy(&mut self) -> Result<()> {
        if self.buffer.len() < self.buffer_bytes {
            return Ok(());
        }
        // Hundreds of these are in use at once, so no file stays open.
        let file = OpenOptions::new().create(true).append(true).open(&self.path);
        file.and_then(|mut file| file.write_all(&self.buffer)).at("write", &self.path)?;
        self.bytes += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// All bytes, in the order in which they were appended.
    pub(super) fn read(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.bytes as usize + self.buffer.len());
        if self.bytes > 0 {
            let read = File::open(&self.path).and_then(|mut file| file.read_to_end(&mut bytes));
            read.at("read", &self.path)?;
        }
        bytes.extend_from_slice(&self.buffer);
        Ok(bytes)
    }
}

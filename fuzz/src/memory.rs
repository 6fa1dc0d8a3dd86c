//! An in-memory file, for targets that open files thousands of times per second.

use std::io::{self, ErrorKind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use onecopy_store::File;

/// The longest accepted file: extending it further is a bug.
const MOST_BYTES: u64 = 64 << 20;

/// An in-memory file.
#[derive(Debug)]
pub struct Memory(Mutex<Vec<u8>>);

impl Memory {
    pub fn new(bytes: Vec<u8>) -> Memory {
        Memory(Mutex::new(bytes))
    }

    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The current bytes.
    pub fn copy(&self) -> Vec<u8> {
        self.bytes().clone()
    }
}

impl File for Memory {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes().len() as u64)
    }

    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let file = self.bytes();
        let found = file.get(offset as usize..).and_then(|rest| rest.get(..bytes.len()));
        bytes.copy_from_slice(found.ok_or(ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let end = offset.saturating_add(bytes.len() as u64);
        if end > self.len()? {
            self.set_len(end)?;
        }
        self.bytes()[offset as usize..end as usize].copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        if length > MOST_BYTES {
            return Err(ErrorKind::StorageFull.into());
        }
        self.bytes().resize(length as usize, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

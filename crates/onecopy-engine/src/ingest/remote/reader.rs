//! Reads a file in a store from front to back, and fetches the next part ahead.

use std::io::{self, Read};
use std::sync::Arc;

use bytes::{Buf, Bytes};

use super::object::Object;
use super::runtime::{Pending, begin};

/// The size of a part: large enough to amortize the request, small enough to hold two in memory.
const PART_BYTES: u64 = 4 << 20;

/// Reads a file. It holds at most two parts in memory and retries failed parts. An error is final: nothing is read
/// after a gap.
pub(crate) struct RemoteReader {
    object: Arc<Object>,
    current: Bytes,
    pending: Option<Pending<io::Result<Bytes>>>,
    /// The start of the part after the pending one.
    next: u64,
}

impl RemoteReader {
    pub(super) fn new(object: Arc<Object>) -> io::Result<RemoteReader> {
        let mut reader = RemoteReader { object, current: Bytes::new(), pending: None, next: 0 };
        reader.ask()?;
        Ok(reader)
    }

    /// Requests the next part, if there is one.
    fn ask(&mut self) -> io::Result<()> {
        let end = self.object.bytes.min(self.next + PART_BYTES);
        if self.next == end {
            return Ok(());
        }
        let (object, range) = (self.object.clone(), self.next..end);
        self.pending = Some(begin(async move { object.part(range).await })?);
        self.next = end;
        Ok(())
    }
}

impl Read for RemoteReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.current.is_empty() {
            let Some(pending) = self.pending.take() else {
                let whole = self.next == self.object.bytes;
                return if whole { Ok(0) } else { Err(io::Error::other("read on behind an error")) };
            };
            match pending.wait()? {
                Ok(part) => self.current = part,
                Err(error) => {
                    self.next = u64::MAX;
                    return Err(error);
                }
            }
            self.ask()?;
        }
        let n = buffer.len().min(self.current.len());
        self.current.copy_to_slice(&mut buffer[..n]);
        Ok(n)
    }
}

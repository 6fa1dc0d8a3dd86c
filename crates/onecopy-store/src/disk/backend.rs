//! Lets redb use our files, so that tests can check its recovery after a power loss too.

use std::io;
use std::sync::Arc;

use super::File;

/// A file as redb expects it. The creator of the file must sync the folder.
#[derive(Debug, Clone)]
pub struct Backend(Arc<dyn File>);

impl Backend {
    /// A database in `file`. The lock of the folder prevents concurrent opens.
    pub fn new(file: Arc<dyn File>) -> Backend {
        Backend(file)
    }
}

impl redb::StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(out, offset)
    }

    /// A new length is durable at once: redb does not open a file that is shorter than its header says, and after a
    /// power loss the header could be there and the length not.
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)?;
        self.0.sync()
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write_all_at(data, offset)
    }
}

//! Unpacks what cannot be read in place into nameless files: compressed tar files, containers in object stores, and
//! Parquet files inside a ZIP file.
//!
//! Such a file has no name, so the system deletes it when the run ends, however it ends. A later run unpacks again.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::Section;
use crate::ingest::packing::{Packing, Unpacking, Window, is_no_damage, unpack_by};

/// Where and within which limits files are unpacked, and those that are.
#[derive(Debug)]
pub(crate) struct Spools {
    folder: PathBuf,
    pub(super) expansion: u64,
    window: Window,
    spooled: Mutex<HashMap<(PathBuf, u64), Spooled>>,
}

/// An unpacked file, and the damage that ended it.
#[derive(Clone, Debug)]
pub(crate) struct Spooled {
    pub section: Section,
    pub damage: Option<String>,
}

/// How many bytes are copied at a time.
const PIECE_BYTES: usize = 1 << 18;

impl Spools {
    /// Unpacks into `folder`. No file may expand more than `expansion` times.
    pub(crate) fn new(folder: &Path, expansion: u64, window: Window) -> Spools {
        Spools { folder: folder.to_owned(), expansion, window, spooled: Mutex::default() }
    }

    /// The unpacked bytes of the file at `path`, from `start` on. The first call unpacks them from `open`, until
    /// `stopped` says otherwise.
    pub(crate) fn take(
        &self,
        (path, start): (&Path, u64),
        packing: Packing,
        open: impl FnOnce() -> io::Result<Box<dyn Read + Send>>,
        stopped: &dyn Fn() -> bool,
    ) -> io::Result<Spooled> {
        let mut spooled = self.spooled.lock().expect("no thread panics while it unpacks");
        let key = (path.to_owned(), start);
        if let Some(found) = spooled.get(&key) {
            return Ok(found.clone());
        }
        let unpacking = Unpacking { expansion: self.expansion, window: self.window, members: None };
        let (mut reader, _) = unpack_by(open()?, packing, unpacking)?;
        let mut file = self.nameless()?;
        let mut damage = None;
        let mut buffer = vec![0; PIECE_BYTES];
        loop {
            if stopped() {
                return Err(ErrorKind::Interrupted.into());
            }
            match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => file.write_all(&buffer[..n])?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_no_damage(&error) => return Err(error),
                Err(error) => {
                    damage = Some(error.to_string());
                    break;
                }
            }
        }
        let made = Spooled { section: Section::of(file)?, damage };
        spooled.insert(key, made.clone());
        Ok(made)
    }

    /// A new file without a name.
    fn nameless(&self) -> io::Result<File> {
        fs::create_dir_all(&self.folder)?;
        let path = self.folder.join(format!("spool-{}", std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path)?;
        fs::remove_file(&path)?;
        Ok(file)
    }
}

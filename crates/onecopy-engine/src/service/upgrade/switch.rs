//! Puts the new collection in the place of the old one, file by file, so that it can be continued after a kill.
//!
//! ```text
//! upgrading/            being built; thrown away if it is not complete
//! upgrading/complete    built: the old files are moved to format-N/, the tables first
//! upgraded/             all old files are moved: the new ones are moved here, the tables last
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use onecopy_store::{Disk, Folder, Open};

use crate::error::{At, Result};
use crate::service::collection::facts::{TABLES, is_part};

const BUILT: &str = "upgrading";
const MOVING: &str = "upgraded";
/// The file that says that the new collection is complete. It has the name of the folder for the old files.
const COMPLETE: &str = "complete";

/// The folder of a collection, where a new one takes its place.
pub(super) struct Switch {
    data: PathBuf,
}

impl Switch {
    pub(super) fn new(data: &Path) -> Switch {
        Switch { data: data.to_owned() }
    }

    /// Whether an upgrade was begun and not finished.
    pub(super) fn is_begun(&self) -> bool {
        self.at(MOVING).is_dir() || self.at(BUILT).is_dir()
    }

    /// Whether the new collection is complete, and files are being moved.
    pub(super) fn is_built(&self) -> bool {
        self.at(MOVING).is_dir() || self.at(BUILT).join(COMPLETE).is_file()
    }

    /// Finishes a switch that was begun, and throws away a collection that is not complete.
    pub(super) fn resume(&self) -> Result<()> {
        if self.at(MOVING).is_dir() {
            return self.move_new();
        }
        match fs::read_to_string(self.at(BUILT).join(COMPLETE)) {
            Ok(old) if !old.is_empty() => self.move_old(&old).and_then(|()| self.move_new()),
            _ => self.discard(),
        }
    }

    /// The folder to build the new collection in.
    pub(super) fn begin(&self) -> Result<PathBuf> {
        self.discard()?;
        Ok(self.at(BUILT))
    }

    /// Switches to the collection that was built. Returns where the old files are.
    pub(super) fn run(&self, format: u32) -> Result<PathBuf> {
        let names = (0..)
            .map(|nth| if nth == 0 { format!("format-{format}") } else { format!("format-{format}-{nth}") });
        let old = names.into_iter().find(|name| !self.at(name).exists()).unwrap_or_default();
        let built = self.disk(BUILT)?;
        mark_complete(&built, &old).at("write", &self.at(BUILT).join(COMPLETE))?;
        self.move_old(&old)?;
        self.move_new()?;
        Ok(self.at(&old))
    }

    /// Moves the old files away. The tables go first: without them no version takes the rest for a collection.
    fn move_old(&self, old: &str) -> Result<()> {
        let target = self.at(old);
        Disk::create(&target).at("create", &target)?;
        let names = self.disk("")?.names().at("read", &self.data)?;
        let parts = names.iter().map(String::as_str).filter(|name| is_part(name));
        for name in names.iter().map(String::as_str).filter(|name| *name == TABLES).chain(parts) {
            fs::rename(self.at(name), target.join(name)).at("move", &self.at(name))?;
        }
        self.sync(old)?;
        self.sync("")?;
        fs::rename(self.at(BUILT), self.at(MOVING)).at("move", &self.at(BUILT))?;
        self.sync("")
    }

    /// Moves the new files to their place. The tables come last: with them the folder is a collection.
    fn move_new(&self) -> Result<()> {
        let names = self.disk(MOVING)?.names().at("read", &self.at(MOVING))?;
        let parts = names.iter().map(String::as_str).filter(|name| is_part(name));
        for name in parts.chain(names.iter().map(String::as_str).filter(|name| *name == TABLES)) {
            if name == TABLES {
                self.sync("")?;
            }
            fs::rename(self.at(MOVING).join(name), self.at(name)).at("move", &self.at(name))?;
        }
        self.sync("")?;
        fs::remove_dir_all(self.at(MOVING)).at("remove", &self.at(MOVING))?;
        self.sync("")
    }

    fn discard(&self) -> Result<()> {
        let built = self.at(BUILT);
        if built.is_dir() { fs::remove_dir_all(&built).at("remove", &built) } else { Ok(()) }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.data.join(name)
    }

    fn disk(&self, name: &str) -> Result<Disk> {
        Disk::open(self.at(name)).at("open", &self.at(name))
    }

    fn sync(&self, name: &str) -> Result<()> {
        self.disk(name)?.sync().at("sync", &self.at(name))
    }
}

/// Writes the name of the folder for the old files, which completes the new collection.
fn mark_complete(built: &Disk, old: &str) -> std::io::Result<()> {
    let aside = format!("{COMPLETE}.part");
    let file = built.open(&aside, Open::Create)?;
    file.write_all_at(old.as_bytes(), 0)?;
    file.sync()?;
    built.rename(&aside, COMPLETE)?;
    built.sync()
}

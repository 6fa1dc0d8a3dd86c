//! A small file system of its own, which tests fill.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::{TempDir, tempdir};

/// A small file system, unmounted when dropped.
pub struct SmallDisk {
    at: PathBuf,
    megabytes: u64,
    kilobytes: Cell<u64>,
    _folder: TempDir,
}

impl SmallDisk {
    /// `None` if mounting is not permitted.
    pub fn new(megabytes: u64) -> Option<SmallDisk> {
        let folder = tempdir().expect("a folder");
        let at = folder.path().to_owned();
        let size = format!("size={megabytes}m");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&at).output();
        mounted.is_ok_and(|output| output.status.success()).then_some(SmallDisk {
            at,
            megabytes,
            kilobytes: Cell::new(megabytes << 10),
            _folder: folder,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.at
    }

    /// Leaves at most this much free. It fails while somebody writes more than that, and is tried again.
    pub fn shrink(&self, free_kilobytes: u64) {
        let smaller = || self.kilobytes.get().min(self.used_kilobytes() + free_kilobytes);
        let is_done = (0..100).any(|_| self.resize(smaller()));
        assert!(is_done, "the disk cannot be shrunk");
    }

    /// Has its first size again.
    pub fn grow(&self) {
        assert!(self.resize(self.megabytes << 10), "the disk cannot be grown");
    }

    fn used_kilobytes(&self) -> u64 {
        let told = Command::new("df").args(["-k", "--output=used"]).arg(&self.at).output().expect("df");
        let told = String::from_utf8(told.stdout).expect("text");
        told.lines().nth(1).and_then(|line| line.trim().parse().ok()).expect("a number")
    }

    fn resize(&self, kilobytes: u64) -> bool {
        let size = format!("remount,size={kilobytes}k");
        let done = Command::new("mount").args(["-o", &size]).arg(&self.at).output();
        let is_done = done.is_ok_and(|output| output.status.success());
        if is_done {
            self.kilobytes.set(kilobytes);
        }
        is_done
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.at).status();
    }
}

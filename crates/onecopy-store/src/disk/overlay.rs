//! A folder that another process may be writing, for reading only: every change stays in memory.
//!
//! Code that opens a collection may cut, repair and rename as usual. None of it reaches the disk. A file has the length
//! that it had when it was opened.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{File, Folder, Lock, Open};

/// The unit in which changed bytes are kept.
const BLOCK: u64 = 4096;

/// A folder whose changes stay in memory.
#[derive(Debug)]
pub struct Overlay {
    base: Arc<dyn Folder>,
    names: Mutex<Names>,
}

#[derive(Debug, Default)]
struct Names {
    /// Files that were opened for writing.
    changed: BTreeMap<String, Arc<OverlayFile>>,
    /// Files of the base that were removed or replaced.
    removed: BTreeSet<String>,
}

impl Overlay {
    /// Reads through to `base`, and never writes to it.
    pub fn new(base: Arc<dyn Folder>) -> Overlay {
        Overlay { base, names: Mutex::default() }
    }

    /// The file for writing, made of the base's file if there is one.
    fn changed(&self, names: &mut Names, name: &str) -> io::Result<Arc<OverlayFile>> {
        if let Some(file) = names.changed.get(name) {
            return Ok(file.clone());
        }
        let below = match names.removed.contains(name) {
            true => Err(ErrorKind::NotFound.into()),
            false => self.base.open(name, Open::Read),
        };
        let file = Arc::new(OverlayFile::over(below)?);
        names.changed.insert(name.to_owned(), file.clone());
        Ok(file)
    }
}

impl Folder for Overlay {
    fn open(&self, name: &str, how: Open) -> io::Result<Arc<dyn File>> {
        let mut names = locked(&self.names);
        if how == Open::Create {
            return Ok(self.changed(&mut names, name)?);
        }
        match names.changed.get(name) {
            Some(file) => Ok(file.clone()),
            None if names.removed.contains(name) => Err(ErrorKind::NotFound.into()),
            None => self.base.open(name, Open::Read),
        }
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let names = locked(&self.names);
        let mut all: BTreeSet<String> = self.base.names()?.into_iter().collect();
        all.retain(|name| !names.removed.contains(name));
        all.extend(names.changed.keys().cloned());
        Ok(all.into_iter().collect())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut names = locked(&self.names);
        names.changed.remove(name);
        names.removed.insert(name.to_owned());
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut names = locked(&self.names);
        let file = self.changed(&mut names, from)?;
        names.changed.remove(from);
        names.removed.extend([from.to_owned(), to.to_owned()]);
        names.changed.insert(to.to_owned(), file);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self) -> io::Result<Box<dyn Lock>> {
        self.base.lock_to_read()
    }

    fn lock_to_read(&self) -> io::Result<Box<dyn Lock>> {
        self.base.lock_to_read()
    }

    fn has_readers(&self) -> bool {
        false
    }
}

/// A file whose changes stay in memory.
#[derive(Debug)]
struct OverlayFile {
    below: Option<Arc<dyn File>>,
    inside: Mutex<Inside>,
}

#[derive(Debug)]
struct Inside {
    length: u64,
    /// The file below counts up to here: what was truncated does not come back.
    below: u64,
    blocks: HashMap<u64, Box<[u8; BLOCK as usize]>>,
}

impl OverlayFile {
    fn over(below: io::Result<Arc<dyn File>>) -> io::Result<OverlayFile> {
        let below = match below {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            below => Some(below?),
        };
        let length = below.as_ref().map_or(Ok(0), |file| file.len())?;
        let inside = Inside { length, below: length, blocks: HashMap::new() };
        Ok(OverlayFile { below, inside: Mutex::new(inside) })
    }

    /// Reads the file below; zeros behind its end.
    fn read_below(&self, limit: u64, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let count = limit.saturating_sub(offset).min(bytes.len() as u64) as usize;
        let (there, behind) = bytes.split_at_mut(count);
        behind.fill(0);
        match &self.below {
            Some(file) if count > 0 => file.read_exact_at(there, offset),
            _ => Ok(()),
        }
    }
}

/// Splits a range into parts of one block each: the block, where the part begins in it, and its range in the whole.
fn parts(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (block, within) = ((offset + at as u64) / BLOCK, ((offset + at as u64) % BLOCK) as usize);
        let count = (length - at).min(BLOCK as usize - within);
        let range = at..at + count;
        at += count;
        (count > 0).then_some((block, within, range))
    })
}

impl File for OverlayFile {
    fn len(&self) -> io::Result<u64> {
        Ok(locked(&self.inside).length)
    }

    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let inside = locked(&self.inside);
        if offset.saturating_add(bytes.len() as u64) > inside.length {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        if inside.blocks.is_empty() {
            return self.read_below(inside.below, bytes, offset);
        }
        for (block, within, range) in parts(offset, bytes.len()) {
            let part = &mut bytes[range.clone()];
            match inside.blocks.get(&block) {
                Some(changed) => part.copy_from_slice(&changed[within..within + part.len()]),
                None => self.read_below(inside.below, part, offset + range.start as u64)?,
            }
        }
        Ok(())
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut inside = locked(&self.inside);
        for (block, within, range) in parts(offset, bytes.len()) {
            let below = inside.below;
            let changed = match inside.blocks.entry(block) {
                std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::hash_map::Entry::Vacant(entry) => {
                    let mut whole = Box::new([0; BLOCK as usize]);
                    self.read_below(below, &mut whole[..], block * BLOCK)?;
                    entry.insert(whole)
                }
            };
            changed[within..within + range.len()].copy_from_slice(&bytes[range]);
        }
        inside.length = inside.length.max(offset + bytes.len() as u64);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut inside = locked(&self.inside);
        if length < inside.length {
            inside.below = inside.below.min(length);
            inside.blocks.retain(|block, _| block * BLOCK < length);
            if let Some(last) = inside.blocks.get_mut(&(length / BLOCK)) {
                last[(length % BLOCK) as usize..].fill(0);
            }
        }
        inside.length = length;
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Volatile;

    fn text(file: &dyn File) -> Vec<u8> {
        let mut bytes = vec![0; file.len().unwrap() as usize];
        file.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    #[test]
    fn changes_are_seen_and_reach_no_disk() {
        let disk = Volatile::new();
        disk.open("a", Open::Create).unwrap().write_all_at(&[7; 9_000], 0).unwrap();
        disk.open("b", Open::Create).unwrap().write_all_at(b"b", 0).unwrap();
        disk.set_read_only(true);
        let writes = disk.writes();
        let over = Overlay::new(Arc::new(disk.clone()));
        let file = over.open("a", Open::Create).unwrap();
        file.write_all_at(&[1; 10], 4_090).unwrap();
        let mut expected = [vec![7; 4_090], vec![1; 10], vec![7; 4_900]].concat();
        assert_eq!(text(&*file), expected);
        file.set_len(4_095).unwrap();
        file.set_len(10_000).unwrap();
        expected.truncate(4_095);
        expected.resize(10_000, 0);
        assert_eq!(text(&*over.open("a", Open::Read).unwrap()), expected);
        assert!(file.read_exact_at(&mut [0; 2], 9_999).is_err());
        over.rename("b", "c").unwrap();
        over.open("d", Open::Create).unwrap();
        over.remove("a").unwrap();
        assert_eq!(over.names().unwrap(), ["c", "d"]);
        assert!(over.open("a", Open::Read).is_err() && over.open("b", Open::Read).is_err());
        assert_eq!(text(&*over.open("c", Open::Read).unwrap()), b"b");
        assert_eq!((disk.names().unwrap(), disk.writes()), (vec!["a".to_owned(), "b".to_owned()], writes));
    }
}

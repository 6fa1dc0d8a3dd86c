//! Key lists: for each key, the contents that hold it. Lists stay in memory while they fit, then go to disk. They are
//! written once and read any number of times.
//!
//! A list adds nothing if another has the same contents and more shingles behind its key. Near-duplicates share most of
//! their keys, and the earliest shared key suffices. The writer recognises most such lists and drops them; an earlier
//! key replaces a later one.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use onecopy_core::settle::{Holder, KeyLists};
use xxhash_rust::xxh3::xxh3_128;

use crate::batch::candidates::known::{KnownLists, Written};
use crate::error::{At, Error, Result};
use crate::io::{read_block, write_block};
use crate::progress::Progress;

/// Key lists in parts. The contents of each list are ascending.
pub(crate) struct StoredLists {
    parts: Vec<Mutex<Part>>,
    /// The number of holders that still fit in memory.
    room: AtomicUsize,
    /// The path of the lists on disk, to which each part adds its number.
    path: PathBuf,
    lists: usize,
    entries: usize,
    pairs: u64,
    known: KnownLists,
}

/// Some of the lists. Each starts with a holder that stores its length.
#[derive(Default)]
struct Part {
    /// The first lists.
    memory: Vec<Holder>,
    /// The file of the other lists.
    disk: Option<PathBuf>,
    lists: usize,
    entries: usize,
    pairs: u64,
}

impl StoredLists {
    /// Creates an empty store that keeps at most `room` holders in memory.
    pub(crate) fn new(parts: usize, room: usize, path: &Path) -> StoredLists {
        let parts = (0..parts).map(|_| Mutex::default()).collect();
        let (room, path, known) = (AtomicUsize::new(room), path.to_owned(), KnownLists::new(0));
        StoredLists { parts, room, path, lists: 0, entries: 0, pairs: 0, known }
    }

    /// Remembers about this many lists, to drop later ones that add nothing. Which of two equal lists is dropped
    /// depends on which part is written first.
    pub(crate) fn remembering(self, lists: usize) -> StoredLists {
        StoredLists { known: KnownLists::new(lists), ..self }
    }

    /// A writer for one part.
    pub(crate) fn writer(&self, part: usize) -> ListWriter<'_> {
        let (part, number) = (Part::default(), part);
        ListWriter { lists: self, number, part, contents: Vec::new(), disk: None, block: Vec::new() }
    }

    /// Completes the store after all parts are written.
    pub(crate) fn finish(mut self) -> Result<StoredLists> {
        self.known = KnownLists::new(0);
        for part in &mut self.parts {
            let part = part.get_mut().expect("no thread panics with this lock");
            self.lists += part.lists;
            self.entries += part.entries;
            self.pairs = self.pairs.saturating_add(part.pairs);
        }
        Ok(self)
    }

    /// An empty store in place of this one, whose lists are discarded.
    pub(crate) fn emptied(self) -> StoredLists {
        let held: usize = self.parts.iter().map(|part| part.lock().map_or(0, |part| part.memory.len())).sum();
        StoredLists::new(1, self.room.into_inner() + held, &self.path)
    }

    /// The number of lists.
    pub(crate) fn len(&self) -> usize {
        self.lists
    }

    /// The number of pairs that share a key, each counted once for each key.
    pub(crate) fn pairs(&self) -> u64 {
        self.pairs
    }

    fn part(&self, number: usize) -> MutexGuard<'_, Part> {
        self.parts[number].lock().expect("no thread panics with this lock")
    }
}

impl KeyLists for StoredLists {
    type Error = Error;

    fn entries(&self) -> usize {
        self.entries
    }

    fn for_each(&self, mut each: impl FnMut(&[Holder]) -> Result<()>) -> Result<()> {
        (0..self.parts.len()).try_for_each(|number| self.part(number).for_each(&mut each))
    }

    fn parts(&self) -> usize {
        self.parts.len()
    }

    fn for_each_in(&self, part: usize, mut each: impl FnMut(&[Holder]) -> Result<()>) -> Result<()> {
        self.part(part).for_each(&mut each)
    }
}

/// Lists that report the holders of each list that was gone through.
pub(crate) struct WatchedLists<'a> {
    pub lists: &'a StoredLists,
    pub progress: &'a dyn Progress,
}

impl KeyLists for WatchedLists<'_> {
    type Error = Error;

    fn entries(&self) -> usize {
        self.lists.entries()
    }

    fn for_each(&self, mut each: impl FnMut(&[Holder]) -> Result<()>) -> Result<()> {
        (0..self.parts()).try_for_each(|part| self.for_each_in(part, &mut each))
    }

    fn parts(&self) -> usize {
        self.lists.parts()
    }

    fn for_each_in(&self, part: usize, mut each: impl FnMut(&[Holder]) -> Result<()>) -> Result<()> {
        self.lists.for_each_in(part, |list| {
            if self.progress.stopped() {
                return Err(Error::Stopped);
            }
            self.progress.advance(list.len() as u64);
            each(list)
        })
    }
}

impl Part {
    fn for_each(&self, each: &mut impl FnMut(&[Holder]) -> Result<()>) -> Result<()> {
        each_list(&self.memory, each)?;
        let Some(path) = &self.disk else { return Ok(()) };
        let file = File::open(path).at("read", path)?;
        let mut left = file.metadata().at("read", path)?.len();
        let (mut reader, mut block) = (BufReader::with_capacity(1 << 13, file), Vec::new());
        while read_block(&mut reader, &mut left, &mut block).at("read", path)? {
            each_list(&block, each)?;
        }
        Ok(())
    }
}

/// Calls `each` with every list of a block. Each list follows its length.
pub(crate) fn each_list(mut rest: &[Holder], each: &mut impl FnMut(&[Holder]) -> Result<()>) -> Result<()> {
    while let Some((&[length, _], tail)) = rest.split_first() {
        let (list, tail) = tail.split_at(length as usize);
        each(list)?;
        rest = tail;
    }
    Ok(())
}

/// The least number of holders in a block on disk.
const BLOCK: usize = 1 << 13;

/// Writes the lists of one part.
pub(crate) struct ListWriter<'a> {
    lists: &'a StoredLists,
    number: usize,
    part: Part,
    /// The contents of a list, to be hashed.
    contents: Vec<u32>,
    /// The file of the lists that do not fit in memory, and its next block.
    disk: Option<File>,
    block: Vec<Holder>,
}

impl ListWriter<'_> {
    /// Adds a list, unless it has fewer than two contents or is written already.
    pub(crate) fn push(&mut self, list: &[Holder]) -> Result<()> {
        if list.len() < 2 {
            return Ok(());
        }
        if self.lists.known.is_empty() {
            return self.write(list).map(drop);
        }
        self.contents.clear();
        self.contents.extend(list.iter().map(|[content, _]| content));
        let hash = xxh3_128(bytemuck::cast_slice(&self.contents));
        let mut place = self.lists.known.place(hash);
        let known = place.get();
        if known.hash == hash && self.is_written(known, list) {
            return Ok(());
        }
        *known = Written { hash, rest: list[0][1], part: self.number as u32, at: self.write(list)? };
        Ok(())
    }

    /// Whether a list with the contents of a known one need not be written. If it has more behind its key, it replaces
    /// the known list.
    fn is_written(&mut self, known: &mut Written, list: &[Holder]) -> bool {
        // All contents use one order of keys: if the key comes earlier for the first content, it does so for the
        // others.
        if known.rest >= list[0][1] {
            return true;
        }
        let Some(at) = known.at.map(|at| at as usize) else { return false };
        let (mut other, number) = (None, known.part as usize);
        let memory = match number == self.number {
            true => &mut self.part.memory,
            false => &mut other.insert(self.lists.part(number)).memory,
        };
        // The part is not stored yet while another thread writes it.
        let Some(holders) = memory.get_mut(at..at + list.len()) else { return false };
        holders.copy_from_slice(list);
        known.rest = list[0][1];
        true
    }

    /// Writes a list. Returns its position in memory, if it is there.
    fn write(&mut self, list: &[Holder]) -> Result<Option<u32>> {
        self.part.lists += 1;
        self.part.entries += list.len();
        let pairs = list.len() as u64 * (list.len() as u64 - 1) / 2;
        self.part.pairs = self.part.pairs.saturating_add(pairs);
        let fits = |room: usize| room.checked_sub(list.len() + 1);
        let room = &self.lists.room;
        if self.disk.is_some() || room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_err() {
            return self.push_to_disk(list).map(|()| None);
        }
        self.part.memory.push([list.len() as u32, 0]);
        // A list beyond 32 bits is not remembered. It may be written twice, which only costs space.
        let at = u32::try_from(self.part.memory.len()).ok();
        self.part.memory.extend_from_slice(list);
        Ok(at)
    }

    fn push_to_disk(&mut self, list: &[Holder]) -> Result<()> {
        if self.disk.is_none() {
            let path = self.lists.path.with_extension(self.number.to_string());
            self.disk = Some(File::create(&path).at("create", &path)?);
            self.part.disk = Some(path);
        }
        self.block.push([list.len() as u32, 0]);
        self.block.extend_from_slice(list);
        if self.block.len() < BLOCK { Ok(()) } else { self.write_block() }
    }

    fn write_block(&mut self) -> Result<()> {
        let (Some(file), Some(path)) = (&mut self.disk, &self.part.disk) else { return Ok(()) };
        write_block(file, &self.block).at("write", path)?;
        self.block.clear();
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<()> {
        self.part.memory.shrink_to_fit();
        self.write_block()?;
        *self.lists.part(self.number) = self.part;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes `input` to each of two parts, and reads all lists back.
    fn written(lists: StoredLists, input: &[Vec<Holder>]) -> (StoredLists, Vec<Vec<Holder>>) {
        for part in 0..2 {
            let mut writer = lists.writer(part);
            for list in input {
                writer.push(list).unwrap();
            }
            writer.finish().unwrap();
        }
        let lists = lists.finish().unwrap();
        let mut found = Vec::new();
        lists
            .for_each(|list| {
                found.push(list.to_vec());
                Ok(())
            })
            .unwrap();
        (lists, found)
    }

    #[test]
    fn lists_come_back_from_memory_and_disk_in_one_order() {
        let folder = tempfile::tempdir().unwrap();
        let input: Vec<Vec<Holder>> = (1..40).map(|n| (0..n).map(|c| [c, c + n]).collect()).collect();
        for room in [10_000, 200, 0] {
            let (lists, found) = written(StoredLists::new(2, room, &folder.path().join("lists")), &input);
            assert_eq!(found, [&input[1..], &input[1..]].concat());
            assert_eq!((lists.len(), lists.entries()), (76, 2 * (2..40).sum::<usize>()));
            assert_eq!(lists.pairs(), (2..40).map(|n| n * (n - 1)).sum::<u64>());
        }
    }

    #[test]
    fn of_equal_lists_only_those_that_come_first_in_the_order_count() {
        let folder = tempfile::tempdir().unwrap();
        let [first, other] = [vec![[1, 9], [2, 3]], vec![[1, 4], [3, 1]]];
        let [less, more] = [vec![[1, 8], [2, 2]], vec![[1, 10], [2, 4]]];
        let input = [first.clone(), other.clone(), less, more.clone()];
        for (room, expected) in [(100, vec![more.clone(), other.clone()]), (0, vec![first, other, more])] {
            let (lists, found) =
                written(StoredLists::new(2, room, &folder.path().join("lists")).remembering(1_000), &input);
            assert_eq!(found, expected);
            assert_eq!((lists.len(), lists.entries()), (expected.len(), 2 * expected.len()));
        }
    }

    #[test]
    fn a_list_takes_the_place_of_one_in_another_part_once_that_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let lists = StoredLists::new(3, 100, &folder.path().join("lists")).remembering(1_000);
        let list = |rest| [[4, rest], [5, rest], [8, rest]];
        let mut first = lists.writer(1);
        first.push(&[[0, 1], [1, 1]]).unwrap();
        first.push(&list(10)).unwrap();
        let mut second = lists.writer(2);
        second.push(&list(20)).unwrap();
        second.finish().unwrap();
        first.push(&list(30)).unwrap();
        first.finish().unwrap();
        let mut found = Vec::new();
        lists
            .for_each(|list| {
                found.push(list.to_vec());
                Ok(())
            })
            .unwrap();
        assert_eq!(found, [vec![[0, 1], [1, 1]], list(10).to_vec(), list(30).to_vec()]);
    }

    #[test]
    fn damage_on_disk_is_noticed_before_a_list_is_handed_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lists");
        let (lists, _) = written(StoredLists::new(2, 0, &path), &[vec![[1, 9], [2, 3]]]);
        let file = path.with_extension("1");
        let whole = std::fs::read(&file).unwrap();
        for byte in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[byte] ^= 0x40;
            std::fs::write(&file, damaged).unwrap();
            let mut met = 0;
            let read = lists.for_each(|_| {
                met += 1;
                Ok(())
            });
            assert!(read.is_err() && met == 1, "{byte}");
        }
    }
}

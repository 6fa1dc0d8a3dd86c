//! Power losses: a random part of the unsynced writes is taken back, as on the volatile disk of the store's tests.
//!
//! `power.c` records the writes of the program. Each sector of a file then has its state after any number of the writes
//! since the last sync, and each change of a name is lost or not. Real disks behave better.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::{TempDir, tempdir};

use crate::pages::Random;
use crate::program::Call;

const SECTOR: usize = 512;
/// The length of a change that cuts a file off.
const CUT: u64 = u64::MAX;
/// A number that is not one of a sector.
const LENGTH: u64 = u64::MAX;

/// The library that records writes.
pub struct Power {
    library: TempDir,
}

impl Power {
    /// Compiles the library; `None` without a C compiler, or on a system that has other calls.
    pub fn new() -> Option<Power> {
        let library = tempdir().expect("a folder");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/long/power.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-shared", "-fPIC", "-o"]).arg(library.path().join("power.so")).arg(source);
        let compiled = cfg!(all(target_os = "linux", target_env = "gnu"))
            && compiler.arg("-ldl").status().is_ok_and(|status| status.success());
        compiled.then_some(Power { library })
    }

    /// Lets a call record its writes to the collection in a folder.
    pub fn record(&self, call: Call, folder: &Path) -> Call {
        let journal = folder.join("power");
        fs::create_dir(&journal).expect("a folder");
        let library = self.library.path().join("power.so");
        [("LD_PRELOAD", library), ("POWER_FOLDER", folder.join("pages")), ("POWER_JOURNAL", journal)]
            .into_iter()
            .fold(call, |call, (name, path)| call.variable(name, path.to_str().expect("a path of ASCII")))
    }
}

/// Takes a part of the recorded writes back. Returns how many were lost, at least in part.
pub fn lose(folder: &Path, random: &mut Random) -> u64 {
    let (data, journal, after) = (folder.join("pages"), folder.join("power"), folder.join("after"));
    let mut files = inodes(&data);
    let mut now: Names = files.iter().map(|(inode, path)| (name_of(path), *inode)).collect();
    files.extend(inodes(&journal));
    let mut lost = lose_names(&journal, &mut now, random);
    fs::create_dir(&after).expect("a folder");
    for (name, inode) in now {
        let path = after.join(name);
        fs::copy(&files[&inode], &path).expect("a file");
        let changes = changes(&journal.join(format!("w{inode}")));
        lost += lose_bytes(&path, &changes, random);
    }
    fs::remove_dir_all(&data).expect("the collection before");
    fs::rename(&after, &data).expect("the collection after");
    fs::remove_dir_all(&journal).expect("the records");
    lost
}

/// The inode of each name.
type Names = BTreeMap<String, u64>;

fn name_of(path: &Path) -> String {
    path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned()
}

/// The files of a folder by inode.
fn inodes(folder: &Path) -> BTreeMap<u64, PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.map(|path| (fs::metadata(&path).expect("a file").ino(), path)).collect()
}

/// Goes back to the names of the last sync, and makes a part of the changes again.
fn lose_names(journal: &Path, names: &mut Names, random: &mut Random) -> u64 {
    let text = fs::read_to_string(journal.join("names")).unwrap_or_default();
    let lines: Vec<Vec<&str>> = text
        .split_inclusive('\n')
        .filter_map(|line| Some(line.strip_suffix('\n')?.split('\t').collect()))
        .collect();
    let number = |text: &str| text.parse::<u64>().expect("a number");
    for line in lines.iter().rev() {
        match line[..] {
            ["create", _, name] => drop(names.remove(name)),
            ["remove", inode, name, _] => drop(names.insert(name.into(), number(inode))),
            ["rename", inode, from, to, replaced] => {
                names.remove(to);
                names.insert(from.into(), number(inode));
                if replaced != "0" {
                    names.insert(to.into(), number(replaced));
                }
            }
            _ => panic!("not a change of a name: {line:?}"),
        }
    }
    let mut lost = 0;
    for line in &lines {
        if random.below(2) == 0 {
            lost += 1;
            continue;
        }
        let inode = number(line[1]);
        if line[0] != "create" {
            names.retain(|name, found| name != line[2] || *found != inode);
        }
        match line[0] {
            "create" => drop(names.insert(line[2].into(), inode)),
            "rename" => drop(names.insert(line[3].into(), inode)),
            _ => {}
        }
    }
    lost
}

/// A write, or a cut to a length.
struct Change {
    offset: u64,
    length: u64,
    length_before: u64,
    replaced: Vec<u8>,
}

/// The recorded changes of a file. The last may be incomplete; then it was not made.
fn changes(path: &Path) -> Vec<Change> {
    let bytes = fs::read(path).unwrap_or_default();
    let (mut rest, mut found) = (&bytes[..], Vec::new());
    while let Some((head, behind)) = rest.split_first_chunk::<32>() {
        let number =
            |at: usize| u64::from_le_bytes(head[8 * at..8 * at + 8].try_into().expect("eight bytes"));
        let Some((replaced, behind)) = behind.split_at_checked(number(3) as usize) else { break };
        let replaced = replaced.to_vec();
        found.push(Change { offset: number(0), length: number(1), length_before: number(2), replaced });
        rest = behind;
    }
    found
}

fn lose_bytes(path: &Path, changes: &[Change], random: &mut Random) -> u64 {
    let count = changes.len() as u64;
    let (mood, seed) = (random.below(4), random.below(u64::MAX));
    let kept = |about: u64| {
        let mut random = Random::new(seed ^ about.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        match (mood, random.below(3)) {
            (0, _) | (2.., 0) => 0,
            (1, _) | (2.., 1) => count,
            _ => random.below(count + 1),
        }
    };
    let mut bytes = fs::read(path).expect("a file");
    let length_now = bytes.len() as u64;
    let longest = changes.iter().map(|change| change.length_before).fold(length_now, u64::max);
    bytes.resize(longest as usize, 0);
    let mut lost = 0;
    for (at, change) in changes.iter().enumerate().rev() {
        let is_lost = |sector: usize| at as u64 >= kept(sector as u64);
        lost += u64::from(take_back(&mut bytes, change, is_lost));
    }
    let length = changes.get(kept(LENGTH) as usize).map_or(length_now, |change| change.length_before);
    bytes.resize(length as usize, 0);
    fs::write(path, bytes).expect("a file");
    lost
}

/// Undoes a change in the lost sectors. Returns whether there was one.
fn take_back(bytes: &mut [u8], change: &Change, is_lost: impl Fn(usize) -> bool) -> bool {
    let start = change.offset as usize;
    let end =
        if change.length == CUT { change.length_before } else { change.offset + change.length } as usize;
    let (end, mut any) = (end.min(bytes.len()), false);
    for sector in start / SECTOR..end.div_ceil(SECTOR) {
        let part = start.max(sector * SECTOR)..end.min((sector + 1) * SECTOR);
        if part.is_empty() || !is_lost(sector) {
            continue;
        }
        any = true;
        for at in part {
            bytes[at] = change.replaced.get(at - start).copied().unwrap_or(0);
        }
    }
    any
}

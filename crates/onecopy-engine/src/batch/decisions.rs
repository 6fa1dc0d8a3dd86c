//! Decisions: what became of every page, ready to be written out, and kept on disk so that a killed run need not find
//! them again.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use onecopy_core::{Decision, Groups, Kind, PageId, resemblance};
use xxhash_rust::xxh3::xxh3_64;

use super::contents::Contents;
use super::settle::Settled;
use crate::error::{At, Result};

/// What became of every page.
#[derive(Debug, PartialEq)]
pub(crate) struct Decisions {
    of_page: Vec<u32>,
    best_page: Vec<u32>,
    sizes: Vec<u32>,
    winner: Vec<u32>,
    shared: Vec<u32>,
    group: Vec<u32>,
}

impl Decisions {
    pub(crate) fn new(contents: Contents, settled: Settled, mut groups: Groups) -> Decisions {
        let group = (0..contents.len() as u32).map(|content| groups.find(content)).collect();
        let Contents { of_page, best_page, sizes, .. } = contents;
        Decisions { of_page, best_page, sizes, winner: settled.winner, shared: settled.shared, group }
    }

    pub(crate) fn pages(&self) -> usize {
        self.of_page.len()
    }

    /// What became of a page.
    pub(crate) fn of(&self, page: PageId) -> Decision {
        let content = self.of_page[page as usize] as usize;
        let winner = self.winner[content] as usize;
        let best = self.best_page[winner];
        if winner != content {
            let sizes = (self.sizes[content] as usize, self.sizes[winner] as usize);
            let similarity = resemblance(self.shared[content] as usize, sizes.0, sizes.1);
            Decision::Removed { winner: best, similarity, kind: Kind::Near }
        } else if best != page {
            Decision::Removed { winner: best, similarity: 1.0, kind: Kind::Exact }
        } else {
            Decision::Kept
        }
    }

    /// The pages of all groups of two or more: group, rank of the content, page; sorted. The first page of a group
    /// is its winner.
    pub(crate) fn grouped(&self) -> Vec<(u32, u32, PageId)> {
        let mut sizes = vec![0u32; self.group.len()];
        for &content in &self.of_page {
            sizes[self.group[content as usize] as usize] += 1;
        }
        let mut grouped: Vec<(u32, u32, PageId)> = Vec::new();
        for (page, &content) in self.of_page.iter().enumerate() {
            let group = self.group[content as usize];
            if sizes[group as usize] > 1 {
                // The page that stands for its content comes before the content's copies.
                let copy = u32::from(self.best_page[content as usize] != page as PageId);
                grouped.push((group, 2 * content + copy, page as PageId));
            }
        }
        grouped.sort_unstable();
        grouped
    }

    fn columns(&self) -> [&Vec<u32>; 6] {
        [&self.of_page, &self.best_page, &self.sizes, &self.winner, &self.shared, &self.group]
    }

    /// Writes the decisions aside, then renames: they are there whole or not at all.
    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        let aside = path.with_extension("part");
        let mut file = File::create(&aside).at("create", &aside)?;
        for column in self.columns() {
            let bytes: &[u8] = bytemuck::cast_slice(column);
            file.write_all(&(column.len() as u64).to_ne_bytes()).at("write", &aside)?;
            file.write_all(&xxh3_64(bytes).to_ne_bytes()).at("write", &aside)?;
            file.write_all(bytes).at("write", &aside)?;
        }
        fs::rename(&aside, path).at("create", path)
    }

    /// Reads what [`Decisions::save`] wrote; nothing if it is not there or not whole.
    pub(crate) fn load(path: &Path) -> Result<Option<Decisions>> {
        let Ok(mut file) = File::open(path) else { return Ok(None) };
        let length = file.metadata().at("read", path)?.len();
        let mut column = || -> Option<Vec<u32>> {
            let mut head = [0; 16];
            file.read_exact(&mut head).ok()?;
            let number = |at: usize| u64::from_ne_bytes(head[at..at + 8].try_into().expect("eight bytes"));
            let mut column = vec![0u32; (number(0) <= length / 4).then_some(number(0) as usize)?];
            file.read_exact(bytemuck::cast_slice_mut(&mut column)).ok()?;
            (xxh3_64(bytemuck::cast_slice(&column)) == number(8)).then_some(column)
        };
        let columns = [column(), column(), column(), column(), column(), column()];
        let [Some(of_page), Some(best_page), Some(sizes), Some(winner), Some(shared), Some(group)] = columns
        else {
            return Ok(None);
        };
        Ok(Some(Decisions { of_page, best_page, sizes, winner, shared, group }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Decisions {
        // Pages 0 and 2 are one content (0), page 1 is near it, page 3 is alone.
        Decisions {
            of_page: vec![0, 1, 0, 2],
            best_page: vec![2, 1, 3],
            sizes: vec![10, 9, 4],
            winner: vec![0, 0, 2],
            shared: vec![10, 9, 4],
            group: vec![0, 0, 2],
        }
    }

    #[test]
    fn pages_follow_their_contents() {
        let decisions = example();
        assert_eq!(decisions.of(2), Decision::Kept);
        assert_eq!(decisions.of(0), Decision::Removed { winner: 2, similarity: 1.0, kind: Kind::Exact });
        assert_eq!(decisions.of(1), Decision::Removed { winner: 2, similarity: 0.9, kind: Kind::Near });
        assert_eq!(decisions.of(3), Decision::Kept);
        assert_eq!(decisions.grouped().iter().map(|g| g.2).collect::<Vec<_>>(), [2, 0, 1]);
    }

    #[test]
    fn what_was_saved_is_loaded_and_damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("decisions");
        assert_eq!(Decisions::load(&path).unwrap(), None);
        example().save(&path).unwrap();
        assert_eq!(Decisions::load(&path).unwrap(), Some(example()));
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, &bytes).unwrap();
        assert_eq!(Decisions::load(&path).unwrap(), None);
        fs::write(&path, &bytes[..20]).unwrap();
        assert_eq!(Decisions::load(&path).unwrap(), None);
    }
}

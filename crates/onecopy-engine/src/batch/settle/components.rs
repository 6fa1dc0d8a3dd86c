//! Sections: contents that are settled by themselves, for none is alike to one of another section.
//!
//! Where sketches are on disk, two of them are in any two places, and reading them there costs more than all else that is
//! done with them. So what may be alike is told first, by keys and outlines, which are at hand; and the few that are left
//! are brought together, each section with its sketches in memory.

use onecopy_core::Groups;
use onecopy_core::settle::{Comparer, KeyLists};

use crate::batch::candidates::contents::Contents;
use crate::batch::candidates::key_lists::{StoredLists, WatchedLists};
use crate::batch::settle::comparer::SketchComparer;
use crate::error::{Error, Result};
use onecopy_core::settle::Holder;

/// All pairs of a run are looked at up to this length. A longer one is taken to be alike as a whole.
const LONG: usize = 1_000;
/// Most sections. Each has files of its own, and a little memory while they are written.
const MOST: usize = 256;

/// The section of contents that are alike to none: there is nothing to settle.
pub(super) const ALONE: u32 = u32::MAX;
/// The section of contents of which too many may be alike for their sketches to be in memory together.
const IN_PLACE: u32 = u32::MAX - 1;

/// Contents that may be alike to each other, and to no others.
pub(crate) struct Section {
    /// The contents, best first.
    pub members: Vec<u32>,
    /// The lists of the keys that they share.
    pub lists: StoredLists,
    /// Whether their sketches are looked at where they are.
    pub in_place: bool,
}

/// All contents that are not alone.
pub(crate) struct Sections {
    /// Those whose sketches are brought together.
    pub apart: Vec<Section>,
    /// That whose sketches are looked at where they are.
    pub in_place: Option<Section>,
}

impl Sections {
    /// All contents in place.
    pub(crate) fn whole(contents: &Contents, lists: StoredLists) -> Sections {
        let members = (0..contents.len() as u32).collect();
        Sections { apart: Vec::new(), in_place: Some(Section { members, lists, in_place: true }) }
    }
}

/// What sections may take.
pub(crate) struct Room<'a> {
    /// Words of the sketches of one: each has a place, which is 32 bits.
    pub words: u32,
    /// Holders of all runs in memory.
    pub holders: usize,
    pub folder: &'a std::path::Path,
}

/// How many times [`divide`] goes through the runs.
pub(crate) const PASSES: u64 = 2;

/// Divides contents into sections.
pub(crate) fn divide(comparer: &SketchComparer, runs: &StoredLists, room: &Room) -> Result<Sections> {
    let runs = WatchedLists { lists: runs, progress: comparer.progress };
    let mut groups = may_be_alike(comparer, &runs)?;
    let (of, count) = numbered(&mut groups, &comparer.contents.sizes, room.words);
    let dealt = deal(&runs, &mut groups, &of, count, room)?;
    let mut members = vec![Vec::new(); count];
    for (content, &section) in of.iter().enumerate().filter(|(_, section)| **section != ALONE) {
        members[slot(section, count)].push(content as u32);
    }
    let sections = members.into_iter().zip(dealt).enumerate();
    let section = |(number, (members, lists))| Section { members, lists, in_place: number == count - 1 };
    let used = sections.map(section).filter(|section| !section.members.is_empty());
    let (mut in_place, apart): (Vec<_>, Vec<_>) = used.partition(|section| section.in_place);
    Ok(Sections { apart, in_place: in_place.pop() })
}

/// The place of a section in a list of `count`, of which the last is that which stays in place.
fn slot(section: u32, count: usize) -> usize {
    if section == IN_PLACE { count - 1 } else { section as usize }
}

/// Groups of contents: what no pair joins that shares a key and may be alike is in two of them.
fn may_be_alike(comparer: &SketchComparer, runs: &WatchedLists) -> Result<Groups> {
    let (mut groups, mut own) = (Groups::new(comparer.contents.len()), Vec::new());
    runs.for_each(|run| {
        own.clear();
        own.extend(run.iter().map(|holder| groups.find(holder[0])));
        // Near-duplicates share many keys: most were joined by another.
        if own.iter().any(|group| *group != own[0]) {
            join(comparer, run, &mut own, &mut groups);
        }
        Ok(())
    })?;
    Ok(groups)
}

/// Joins those holders of a key that may be alike. `own` are their groups.
fn join(comparer: &SketchComparer, run: &[Holder], own: &mut [u32], groups: &mut Groups) {
    if run.len() > LONG {
        return run.iter().for_each(|holder| groups.join(run[0][0], holder[0]));
    }
    for (i, &one) in run.iter().enumerate() {
        for (j, &other) in run[..i].iter().enumerate() {
            if own[i] != own[j] && comparer.may(other, one) && !comparer.deny(other[0], one[0]) {
                groups.join(other[0], one[0]);
                let (kept, gone) = (own[i].min(own[j]), own[i].max(own[j]));
                own.iter_mut().filter(|group| **group == gone).for_each(|group| *group = kept);
            }
        }
    }
}

/// The section of each content, and how many there are with that which stays in place. Groups fill sections of so many
/// words, in order.
fn numbered(groups: &mut Groups, sizes: &[u32], room: u32) -> (Vec<u32>, usize) {
    let mut of = vec![0u32; sizes.len()];
    for (content, &size) in sizes.iter().enumerate() {
        let words = &mut of[groups.find(content as u32) as usize];
        *words = words.saturating_add(size);
    }
    let (mut section, mut filled) = (0u32, 0u32);
    for content in 0..of.len() {
        let (first, words) = (groups.find(content as u32) as usize, of[content]);
        of[content] = if first != content {
            // The smallest of a group stands for it, and has its section already.
            of[first]
        } else if words == sizes[content] {
            ALONE
        } else if words > room {
            IN_PLACE
        } else {
            filled = filled.saturating_add(words);
            if filled > room {
                (section, filled) = (section + 1, words);
            }
            if (section as usize) < MOST { section } else { IN_PLACE }
        };
    }
    (of, (section as usize + 1).min(MOST) + 1)
}

/// Deals the runs out to `count` sections.
fn deal(
    runs: &impl KeyLists<Error = Error>,
    groups: &mut Groups,
    of: &[u32],
    count: usize,
    room: &Room,
) -> Result<Vec<StoredLists>> {
    let new =
        |number| StoredLists::new(1, room.holders / count, &room.folder.join(format!("section-{number}")));
    let dealt: Vec<StoredLists> = (0..count).map(new).collect();
    let mut writers: Vec<_> = dealt.iter().map(|runs| runs.writer(0)).collect();
    let (mut held, mut run): (Vec<(u32, Holder)>, Vec<Holder>) = Default::default();
    runs.for_each(|whole| {
        held.clear();
        let beside = whole.iter().filter(|holder| of[holder[0] as usize] != ALONE);
        held.extend(beside.map(|&holder| (groups.find(holder[0]), holder)));
        held.sort_unstable();
        for group in held.chunk_by(|a, b| a.0 == b.0) {
            run.clear();
            run.extend(group.iter().map(|&(_, holder)| holder));
            writers[slot(of[group[0].0 as usize], count)].push(&run)?;
        }
        Ok(())
    })?;
    writers.into_iter().try_for_each(|writer| writer.finish())?;
    dealt.into_iter().map(StoredLists::finish).collect()
}

#[cfg(test)]
mod tests {
    use onecopy_core::group;

    use super::*;

    #[test]
    fn groups_fill_sections_in_order() {
        let sizes = [10, 20, 30, 40, 50, 60, 70];
        // 10 + 30, 20 + 70, 40 + 60; 50 is alone.
        let pairs = [(0, 2), (1, 6), (3, 5)];
        let numbered = |room| numbered(&mut group(7, &pairs), &sizes, room);
        assert_eq!(numbered(1_000), (vec![0, 0, 0, 0, ALONE, 0, 0], 2));
        assert_eq!(numbered(130), (vec![0, 0, 0, 1, ALONE, 1, 0], 3));
        assert_eq!(numbered(100), (vec![0, 1, 0, 2, ALONE, 2, 1], 4));
        let large = IN_PLACE;
        assert_eq!(numbered(99), (vec![0, 1, 0, large, ALONE, large, 1], 3));
        assert_eq!(numbered(0), (vec![large, large, large, large, ALONE, large, large], 2));
    }

    #[test]
    fn what_does_not_fit_in_the_most_sections_stays_in_place() {
        let pairs: Vec<(u32, u32)> = (0..300).map(|n| (2 * n, 2 * n + 1)).collect();
        let (of, count) = numbered(&mut group(600, &pairs), &[5; 600], 10);
        assert_eq!(
            (of[2 * MOST - 1], of[2 * MOST], of[599], count),
            (MOST as u32 - 1, IN_PLACE, IN_PLACE, MOST + 1)
        );
    }

    #[test]
    fn each_section_has_the_runs_of_its_own_contents() {
        let folder = tempfile::tempdir().unwrap();
        let runs = StoredLists::new(1, 100, &folder.path().join("runs"));
        let mut writer = runs.writer(0);
        let all = [vec![0, 1, 2, 3, 4], vec![1, 3], vec![0, 2, 4], vec![0, 1]];
        for run in &all {
            writer.push(&run.iter().map(|&content| [content, 10 + content]).collect::<Vec<_>>()).unwrap();
        }
        writer.finish().unwrap();
        let mut groups = group(5, &[(0, 2), (1, 3)]);
        let of = [0, IN_PLACE, 0, IN_PLACE, ALONE];
        for holders in [100, 0] {
            let room = Room { words: 0, holders, folder: folder.path() };
            let dealt = deal(&runs, &mut groups, &of, 2, &room).unwrap();
            let found = dealt.iter().map(|runs| {
                let mut found = Vec::new();
                runs.for_each(|run| {
                    found.push(run.to_vec());
                    Ok(())
                })
                .unwrap();
                found
            });
            let [a, b] = [vec![[0, 10], [2, 12]], vec![[1, 11], [3, 13]]];
            assert_eq!(found.collect::<Vec<_>>(), [vec![a.clone(), a], vec![b.clone(), b]]);
        }
    }
}

//! Sections: sets of contents that can be settled independently, because no content is alike to one of another section.
//!
//! If sketches are on disk, comparing pairs would need random reads, which cost more than all other work. So keys and
//! outlines in memory first decide which contents may be alike. The few remaining contents are gathered, one section at
//! a time with its sketches in memory.

use std::sync::Mutex;

use onecopy_core::settle::{Comparer, Holder, KeyLists};
use onecopy_core::{Groups, SharedGroups};

use crate::batch::candidates::contents::Contents;
use crate::batch::candidates::key_lists::{ListWriter, StoredLists, WatchedLists, each_list};
use crate::batch::settle::comparer::SketchComparer;
use crate::error::{Error, Result};
use crate::parallel::for_each;

/// In key lists up to this length all pairs are checked. All contents of a longer list are assumed alike.
const LONG: usize = 1_000;
/// The most sections. Each needs its own files, and a little memory while they are written.
const MOST: usize = 256;

/// The section of contents that are alike to no other. They need no settling.
pub(super) const ALONE: u32 = u32::MAX;
/// The section of contents from groups whose sketches do not fit in memory together.
const IN_PLACE: u32 = u32::MAX - 1;

/// Contents that may be alike to each other, but to no content outside.
pub(crate) struct Section {
    /// The contents, best first.
    pub members: Vec<u32>,
    /// The lists of the keys that they share.
    pub lists: StoredLists,
    /// Whether their sketches are read in place, at random.
    pub in_place: bool,
}

/// All contents that are not alone.
pub(crate) struct Sections {
    /// The sections whose sketches are gathered.
    pub apart: Vec<Section>,
    /// The section whose sketches are read in place.
    pub in_place: Option<Section>,
}

impl Sections {
    /// One section of all contents, in place.
    pub(crate) fn whole(contents: &Contents, lists: StoredLists) -> Sections {
        let members = (0..contents.len() as u32).collect();
        Sections { apart: Vec::new(), in_place: Some(Section { members, lists, in_place: true }) }
    }
}

/// The limits of sections.
pub(crate) struct Room<'a> {
    /// The most words in the sketches of one section. Positions in them have 32 bits.
    pub words: u32,
    /// The most holders of all key lists in memory.
    pub holders: usize,
    pub threads: usize,
    pub folder: &'a std::path::Path,
}

/// How many times [`divide`] goes through the lists.
pub(crate) const PASSES: u64 = 2;

/// Divides contents into sections.
pub(crate) fn divide(comparer: &SketchComparer, lists: &StoredLists, room: &Room) -> Result<Sections> {
    let lists = WatchedLists { lists, progress: comparer.progress };
    let mut groups = may_be_alike(comparer, &lists)?;
    let (of, count) = numbered(&mut groups, &comparer.contents.sizes, room.words);
    let dealt = deal(&lists, &groups, &of, count, room)?;
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

/// The index of a section among `count`. The last index is for the section in place.
fn slot(section: u32, count: usize) -> usize {
    if section == IN_PLACE { count - 1 } else { section as usize }
}

/// Groups contents that share a key and may be alike. No pair across two groups may be alike.
fn may_be_alike(comparer: &SketchComparer, lists: &WatchedLists) -> Result<Groups> {
    let groups = SharedGroups::new(comparer.contents.len());
    for_each(comparer.threads, lists.parts(), Vec::new, |own, part| {
        lists.for_each_in(part, |list| {
            own.clear();
            own.extend(list.iter().map(|holder| groups.of(holder[0])));
            // Near-duplicates share many keys, and another key has joined most of them already.
            if own.iter().any(|group| *group != own[0]) {
                join(comparer, list, own, &groups);
            }
            Ok(())
        })
    })?;
    Ok(groups.into_groups())
}

/// Joins the holders of a key that may be alike. `own` are their groups.
fn join(comparer: &SketchComparer, list: &[Holder], own: &mut [u32], groups: &SharedGroups) {
    if list.len() > LONG {
        return list.iter().for_each(|holder| groups.join(list[0][0], holder[0]));
    }
    for (i, &one) in list.iter().enumerate() {
        for (j, &other) in list[..i].iter().enumerate() {
            if own[i] != own[j] && comparer.may(other, one) && !comparer.deny(other[0], one[0]) {
                groups.join(other[0], one[0]);
                let (kept, gone) = (own[i].min(own[j]), own[i].max(own[j]));
                own.iter_mut().filter(|group| **group == gone).for_each(|group| *group = kept);
            }
        }
    }
}

/// The section of each content, and the number of sections with the one in place. Groups fill sections of `room` words,
/// in order.
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
            // The smallest content represents its group, and has its section already.
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

/// Distributes the lists to `count` sections.
fn deal(
    lists: &(impl KeyLists<Error = Error> + Sync),
    groups: &Groups,
    of: &[u32],
    count: usize,
    room: &Room,
) -> Result<Vec<StoredLists>> {
    let new =
        |number| StoredLists::new(1, room.holders / count, &room.folder.join(format!("section-{number}")));
    let dealt: Vec<StoredLists> = (0..count).map(new).collect();
    let writers: Vec<_> = dealt.iter().map(|lists| Mutex::new(lists.writer(0))).collect();
    let hands = || Hands { held: Vec::new(), lists: vec![Vec::new(); count] };
    for_each(room.threads, lists.parts(), hands, |hands, part| {
        lists.for_each_in(part, |whole| {
            let Hands { held, lists } = hands;
            held.clear();
            let beside = whole.iter().filter(|holder| of[holder[0] as usize] != ALONE);
            held.extend(beside.map(|&holder| (groups.of(holder[0]), holder)));
            held.sort_unstable();
            for group in held.chunk_by(|a, b| a.0 == b.0) {
                let slot = slot(of[group[0].0 as usize], count);
                lists[slot].push([group.len() as u32, 0]);
                lists[slot].extend(group.iter().map(|&(_, holder)| holder));
                if lists[slot].len() > HAND {
                    hand_over(&mut lists[slot], &writers[slot])?;
                }
            }
            Ok(())
        })?;
        hands.lists.iter_mut().zip(&writers).try_for_each(|(lists, writer)| hand_over(lists, writer))
    })?;
    for writer in writers {
        writer.into_inner().expect("no thread panics with this lock").finish()?;
    }
    dealt.into_iter().map(StoredLists::finish).collect()
}

/// The holders that a thread collects for a section before it takes the section's lock.
const HAND: usize = 512;

/// Buffers that a thread reuses between parts.
struct Hands {
    /// The holders of a list, by group.
    held: Vec<(u32, Holder)>,
    /// The lists for each section. Each follows its length.
    lists: Vec<Vec<Holder>>,
}

/// Writes lists, each of which follows its length, and removes them.
fn hand_over(lists: &mut Vec<Holder>, writer: &Mutex<ListWriter>) -> Result<()> {
    if !lists.is_empty() {
        let mut writer = writer.lock().expect("no thread panics with this lock");
        each_list(lists, &mut |list| writer.push(list))?;
        lists.clear();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use onecopy_core::group;

    use super::*;

    #[test]
    fn groups_fill_sections_in_order() {
        let sizes = [10, 20, 30, 40, 50, 60, 70];
        // The sizes of the groups are 10 + 30, 20 + 70 and 40 + 60. The content of size 50 is alone.
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
        let lists = StoredLists::new(1, 100, &folder.path().join("lists"));
        let mut writer = lists.writer(0);
        let all = [vec![0, 1, 2, 3, 4], vec![1, 3], vec![0, 2, 4], vec![0, 1]];
        for list in &all {
            writer.push(&list.iter().map(|&content| [content, 10 + content]).collect::<Vec<_>>()).unwrap();
        }
        writer.finish().unwrap();
        let groups = group(5, &[(0, 2), (1, 3)]);
        let of = [0, IN_PLACE, 0, IN_PLACE, ALONE];
        for holders in [100, 0] {
            let room = Room { words: 0, holders, threads: 2, folder: folder.path() };
            let dealt = deal(&lists, &groups, &of, 2, &room).unwrap();
            let found = dealt.iter().map(|lists| {
                let mut found = Vec::new();
                lists
                    .for_each(|list| {
                        found.push(list.to_vec());
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

//! Groups: the contents that pairs join, transitively.
//!
//! A content that stays and those that lost to it form a star, and a star is in one group. This stage finds which
//! stars a pair joins. One of the two contents of such a pair was removed, because two that stay are never alike.
//! Pairs inside a group are skipped. If one minus the similarity is a metric, the distance between the centres of
//! two stars bounds the distance between their contents from below. One comparison of centres then saves most of the
//! others.

mod pairs;

use crate::decide::group::Groups;
use crate::decide::settle::{Buffers, Comparer, CrowdedContents, FEW, KeyLists, Settled};
use pairs::{OpenPair, Search, distinct};

/// How many pairs are collected before they are compared.
const PAIRS: usize = 1 << 20;
/// How many pairs of a part are collected, at least.
const FEW_PAIRS: usize = 1 << 12;
/// How many key lists are read between two reports of progress.
const REPORTED: u64 = 1 << 14;
/// How many pairs of stars are compared before the groups are checked again.
const BATCH: usize = 1 << 12;
/// From this many pairs between two stars on, a comparison of their centres pays off.
const WORTH_A_BOUND: usize = 3;
/// Lists with fewer holders are quickly searched.
const MANY: usize = 256;
/// More than the rounding errors of a few additions of numbers up to one.
const ROUNDING: f64 = 1e-9;

/// Joins `members` into groups. The best content of a group stands for it.
pub fn connect<C: Comparer, K: KeyLists<Error = C::Error> + Sync>(
    comparer: &C,
    members: &[u32],
    lists: &K,
    settled: &Settled,
    groups: &mut Groups,
) -> Result<(), C::Error> {
    connect_within(PAIRS, comparer, members, lists, settled, groups)
}

/// As [`connect`], with about this many pairs in memory.
fn connect_within<C: Comparer, K: KeyLists<Error = C::Error> + Sync>(
    most: usize,
    comparer: &C,
    members: &[u32],
    lists: &K,
    settled: &Settled,
    groups: &mut Groups,
) -> Result<(), C::Error> {
    for &content in members {
        groups.join(content, settled.winner[content as usize]);
    }
    let crowd = members.first().and_then(|&first| CrowdedContents::new(comparer, first));
    let long = if crowd.is_some() { (members.len() / 8).max(MANY) } else { usize::MAX };
    let (open, crowded) = (Vec::new(), Vec::new());
    let mut connector = Connector { comparer, settled, groups, long, most, open, crowded };
    comparer.check()?;
    let parts: Vec<usize> = (0..lists.parts()).collect();
    let room = (most / 2 / parts.len().max(1)).max(FEW_PAIRS.min(most));
    let found = comparer.map(&parts, |&part, _| connector.part(part, lists, room))?;
    for (part, found) in parts.into_iter().zip(found) {
        connector.take(found.open, found.crowded)?;
        if let Some(searched) = found.searched {
            connector.rest(part, lists, searched)?;
        }
    }
    connector.join_stars()?;
    if let Some(crowd) = crowd {
        connector.join_crowded(members, crowd)?;
    }
    Ok(())
}

/// Groups that are being connected, and pairs that may connect more of them.
struct Connector<'a, C> {
    comparer: &'a C,
    settled: &'a Settled,
    groups: &'a mut Groups,
    /// Lists with more holders are not searched.
    long: usize,
    /// How many pairs are collected before they are compared.
    most: usize,
    open: Vec<OpenPair>,
    /// The removed contents of long lists. They are compared with all others by what is known without sketches.
    crowded: Vec<u32>,
}

/// What some key lists have.
#[derive(Clone, Default)]
struct Found {
    open: Vec<OpenPair>,
    crowded: Vec<u32>,
    /// How many lists of the part were searched, if there was no room for all.
    searched: Option<usize>,
}

impl<C: Comparer> Connector<'_, C> {
    /// Searches the lists of a part, until there is no more room.
    fn part<K: KeyLists<Error = C::Error>>(
        &self,
        part: usize,
        lists: &K,
        room: usize,
    ) -> Result<Found, C::Error> {
        let mut search = Search::new(self.comparer, self.settled, self.long);
        let (mut searched, mut number) = (None, 0);
        lists.for_each_in(part, |list| {
            if searched.is_some() {
                return Ok(());
            }
            for place in search.begin(list, |content| self.groups.of(content)) {
                search.pairs(place);
                if search.is_full(room) {
                    searched = Some(number);
                    return Ok(());
                }
            }
            number += 1;
            searched = search.is_full(room).then_some(number);
            Ok(())
        })?;
        self.comparer.connected(number as u64);
        distinct(&mut search.open);
        search.open.shrink_to_fit();
        Ok(Found { open: search.open, crowded: search.crowded, searched })
    }

    /// Searches the lists of a part behind the first. Groups are joined at once, so that later lists have fewer pairs.
    fn rest<K: KeyLists<Error = C::Error>>(
        &mut self,
        part: usize,
        lists: &K,
        first: usize,
    ) -> Result<(), C::Error> {
        let (mut search, mut passed, mut done) = (Search::new(self.comparer, self.settled, self.long), 0, 0);
        lists.for_each_in(part, |list| {
            if passed < first {
                passed += 1;
                return Ok(());
            }
            for place in search.begin(list, |content| self.groups.find(content)) {
                search.pairs(place);
                if search.open.len() >= self.most / 2 {
                    self.take(std::mem::take(&mut search.open), Vec::new())?;
                }
            }
            if search.crowded.len() >= self.most / 2 {
                self.take(Vec::new(), std::mem::take(&mut search.crowded))?;
            }
            done += 1;
            if done % REPORTED == 0 {
                self.comparer.connected(REPORTED);
                self.comparer.check()?;
            }
            Ok(())
        })?;
        self.comparer.connected(done % REPORTED);
        self.take(search.open, search.crowded)
    }

    /// Takes what was found. Joins groups if it is much.
    fn take(&mut self, open: Vec<OpenPair>, crowded: Vec<u32>) -> Result<(), C::Error> {
        self.open.extend(open);
        self.crowded.extend(crowded);
        if self.crowded.len() > self.most {
            distinct(&mut self.crowded);
        }
        if self.open.len() >= self.most { self.join_stars() } else { Ok(()) }
    }

    /// Joins the groups of removed contents that are in long lists with those of all alike contents, among `all`.
    fn join_crowded(&mut self, all: &[u32], mut crowd: CrowdedContents) -> Result<(), C::Error> {
        let mut crowded = std::mem::take(&mut self.crowded);
        distinct(&mut crowded);
        if !crowded.is_empty() {
            crowd.choose_kin(all, self.comparer)?;
            all.iter().try_for_each(|&content| crowd.push(content, self.comparer))?;
        }
        for batch in crowded.chunks(BATCH) {
            let few: Vec<&[u32]> = batch.chunks(FEW).collect();
            let near = self.comparer.map(&few, |few, _| {
                let mut near = Vec::new();
                crowd.near(few, 0, self.comparer, &mut near)?;
                Ok(near)
            })?;
            for (&content, near) in batch.iter().zip(near.into_iter().flatten()) {
                let group = self.groups.find(content);
                for other in near.into_iter().filter(|&other| self.groups.find(other) != group) {
                    self.open.push(OpenPair::between(content, other, self.settled));
                }
            }
            self.join_stars()?;
        }
        Ok(())
    }

    /// Joins the groups of stars that have an alike pair between them.
    fn join_stars(&mut self) -> Result<(), C::Error> {
        let mut open = std::mem::take(&mut self.open);
        distinct(&mut open);
        let stars: Vec<&[OpenPair]> = open.chunk_by(|a, b| a.stars() == b.stars()).collect();
        for batch in stars.chunks(BATCH) {
            let mut apart = batch.to_vec();
            apart.retain(|pairs| {
                let (a, b) = pairs[0].stars();
                self.groups.find(a) != self.groups.find(b)
            });
            let alike = self
                .comparer
                .map(&apart, |pairs, buffers| any_alike(self.comparer, self.settled, pairs, buffers))?;
            for (pairs, alike) in apart.iter().zip(alike) {
                if alike {
                    let (a, b) = pairs[0].stars();
                    self.groups.join(a, b);
                }
            }
        }
        open.clear();
        self.open = open;
        Ok(())
    }
}

/// Whether one of the pairs between two stars is alike.
fn any_alike<C: Comparer>(
    comparer: &C,
    settled: &Settled,
    pairs: &[OpenPair],
    buffers: &mut Buffers,
) -> Result<bool, C::Error> {
    let (method, sizes) = (comparer.method(), comparer.sizes());
    let mut least = 0.0;
    if pairs.len() >= WORTH_A_BOUND {
        let (a, b) = pairs[0].stars();
        let apart = comparer.distance(a, b, buffers)?.unwrap_or(0.0);
        // The least distance to their centres that an alike pair has: d(a, centre) + d(b, centre) >= d(centres) -
        // d(a, b).
        least = apart - (1.0 - method.threshold()) - ROUNDING;
    }
    let distance = |content: u32| settled.distance(content, sizes, method).unwrap_or(1.0);
    for (a, b) in pairs.iter().map(|open| open.pair()) {
        if distance(a) + distance(b) >= least && comparer.compare(a, b, buffers)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::decide::settle::MemoryLists;
    use crate::dedup::Contents;
    use crate::similarity::method::method;

    #[test]
    fn groups_are_the_same_however_few_pairs_are_in_memory() {
        let method = method(&Config { method: "jaccard".into(), ..Config::default() }).expect("a method");
        // Chains in which each content is alike to the next two.
        let chain = |chain: u64| {
            (0..30 + chain)
                .map(move |n| (0..40).map(|word| chain << 32 | (2 * n + word)).collect::<Vec<u64>>())
        };
        let sketches: Vec<Vec<u64>> = (0..12).flat_map(chain).collect();
        let numbers: Vec<u32> = (0..sketches.len() as u32).collect();
        let contents = Contents {
            of_page: numbers.clone(),
            best_page: numbers.clone(),
            sketches: sketches.iter().map(Vec::as_slice).collect(),
            sizes: sketches.iter().map(|sketch| sketch.len() as u32).collect(),
            base: 0,
            method: &*method,
        };
        let settled = contents.winners();
        // Each list begins with the last content of the one before, so that none can be left out.
        let mut lists = MemoryLists::default();
        for first in (0..numbers.len()).step_by(7) {
            let list = numbers.iter().skip(first).take(8).map(|&content| [content, 39]);
            lists.push(&list.collect::<Vec<_>>());
        }
        for most in [1, 2, 7, 100, PAIRS] {
            let mut groups = Groups::new(numbers.len());
            let Ok(()) = connect_within(most, &contents, &numbers, &lists, &settled, &mut groups);
            let found: Vec<u32> = numbers.iter().map(|&content| groups.of(content)).collect();
            let expected = sketches.iter().map(|sketch| {
                sketches.iter().position(|other| other[0] >> 32 == sketch[0] >> 32).expect("itself") as u32
            });
            assert!(found.into_iter().eq(expected), "{most}");
        }
    }
}

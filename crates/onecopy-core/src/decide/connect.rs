//! Groups: the contents that pairs join, transitively.
//!
//! A content that stays and those that lost to it form a star, and a star is in one group. This stage finds which
//! stars a pair joins. One of the two contents of such a pair was removed, because two that stay are never alike.
//! Pairs inside a group are skipped. If one minus the similarity is a metric, the distance between the centres of
//! two stars bounds the distance between their contents from below. One comparison of centres then saves most of the
//! others.

use crate::decide::group::Groups;
use crate::decide::settle::{Buffers, Comparer, CrowdedContents, FEW, Holder, KeyLists, Settled};
use crate::similarity::method::Held;

/// How many pairs are collected before they are compared.
const PAIRS: usize = 1 << 20;
/// How many key lists are read between two reports of progress.
const REPORTED: u64 = 1 << 14;
/// How many pairs of stars are compared before the groups are checked again.
const BATCH: usize = 1 << 12;
/// From this many pairs between two stars on, a comparison of their centres pays off.
const WORTH_A_BOUND: usize = 3;
/// Lists with fewer holders are quickly searched.
const MANY: usize = 256;
/// Only lists with fewer holders are searched before it is known which groups were joined.
const SHORT: usize = 32;
/// More than the rounding errors of a few additions of numbers up to one.
const ROUNDING: f64 = 1e-9;

/// A pair that could join two stars: the stars' centres, and the pair. It is one number, because many are sorted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct OpenPair(u128);

impl OpenPair {
    /// The pair of two contents and their stars. The order of `a` and `b` does not matter.
    fn between(a: u32, b: u32, settled: &Settled) -> OpenPair {
        let (star_a, star_b) = (settled.winner[a as usize], settled.winner[b as usize]);
        let parts = if star_a < star_b { [star_a, star_b, a, b] } else { [star_b, star_a, b, a] };
        OpenPair(parts.iter().fold(0, |number, &part| number << 32 | u128::from(part)))
    }

    /// The centres of the two stars.
    fn stars(self) -> (u32, u32) {
        ((self.0 >> 96) as u32, (self.0 >> 64) as u32)
    }

    fn pair(self) -> (u32, u32) {
        ((self.0 >> 32) as u32, self.0 as u32)
    }
}

/// Joins `members` into groups. The best content of a group stands for it.
pub fn connect<C: Comparer, K: KeyLists<Error = C::Error> + Sync>(
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
    let mut connector = Connector {
        comparer,
        settled,
        groups,
        long: if crowd.is_some() { (members.len() / 8).max(MANY) } else { usize::MAX },
        crowded: Vec::new(),
        members: Vec::new(),
        open: Vec::new(),
        met: Met::new(),
    };
    comparer.check()?;
    let parts: Vec<usize> = (0..lists.parts()).collect();
    let joining = comparer.map(&parts, |&part, _| connector.joining(part, lists))?;
    let mut done = 0;
    for (part, joining) in parts.into_iter().zip(joining) {
        let (mut number, mut joining) = (0, joining.into_iter().peekable());
        lists.for_each_in(part, |list| {
            if joining.next_if_eq(&number).is_some() {
                connector.list(list)?;
            }
            number += 1;
            done += 1;
            if done % REPORTED == 0 {
                comparer.connected(REPORTED);
                comparer.check()?;
            }
            Ok(())
        })?;
    }
    connector.join_stars()?;
    if let Some(crowd) = crowd {
        connector.join_crowded(members, crowd)?;
    }
    comparer.connected(done % REPORTED);
    Ok(())
}

/// Groups that are being connected, and pairs that may connect more of them.
struct Connector<'a, C> {
    comparer: &'a C,
    settled: &'a Settled,
    groups: &'a mut Groups,
    /// Lists with more holders are not searched.
    long: usize,
    /// The removed contents of such lists. They are compared with all others by what is known without sketches.
    crowded: Vec<u32>,
    /// The key list that is searched.
    members: Vec<Member>,
    open: Vec<OpenPair>,
    met: Met,
}

/// A cache of pairs that were taken before: most pairs recur, once for each key that both hold.
struct Met(Vec<OpenPair>);

impl Met {
    /// The logarithm of the number of cached pairs.
    const BITS: u32 = 15;

    fn new() -> Met {
        // No pair is all ones.
        Met(vec![OpenPair(u128::MAX); 1 << Met::BITS])
    }

    /// Whether a pair is cached; adds it.
    fn has(&mut self, open: OpenPair) -> bool {
        let (a, b) = open.pair();
        let mixed = (u64::from(a) << 32 | u64::from(b)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        std::mem::replace(&mut self.0[(mixed >> (64 - Met::BITS)) as usize], open) == open
    }
}

/// A holder of a key, with everything that each comparison needs of it.
struct Member {
    content: u32,
    held: Held,
    group: u32,
    stays: bool,
}

impl<C: Comparer> Connector<'_, C> {
    /// The lists of a part that could join two groups, by number. Groups only grow, so no other list ever could.
    fn joining<K: KeyLists<Error = C::Error>>(&self, part: usize, lists: &K) -> Result<Vec<usize>, C::Error> {
        let (mut joining, mut number) = (Vec::new(), 0);
        lists.for_each_in(part, |list| {
            if self.may_join(list) {
                joining.push(number);
            }
            number += 1;
            Ok(())
        })?;
        Ok(joining)
    }

    /// Whether a key list may have a pair that joins two groups.
    fn may_join(&self, list: &[Holder]) -> bool {
        let group = |holder: &Holder| self.groups.of(holder[0]);
        let first = list.first().map(group);
        if list.iter().skip(1).all(|holder| Some(group(holder)) == first) {
            return false;
        }
        let may_join = |&one: &Holder, &other: &Holder| {
            group(&one) != group(&other)
                && self.comparer.may(one, other)
                && !self.comparer.deny(one[0], other[0])
        };
        let gone = list.iter().filter(|holder| !self.settled.stays(holder[0]));
        list.len() > SHORT || gone.into_iter().any(|one| list.iter().any(|other| may_join(one, other)))
    }

    /// Collects the pairs of a key list that could join two groups.
    fn list(&mut self, list: &[Holder]) -> Result<(), C::Error> {
        if list.len() > self.long {
            let gone = list.iter().map(|holder| holder[0]).filter(|&content| !self.settled.stays(content));
            self.crowded.extend(gone);
            if self.crowded.len() > PAIRS {
                self.crowded.sort_unstable();
                self.crowded.dedup();
            }
            return Ok(());
        }
        let mut members = std::mem::take(&mut self.members);
        members.clear();
        members.extend(list.iter().map(|&holder| Member {
            content: holder[0],
            held: self.comparer.held(holder),
            group: self.groups.find(holder[0]),
            stays: self.settled.stays(holder[0]),
        }));
        if members.iter().any(|member| member.group != members[0].group) {
            for gone in (0..members.len()).filter(|&place| !members[place].stays) {
                self.pairs(gone, &members);
                if self.open.len() >= PAIRS {
                    self.join_stars()?;
                }
            }
        }
        self.members = members;
        Ok(())
    }

    /// Collects the pairs of a key list with the removed content at position `gone`.
    fn pairs(&mut self, gone: usize, members: &[Member]) {
        let one = &members[gone];
        for (place, other) in members.iter().enumerate() {
            let met_from_there = place < gone && !other.stays;
            if other.group != one.group && !met_from_there && self.comparer.method().may(one.held, other.held)
            {
                let open = OpenPair::between(one.content, other.content, self.settled);
                if !self.met.has(open) && !self.comparer.deny(one.content, other.content) {
                    self.open.push(open);
                }
            }
        }
    }

    /// Joins the groups of removed contents that are in long lists with those of all alike contents, among `all`.
    fn join_crowded(&mut self, all: &[u32], mut crowd: CrowdedContents) -> Result<(), C::Error> {
        let mut crowded = std::mem::take(&mut self.crowded);
        crowded.sort_unstable();
        crowded.dedup();
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
        open.sort_unstable();
        open.dedup();
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

    #[test]
    fn what_was_not_taken_is_never_taken_for_met() {
        let settled = Settled::new(70_000);
        let mut met = Met::new();
        for n in 0..60_000 {
            let open = OpenPair::between(n + 7, n, &settled);
            assert!(!met.has(open), "{n} is new, whatever had its place");
            assert!(met.has(open) && met.has(OpenPair::between(n, n + 7, &settled)), "either way round");
        }
    }
}

//! The pairs in key lists that could join two groups.

use std::ops::Range;

use crate::decide::settle::{Comparer, Holder, Settled};
use crate::similarity::method::Held;

/// A pair that could join two stars: the stars' centres, and the pair. It is one number, because many are sorted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OpenPair(u128);

impl OpenPair {
    /// The pair of two contents and their stars. The order of `a` and `b` does not matter.
    pub(super) fn between(a: u32, b: u32, settled: &Settled) -> OpenPair {
        let (star_a, star_b) = (settled.winner[a as usize], settled.winner[b as usize]);
        let parts = if star_a < star_b { [star_a, star_b, a, b] } else { [star_b, star_a, b, a] };
        OpenPair(parts.iter().fold(0, |number, &part| number << 32 | u128::from(part)))
    }

    /// The centres of the two stars.
    pub(super) fn stars(self) -> (u32, u32) {
        ((self.0 >> 96) as u32, (self.0 >> 64) as u32)
    }

    pub(super) fn pair(self) -> (u32, u32) {
        ((self.0 >> 32) as u32, self.0 as u32)
    }
}

/// Searches key lists for pairs that could join two groups.
pub(super) struct Search<'a, C> {
    comparer: &'a C,
    settled: &'a Settled,
    /// Lists with more holders are not searched.
    long: usize,
    /// The key list that is searched.
    members: Vec<Member>,
    pub open: Vec<OpenPair>,
    /// The removed contents of lists that are not searched.
    pub crowded: Vec<u32>,
    met: Met,
}

impl<'a, C: Comparer> Search<'a, C> {
    pub(super) fn new(comparer: &'a C, settled: &'a Settled, long: usize) -> Search<'a, C> {
        let (members, open, crowded) = (Vec::new(), Vec::new(), Vec::new());
        Search { comparer, settled, long, members, open, crowded, met: Met::new() }
    }

    /// Begins with a key list. Returns the positions in it that may have pairs.
    pub(super) fn begin(&mut self, list: &[Holder], mut group: impl FnMut(u32) -> u32) -> Range<usize> {
        if list.len() > self.long {
            let gone = list.iter().map(|holder| holder[0]).filter(|&content| !self.settled.stays(content));
            self.crowded.extend(gone);
            return 0..0;
        }
        self.members.clear();
        self.members.extend(list.iter().map(|&holder| Member {
            content: holder[0],
            held: self.comparer.held(holder),
            group: group(holder[0]),
            stays: self.settled.stays(holder[0]),
        }));
        let is_one = self.members.iter().all(|member| member.group == self.members[0].group);
        0..if is_one { 0 } else { list.len() }
    }

    /// Collects the pairs of the content at a position of the key list that could join two groups, if it was removed.
    pub(super) fn pairs(&mut self, gone: usize) {
        let one = &self.members[gone];
        if one.stays {
            return;
        }
        for (place, other) in self.members.iter().enumerate() {
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

    /// Whether more was found than there is room for.
    pub(super) fn is_full(&mut self, room: usize) -> bool {
        is_full(&mut self.open, room) || is_full(&mut self.crowded, room)
    }
}

/// Whether there are too many values, even if each is counted once.
fn is_full<T: Ord>(values: &mut Vec<T>, room: usize) -> bool {
    if values.len() <= room {
        return false;
    }
    distinct(values);
    values.len() > room / 2
}

/// Sorts values, and leaves each once.
pub(super) fn distinct<T: Ord>(values: &mut Vec<T>) {
    values.sort_unstable();
    values.dedup();
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

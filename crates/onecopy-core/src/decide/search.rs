//! Finds candidates by other ways than shared keys, and all candidates of a few pages at once.

use crate::decide::candidate::{Rarity, count};
use crate::decide::group::Groups;
use crate::similarity::hamming::{Sketches, near_by_rotation};
use crate::similarity::method::{Method, Scratch, Search};

/// Perhaps-similar sets. Pages that share a key are in one set, and sets that share a page are merged up to a limit.
/// They are transitive only in part, so that a sentence of thousands of pages cannot merge them all.
#[derive(Clone, Debug)]
pub struct Sets {
    groups: Groups,
    sizes: Vec<u32>,
    limit: u32,
}

impl Sets {
    /// `members` pages, each in its own set.
    pub fn new(members: usize, limit: u32) -> Sets {
        Sets { groups: Groups::new(members), sizes: vec![1; members], limit }
    }

    /// Joins the pages that share a key, ascending. The result depends on the order of calls, so that order must be
    /// deterministic.
    pub fn join(&mut self, run: impl IntoIterator<Item = u32>) {
        let mut run = run.into_iter();
        let Some(first) = run.next() else { return };
        for other in run {
            let (a, b) = (self.groups.find(first), self.groups.find(other));
            let together = self.sizes[a as usize].saturating_add(self.sizes[b as usize]);
            if a != b && together <= self.limit {
                self.groups.join(a, b);
                self.sizes[a.min(b) as usize] = together;
            }
        }
    }

    /// The sets of at least two pages, each ascending, ordered by their first page.
    pub fn finish(mut self) -> Vec<Vec<u32>> {
        let mut members: Vec<(u32, u32)> =
            (0..self.sizes.len() as u32).map(|member| (self.groups.find(member), member)).collect();
        members.retain(|&(set, _)| self.sizes[set as usize] > 1);
        members.sort_unstable();
        let sets = members.chunk_by(|a, b| a.0 == b.0);
        sets.map(|set| set.iter().map(|&(_, member)| member).collect()).collect()
    }
}

/// The pairs that the method would compare among a few pages with these sketches, ascending and each once. `None` if
/// the search misses no alike pair, so that all pairs may be compared instead.
pub fn candidates(method: &dyn Method, sketches: &[&[u64]]) -> Option<Vec<(u32, u32)>> {
    let mut pairs = match method.search() {
        Search::Keys => return None,
        Search::Sets { limit } => in_sets(method, sketches, limit),
        Search::Neighbours { most, step, window } => {
            let first = |(page, sketch): (usize, &&[u64])| Some((*sketch.first()?, page as u32));
            let (words, pages): (Vec<u64>, Vec<u32>) = sketches.iter().enumerate().filter_map(first).unzip();
            let near = near_by_rotation(Sketches { words: &words, width: 1 }, most, step, window as usize);
            near.iter().map(|near| (pages[near.a as usize], pages[near.b as usize])).collect()
        }
    };
    pairs.sort_unstable();
    pairs.dedup();
    Some(pairs)
}

fn in_sets(method: &dyn Method, sketches: &[&[u64]], limit: u32) -> Vec<(u32, u32)> {
    let mut sets = Sets::new(sketches.len(), limit);
    for run in shared_keys(method, sketches).chunk_by(|a, b| a.0 == b.0) {
        sets.join(run.iter().map(|&(_, page)| page));
    }
    let pairs = |set: Vec<u32>| -> Vec<(u32, u32)> {
        set.iter().enumerate().flat_map(|(i, &a)| set[i + 1..].iter().map(move |&b| (a, b))).collect()
    };
    sets.finish().into_iter().flat_map(pairs).collect()
}

/// All keys with their pages, sorted.
fn shared_keys(method: &dyn Method, sketches: &[&[u64]]) -> Vec<(u64, u32)> {
    const BITS: u32 = 16;
    let mut counters = vec![0; 1 << BITS];
    if method.asks_rarity() {
        sketches.iter().for_each(|sketch| count(sketch, BITS, 0, &mut counters));
    }
    let rarity = Rarity::new(counters);
    let (mut scratch, mut keys, mut all) = (Scratch::default(), Vec::new(), Vec::new());
    for (page, sketch) in sketches.iter().enumerate() {
        keys.clear();
        method.keys(sketch, &rarity, &mut scratch, &mut keys);
        all.extend(keys.iter().map(|&(key, _)| (key, page as u32)));
    }
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_grow_over_shared_pages_up_to_the_limit() {
        let mut sets = Sets::new(9, 4);
        for run in [vec![0, 1], vec![4, 5], vec![1, 2], vec![2, 4], vec![2, 7], vec![5, 7]] {
            sets.join(run);
        }
        // 0-1-2 cannot take 4-5, which would make five. It takes 7, and then it cannot take 5.
        assert_eq!(sets.finish(), [vec![0, 1, 2, 7], vec![4, 5]]);
    }

    #[test]
    fn taking_in_a_key_twice_changes_nothing() {
        let runs = [vec![0u32, 1, 2], vec![2, 3], vec![3, 4, 5], vec![0, 5]];
        let joined = |again: bool| {
            let mut sets = Sets::new(6, 4);
            for run in &runs {
                sets.join(run.iter().copied());
                if again {
                    sets.join(runs[0].iter().copied());
                }
            }
            sets.finish()
        };
        assert_eq!(joined(false), joined(true));
    }
}

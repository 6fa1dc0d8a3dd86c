//! Pairs → groups: the only place that merges.

use std::sync::atomic::{AtomicU32, Ordering};

/// Groups of members `0..n`, each in exactly one, in four bytes per member.
///
/// The smallest member stands for a group, so that the result does not depend on the order of joining.
#[derive(Clone, Debug)]
pub struct Groups {
    parents: Vec<u32>,
}

impl Groups {
    /// `n` members, each in its own group.
    pub fn new(n: usize) -> Groups {
        Groups { parents: (0..n as u32).collect() }
    }

    /// The smallest member of the group that `member` is in.
    pub fn of(&self, member: u32) -> u32 {
        let mut root = member;
        while self.parents[root as usize] != root {
            root = self.parents[root as usize];
        }
        root
    }

    /// The smallest member of the group that `member` is in. It shortens the path for later calls.
    pub fn find(&mut self, member: u32) -> u32 {
        let root = self.of(member);
        let mut at = member;
        while self.parents[at as usize] != root {
            at = std::mem::replace(&mut self.parents[at as usize], root);
        }
        root
    }

    /// Merges the groups of two members.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        let (small, large) = (a.min(b), a.max(b));
        self.parents[large as usize] = small;
    }
}

/// Groups that many threads may join at once. The result does not depend on the order of joining.
#[derive(Debug)]
pub struct SharedGroups {
    parents: Vec<AtomicU32>,
}

impl SharedGroups {
    /// `n` members, each in its own group.
    pub fn new(n: usize) -> SharedGroups {
        SharedGroups { parents: (0..n as u32).map(AtomicU32::new).collect() }
    }

    /// The smallest member of the group that `member` is in, unless another thread joins it at the same time.
    pub fn of(&self, mut member: u32) -> u32 {
        loop {
            let parent = self.parents[member as usize].load(Ordering::Relaxed);
            if parent == member {
                return member;
            }
            // Shortens the path for later calls. Another thread may have written a smaller member meanwhile: it stays.
            let above = self.parents[parent as usize].load(Ordering::Relaxed);
            self.parents[member as usize].fetch_min(above, Ordering::Relaxed);
            member = above;
        }
    }

    /// Merges the groups of two members.
    pub fn join(&self, a: u32, b: u32) {
        loop {
            let (a, b) = (self.of(a), self.of(b));
            let (small, large) = (a.min(b), a.max(b));
            // The larger is still alone at the top of its group, or another thread joined it first.
            let parent = &self.parents[large as usize];
            let joined = parent.compare_exchange(large, small, Ordering::Relaxed, Ordering::Relaxed);
            if a == b || joined.is_ok() {
                return;
            }
        }
    }

    /// The groups, once all threads are done.
    pub fn into_groups(self) -> Groups {
        Groups { parents: self.parents.into_iter().map(AtomicU32::into_inner).collect() }
    }
}

/// Joins pairs that share a member. The result does not depend on the order of `pairs`.
pub fn group(members: usize, pairs: &[(u32, u32)]) -> Groups {
    let mut groups = Groups::new(members);
    for &(a, b) in pairs {
        groups.join(a, b);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_member_stands_for_its_group() {
        let mut groups = group(6, &[(5, 4), (3, 4), (1, 0)]);
        let found: Vec<u32> = (0..6).map(|m| groups.find(m)).collect();
        assert_eq!(found, [0, 0, 2, 3, 3, 3]);
        assert!((0..6).all(|m| groups.of(m) == found[m as usize]));
        let shared = SharedGroups::new(6);
        [(5, 4), (3, 4), (1, 0), (4, 5)].iter().for_each(|&(a, b)| shared.join(a, b));
        assert!((0..6).all(|m| shared.of(m) == found[m as usize]));
        assert!((0..6).all(|m| shared.of(m) == found[m as usize]), "once paths are short");
        let shared = shared.into_groups();
        assert!((0..6).all(|m| shared.of(m) == found[m as usize]));
        let other = group(6, &[(1, 0), (3, 4), (5, 3)]);
        assert!((0..6).all(|m| other.of(m) == found[m as usize]));
    }
}

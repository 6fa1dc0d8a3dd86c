//! Pairs → groups: the only place that merges.

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
        let other = group(6, &[(1, 0), (3, 4), (5, 3)]);
        assert!((0..6).all(|m| other.of(m) == found[m as usize]));
    }
}

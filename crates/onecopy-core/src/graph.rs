//! Contents, who wins over whom, and which are in one group, kept right while contents come and go.
//!
//! What holds after every edit is what a batch run finds: a content stays unless it is alike to a better one that
//! stays, the best of those is its winner, and groups are contents joined by alike pairs, transitively. Whether a
//! content stays depends on better contents only, so an edit is settled best first, and touches only what it must.
//!
//! A winner and its losers are a star, joined by pairs that are known. Stars of one group are joined by witnesses:
//! pairs that are known to be alike. Both together are linear in contents, and enough to see whether a group falls
//! apart when a content goes; only then are pairs looked for.

mod connect;
mod settle;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, HashSet};

/// A content's number.
pub type Slot = u32;

/// Answers what a graph asks about contents.
pub trait Lookup {
    /// Why an answer may fail, such as a disk that cannot be read.
    type Error;

    /// The contents that may be alike to `slot`, without itself: all that are, and perhaps others.
    fn candidates(&mut self, slot: Slot) -> Result<Vec<Slot>, Self::Error>;

    /// The score of two contents, if they are alike.
    fn verify(&mut self, a: Slot, b: Slot) -> Result<Option<u32>, Self::Error>;
}

/// A content.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Smaller is better. No two contents have the same.
    pub rank: Box<[u8]>,
    /// Its winner; itself if it stays.
    pub winner: Slot,
    /// Its score with its winner.
    pub score: u32,
    /// Its group, alone or not.
    pub group: u64,
    /// Its place among the members of its group.
    at: u32,
}

/// A content as it was when the collection was closed.
#[derive(Clone, Debug)]
pub struct Restored {
    /// Smaller is better.
    pub rank: Box<[u8]>,
    /// Its winner; itself if it stays.
    pub winner: Slot,
    /// Its score with its winner.
    pub score: u32,
    /// Its group.
    pub group: u64,
}

/// The winner of a content that is being settled.
const UNSETTLED: Slot = Slot::MAX;

/// All contents.
#[derive(Debug, Default)]
pub struct Graph {
    nodes: Vec<Option<Node>>,
    /// The members of groups with two contents or more.
    members: HashMap<u64, Vec<Slot>>,
    /// Pairs that join stars, from both sides.
    witnesses: HashMap<Slot, BTreeSet<Slot>>,
    last_group: u64,
}

/// What is to be changed. A content whose rank or sketch changed is in both lists.
#[derive(Debug, Default)]
pub struct Edit {
    /// Contents that go.
    pub removed: Vec<Slot>,
    /// Contents that come, each with its rank.
    pub inserted: Vec<(Slot, Box<[u8]>)>,
}

/// What an edit changed.
#[derive(Debug, Default)]
pub struct Effect {
    /// Contents whose winner, score or group may have changed.
    pub changed: BTreeSet<Slot>,
    /// Witnesses that came, the smaller content first.
    pub witnessed: HashSet<(Slot, Slot)>,
    /// Witnesses that went.
    pub forgotten: HashSet<(Slot, Slot)>,
}

impl Graph {
    /// Puts a content back as it was when the collection was closed.
    pub fn restore(&mut self, slot: Slot, node: Restored) {
        self.make_room(slot);
        let Restored { rank, winner, score, group } = node;
        self.nodes[slot as usize] = Some(Node { rank, winner, score, group, at: 0 });
        self.last_group = self.last_group.max(group);
    }

    /// Puts a witness back.
    pub fn restore_witness(&mut self, a: Slot, b: Slot) {
        self.witnesses.entry(a).or_default().insert(b);
        self.witnesses.entry(b).or_default().insert(a);
    }

    /// Finds the members of groups once all contents are back. `last_group` is the last number that was given.
    pub fn restored(&mut self, last_group: u64) {
        self.last_group = self.last_group.max(last_group);
        let mut by_group: Vec<(u64, Slot)> = self.slots().map(|slot| (self.node(slot).group, slot)).collect();
        by_group.sort_unstable();
        for group in by_group.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
            let members = group.iter().map(|&(_, slot)| slot).collect();
            self.set_members(group[0].0, members);
        }
    }

    /// A content, if it is there.
    pub fn get(&self, slot: Slot) -> Option<&Node> {
        self.nodes.get(slot as usize)?.as_ref()
    }

    /// The contents that are there, ascending.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        let there = |(slot, node): (usize, &Option<Node>)| node.is_some().then_some(slot as Slot);
        self.nodes.iter().enumerate().filter_map(there)
    }

    /// All contents in the group of a content.
    pub fn members_with(&self, slot: Slot) -> Vec<Slot> {
        let Some(node) = self.get(slot) else { return Vec::new() };
        self.members.get(&node.group).cloned().unwrap_or_else(|| vec![slot])
    }

    /// The contents that lost to a content.
    pub fn losers_of(&self, slot: Slot) -> Vec<Slot> {
        if self.get(slot).is_some() { self.losers(slot) } else { Vec::new() }
    }

    /// How many contents are in the group of a content.
    pub fn group_size(&self, slot: Slot) -> usize {
        self.get(slot).and_then(|node| self.members.get(&node.group)).map_or(1, Vec::len)
    }

    /// The last number that was given to a group.
    pub fn last_group(&self) -> u64 {
        self.last_group
    }

    /// Changes contents, and settles what that changes. After an error nothing here can be relied on.
    pub fn apply<L: Lookup>(&mut self, edit: Edit, lookup: &mut L) -> Result<Effect, L::Error> {
        settle::settle(self, edit, lookup)
    }

    /// Gives the group of the best of `slots` a number back that it had, and that nobody has now.
    pub fn keep_number(&mut self, slots: &[Slot], group: u64, effect: &mut Effect) {
        let there = slots.iter().copied().filter(|&slot| self.get(slot).is_some());
        let best = there.min_by(|&a, &b| self.node(a).rank.cmp(&self.node(b).rank));
        let Some(best) = best else { return };
        let members = self.members_with(best);
        let number = self.node(best).group;
        self.members.remove(&number);
        effect.changed.extend(&members);
        self.set_members(group, members);
    }

    fn node(&self, slot: Slot) -> &Node {
        self.get(slot).expect("a content that is there")
    }

    fn node_mut(&mut self, slot: Slot) -> &mut Node {
        self.nodes[slot as usize].as_mut().expect("a content that is there")
    }

    fn make_room(&mut self, slot: Slot) {
        if self.nodes.len() <= slot as usize {
            self.nodes.resize(slot as usize + 1, None);
        }
    }

    fn stays(&self, slot: Slot) -> bool {
        self.node(slot).winner == slot
    }

    fn is_better(&self, a: Slot, b: Slot) -> bool {
        self.node(a).rank < self.node(b).rank
    }

    fn fresh_group(&mut self) -> u64 {
        self.last_group += 1;
        self.last_group
    }

    /// Says who is in a group: nobody else is, and they are in no other.
    fn set_members(&mut self, group: u64, members: Vec<Slot>) {
        for (at, &slot) in members.iter().enumerate() {
            let node = self.node_mut(slot);
            (node.group, node.at) = (group, at as u32);
        }
        if members.len() > 1 {
            self.members.insert(group, members);
        } else {
            self.members.remove(&group);
        }
    }

    /// Takes a content out of the members of its group. Who is left alone has no list, and is told.
    fn leave(&mut self, slot: Slot) -> Option<Slot> {
        let (group, at) = (self.node(slot).group, self.node(slot).at as usize);
        let members = self.members.get_mut(&group)?;
        members.swap_remove(at);
        let moved = members.get(at).copied();
        let left = (members.len() == 1).then(|| members[0]);
        if left.is_some() {
            self.members.remove(&group);
        }
        if let Some(moved) = moved {
            self.node_mut(moved).at = at as u32;
        }
        left
    }

    /// Those of a content's group that lost to it.
    fn losers(&self, slot: Slot) -> Vec<Slot> {
        let Some(members) = self.members.get(&self.node(slot).group) else { return Vec::new() };
        let lost = |&&other: &&Slot| other != slot && self.node(other).winner == slot;
        members.iter().filter(lost).copied().collect()
    }

    fn witness(&mut self, a: Slot, b: Slot, effect: &mut Effect) {
        self.restore_witness(a, b);
        let pair = (a.min(b), a.max(b));
        if !effect.forgotten.remove(&pair) {
            effect.witnessed.insert(pair);
        }
    }

    /// Forgets the witnesses of a content that goes. Says whether there were any.
    fn forget_witnesses(&mut self, slot: Slot, effect: &mut Effect) -> bool {
        let Some(others) = self.witnesses.remove(&slot) else { return false };
        for other in others {
            if let Some(back) = self.witnesses.get_mut(&other) {
                back.remove(&slot);
                if back.is_empty() {
                    self.witnesses.remove(&other);
                }
            }
            let pair = (slot.min(other), slot.max(other));
            if !effect.witnessed.remove(&pair) {
                effect.forgotten.insert(pair);
            }
        }
        true
    }
}

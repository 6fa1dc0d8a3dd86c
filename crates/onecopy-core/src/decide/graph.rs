//! Contents, their winners and their groups, kept correct while contents come and go.
//!
//! After every edit the graph equals the result of a batch run. A content stays unless it is alike to a better one
//! that stays, and the best of those is its winner. Groups are contents joined by alike pairs, transitively. Whether
//! a content stays depends only on better contents. An edit is therefore settled best first, and touches only what
//! it must.
//!
//! A winner and its losers form a star of known pairs. Witnesses, pairs known to be alike, join the stars of one
//! group. Stars and witnesses are linear in contents. They suffice to see whether a group splits when a content
//! goes, and only then does the graph search for pairs.
//!
//! A search need not name every content: a winner may stand for its losers. So a star of n copies costs about n
//! comparisons, and an edit of one of them a few. The graph looks into a star only if a loser of it may matter.

mod audit;
mod connect;
mod settle;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, HashSet};

/// A content's number.
pub type Slot = u32;

pub use audit::Fault;

/// A content that shares a key with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The content.
    pub slot: Slot,
    /// Whether the two may be alike. If not, a loser of the content still may be.
    pub may: bool,
}

/// Answers a graph's questions about contents.
pub trait Lookup {
    /// Why an answer may fail, such as an unreadable disk.
    type Error;

    /// Contents that share a key with `slot`. For each content that is alike to `slot` it has the content itself, or
    /// the winner of that content. That is the winner that [`Lookup::settled`] last gave it.
    fn hits(&mut self, slot: Slot) -> Result<Vec<Hit>, Self::Error>;

    /// Drops the losers that cannot be alike to `slot`. Each has its score with `centre`, the winner of all. `None`
    /// says that the winner is gone.
    fn sift(
        &mut self,
        _slot: Slot,
        _centre: Option<Slot>,
        _losers: &mut Vec<(Slot, u32)>,
    ) -> Result<(), Self::Error> {
        Ok(())
    }

    /// The score of two contents, if they are alike.
    fn verify(&mut self, a: Slot, b: Slot) -> Result<Option<u32>, Self::Error>;

    /// Receives a content that is about to get its first loser. A search before the edit need not have named it: it may
    /// be alike to none, and had no losers.
    fn crowned(&mut self, _winner: Slot) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Receives the winner of a content, which is final in this edit. A content that stays is its own winner.
    fn settled(&mut self, slot: Slot, winner: Slot) -> Result<(), Self::Error>;
}

/// A content.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Smaller is better. No two contents have the same rank.
    pub rank: Box<[u8]>,
    /// Its winner; itself if it stays.
    pub winner: Slot,
    /// Its score with its winner.
    pub score: u32,
    /// Its group, even if it is alone in it.
    pub group: u64,
    /// Its position among the members of its group.
    at: u32,
    /// Its position among the losers of its winner.
    seat: u32,
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
    /// The members of groups with at least two contents.
    members: HashMap<u64, Vec<Slot>>,
    /// The losers of each content that has some.
    stars: HashMap<Slot, Vec<Slot>>,
    /// The pairs that join stars, stored from both sides.
    witnesses: HashMap<Slot, BTreeSet<Slot>>,
    last_group: u64,
}

/// A change of contents. A content whose rank or sketch changed is in both lists.
#[derive(Debug, Default)]
pub struct Edit {
    /// Contents to remove.
    pub removed: Vec<Slot>,
    /// Contents to insert, each with its rank.
    pub inserted: Vec<(Slot, Box<[u8]>)>,
}

/// The changes that an edit made.
#[derive(Debug, Default)]
pub struct Effect {
    /// Contents whose winner, score or group may have changed.
    pub changed: BTreeSet<Slot>,
    /// New witnesses, each with the smaller content first.
    pub witnessed: HashSet<(Slot, Slot)>,
    /// Witnesses that are gone.
    pub forgotten: HashSet<(Slot, Slot)>,
}

impl Graph {
    /// Restores a content as it was when the collection was closed.
    pub fn restore(&mut self, slot: Slot, node: Restored) {
        self.make_room(slot);
        let Restored { rank, winner, score, group } = node;
        self.nodes[slot as usize] = Some(Node { rank, winner, score, group, at: 0, seat: 0 });
        self.last_group = self.last_group.max(group);
    }

    /// Restores a witness.
    pub fn restore_witness(&mut self, a: Slot, b: Slot) {
        self.witnesses.entry(a).or_default().insert(b);
        self.witnesses.entry(b).or_default().insert(a);
    }

    /// Finds the members of groups once all contents are restored. `last_group` is the last number that was
    /// assigned.
    pub fn restored(&mut self, last_group: u64) {
        self.last_group = self.last_group.max(last_group);
        let mut by_group: Vec<(u64, Slot)> = self.slots().map(|slot| (self.node(slot).group, slot)).collect();
        by_group.sort_unstable();
        for group in by_group.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
            let members = group.iter().map(|&(_, slot)| slot).collect();
            self.set_members(group[0].0, members);
        }
        let losers: Vec<Slot> = self.slots().filter(|&slot| !self.stays(slot)).collect();
        losers.into_iter().for_each(|slot| self.take_seat(slot));
    }

    /// A content, if it exists.
    pub fn get(&self, slot: Slot) -> Option<&Node> {
        self.nodes.get(slot as usize)?.as_ref()
    }

    /// The existing contents, ascending.
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
    pub fn losers_of(&self, slot: Slot) -> &[Slot] {
        self.stars.get(&slot).map_or(&[], Vec::as_slice)
    }

    /// How many contents are in the group of a content.
    pub fn group_size(&self, slot: Slot) -> usize {
        self.get(slot).and_then(|node| self.members.get(&node.group)).map_or(1, Vec::len)
    }

    /// The last number that was assigned to a group.
    pub fn last_group(&self) -> u64 {
        self.last_group
    }

    /// Applies an edit and settles its consequences. After an error the graph is unreliable.
    pub fn apply<L: Lookup>(&mut self, edit: Edit, lookup: &mut L) -> Result<Effect, L::Error> {
        settle::settle(self, edit, lookup)
    }

    /// Compares every content again with those that it may be alike to, and reports what is wrong.
    pub fn audit<L: Lookup>(
        &self,
        lookup: &mut L,
        report: &mut dyn FnMut(Slot, Fault),
    ) -> Result<(), L::Error> {
        audit::audit(self, lookup, report)
    }

    /// Gives the group of the best of `slots` the number `group` back, which it had before and no group has now.
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

    /// Sets the members of a group: it has no others, and they are in no other group.
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

    /// Removes a content from the members of its group. Returns the other member if only one is left, which has no
    /// list.
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

    /// The losers of a content with their scores.
    fn scored_losers(&self, slot: Slot) -> Vec<(Slot, u32)> {
        self.losers_of(slot).iter().map(|&loser| (loser, self.node(loser).score)).collect()
    }

    /// Gives a content a winner.
    fn set_winner(&mut self, slot: Slot, winner: Slot, score: u32) {
        self.leave_seat(slot);
        let node = self.node_mut(slot);
        (node.winner, node.score) = (winner, score);
        self.take_seat(slot);
    }

    /// Adds a content to the losers of its winner.
    fn take_seat(&mut self, slot: Slot) {
        let winner = self.node(slot).winner;
        if winner != slot && winner != UNSETTLED {
            let losers = self.stars.entry(winner).or_default();
            losers.push(slot);
            let seat = losers.len() as u32 - 1;
            self.node_mut(slot).seat = seat;
        }
    }

    /// Removes a content from the losers of its winner.
    fn leave_seat(&mut self, slot: Slot) {
        let (winner, seat) = (self.node(slot).winner, self.node(slot).seat as usize);
        if winner == slot || winner == UNSETTLED {
            return;
        }
        let Some(losers) = self.stars.get_mut(&winner) else { return };
        losers.swap_remove(seat);
        let moved = losers.get(seat).copied();
        if losers.is_empty() {
            self.stars.remove(&winner);
        }
        if let Some(moved) = moved {
            self.node_mut(moved).seat = seat as u32;
        }
    }

    fn witness(&mut self, a: Slot, b: Slot, effect: &mut Effect) {
        self.restore_witness(a, b);
        let pair = (a.min(b), a.max(b));
        if !effect.forgotten.remove(&pair) {
            effect.witnessed.insert(pair);
        }
    }

    /// Drops the witnesses of a content that goes. Returns whether there were any.
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

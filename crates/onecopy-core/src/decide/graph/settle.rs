//! Settles winners after an edit. Open contents are settled best first; each can only unsettle worse ones, which
//! come later.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use super::{Edit, Effect, Graph, Lookup, Node, Slot, UNSETTLED, connect};

/// Up to this many winners of its group, an old content is compared with each instead of searching for candidates.
const FEW_WINNERS: usize = 16;
/// Up to this many members, a group is compared one by one instead of searching for candidates.
const FEW_MEMBERS: usize = 8;

pub(super) fn settle<L: Lookup>(graph: &mut Graph, edit: Edit, lookup: &mut L) -> Result<Effect, L::Error> {
    let inserted: HashSet<Slot> = edit.inserted.iter().map(|(slot, _)| *slot).collect();
    let mut settling = Settling {
        graph,
        lookup,
        inserted,
        open: BinaryHeap::new(),
        first_alike: HashMap::new(),
        verdicts: HashMap::new(),
        winners: HashMap::new(),
        loosened: Vec::new(),
        shaken: HashSet::new(),
        effect: Effect::default(),
    };
    for &slot in &edit.removed {
        settling.remove(slot);
    }
    for (slot, rank) in edit.inserted {
        settling.insert(slot, rank);
    }
    while let Some(slot) = settling.next_open() {
        settling.settle(slot)?;
    }
    connect::connect(settling)
}

/// An edit that is being settled.
pub(super) struct Settling<'a, L> {
    pub graph: &'a mut Graph,
    pub lookup: &'a mut L,
    pub inserted: HashSet<Slot>,
    /// Contents without a winner, best first.
    open: BinaryHeap<Reverse<(Box<[u8]>, Slot)>>,
    /// For an open content, the best alike content that this edit made stay, and the score.
    first_alike: HashMap<Slot, (Slot, u32)>,
    verdicts: HashMap<(Slot, Slot), Option<u32>>,
    /// For groups with open contents, the contents that stay or stayed.
    winners: HashMap<u64, Vec<Slot>>,
    /// Alike pairs that were loser and winner before.
    pub loosened: Vec<(Slot, Slot)>,
    /// Groups that lost a pair which may have held them together, or whose stars changed.
    pub shaken: HashSet<u64>,
    pub effect: Effect,
}

impl<L: Lookup> Settling<'_, L> {
    fn remove(&mut self, slot: Slot) {
        if self.graph.get(slot).is_none() {
            return;
        }
        let losers = if self.graph.stays(slot) { self.graph.losers(slot) } else { Vec::new() };
        let was_witness = self.graph.forget_witnesses(slot, &mut self.effect);
        if was_witness || !losers.is_empty() {
            self.shaken.insert(self.graph.node(slot).group);
        }
        self.effect.changed.extend(self.graph.leave(slot));
        self.graph.nodes[slot as usize] = None;
        self.effect.changed.insert(slot);
        for loser in losers {
            self.unsettle(loser);
        }
    }

    fn insert(&mut self, slot: Slot, rank: Box<[u8]>) {
        self.graph.make_room(slot);
        let group = self.graph.fresh_group();
        let node = Node { rank: rank.clone(), winner: UNSETTLED, score: 0, group, at: 0 };
        self.graph.nodes[slot as usize] = Some(node);
        self.effect.changed.insert(slot);
        self.open.push(Reverse((rank, slot)));
    }

    /// Removes the winner of a content and opens it.
    fn unsettle(&mut self, slot: Slot) {
        let node = self.graph.node_mut(slot);
        node.winner = UNSETTLED;
        self.open.push(Reverse((node.rank.clone(), slot)));
        self.effect.changed.insert(slot);
    }

    fn next_open(&mut self) -> Option<Slot> {
        while let Some(Reverse((rank, slot))) = self.open.pop() {
            // Skips a content that was removed after it was opened, even if it was inserted again.
            let meant = |node: &Node| node.winner == UNSETTLED && node.rank == rank;
            if self.graph.get(slot).is_some_and(meant) {
                return Some(slot);
            }
        }
        None
    }

    fn settle(&mut self, slot: Slot) -> Result<(), L::Error> {
        let (winner, score) = match self.winner(slot)? {
            Some(found) => found,
            None => (slot, 0),
        };
        let node = self.graph.node_mut(slot);
        (node.winner, node.score) = (winner, score);
        if winner != slot {
            return Ok(());
        }
        if let Some(winners) = self.winners.get_mut(&self.graph.node(slot).group) {
            winners.push(slot);
        }
        self.take_over(slot)
    }

    /// The best content that stays, is better, and is alike. All better contents are settled.
    fn winner(&mut self, slot: Slot) -> Result<Option<(Slot, u32)>, L::Error> {
        let known = self.first_alike.get(&slot).copied();
        let mut others = self.winners_beside(slot)?;
        others.retain(|&other| self.graph.is_better(other, slot) && self.graph.stays(other));
        if let Some((best, _)) = known {
            others.retain(|&other| self.graph.is_better(other, best));
        }
        others.sort_by(|&a, &b| self.graph.node(a).rank.cmp(&self.graph.node(b).rank));
        for other in others {
            if let Some(score) = self.verify(slot, other)? {
                return Ok(Some((other, score)));
            }
        }
        Ok(known)
    }

    /// Contents that include the winner, unless this edit made the winner stay.
    fn winners_beside(&mut self, slot: Slot) -> Result<Vec<Slot>, L::Error> {
        if self.inserted.contains(&slot) {
            return self.candidates(slot);
        }
        // An old content is alike only to contents of its group and to inserted ones, which are in `first_alike`.
        let (graph, group) = (&self.graph, self.graph.node(slot).group);
        let winners = self.winners.entry(group).or_insert_with(|| {
            graph.members_with(slot).into_iter().filter(|&other| graph.stays(other)).collect()
        });
        if winners.len() <= FEW_WINNERS { Ok(winners.clone()) } else { self.candidates(slot) }
    }

    /// Runs when a content newly stays: alike contents without a better winner lose to it.
    fn take_over(&mut self, slot: Slot) -> Result<(), L::Error> {
        let members = self.graph.group_size(slot);
        let others = match self.inserted.contains(&slot) || members > FEW_MEMBERS {
            true => self.candidates(slot)?,
            false => self.graph.members_with(slot),
        };
        for other in others {
            if self.graph.get(other).is_none() || !self.graph.is_better(slot, other) {
                continue;
            }
            let winner = self.graph.node(other).winner;
            let is_open = winner == UNSETTLED;
            if !is_open && !self.graph.is_better(slot, winner) && winner != other {
                continue;
            }
            if is_open && self.first_alike.contains_key(&other) {
                continue;
            }
            let Some(score) = self.verify(slot, other)? else { continue };
            if is_open {
                self.first_alike.insert(other, (slot, score));
            } else {
                self.lose(other, slot, score);
            }
        }
        Ok(())
    }

    /// Makes a settled content lose to one that is better than its winner.
    fn lose(&mut self, slot: Slot, winner: Slot, score: u32) {
        let before = self.graph.node(slot).winner;
        self.shaken.insert(self.graph.node(slot).group);
        if before == slot {
            for loser in self.graph.losers(slot) {
                self.loosened.push((loser, slot));
                self.unsettle(loser);
            }
        } else {
            self.loosened.push((slot, before));
        }
        let node = self.graph.node_mut(slot);
        (node.winner, node.score) = (winner, score);
        self.effect.changed.insert(slot);
    }

    pub(super) fn candidates(&mut self, slot: Slot) -> Result<Vec<Slot>, L::Error> {
        let mut found = self.lookup.candidates(slot)?;
        found.retain(|&other| other != slot && self.graph.get(other).is_some());
        Ok(found)
    }

    pub(super) fn verify(&mut self, a: Slot, b: Slot) -> Result<Option<u32>, L::Error> {
        let pair = (a.min(b), a.max(b));
        if let Some(&known) = self.verdicts.get(&pair) {
            return Ok(known);
        }
        let verdict = self.lookup.verify(pair.0, pair.1)?;
        self.verdicts.insert(pair, verdict);
        Ok(verdict)
    }
}

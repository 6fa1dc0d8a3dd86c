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
        former: HashMap::new(),
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
    /// The open contents that lost to a content before the edit. A search may name only that content.
    former: HashMap<Slot, Vec<Slot>>,
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
        let losers = self.graph.losers_of(slot).to_vec();
        let was_witness = self.graph.forget_witnesses(slot, &mut self.effect);
        if was_witness || !losers.is_empty() {
            self.shaken.insert(self.graph.node(slot).group);
        }
        self.effect.changed.extend(self.graph.leave(slot));
        self.graph.leave_seat(slot);
        self.graph.nodes[slot as usize] = None;
        self.effect.changed.insert(slot);
        for loser in losers {
            self.unsettle(loser);
        }
    }

    fn insert(&mut self, slot: Slot, rank: Box<[u8]>) {
        self.graph.make_room(slot);
        let group = self.graph.fresh_group();
        let node = Node { rank: rank.clone(), winner: UNSETTLED, score: 0, group, at: 0, seat: 0 };
        self.graph.nodes[slot as usize] = Some(node);
        self.effect.changed.insert(slot);
        self.open.push(Reverse((rank, slot)));
    }

    /// Removes the winner of a content and opens it.
    fn unsettle(&mut self, slot: Slot) {
        let before = self.graph.node(slot).winner;
        self.former.entry(before).or_default().push(slot);
        self.graph.set_winner(slot, UNSETTLED, 0);
        self.open.push(Reverse((self.graph.node(slot).rank.clone(), slot)));
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
        self.crown(slot, winner)?;
        self.graph.set_winner(slot, winner, score);
        self.lookup.settled(slot, winner)?;
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
            return self.staying_hits(slot);
        }
        // An old content is alike only to contents of its group and to inserted ones, which are in `first_alike`.
        let (graph, group) = (&self.graph, self.graph.node(slot).group);
        let winners = self.winners.entry(group).or_insert_with(|| {
            graph.members_with(slot).into_iter().filter(|&other| graph.stays(other)).collect()
        });
        if winners.len() <= FEW_WINNERS { Ok(winners.clone()) } else { self.staying_hits(slot) }
    }

    /// The contents that stay and may be alike. Searches name all of these themselves.
    fn staying_hits(&mut self, slot: Slot) -> Result<Vec<Slot>, L::Error> {
        let hits = self.lookup.hits(slot)?.into_iter().filter(|hit| hit.may && hit.slot != slot);
        let stays = |other: &Slot| self.graph.get(*other).is_some() && self.graph.stays(*other);
        Ok(hits.map(|hit| hit.slot).filter(stays).collect())
    }

    /// The contents that may be alike and that a content which newly stays may take over.
    fn within_reach(&mut self, slot: Slot) -> Result<Vec<Slot>, L::Error> {
        let hits = self.lookup.hits(slot)?;
        let mut others: Vec<Slot> = hits.iter().filter(|hit| hit.may).map(|hit| hit.slot).collect();
        // Another content may have had this slot before the edit.
        for centre in hits.into_iter().map(|hit| hit.slot).chain([slot]) {
            // The losers of a better content keep it as their winner.
            if self.graph.get(centre).is_some() && self.graph.is_better(slot, centre) {
                let losers = self.graph.scored_losers(centre);
                others.extend(self.sifted(slot, Some(centre), losers)?);
            }
            if let Some(former) = self.former.get_mut(&centre) {
                let graph = &self.graph;
                former.retain(|&other| graph.get(other).is_some_and(|node| node.winner == UNSETTLED));
                let losers = former.iter().map(|&other| (other, 0)).collect();
                others.extend(self.sifted(slot, None, losers)?);
            }
        }
        others.sort_unstable();
        others.dedup();
        others.retain(|&other| other != slot);
        Ok(others)
    }

    /// The losers that may be alike to a content.
    fn sifted(
        &mut self,
        slot: Slot,
        centre: Option<Slot>,
        mut losers: Vec<(Slot, u32)>,
    ) -> Result<impl Iterator<Item = Slot> + use<L>, L::Error> {
        self.lookup.sift(slot, centre, &mut losers)?;
        Ok(losers.into_iter().map(|(loser, _)| loser))
    }

    /// Runs when a content newly stays: alike contents without a better winner lose to it.
    fn take_over(&mut self, slot: Slot) -> Result<(), L::Error> {
        let members = self.graph.group_size(slot);
        let others = match self.inserted.contains(&slot) || members > FEW_MEMBERS {
            true => self.within_reach(slot)?,
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
                self.lose(other, slot, score)?;
            }
        }
        Ok(())
    }

    /// Makes a settled content lose to one that is better than its winner.
    fn lose(&mut self, slot: Slot, winner: Slot, score: u32) -> Result<(), L::Error> {
        let before = self.graph.node(slot).winner;
        self.shaken.insert(self.graph.node(slot).group);
        if before == slot {
            for loser in self.graph.losers_of(slot).to_vec() {
                self.loosened.push((loser, slot));
                self.unsettle(loser);
            }
        } else {
            self.loosened.push((slot, before));
        }
        self.crown(slot, winner)?;
        self.graph.set_winner(slot, winner, score);
        self.effect.changed.insert(slot);
        self.lookup.settled(slot, winner)
    }

    /// Tells of a winner that has no loser yet.
    fn crown(&mut self, slot: Slot, winner: Slot) -> Result<(), L::Error> {
        let is_first = winner != slot && self.graph.losers_of(winner).is_empty();
        if is_first { self.lookup.crowned(winner) } else { Ok(()) }
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

//! Which contents are in one group, after an edit.
//!
//! Groups that the edit did not shake stay as they are. Shaken groups are joined again from their stars and
//! witnesses. Only if that leaves more than one piece does it search for pairs between the pieces.

use std::collections::{BTreeSet, HashMap};

use super::settle::Settling;
use super::{Effect, Graph, Hit, Lookup, Slot};

pub(super) fn connect<L: Lookup>(settling: Settling<L>) -> Result<Effect, L::Error> {
    let mut connecting = Connecting { settling, parent: HashMap::new() };
    let shaken = connecting.shaken_members();
    for &slot in shaken.values().flatten() {
        connecting.join_star(slot);
    }
    for slot in connecting.inserted() {
        connecting.join_star(slot);
    }
    connecting.join_loosened();
    for slot in connecting.inserted() {
        connecting.join_alike(slot, |_, _| true)?;
    }
    for members in shaken.values() {
        connecting.join_pieces(members)?;
    }
    connecting.number(&shaken);
    Ok(connecting.settling.effect)
}

/// Groups that are being joined.
struct Connecting<'a, L> {
    settling: Settling<'a, L>,
    /// Union-find over contents. Contents that are not in it stand for themselves.
    parent: HashMap<Slot, Slot>,
}

impl<L: Lookup> Connecting<'_, L> {
    fn graph(&mut self) -> &mut Graph {
        self.settling.graph
    }

    fn inserted(&self) -> Vec<Slot> {
        let mut inserted: Vec<Slot> = self.settling.inserted.iter().copied().collect();
        inserted.sort_unstable();
        inserted
    }

    /// The remaining contents of shaken groups.
    fn shaken_members(&mut self) -> HashMap<u64, Vec<Slot>> {
        let graph = &self.settling.graph;
        let mut left: HashMap<u64, Vec<Slot>> = HashMap::new();
        for &group in &self.settling.shaken {
            if let Some(members) = graph.members.get(&group) {
                left.insert(group, members.clone());
            }
        }
        // A group with a single member left has no list.
        for &slot in &self.settling.effect.changed {
            let Some(node) = graph.get(slot) else { continue };
            if self.settling.shaken.contains(&node.group) && !left.contains_key(&node.group) {
                left.insert(node.group, vec![slot]);
            }
        }
        left
    }

    /// The content that stands for all contents known to be in the same piece.
    fn piece(&mut self, slot: Slot) -> Slot {
        let mut at = self.anchor(slot);
        while let Some(&up) = self.parent.get(&at) {
            let further = self.parent.get(&up).copied().unwrap_or(up);
            if further != up {
                self.parent.insert(at, further);
            }
            at = up;
        }
        at
    }

    /// A content that stands for its whole group, if nothing shook the group.
    fn anchor(&self, slot: Slot) -> Slot {
        let (graph, group) = (&self.settling.graph, self.settling.graph.node(slot).group);
        match graph.members.get(&group) {
            Some(members) if !self.settling.shaken.contains(&group) => members[0],
            _ => slot,
        }
    }

    /// Joins the pieces of two contents. Returns whether they were separate.
    fn join(&mut self, a: Slot, b: Slot) -> bool {
        let (a, b) = (self.piece(a), self.piece(b));
        if a != b {
            self.parent.insert(a.max(b), a.min(b));
        }
        a != b
    }

    /// Joins a content with its winner and its witnesses.
    fn join_star(&mut self, slot: Slot) {
        let winner = self.graph().node(slot).winner;
        self.join(slot, winner);
        let others = self.graph().witnesses.get(&slot).cloned().unwrap_or_default();
        for other in others {
            self.join(slot, other);
        }
    }

    /// Joins pairs that were loser and winner before: they may now hold stars together.
    fn join_loosened(&mut self) {
        for (a, b) in std::mem::take(&mut self.settling.loosened) {
            // One of them may have been removed, and another content may have taken its slot.
            let is_old = |slot: Slot| {
                !self.settling.inserted.contains(&slot) && self.settling.graph.get(slot).is_some()
            };
            if is_old(a) && is_old(b) && self.join(a, b) {
                self.settling.graph.witness(a, b, &mut self.settling.effect);
            }
        }
    }

    /// Joins a content with all contents that are alike and that `wanted` accepts. Those that stay come first: one
    /// of them often joins all that lost to it.
    fn join_alike(&mut self, slot: Slot, wanted: impl Fn(&Graph, Slot) -> bool) -> Result<(), L::Error> {
        let mut hits = self.settling.lookup.hits(slot)?;
        let graph = &self.settling.graph;
        hits.retain(|hit| hit.slot != slot && graph.get(hit.slot).is_some());
        hits.sort_by_key(|hit| !graph.stays(hit.slot));
        for hit in hits.iter().filter(|hit| hit.may) {
            self.join_if_alike(slot, hit.slot, &wanted)?;
        }
        for Hit { slot: centre, .. } in hits {
            // All losers of a content are in its piece.
            if self.graph().losers_of(centre).is_empty() || self.piece(slot) == self.piece(centre) {
                continue;
            }
            let mut losers = self.graph().scored_losers(centre);
            self.settling.lookup.sift(slot, Some(centre), &mut losers)?;
            for (loser, _) in losers {
                self.join_if_alike(slot, loser, &wanted)?;
            }
        }
        Ok(())
    }

    fn join_if_alike(
        &mut self,
        slot: Slot,
        other: Slot,
        wanted: impl Fn(&Graph, Slot) -> bool,
    ) -> Result<(), L::Error> {
        let is_joined = slot == other || self.piece(slot) == self.piece(other);
        if !is_joined && wanted(self.settling.graph, other) && self.settling.verify(slot, other)?.is_some() {
            self.join(slot, other);
            self.settling.graph.witness(slot, other, &mut self.settling.effect);
        }
        Ok(())
    }

    /// Searches for pairs between the pieces of a former group. One side of such a pair is not in the largest piece.
    fn join_pieces(&mut self, members: &[Slot]) -> Result<(), L::Error> {
        let pieces: Vec<(Slot, Slot)> = members.iter().map(|&slot| (self.piece(slot), slot)).collect();
        let mut sizes: HashMap<Slot, usize> = HashMap::new();
        pieces.iter().for_each(|(piece, _)| *sizes.entry(*piece).or_default() += 1);
        if sizes.len() < 2 {
            return Ok(());
        }
        let largest = sizes.iter().map(|(&piece, &size)| (size, piece)).max().map(|(_, piece)| piece);
        let group = self.graph().node(members[0]).group;
        for (_, slot) in pieces.into_iter().filter(|(piece, _)| Some(*piece) != largest) {
            self.join_alike(slot, |graph, other| graph.node(other).group == group)?;
        }
        Ok(())
    }

    /// Gives every piece its number: that of the largest group of which it has the best content.
    fn number(&mut self, shaken: &HashMap<u64, Vec<Slot>>) {
        let mut pieces: HashMap<Slot, BTreeSet<Slot>> = HashMap::new();
        let loose: Vec<Slot> = shaken.values().flatten().copied().chain(self.inserted()).collect();
        let joined: Vec<Slot> = self.parent.keys().copied().collect();
        for slot in loose.into_iter().chain(joined) {
            pieces.entry(self.piece(slot)).or_default().insert(slot);
        }
        let mut owners: HashMap<u64, Slot> = HashMap::new();
        for (&group, members) in shaken {
            let graph = &self.settling.graph;
            let best = members.iter().copied().min_by(|&a, &b| graph.node(a).rank.cmp(&graph.node(b).rank));
            owners.insert(group, self.piece(best.expect("a group has members")));
        }
        let groups: Vec<(u64, Vec<u64>, BTreeSet<Slot>)> =
            pieces.into_iter().map(|(piece, slots)| self.named(piece, slots, &owners)).collect();
        for group in shaken.keys() {
            self.graph().members.remove(group);
        }
        for (group, whole, slots) in groups {
            self.gather(group, &whole, slots);
        }
    }

    /// The number of a piece, the whole groups in it, and its other contents.
    fn named(
        &mut self,
        piece: Slot,
        slots: BTreeSet<Slot>,
        owners: &HashMap<u64, Slot>,
    ) -> (u64, Vec<u64>, BTreeSet<Slot>) {
        let settling = &self.settling;
        let is_loose = |&slot: &Slot| {
            let group = settling.graph.node(slot).group;
            settling.shaken.contains(&group) || !settling.graph.members.contains_key(&group)
        };
        let anchors = slots.iter().chain([&piece]).filter(|slot| !is_loose(slot));
        let whole: BTreeSet<u64> = anchors.map(|&slot| settling.graph.node(slot).group).collect();
        let loose: BTreeSet<Slot> = slots.iter().chain([&piece]).copied().filter(is_loose).collect();
        let size = |group: u64| settling.graph.members.get(&group).map_or(1, Vec::len);
        let owned = loose.iter().map(|&slot| settling.graph.node(slot).group);
        let owned = owned.filter(|group| owners.get(group).is_none_or(|&owner| owner == piece));
        let best =
            owned.chain(whole.iter().copied()).max_by_key(|&group| (size(group), std::cmp::Reverse(group)));
        let group = best.unwrap_or_else(|| self.settling.graph.fresh_group());
        (group, whole.into_iter().collect(), loose)
    }

    /// Merges contents and whole groups into one group.
    fn gather(&mut self, group: u64, whole: &[u64], loose: BTreeSet<Slot>) {
        let Settling { graph, effect, .. } = &mut self.settling;
        let mut members: Vec<Slot> = Vec::new();
        if whole.contains(&group) {
            members = graph.members.remove(&group).unwrap_or_default();
        }
        let from = members.len();
        for other in whole.iter().filter(|other| **other != group) {
            members.extend(graph.members.remove(other).unwrap_or_default());
        }
        members.extend(loose);
        effect.changed.extend(&members[from..]);
        // Earlier members already have their positions.
        for (at, &slot) in members.iter().enumerate().skip(from) {
            let node = graph.node_mut(slot);
            (node.group, node.at) = (group, at as u32);
        }
        if members.len() > 1 {
            graph.members.insert(group, members);
        } else {
            graph.members.remove(&group);
        }
    }
}

//! Whether a graph is right: each content is compared again with all that it may be alike to.
//!
//! The winners are right if each content lost to the best content that stays, is better and is alike, and if a content
//! without such a winner stays. The groups are right if known pairs join each group and no pair joins two.

use std::collections::HashMap;

use super::{Graph, Lookup, Slot};

/// What is wrong with a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It should have another winner, or none.
    Winner,
    /// It should be in another group.
    Group,
}

pub(super) fn audit<L: Lookup>(
    graph: &Graph,
    lookup: &mut L,
    report: &mut dyn FnMut(Slot, Fault),
) -> Result<(), L::Error> {
    for slot in graph.slots() {
        let mut hits: Vec<Slot> = Vec::new();
        let mut centres: Vec<Slot> = Vec::new();
        for hit in lookup.hits(slot)? {
            if hit.slot != slot && graph.get(hit.slot).is_some() {
                hits.extend(hit.may.then_some(hit.slot));
                centres.extend((!graph.losers_of(hit.slot).is_empty()).then_some(hit.slot));
            }
        }
        if !has_its_winner(graph, lookup, slot, &hits)? {
            report(slot, Fault::Winner);
        }
        if is_alike_to_another_group(graph, lookup, slot, hits, centres)? {
            report(slot, Fault::Group);
        }
    }
    unjoined(graph, lookup)?.into_iter().for_each(|slot| report(slot, Fault::Group));
    Ok(())
}

/// Whether the winner of a content is alike, and no better content that stays is.
fn has_its_winner<L: Lookup>(
    graph: &Graph,
    lookup: &mut L,
    slot: Slot,
    hits: &[Slot],
) -> Result<bool, L::Error> {
    let node = graph.node(slot);
    let winner = node.winner;
    if winner != slot {
        let stays = graph.get(winner).is_some_and(|other| other.winner == winner && other.rank < node.rank);
        if !stays || lookup.verify(slot, winner)? != Some(node.score) {
            return Ok(false);
        }
    }
    for &other in hits {
        let is_better = graph.stays(other) && graph.is_better(other, winner);
        if is_better && lookup.verify(slot, other)?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_alike_to_another_group<L: Lookup>(
    graph: &Graph,
    lookup: &mut L,
    slot: Slot,
    hits: Vec<Slot>,
    centres: Vec<Slot>,
) -> Result<bool, L::Error> {
    let is_elsewhere = |other: &Slot| graph.node(*other).group != graph.node(slot).group;
    let mut others = hits;
    for centre in centres.into_iter().filter(is_elsewhere) {
        let mut losers = graph.scored_losers(centre);
        lookup.sift(slot, Some(centre), &mut losers)?;
        others.extend(losers.into_iter().map(|(loser, _)| loser));
    }
    for other in others.into_iter().filter(is_elsewhere) {
        if lookup.verify(slot, other)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The contents that no known pair joins with the rest of their group.
fn unjoined<L: Lookup>(graph: &Graph, lookup: &mut L) -> Result<Vec<Slot>, L::Error> {
    let mut parents: HashMap<Slot, Slot> = HashMap::new();
    let mut join = |a: Slot, b: Slot| {
        let (a, b) = (root(&parents, a), root(&parents, b));
        if a != b {
            parents.insert(a.max(b), a.min(b));
        }
    };
    for slot in graph.slots() {
        join(slot, graph.node(slot).winner);
        for &other in graph.witnesses.get(&slot).into_iter().flatten().filter(|&&other| other > slot) {
            if graph.get(other).is_some() && lookup.verify(slot, other)?.is_some() {
                join(slot, other);
            }
        }
    }
    let (mut groups, mut apart) = (HashMap::new(), Vec::new());
    for slot in graph.slots() {
        let piece = root(&parents, slot);
        let first = *groups.entry(graph.node(slot).group).or_insert(piece);
        apart.extend((first != piece).then_some(slot));
    }
    Ok(apart)
}

fn root(parents: &HashMap<Slot, Slot>, mut slot: Slot) -> Slot {
    while let Some(&up) = parents.get(&slot) {
        slot = up;
    }
    slot
}

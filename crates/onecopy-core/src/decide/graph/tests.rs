//! After any edits, a graph equals one that is made at once.

use proptest::prelude::*;

use super::*;

/// Points on a line are alike if they are at most `REACH` apart, which makes stars, chains and bridges.
const REACH: i32 = 4;

/// Finds near points. It names a loser only through its winner, unless its number is a multiple of `NAMED`.
struct Line<'a> {
    points: &'a HashMap<Slot, i32>,
    /// The winner of each content, as it was settled.
    winners: &'a mut HashMap<Slot, Slot>,
    compared: usize,
}

const NAMED: Slot = 5;

impl Lookup for Line<'_> {
    type Error = std::convert::Infallible;

    fn hits(&mut self, slot: Slot) -> Result<Vec<Hit>, Self::Error> {
        let own = self.points[&slot];
        let near = |other: &i32| (own - other).abs() <= REACH + 3;
        let mut hits = Vec::new();
        for (&other, _) in self.points.iter().filter(|(_, at)| near(at)) {
            let Some(&winner) = self.winners.get(&other) else { continue };
            let named = if other % NAMED == 0 { other } else { winner };
            let at = self.points.get(&named);
            hits.push(Hit { slot: named, may: at.is_some_and(near) });
        }
        hits.sort_unstable_by_key(|hit| hit.slot);
        // Unused numbers may still be found.
        hits.extend([77, 1_000].map(|slot| Hit { slot, may: true }));
        hits.retain(|hit| hit.slot != slot);
        Ok(hits)
    }

    fn verify(&mut self, a: Slot, b: Slot) -> Result<Option<u32>, Self::Error> {
        self.compared += 1;
        let apart = (self.points[&a] - self.points[&b]).abs();
        Ok((apart <= REACH).then_some(100 - apart as u32))
    }

    fn settled(&mut self, slot: Slot, winner: Slot) -> Result<(), Self::Error> {
        self.winners.insert(slot, winner);
        Ok(())
    }
}

/// For each content its winner, its score and the contents of its group, from all pairs by definition.
type Answer = HashMap<Slot, (Slot, u32, BTreeSet<Slot>)>;

fn obvious(points: &HashMap<Slot, i32>, ranks: &HashMap<Slot, u8>) -> Answer {
    let mut order: Vec<Slot> = points.keys().copied().collect();
    order.sort_by_key(|slot| (ranks[slot], *slot));
    let alike = |a: Slot, b: Slot| (points[&a] - points[&b]).abs() <= REACH;
    let mut kept: Vec<Slot> = Vec::new();
    let mut answer = Answer::new();
    for &slot in &order {
        let winner = kept.iter().copied().find(|&winner| alike(slot, winner));
        let score = winner.map_or(0, |winner| 100 - (points[&slot] - points[&winner]).unsigned_abs());
        if winner.is_none() {
            kept.push(slot);
        }
        let mut group = BTreeSet::from([slot]);
        loop {
            let near = |other: &&Slot| group.iter().any(|&member| alike(member, **other));
            let more: BTreeSet<Slot> = order.iter().filter(near).copied().collect();
            if more == group {
                break;
            }
            group = more;
        }
        answer.insert(slot, (winner.unwrap_or(slot), score, group));
    }
    answer
}

fn found(graph: &Graph) -> Answer {
    let of = |slot| {
        let node = graph.node(slot);
        (slot, (node.winner, node.score, graph.members_with(slot).into_iter().collect()))
    };
    graph.slots().map(of).collect()
}

fn rank(place: u8, slot: Slot) -> Box<[u8]> {
    let mut rank = vec![place];
    rank.extend(slot.to_be_bytes());
    rank.into()
}

/// Makes a graph again from its stored form.
fn restored(graph: &Graph) -> Graph {
    let mut copy = Graph::default();
    for slot in graph.slots() {
        let node = graph.node(slot);
        let Node { rank, winner, score, group, .. } = node.clone();
        copy.restore(slot, Restored { rank, winner, score, group });
    }
    for (&a, others) in &graph.witnesses {
        others.iter().for_each(|&b| copy.restore_witness(a, b));
    }
    copy.restored(graph.last_group());
    copy
}

/// A change of a content: removed, or at a point with a rank.
type Step = (Slot, Option<(i32, u8)>);

fn check(batches: Vec<Vec<Step>>) {
    let (mut points, mut ranks, mut graph) = (HashMap::new(), HashMap::new(), Graph::default());
    let mut winners: HashMap<Slot, Slot> = HashMap::new();
    for batch in batches {
        let before: HashMap<Slot, Node> =
            graph.slots().map(|slot| (slot, graph.node(slot).clone())).collect();
        let last: HashMap<Slot, Option<(i32, u8)>> = batch.into_iter().collect();
        let mut edit = Edit::default();
        for (slot, change) in last {
            if points.remove(&slot).is_some() {
                edit.removed.push(slot);
            }
            if let Some((point, place)) = change {
                points.insert(slot, point);
                ranks.insert(slot, place);
                edit.inserted.push((slot, rank(place, slot)));
            }
        }
        // A content that is there again has no winner until it is settled.
        winners.retain(|slot, _| edit.inserted.iter().all(|(inserted, _)| inserted != slot));
        let mut lookup = Line { points: &points, winners: &mut winners, compared: 0 };
        let effect = graph.apply(edit, &mut lookup).unwrap();
        assert_eq!(found(&graph), obvious(&points, &ranks));
        graph.audit(&mut lookup, &mut |slot, fault| panic!("{slot}: {fault:?}")).unwrap();
        for slot in graph.slots() {
            let (node, was) = (graph.node(slot), before.get(&slot));
            let same = was.is_some_and(|was| {
                (was.winner, was.score, was.group) == (node.winner, node.score, node.group)
            });
            assert!(same || effect.changed.contains(&slot), "a change of {slot} is told");
            let own = graph.slots().filter(|&other| graph.node(other).group == node.group).count();
            assert_eq!(own, graph.group_size(slot), "no two groups have one number");
        }
        let size: usize = graph.witnesses.values().map(BTreeSet::len).sum();
        assert!(size <= 4 * points.len(), "{size} witnesses for {} contents", points.len());
        let copy = restored(&graph);
        assert_eq!(found(&copy), found(&graph));
        graph = copy;
    }
}

fn step() -> impl Strategy<Value = Step> {
    (0u32..24, prop::option::weighted(0.7, (0i32..60, 0u8..6)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn edits_end_where_a_batch_would(batches in prop::collection::vec(prop::collection::vec(step(), 1..12), 1..12)) {
        check(batches);
    }

    #[test]
    fn crowded_contents_too(batches in prop::collection::vec(
        prop::collection::vec((0u32..60, prop::option::weighted(0.8, (0i32..40, 0u8..60))), 1..30), 1..6)
    ) {
        check(batches);
    }
}

/// Applies an edit. Says how many pairs were compared.
fn apply(
    graph: &mut Graph,
    points: &HashMap<Slot, i32>,
    winners: &mut HashMap<Slot, Slot>,
    edit: Edit,
) -> usize {
    winners.retain(|slot, _| edit.inserted.iter().all(|(inserted, _)| inserted != slot));
    let mut lookup = Line { points, winners, compared: 0 };
    graph.apply(edit, &mut lookup).unwrap();
    lookup.compared
}

#[test]
fn a_bridge_that_goes_splits_a_group_and_the_best_keeps_its_number() {
    let mut points = HashMap::from([(0, 0), (1, 4), (2, 8)]);
    let (mut graph, mut winners) = (Graph::default(), HashMap::new());
    let inserted = (0..3).map(|slot| (slot, rank(slot as u8, slot))).collect();
    apply(&mut graph, &points, &mut winners, Edit { inserted, ..Edit::default() });
    assert_eq!(graph.group_size(0), 3);
    let group = graph.node(0).group;
    points.remove(&1);
    apply(&mut graph, &points, &mut winners, Edit { removed: vec![1], ..Edit::default() });
    assert_eq!((graph.group_size(0), graph.group_size(2)), (1, 1));
    assert_eq!(graph.node(0).group, group);
    assert_ne!(graph.node(2).group, group);
}

/// How many pairs are compared for each of `count` copies: when all are inserted in batches, when all are replaced, and
/// when the best goes.
fn comparisons(count: u32) -> [usize; 3] {
    let (mut graph, mut points, mut winners) = (Graph::default(), HashMap::new(), HashMap::new());
    let each = |compared: usize| compared.div_ceil(count as usize);
    let slots: Vec<Slot> = (0..count).collect();
    let mut change = |graph: &mut Graph, again: bool| {
        let mut compared = 0;
        for some in slots.chunks(40) {
            points.extend(some.iter().map(|&slot| (slot, (slot % 2) as i32)));
            let inserted = some.iter().map(|&slot| (slot, rank(0, slot))).collect();
            let removed = if again { some.to_vec() } else { Vec::new() };
            compared += apply(graph, &points, &mut winners, Edit { removed, inserted });
        }
        compared
    };
    let (inserted, replaced) = (change(&mut graph, false), change(&mut graph, true));
    points.remove(&0);
    let gone = apply(&mut graph, &points, &mut winners, Edit { removed: vec![0], ..Edit::default() });
    assert_eq!(graph.group_size(1), count as usize - 1);
    [each(inserted), each(replaced), each(gone)]
}

#[test]
fn a_copy_costs_as_many_comparisons_among_many_as_among_few() {
    let few = comparisons(160);
    assert_eq!(comparisons(640), few);
    assert!(few.iter().all(|&compared| compared <= 3), "{few:?}");
}

#[test]
fn an_audit_finds_a_wrong_winner_and_a_wrong_group() {
    let points = HashMap::from([(0, 0), (1, 4), (2, 8), (3, 40), (4, 41)]);
    let (mut graph, mut winners) = (Graph::default(), HashMap::new());
    let inserted = (0..5).map(|slot| (slot, rank(slot as u8, slot))).collect();
    apply(&mut graph, &points, &mut winners, Edit { inserted, ..Edit::default() });
    let faults = |graph: &Graph, winners: &mut HashMap<Slot, Slot>| {
        let mut faults = Vec::new();
        let mut lookup = Line { points: &points, winners, compared: 0 };
        graph.audit(&mut lookup, &mut |slot, fault| faults.push((slot, fault))).unwrap();
        faults
    };
    assert_eq!(faults(&graph, &mut winners), []);
    graph.set_winner(4, 4, 0);
    assert!(faults(&graph, &mut winners).contains(&(4, Fault::Winner)));
    graph.set_winner(4, 3, 99);
    graph.node_mut(2).group = 77;
    assert!(faults(&graph, &mut winners).contains(&(2, Fault::Group)));
}

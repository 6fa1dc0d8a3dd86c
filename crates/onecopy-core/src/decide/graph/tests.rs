//! After any edits, a graph equals one that is made at once.

use proptest::prelude::*;

use super::*;

/// Points on a line are alike if they are at most `REACH` apart, which makes stars, chains and bridges.
const REACH: i32 = 4;

struct Line<'a> {
    points: &'a HashMap<Slot, i32>,
}

impl Lookup for Line<'_> {
    type Error = std::convert::Infallible;

    fn candidates(&mut self, slot: Slot) -> Result<Vec<Slot>, Self::Error> {
        let own = self.points[&slot];
        let near = |other: &i32| (own - other).abs() <= REACH + 3;
        let mut near: Vec<Slot> =
            self.points.iter().filter(|(_, at)| near(at)).map(|(&slot, _)| slot).collect();
        near.sort_unstable();
        // Unused numbers may still be found.
        near.extend([77, 1_000]);
        near.retain(|&other| other != slot);
        Ok(near)
    }

    fn verify(&mut self, a: Slot, b: Slot) -> Result<Option<u32>, Self::Error> {
        let apart = (self.points[&a] - self.points[&b]).abs();
        Ok((apart <= REACH).then_some(100 - apart as u32))
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
        let effect = graph.apply(edit, &mut Line { points: &points }).unwrap();
        assert_eq!(found(&graph), obvious(&points, &ranks));
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

#[test]
fn a_bridge_that_goes_splits_a_group_and_the_best_keeps_its_number() {
    let mut points = HashMap::from([(0, 0), (1, 4), (2, 8)]);
    let mut graph = Graph::default();
    let inserted = (0..3).map(|slot| (slot, rank(slot as u8, slot))).collect();
    graph.apply(Edit { inserted, ..Edit::default() }, &mut Line { points: &points }).unwrap();
    assert_eq!(graph.group_size(0), 3);
    let group = graph.node(0).group;
    points.remove(&1);
    let edit = Edit { removed: vec![1], ..Edit::default() };
    graph.apply(edit, &mut Line { points: &points }).unwrap();
    assert_eq!((graph.group_size(0), graph.group_size(2)), (1, 1));
    assert_eq!(graph.node(0).group, group);
    assert_ne!(graph.node(2).group, group);
}

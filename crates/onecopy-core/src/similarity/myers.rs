//! The shortest edit script of two sequences, and with it their longest common subsequence (Myers 1986).
//!
//! It is greedy: for D = 0, 1, 2, … it finds how far D edits reach on each diagonal, from both ends at once, until
//! the two meet. It takes time proportional to (|A| + |B|) · D, and memory for D. It gives up if more edits than a
//! bound are needed.

/// The gapless runs of a longest common subsequence of `a` and `b`, in order, with their places in both. `None` if
/// the two are more than `most` edits apart. The choice among several longest ones depends only on `a` and `b`.
pub(crate) fn common(a: &[u32], b: &[u32], most: usize) -> Option<Vec<CommonRun>> {
    let mut reach = ReachedDiagonals::default();
    let mut runs = Vec::new();
    reach.common(a, b, (0, 0), most, &mut runs).then_some(runs)
}

/// Elements that two sequences share without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommonRun {
    /// Where they begin in the first.
    pub a: usize,
    /// Where they begin in the second.
    pub b: usize,
    /// How many there are.
    pub length: usize,
}

/// Where the paths from both ends meet: a run in the middle of a shortest script, and the length of that script.
struct Middle {
    run: CommonRun,
    edits: usize,
}

/// How far each diagonal is reached from the front and from the back.
#[derive(Default)]
struct ReachedDiagonals {
    front: Diagonals,
    back: Diagonals,
}

/// The furthest position in the first sequence on each diagonal from -`radius` to `radius`. Diagonal k pairs the
/// positions x and x - k.
#[derive(Default)]
struct Diagonals {
    places: Vec<i32>,
    radius: isize,
}

/// The position of a diagonal that is not reached.
const NOWHERE: i32 = -1;

impl Diagonals {
    fn start(&mut self, rounds: usize) {
        self.radius = rounds as isize + 1;
        self.places.clear();
        self.places.resize(2 * rounds + 3, NOWHERE);
        // The first round steps from here to the origin.
        self.set(1, 0);
    }

    #[inline]
    fn at(&self, diagonal: isize) -> i32 {
        self.places[(diagonal + self.radius) as usize]
    }

    #[inline]
    fn set(&mut self, diagonal: isize, place: i32) {
        self.places[(diagonal + self.radius) as usize] = place;
    }

    /// Where one more edit leads on `diagonal`, from the neighbour that leads further, in sequences of these
    /// lengths.
    #[inline]
    fn step(&self, diagonal: isize, lengths: (usize, usize)) -> Option<(usize, usize)> {
        let (deleted, inserted) = (self.at(diagonal - 1), self.at(diagonal + 1));
        let deleted = if deleted < lengths.0 as i32 && deleted != NOWHERE { deleted + 1 } else { NOWHERE };
        let inserted = if inserted as isize - diagonal <= lengths.1 as isize { inserted } else { NOWHERE };
        let x = deleted.max(inserted);
        (x != NOWHERE).then(|| (x as usize, (x as isize - diagonal) as usize))
    }
}

impl ReachedDiagonals {
    /// Appends the runs of `a` and `b`, which begin at `offset` of the whole. `false` if they are more than `most`
    /// edits apart. The recursion halves the number of edits, which bounds its depth.
    fn common(
        &mut self,
        a: &[u32],
        b: &[u32],
        offset: (usize, usize),
        most: usize,
        runs: &mut Vec<CommonRun>,
    ) -> bool {
        let head = shared(a.iter().zip(b));
        let (a, b, offset) = (&a[head..], &b[head..], (offset.0 + head, offset.1 + head));
        push(runs, CommonRun { a: offset.0 - head, b: offset.1 - head, length: head });
        let tail = shared(a.iter().rev().zip(b.iter().rev()));
        let (a, b) = (&a[..a.len() - tail], &b[..b.len() - tail]);
        if a.is_empty() || b.is_empty() {
            if a.len() + b.len() > most {
                return false;
            }
        } else {
            // Both begin and end differently, so there are at least two edits, and each side of the middle has at
            // least one.
            let Some(Middle { run, edits }) = self.middle(a, b, most) else { return false };
            let half = edits.div_ceil(2);
            self.common(&a[..run.a], &b[..run.b], offset, half, runs);
            push(runs, CommonRun { a: offset.0 + run.a, b: offset.1 + run.b, length: run.length });
            let (x, y) = (run.a + run.length, run.b + run.length);
            self.common(&a[x..], &b[y..], (offset.0 + x, offset.1 + y), half, runs);
        }
        push(runs, CommonRun { a: offset.0 + a.len(), b: offset.1 + b.len(), length: tail });
        true
    }

    /// Where a shortest script is halved. `None` if it has more than `most` edits.
    fn middle(&mut self, a: &[u32], b: &[u32], most: usize) -> Option<Middle> {
        let delta = a.len() as isize - b.len() as isize;
        // Deleting all and inserting all is always a script. Every script has at least as many edits as the lengths
        // differ.
        let most = most.min(a.len() + b.len());
        if delta.unsigned_abs() > most {
            return None;
        }
        let rounds = most.div_ceil(2);
        self.front.start(rounds);
        self.back.start(rounds);
        for round in 0..=rounds as isize {
            let found = self.forward(a, b, round, delta).or_else(|| self.backward(a, b, round, delta));
            if let Some(middle) = found {
                return (middle.edits <= most).then_some(middle);
            }
        }
        None
    }

    /// Goes one edit further from the front. If the lengths differ by an odd number, the paths meet here.
    fn forward(&mut self, a: &[u32], b: &[u32], round: isize, delta: isize) -> Option<Middle> {
        for diagonal in diagonals(round, a.len(), b.len()) {
            let Some((x, y)) = self.front.step(diagonal, (a.len(), b.len())) else {
                self.front.set(diagonal, NOWHERE);
                continue;
            };
            let length = shared(a[x..].iter().zip(&b[y..]));
            let reached = (x + length) as i32;
            self.front.set(diagonal, reached);
            let other = delta - diagonal;
            if delta % 2 != 0 && other.abs() < round && reached + self.back.at(other) >= a.len() as i32 {
                return Some(Middle {
                    run: CommonRun { a: x, b: y, length },
                    edits: (2 * round - 1) as usize,
                });
            }
        }
        None
    }

    /// Goes one edit further from the back, where positions are counted from the end. If the lengths differ by an
    /// even number, the paths meet here.
    fn backward(&mut self, a: &[u32], b: &[u32], round: isize, delta: isize) -> Option<Middle> {
        for diagonal in diagonals(round, a.len(), b.len()) {
            let Some((x, y)) = self.back.step(diagonal, (a.len(), b.len())) else {
                self.back.set(diagonal, NOWHERE);
                continue;
            };
            let (left, right) = (&a[..a.len() - x], &b[..b.len() - y]);
            let length = shared(left.iter().rev().zip(right.iter().rev()));
            let reached = (x + length) as i32;
            self.back.set(diagonal, reached);
            let other = delta - diagonal;
            if delta % 2 == 0 && other.abs() <= round && reached + self.front.at(other) >= a.len() as i32 {
                let run = CommonRun { a: left.len() - length, b: right.len() - length, length };
                return Some(Middle { run, edits: (2 * round) as usize });
            }
        }
        None
    }
}

/// The diagonals that `round` edits can lead to: every second one within the sequences.
fn diagonals(round: isize, a: usize, b: usize) -> impl Iterator<Item = isize> {
    let (low, high) = (-(b as isize), a as isize);
    let first = if -round >= low { -round } else { low + ((low + round) & 1) };
    (first..=round.min(high)).step_by(2)
}

/// How many pairs are equal before the first unequal one.
#[inline]
fn shared<'a>(pairs: impl Iterator<Item = (&'a u32, &'a u32)>) -> usize {
    pairs.take_while(|(x, y)| x == y).count()
}

/// Appends a run. A run that continues the last one extends it.
pub(crate) fn push(runs: &mut Vec<CommonRun>, run: CommonRun) {
    match runs.last_mut() {
        _ if run.length == 0 => {}
        Some(last) if last.a + last.length == run.a && last.b + last.length == run.b => {
            last.length += run.length;
        }
        _ => runs.push(run),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition: a table over all prefixes of both.
    fn longest(a: &[u32], b: &[u32]) -> usize {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..a.len() {
            for j in 0..b.len() {
                table[i + 1][j + 1] =
                    if a[i] == b[j] { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
            }
        }
        table[a.len()][b.len()]
    }

    fn check(a: &[u32], b: &[u32]) {
        let edits = a.len() + b.len() - 2 * longest(a, b);
        for most in [edits, edits + 1, a.len() + b.len(), usize::MAX] {
            let runs = common(a, b, most).expect("within the bound");
            assert_eq!(runs.iter().map(|run| run.length).sum::<usize>(), longest(a, b), "{a:?} {b:?}");
            let (mut x, mut y) = (0, 0);
            for run in runs {
                assert!(run.a >= x && run.b >= y && run.length > 0);
                (x, y) = (run.a + run.length, run.b + run.length);
                assert_eq!(a[run.a..x], b[run.b..y]);
            }
        }
        if edits > 0 {
            assert_eq!(common(a, b, edits - 1), None, "{a:?} {b:?}");
        }
    }

    #[test]
    fn the_example_of_the_paper() {
        let (a, b): (Vec<u32>, Vec<u32>) =
            ("abcabba".bytes().map(u32::from).collect(), "cbabac".bytes().map(u32::from).collect());
        assert_eq!(longest(&a, &b), 4);
        check(&a, &b);
        check(&[], &[]);
        check(&[], &b);
        check(&a, &[]);
    }

    #[test]
    fn far_apart_or_long_is_quick() {
        let all: Vec<u32> = (0..100_000).collect();
        let back: Vec<u32> = (0..100_000).rev().collect();
        assert_eq!(common(&all, &back, 1_000), None);
        let run = CommonRun { a: 0, b: 0, length: 900_000 };
        assert_eq!(common(&vec![7; 1_000_000], &vec![7; 900_000], 100_000), Some(vec![run]));
        assert_eq!(common(&all, &all[1..99_999], 10).map(|runs| runs.len()), Some(1));
    }

    proptest! {
        #[test]
        fn as_long_as_by_the_book(
            a in prop::collection::vec(0u32..5, 0..24), b in prop::collection::vec(0u32..5, 0..24)
        ) {
            check(&a, &b);
        }

        #[test]
        fn as_long_as_by_the_book_after_edits(
            a in prop::collection::vec(0u32..40, 0..60),
            edits in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), 0u32..40), 0..10),
        ) {
            let mut b = a.clone();
            for (place, insert, value) in edits {
                match insert {
                    true => b.insert(place.index(b.len() + 1), value),
                    false if b.is_empty() => {}
                    false => drop(b.remove(place.index(b.len()))),
                }
            }
            check(&a, &b);
        }
    }
}

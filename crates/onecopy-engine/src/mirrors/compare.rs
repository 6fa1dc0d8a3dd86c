//! Compares two prefixes: counts the paths with the same content below them, and decides which pairs are mirrors.
//!
//! It walks the two subtrees in parallel, led by the smaller one, so the cost is that of the smaller side. Counts are
//! exact. On the way up it judges every pair of folders by the counts below it. The most general pair that qualifies
//! replaces those below it.

use onecopy_core::MirrorRules;

use super::tree::{BULK, NONE, Node, Tree};

/// The normal quantile of a two-sided 95 % confidence bound.
const QUANTILE: f64 = 1.96;
/// A folder is reported instead of its parent only if more than this share of the paths outside it contradict the
/// parent.
const OUTSIDE: f64 = 0.1;
/// The exponent of the coverage factor. It is tuned to find sites of which two pages in five were crawled, but not
/// sites that republish a fifth of another's articles.
const COVERAGE: f64 = 0.4;

/// Two prefixes that qualify, and their counts.
#[derive(Clone, Debug)]
pub(super) struct MirrorPair {
    pub left: Node,
    pub right: Node,
    pub score: f64,
    pub matched: u32,
    pub mismatched: u32,
    /// The number of pages below each.
    pub below: [u32; 2],
    /// The number of pages below each in folders and file lists that the other lacks entirely.
    pub absent: [u32; 2],
}

/// The counts below two nodes.
#[derive(Default)]
struct MirrorTally {
    matched: u32,
    mismatched: u32,
    evidence: f64,
    absent: [u32; 2],
    found: Vec<MirrorPair>,
}

impl MirrorTally {
    fn add(&mut self, other: MirrorTally) {
        self.matched += other.matched;
        self.mismatched += other.mismatched;
        self.evidence += other.evidence;
        for side in [0, 1] {
            self.absent[side] += other.absent[side];
        }
        self.found.extend(other.found);
    }
}

/// A comparison of two prefixes.
pub(super) struct PrefixComparison<'a> {
    tree: &'a Tree,
    rules: &'a MirrorRules,
    left: Node,
    right: Node,
    /// If the right prefix is below the left: all nodes between them, both included. Pages below the right prefix do
    /// not count for the left.
    nest: Vec<Node>,
    /// How many pages a mirrored group has on each host: two if both prefixes are on one host, else one.
    copies_a_host: f64,
}

impl<'a> PrefixComparison<'a> {
    /// A comparison of two prefixes. The right may be below the left, but not the left below the right.
    pub(super) fn new(
        tree: &'a Tree,
        rules: &'a MirrorRules,
        left: Node,
        right: Node,
    ) -> PrefixComparison<'a> {
        let copies_a_host = if tree.host(left) == tree.host(right) { 2.0 } else { 1.0 };
        let mut nest = vec![right];
        let mut at = right;
        while at != left && tree.parents[at as usize] != NONE {
            at = tree.parents[at as usize];
            nest.push(at);
        }
        if at != left {
            nest.clear();
        }
        PrefixComparison { tree, rules, left, right, nest, copies_a_host }
    }

    /// The prefixes that qualify: the two themselves, or else folders below them.
    pub(super) fn run(&self) -> Vec<MirrorPair> {
        self.walk(self.left, self.right).found
    }

    /// The number of nodes with pages below `left`, without those below the right prefix.
    pub(super) fn below_left(&self, left: Node) -> u32 {
        let nested = self.nest.len() > 1 && self.nest[1..].contains(&left);
        self.tree.below(left) - if nested { self.tree.pages[self.right as usize] } else { 0 }
    }

    /// The children with equal segments of two nodes, in segment order.
    pub(super) fn common(&self, left: Node, right: Node) -> impl Iterator<Item = (Node, Node)> {
        let (lefts, rights) = (self.tree.children.of(left), self.tree.children.of(right));
        let swapped = lefts.len() > rights.len();
        let (few, many) = if swapped { (rights, lefts) } else { (lefts, rights) };
        let segment = |node: Node| self.tree.segments[node as usize];
        few.iter().filter_map(move |&node| {
            let other = many[many.binary_search_by_key(&segment(node), |&other| segment(other)).ok()?];
            let (left, right) = if swapped { (other, node) } else { (node, other) };
            (!self.is_nested(left)).then_some((left, right))
        })
    }

    /// Whether this is the right prefix, reached from the left one.
    pub(super) fn is_nested(&self, left: Node) -> bool {
        self.nest.first() == Some(&left)
    }

    fn walk(&self, left: Node, right: Node) -> MirrorTally {
        let (mut tally, mut below) = (MirrorTally::default(), MirrorTally::default());
        let (mut common, mut common_bulk) = (0, [0, 0]);
        for (l, r) in self.common(left, right) {
            if self.tree.has_page(l) && self.tree.has_page(r) {
                common += 1;
                match self.tree.shared(l, r) {
                    Some(weight) => {
                        tally.matched += 1;
                        tally.evidence += (f64::from(weight) * self.copies_a_host).min(1.0);
                    }
                    None => tally.mismatched += 1,
                }
            }
            common_bulk[0] += bulk(self.pages_left(l));
            common_bulk[1] += bulk(self.tree.pages[r as usize]);
            below.add(self.walk(l, r));
        }
        tally.absent[0] += self.bulky_left(left) - common_bulk[0];
        tally.absent[1] += self.tree.bulky[right as usize] - common_bulk[1];
        if tally.matched == 0 {
            // Many files here, and none are the same: these file lists are unrelated.
            tally.absent[0] += bulk(self.tree.files[left as usize].saturating_sub(common));
            tally.absent[1] += bulk(self.tree.files[right as usize].saturating_sub(common));
        }
        tally.add(below);
        self.settle(left, right, &mut tally);
        tally
    }

    fn pages_left(&self, left: Node) -> u32 {
        self.below_left(left) + u32::from(self.tree.has_page(left))
    }

    fn bulky_left(&self, left: Node) -> u32 {
        let bulky = self.tree.bulky[left as usize];
        let Some(at) = self.nest.iter().position(|&node| node == left).filter(|&at| at > 0) else {
            return bulky;
        };
        let inner = self.nest[at - 1];
        let counted = if at == 1 { 0 } else { bulk(self.pages_left(inner)) };
        bulky - bulk(self.tree.pages[inner as usize]) + counted
    }

    /// Replaces the pairs below by this one, if it qualifies and not only because of a single folder.
    fn settle(&self, left: Node, right: Node, tally: &mut MirrorTally) {
        if tally.matched < self.rules.least_paths {
            return;
        }
        let below = [self.below_left(left), self.tree.below(right)];
        let whole = MirrorPair {
            left,
            right,
            score: score(tally, below),
            matched: tally.matched,
            mismatched: tally.mismatched,
            below,
            absent: tally.absent,
        };
        let is_one_folder = match &tally.found[..] {
            [folder] => folder.matched == whole.matched && outside(&whole, folder) > OUTSIDE,
            _ => false,
        };
        if whole.score >= self.rules.score && !is_one_folder {
            tally.found = vec![whole];
        }
    }
}

fn bulk(pages: u32) -> u32 {
    if pages >= BULK { pages } else { 0 }
}

/// The share of paths outside `folder` that contradict `whole`.
fn outside(whole: &MirrorPair, folder: &MirrorPair) -> f64 {
    let mismatched = share(whole.mismatched - folder.mismatched, whole.matched + whole.mismatched);
    let absent = |side: usize| share(whole.absent[side] - folder.absent[side], whole.below[side]);
    mismatched.max(absent(0)).max(absent(1))
}

/// The confidence that most paths have the same content.
///
/// It has three factors:
///
/// - the lower confidence bound (Wilson 1927) of the share of paths with the same content among those that both have,
///   where a path counts by the weight of its group;
/// - the share of pages outside folders that the other side lacks;
/// - a root of the share of the smaller side that both have: crawls are incomplete, so a path that one side lacks says
///   little.
fn score(tally: &MirrorTally, below: [u32; 2]) -> f64 {
    let both = tally.matched + tally.mismatched;
    let sample = tally.evidence * f64::from(both) / f64::from(tally.matched.max(1));
    let present = [below[0] - tally.absent[0], below[1] - tally.absent[1]];
    let whole = 1.0 - share(tally.absent[0], below[0]).max(share(tally.absent[1], below[1]));
    let covered = share(both, present[0].min(present[1])).min(1.0);
    lower_bound(share(tally.matched, both), sample) * whole * covered.powf(COVERAGE)
}

fn share(part: u32, whole: u32) -> f64 {
    f64::from(part) / f64::from(whole.max(1))
}

/// The lower bound of the Wilson interval of a share in a sample.
fn lower_bound(share: f64, sample: f64) -> f64 {
    if sample <= 0.0 {
        return 0.0;
    }
    let z2 = QUANTILE * QUANTILE / sample;
    let middle = share + z2 / 2.0;
    let spread = QUANTILE * ((share * (1.0 - share) + z2 / 4.0) / sample).sqrt();
    ((middle - spread) / (1.0 + z2)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::lower_bound;

    #[test]
    fn small_samples_are_discounted() {
        // Wilson 1927: 0.7225 for 10 of 10, 0.2366 for 5 of 10, at 95 %.
        assert!((lower_bound(1.0, 10.0) - 0.7225).abs() < 1e-3);
        assert!((lower_bound(0.5, 10.0) - 0.2366).abs() < 1e-3);
        assert!(lower_bound(1.0, 1000.0) > 0.99);
        assert_eq!(lower_bound(1.0, 0.0), 0.0);
    }
}

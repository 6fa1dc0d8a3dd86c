//! Splits two texts into passages: shared ones, those of one text only, and moved ones.
//!
//! The passages of one side concatenate to its exact text.

use std::ops::Range;

use serde::Serialize;

use super::align::{Block, align, anchors, windows};
use super::words::Words;

/// A part of one text or of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Passage {
    /// Which texts contain it.
    pub kind: PassageKind,
    /// Its range in the first text, if it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<Stretch>,
    /// Its range in the second text, if it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<Stretch>,
    /// The number of its move, from one. Both passages of a move have the same number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<usize>,
}

/// Which texts contain a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PassageKind {
    /// Both, in the same order. Case and punctuation may differ where the configuration ignores them.
    Same,
    /// The first only.
    OnlyA,
    /// The second only.
    OnlyB,
    /// Both, but in another order. There is one passage for each of the two positions.
    Moved,
}

/// Consecutive words of one text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stretch {
    /// The index of the first word, from zero.
    pub from: usize,
    /// The number of words. In scripts without spaces each character counts.
    pub words: usize,
    /// The original text, with everything between and after the words.
    pub text: String,
}

/// A shared block this short between much longer differences explains nothing. It is shorter than a default shingle.
const CRUMB: usize = 4;
/// The least number of words that count as moved.
const MOVED: usize = 8;

/// The passages of two texts, in the order of both.
pub(super) fn passages(a: &Words, b: &Words) -> Vec<Passage> {
    let mut blocks = align(&a.keys, &b.keys);
    drop_crumbs(&mut blocks, (a.len(), b.len()));
    let moves = moves(&a.keys, &b.keys, &blocks);
    let by_b = {
        let mut order: Vec<usize> = (0..moves.len()).collect();
        order.sort_unstable_by_key(|&number| moves[number].b);
        order
    };
    let ranges_a: Vec<_> =
        moves.iter().enumerate().map(|(number, block)| (number, block.a..block.ends().0)).collect();
    let ranges_b: Vec<_> =
        by_b.iter().map(|&number| (number, moves[number].b..moves[number].ends().1)).collect();
    let mut side_a = Side { words: a, moves: &ranges_a, is_first: true };
    let mut side_b = Side { words: b, moves: &ranges_b, is_first: false };
    let mut out = Vec::new();
    let (mut x, mut y) = (0, 0);
    for block in blocks {
        side_a.differing(x..block.a, &mut out);
        side_b.differing(y..block.b, &mut out);
        let (end_a, end_b) = block.ends();
        let (a, b) = (Some(stretch(a, block.a..end_a)), Some(stretch(b, block.b..end_b)));
        out.push(Passage { kind: PassageKind::Same, a, b, moved: None });
        (x, y) = (end_a, end_b);
    }
    side_a.differing(x..a.len(), &mut out);
    side_b.differing(y..b.len(), &mut out);
    out
}

/// Removes short blocks between differences twice as long: they are frequent words that occur in both by chance.
fn drop_crumbs(blocks: &mut Vec<Block>, sizes: (usize, usize)) {
    // Each removal lengthens the differences next to it. A few rounds find nearly all such blocks.
    for _ in 0..4 {
        let mut kept: Vec<Block> = Vec::with_capacity(blocks.len());
        for (i, block) in blocks.iter().enumerate() {
            let (x, y) = kept.last().map_or((0, 0), |last| last.ends());
            let next = blocks.get(i + 1).map_or(sizes, |next| (next.a, next.b));
            let ends = block.ends();
            let before = (block.a - x).max(block.b - y);
            let behind = (next.0 - ends.0).max(next.1 - ends.1);
            if block.length > CRUMB || 2 * block.length > before.min(behind) {
                kept.push(*block);
            }
        }
        let done = kept.len() == blocks.len();
        *blocks = kept;
        if done {
            return;
        }
    }
}

/// The blocks that both sides have outside `blocks`, ascending on the first side.
fn moves(a: &[u64], b: &[u64], blocks: &[Block]) -> Vec<Block> {
    let (mut taken_a, mut taken_b) = (vec![false; a.len()], vec![false; b.len()]);
    for block in blocks {
        let (end_a, end_b) = block.ends();
        taken_a[block.a..end_a].fill(true);
        taken_b[block.b..end_b].fill(true);
    }
    let mut found = Vec::new();
    for (x, y) in anchors(&free(a, &taken_a), &free(b, &taken_b)) {
        let fits = |x: usize, y: usize| !taken_a[x] && !taken_b[y] && a[x] == b[y];
        let back = (1..=x.min(y)).take_while(|&n| fits(x - n, y - n)).count();
        let on = (0..(a.len() - x).min(b.len() - y)).take_while(|&n| fits(x + n, y + n)).count();
        let block = Block { a: x - back, b: y - back, length: back + on };
        if on > 0 && block.length >= MOVED {
            taken_a[block.a..block.a + block.length].fill(true);
            taken_b[block.b..block.b + block.length].fill(true);
            found.push(block);
        }
    }
    found.sort_unstable_by_key(|block| block.a);
    found
}

/// The windows that contain no taken word.
fn free(words: &[u64], taken: &[bool]) -> Vec<(u64, usize)> {
    let mut in_a_row = 0;
    let mut all = windows(words, MOVED);
    // A window is marked at its last word, once enough free words are in a row.
    let mut is_free = vec![false; all.len()];
    for (i, taken) in taken.iter().enumerate() {
        in_a_row = if *taken { 0 } else { in_a_row + 1 };
        if in_a_row >= MOVED {
            is_free[i + 1 - MOVED] = true;
        }
    }
    all.retain(|(_, at)| is_free[*at]);
    all
}

/// One side, and its remaining moves.
struct Side<'a> {
    words: &'a Words<'a>,
    /// Number and range of each move, ascending.
    moves: &'a [(usize, Range<usize>)],
    is_first: bool,
}

impl Side<'_> {
    /// Appends the passages of a range that is not shared in order.
    fn differing(&mut self, range: Range<usize>, out: &mut Vec<Passage>) {
        let mut at = range.start;
        while let Some((number, moved)) = self.moves.first().filter(|(_, moved)| moved.start < range.end) {
            self.push(at..moved.start, None, out);
            self.push(moved.clone(), Some(number + 1), out);
            at = moved.end;
            self.moves = &self.moves[1..];
        }
        self.push(at..range.end, None, out);
    }

    fn push(&self, range: Range<usize>, moved: Option<usize>, out: &mut Vec<Passage>) {
        if range.is_empty() {
            return;
        }
        let here = Some(stretch(self.words, range));
        let (a, b) = if self.is_first { (here, None) } else { (None, here) };
        let kind = match (moved, self.is_first) {
            (Some(_), _) => PassageKind::Moved,
            (None, true) => PassageKind::OnlyA,
            (None, false) => PassageKind::OnlyB,
        };
        out.push(Passage { kind, a, b, moved });
    }
}

fn stretch(words: &Words, range: Range<usize>) -> Stretch {
    Stretch { from: range.start, words: range.len(), text: words.text(range).to_owned() }
}

#[cfg(test)]
mod tests {
    use onecopy_core::CanonicalRules;
    use proptest::prelude::*;

    use super::*;

    fn of(a: &str, b: &str) -> Vec<Passage> {
        let rules = CanonicalRules::default();
        passages(&Words::new(a, &rules), &Words::new(b, &rules))
    }

    /// One line per passage: its mark, then its text.
    fn shown(a: &str, b: &str) -> Vec<String> {
        let line = |passage: &Passage| {
            let text = passage.a.as_ref().or(passage.b.as_ref()).unwrap().text.trim().to_owned();
            let mark = match (passage.kind, &passage.a) {
                (PassageKind::Same, _) => '=',
                (PassageKind::OnlyA, _) => '-',
                (PassageKind::OnlyB, _) => '+',
                (PassageKind::Moved, Some(_)) => '<',
                (PassageKind::Moved, None) => '>',
            };
            format!("{mark} {text}")
        };
        of(a, b).iter().map(line).collect()
    }

    #[test]
    fn an_edit_is_between_what_stayed() {
        let (a, b) =
            ("The old bridge, they say, is closed today.", "the new bridge they say is CLOSED for today");
        assert_eq!(
            shown(a, b),
            ["= The", "- old", "+ new", "= bridge, they say, is closed", "+ for", "= today."]
        );
        assert_eq!(shown(a, a), [format!("= {a}")]);
        assert_eq!(shown(a, ""), [format!("- {a}")]);
        assert_eq!(shown("", b), [format!("+ {b}")]);
        assert!(shown("", "?").is_empty());
    }

    #[test]
    fn a_word_between_long_differences_is_no_match() {
        let (a, b) = ("start red green the blue pink end", "start one two the three four end");
        assert_eq!(
            shown(a, b),
            ["= start", "- red green the blue pink", "+ one two the three four", "= end"]
        );
    }

    #[test]
    fn what_stands_elsewhere_is_moved() {
        let words =
            |stem: &str, count: usize| (0..count).map(|n| format!("{stem}{n}")).collect::<Vec<_>>().join(" ");
        let (long, short) = (words("l", 30), words("s", 10));
        let (a, b) = (format!("{long} {short}"), format!("{short} {long} new"));
        assert_eq!(
            shown(&a, &b),
            [format!("> {short}"), format!("= {long}"), format!("< {short}"), "+ new".into()]
        );
        let numbers: Vec<_> = of(&a, &b).iter().filter_map(|passage| passage.moved).collect();
        assert_eq!(numbers, [1, 1]);
    }

    proptest! {
        #[test]
        fn the_passages_of_a_side_are_its_text(
            pieces in prop::collection::vec(
                prop::collection::vec("(a|b|Cc|湖|[a-z]{2})[ ,.]{1,2}", 0..20), 1..6),
            order in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            // The other side has the pieces in any order: some are missing and some occur twice.
            let a = pieces.concat().concat();
            let b: String = order.iter().flat_map(|index| index.get(&pieces)).map(String::as_str).collect();
            let found = of(&a, &b);
            let text = |side: fn(&Passage) -> Option<&Stretch>| -> String {
                found.iter().filter_map(side).map(|stretch| stretch.text.as_str()).collect()
            };
            prop_assert_eq!(text(|passage| passage.a.as_ref()), a);
            prop_assert_eq!(text(|passage| passage.b.as_ref()), b);
            for side in [|passage: &Passage| passage.a.clone(), |passage: &Passage| passage.b.clone()] {
                let mut next = 0;
                for stretch in found.iter().filter_map(side) {
                    prop_assert_eq!(stretch.from, next);
                    next += stretch.words;
                }
            }
        }
    }
}

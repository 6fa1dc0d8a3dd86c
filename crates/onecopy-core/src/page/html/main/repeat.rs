//! Counts what repeats on a page, and where it speaks of comments. An article does not repeat itself. Lists of
//! teasers and comments do: "Reply", "Report this", a name and a date.

use super::words::hashes;
use crate::page::html::block::Block;
use crate::page::html::tree::Tree;

/// The most words in a line that says who wrote something and when, or what can be done with it.
const LINE_WORDS: u32 = 12;
/// Text is compared by its first and last bytes: more would give the same result.
const EDGE_BYTES: usize = 80;
/// Stands for no line that speaks of comments.
const NONE: u32 = u32::MAX;

/// Facts about blocks from the text of other blocks.
pub struct Repeats {
    /// For each block, how many begin with its first words and how many end with its last. If it is a line, also how
    /// many lines are equal except for numbers.
    counts: Vec<[u32; 3]>,
    /// Before each block: lines that repeat, lines with numbers, lines that speak of comments.
    upto: Vec<[u32; 3]>,
    /// The last line before each block that speaks of comments.
    last: Vec<u32>,
}

impl Repeats {
    pub fn new(tree: &Tree) -> Repeats {
        let counts = counts(tree);
        let mut upto = Vec::with_capacity(counts.len() + 1);
        let mut last = Vec::with_capacity(counts.len());
        let (mut sum, mut mark) = ([0; 3], NONE);
        upto.push(sum);
        for (index, (block, count)) in tree.blocks.iter().zip(&counts).enumerate() {
            let Block { count: in_it, text, .. } = block;
            let is_line = in_it.words <= LINE_WORDS;
            let is_stamp = is_line && in_it.numbers > 0 && in_it.capitals > 0 && !in_it.ended;
            let is_mark =
                is_line && Some(index) != tree.title && speaks_of_comments(&tree.text[text.clone()]);
            last.push(mark);
            if is_mark {
                mark = index as u32;
            }
            let adds = [count[2] >= 3, is_stamp, is_mark];
            sum.iter_mut().zip(adds).for_each(|(sum, adds)| *sum += u32::from(adds));
            upto.push(sum);
        }
        Repeats { counts, upto, last }
    }

    pub fn numbers(&self, index: usize) -> [i32; 14] {
        let end = self.counts.len();
        let near = |kind: usize, reach: usize| {
            let (from, to) = (index.saturating_sub(reach), (index + reach + 1).min(end));
            (self.upto[to][kind] - self.upto[from][kind]) as i32
        };
        let [first, last, whole] = self.counts[index].map(|count| count.min(50) as i32);
        let since =
            if self.last[index] == NONE { 300 } else { (index as u32 - self.last[index]).min(299) as i32 };
        [
            first,
            last,
            whole,
            near(0, 3),
            near(0, 10),
            near(1, 3),
            near(1, 10),
            near(2, 3),
            near(2, 10),
            since,
            self.upto[index][2].min(100) as i32,
            self.upto[end][2].min(100) as i32,
            self.upto[index][1].min(100) as i32,
            self.upto[end][1].min(200) as i32,
        ]
    }
}

fn counts(tree: &Tree) -> Vec<[u32; 3]> {
    let mut edges = Vec::with_capacity(tree.blocks.len() * 3);
    for (index, block) in tree.blocks.iter().enumerate() {
        let text = &tree.text[block.text.clone()];
        let index = index as u32;
        edges.extend([(0u8, first_words(text), index), (1, last_words(text), index)]);
        if block.count.words <= LINE_WORDS {
            edges.push((2, names(text).fold(3, mixed), index));
        }
    }
    edges.sort_unstable();
    let mut counts = vec![[0; 3]; tree.blocks.len()];
    for run in edges.chunk_by(|one, next| (one.0, one.1) == (next.0, next.1)) {
        for (kind, _, index) in run {
            counts[*index as usize][*kind as usize] = run.len() as u32;
        }
    }
    counts
}

/// Hashes of the words of `text` that do not begin with a digit: dates and counts differ where the rest repeats.
fn names(text: &str) -> impl Iterator<Item = u32> + '_ {
    hashes(text).filter_map(|(hash, is_name)| is_name.then_some(hash))
}

fn first_words(text: &str) -> u32 {
    names(&text[..floor(text, EDGE_BYTES)]).take(2).fold(1, mixed)
}

fn last_words(text: &str) -> u32 {
    let from = floor(text, text.len().saturating_sub(EDGE_BYTES));
    let [one, other] = names(&text[from..]).fold([0; 2], |[_, last], word| [last, word]);
    mixed(one, other)
}

/// The last character boundary up to `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

fn mixed(sum: u32, word: u32) -> u32 {
    (sum.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b1)
}

/// How words for comments and replies begin, in some languages.
const COMMENTS: [&str; 13] = [
    "comment",
    "kommentar",
    "comentari",
    "comentári",
    "reacti",
    "replies",
    "responses",
    "комментар",
    "评论",
    "評論",
    "コメント",
    "yorum",
    "댓글",
];

pub fn speaks_of_comments(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80;
    let mut words = text.as_bytes().split(|byte| !is_letter(*byte)).filter(|word| !word.is_empty());
    words.any(|word| COMMENTS.iter().any(|with| begins_with(word, with)))
}

/// Whether `text` begins with `with`, ignoring ASCII case.
pub fn begins_with(text: &[u8], with: &str) -> bool {
    text.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::html::tree::grow;

    #[test]
    fn what_repeats_is_counted_whatever_its_numbers() {
        let comment =
            |n: u32| format!("<p>Ann on May {n}</p><p>It is the {n}th time that I say it, reader {n}.</p>");
        let html =
            (1..4).map(comment).collect::<String>() + "<h4>Kommentare (3)</h4><p>Nothing of the kind.</p>";
        let tree = grow(&html);
        let repeats = Repeats::new(&tree);
        let [name, text, head, last] = [0, 1, 6, 7].map(|index| repeats.numbers(index));
        assert_eq!(name[..3], [3, 3, 3]);
        assert_eq!(text[..3], [3, 3, 3]);
        assert_eq!((head[9], last[9], last[10]), (300, 1, 1), "blocks since a line that speaks of comments");
    }
}

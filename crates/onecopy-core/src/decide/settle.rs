//! Which contents stay: the promise, winner first.
//!
//! A content is the text of one or more pages. Contents are numbered best first and visited in that order. A content
//! goes if it is alike to one that stays, and the best of those is its winner. Otherwise it stays. Each is compared
//! only with those that stay and share a key with it, so that a group of n near-duplicates costs about n
//! comparisons.
//!
//! If the keys do not fit in memory, contents are settled in blocks. A block is settled by itself. Then everything
//! after it is compared with the contents that stayed in it. The answer is the same for any blocks.

mod block;
mod crowded;
#[cfg(test)]
mod hostile;
mod index;
mod lists;

use std::ops::Range;

use crate::similarity::elsewhere::{Elsewhere, UNKNOWN};
use crate::similarity::method::{Held, Method};
use block::BlockSettler;
pub(super) use block::FEW;
pub(super) use crowded::CrowdedContents;
use index::{Candidates, ListIndex};
pub use lists::MemoryLists;

/// A content that holds a key, and the number beside its key: see [`Method::keys`].
pub type Holder = [u32; 2];

/// Compares contents. The caller chooses where sketches are and how many threads work. The answer must not depend on
/// either.
pub trait Comparer: Sync {
    /// Why a comparison may fail, such as an unreadable disk, or a run that was asked to stop.
    type Error: Send;

    /// How contents are compared.
    fn method(&self) -> &dyn Method;

    /// The number of words in each content's sketch.
    fn sizes(&self) -> &[u32];

    /// Contents with a smaller number belong to the base: they stay, and are not compared with each other.
    fn base(&self) -> u32 {
        0
    }

    /// The sketch of a content; `buffer` may hold it.
    fn sketch<'a>(&'a self, content: u32, buffer: &'a mut Vec<u64>) -> Result<&'a [u64], Self::Error>;

    /// The outline of a content, if it has one.
    fn outline(&self, _content: u32) -> Option<&[u64]> {
        None
    }

    /// How many words of outlines may be in memory a second time, for each content.
    fn crowd_words(&self) -> usize {
        0
    }

    /// The shingles that are not main content on some page.
    fn elsewhere(&self) -> &Elsewhere {
        &UNKNOWN
    }

    /// Whether it is known without the sketches that two contents are not alike.
    fn deny(&self, a: u32, b: u32) -> bool {
        let outlines = self.outline(a).zip(self.outline(b));
        outlines.is_some_and(|(a, b)| self.method().deny(a, b))
    }

    /// Calls `judge` with each of `items` and returns the answers in their order.
    fn map<T: Sync, R: Send + Clone + Default>(
        &self,
        items: &[T],
        judge: impl Fn(&T, &mut Buffers) -> Result<R, Self::Error> + Sync,
    ) -> Result<Vec<R>, Self::Error> {
        let mut buffers = Buffers::default();
        items.iter().map(|item| judge(item, &mut buffers)).collect()
    }

    /// May stop the work with an error. It is called often.
    fn check(&self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Receives how many more contents are settled.
    fn settled(&self, _contents: u64) {}

    /// Receives how many more key lists were searched for pairs.
    fn connected(&self, _lists: u64) {}

    /// A holder of a key as [`Method::may`] takes it.
    fn held(&self, [content, rest]: Holder) -> Held {
        Held { size: self.sizes()[content as usize], rest }
    }

    /// Whether two contents that share a key may be alike, by their sizes and by the numbers beside the key.
    fn may(&self, a: Holder, b: Holder) -> bool {
        self.method().may(self.held(a), self.held(b))
    }

    /// The score of two contents if they are alike.
    fn compare(&self, a: u32, b: u32, buffers: &mut Buffers) -> Result<Option<u32>, Self::Error> {
        if self.deny(a, b) {
            return Ok(None);
        }
        let first = self.sketch(a, &mut buffers.first)?;
        let second = self.sketch(b, &mut buffers.second)?;
        Ok(self.method().verify(first, second))
    }

    /// How far two contents are apart, if the method has a metric.
    fn distance(&self, a: u32, b: u32, buffers: &mut Buffers) -> Result<Option<f64>, Self::Error> {
        let first = self.sketch(a, &mut buffers.first)?;
        let second = self.sketch(b, &mut buffers.second)?;
        let score = self.method().score(first, second);
        Ok(self.method().distance(score, (first.len(), second.len())))
    }
}

/// The buffers that a thread reuses between comparisons.
#[derive(Debug, Default)]
pub struct Buffers {
    /// Contents to compare with.
    candidates: Candidates,
    first: Vec<u64>,
    second: Vec<u64>,
    /// For each content of a few, those to compare it with.
    near: Vec<Vec<u32>>,
}

/// For each key that contents share, the list of its holders, ascending by content.
pub trait KeyLists {
    /// Why reading a list may fail.
    type Error;

    /// How many holders all lists have together.
    fn entries(&self) -> usize;

    /// Calls `each` with every list, always in the same order.
    fn for_each(&self, each: impl FnMut(&[Holder]) -> Result<(), Self::Error>) -> Result<(), Self::Error>;

    /// The number of parts that several threads may read at once.
    fn parts(&self) -> usize {
        1
    }

    /// Calls `each` with every list of a part. All parts together have the lists and the order of
    /// [`KeyLists::for_each`].
    fn for_each_in(
        &self,
        _part: usize,
        each: impl FnMut(&[Holder]) -> Result<(), Self::Error>,
    ) -> Result<(), Self::Error> {
        self.for_each(each)
    }
}

/// The result for each content.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// A content that stays is its own winner.
    pub winner: Vec<u32>,
    /// Its score with its winner; zero if it stays.
    pub score: Vec<u32>,
}

impl Settled {
    /// A result in which all contents stay.
    pub fn new(contents: usize) -> Settled {
        Settled { winner: (0..contents as u32).collect(), score: vec![0; contents] }
    }

    /// Whether a content stays.
    pub fn stays(&self, content: u32) -> bool {
        self.winner[content as usize] == content
    }

    /// How far a content is from its winner, if the method has a metric.
    pub fn distance(&self, content: u32, sizes: &[u32], method: &dyn Method) -> Option<f64> {
        if self.stays(content) {
            return Some(0.0);
        }
        method.distance(self.score[content as usize], self.both_sizes(content, sizes))
    }

    /// The similarity of a content and its winner.
    pub fn similarity(&self, content: u32, sizes: &[u32], method: &dyn Method) -> f64 {
        if self.stays(content) {
            return 1.0;
        }
        method.similarity(self.score[content as usize], self.both_sizes(content, sizes))
    }

    fn both_sizes(&self, content: u32, sizes: &[u32]) -> (usize, usize) {
        let size = |content: u32| sizes[content as usize] as usize;
        (size(content), size(self.winner[content as usize]))
    }

    fn remove(&mut self, content: u32, by: Winner) {
        self.winner[content as usize] = by.content;
        self.score[content as usize] = by.score;
    }
}

/// The winner of a content, and the score of the two.
#[derive(Clone, Copy, Debug)]
struct Winner {
    content: u32,
    score: u32,
}

/// Settles `members`, ascending, by the keys that they share. At most `entries` holders are in memory at once.
pub fn settle<C: Comparer, K: KeyLists<Error = C::Error>>(
    comparer: &C,
    members: &[u32],
    lists: &K,
    entries: usize,
    settled: &mut Settled,
) -> Result<(), C::Error> {
    let contents = comparer.sizes().len();
    for block in blocks(lists, contents, entries)? {
        let index = ListIndex::new(lists, block.clone(), settled)?;
        let within = members.iter().copied().filter(|content| block.contains(content));
        let all: Vec<u32> = within.filter(|&content| settled.stays(content)).collect();
        BlockSettler { comparer, index }.settle(&all, settled)?;
        if (block.end as usize) < contents {
            sweep(comparer, lists, block, settled)?;
        }
    }
    Ok(())
}

/// Ranges of contents whose keys fit in memory together.
fn blocks<K: KeyLists>(lists: &K, contents: usize, entries: usize) -> Result<Vec<Range<u32>>, K::Error> {
    // The index counts holders in 32 bits.
    let entries = entries.min(u32::MAX as usize);
    if lists.entries() <= entries {
        return Ok(std::iter::once(0..contents as u32).collect());
    }
    let mut keys = vec![0u32; contents];
    lists.for_each(|list| {
        list.iter().for_each(|&[content, _]| keys[content as usize] += 1);
        Ok(())
    })?;
    let mut blocks = Vec::new();
    let (mut start, mut sum) = (0, 0);
    for (content, &own) in keys.iter().enumerate() {
        if sum + own as usize > entries && content > start {
            blocks.push(start as u32..content as u32);
            (start, sum) = (content, 0);
        }
        sum += own as usize;
    }
    blocks.push(start as u32..contents as u32);
    Ok(blocks)
}

/// How many pairs are collected before they are compared.
const PAIRS: usize = 1 << 20;

/// Removes contents after a block that are alike to one that stayed in the block.
fn sweep<C: Comparer, K: KeyLists<Error = C::Error>>(
    comparer: &C,
    lists: &K,
    block: Range<u32>,
    settled: &mut Settled,
) -> Result<(), C::Error> {
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    lists.for_each(|list| {
        let from = list.partition_point(|holder| holder[0] < block.start);
        let behind = list.partition_point(|holder| holder[0] < block.end);
        for &kept in &list[from..behind] {
            if !settled.stays(kept[0]) {
                continue;
            }
            let open = |content: u32| settled.winner[content as usize] > kept[0];
            let new = list[behind..].iter().filter(|holder| holder[0] >= comparer.base());
            let near = new.filter(|&&holder| open(holder[0]) && comparer.may(kept, holder));
            pairs.extend(near.map(|holder| (holder[0], kept[0])));
            if pairs.len() >= PAIRS {
                sweep_pairs(comparer, &mut pairs, settled)?;
            }
        }
        Ok(())
    })?;
    sweep_pairs(comparer, &mut pairs, settled)
}

fn sweep_pairs<C: Comparer>(
    comparer: &C,
    pairs: &mut Vec<(u32, u32)>,
    settled: &mut Settled,
) -> Result<(), C::Error> {
    pairs.sort_unstable();
    pairs.dedup();
    let found = comparer.map(pairs, |&(content, kept), buffers| comparer.compare(content, kept, buffers))?;
    let mut gone = 0;
    for (&(content, kept), score) in pairs.iter().zip(found) {
        if let Some(score) = score.filter(|_| kept < settled.winner[content as usize]) {
            gone += u64::from(settled.stays(content));
            settled.remove(content, Winner { content: kept, score });
        }
    }
    pairs.clear();
    // A later block does not count them again.
    comparer.settled(gone);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Lists that claim to have more holders than they show.
    struct Claimed {
        entries: usize,
        read: Cell<u32>,
    }

    impl KeyLists for Claimed {
        type Error = ();

        fn entries(&self) -> usize {
            self.entries
        }

        fn for_each(&self, mut each: impl FnMut(&[Holder]) -> Result<(), ()>) -> Result<(), ()> {
            self.read.set(self.read.get() + 1);
            (0..10).try_for_each(|content| each(&[[content, 0], [content + 1, 0]]))
        }
    }

    #[test]
    fn blocks_have_no_more_entries_than_fit() {
        let lists = Claimed { entries: 20, read: Cell::new(0) };
        assert_eq!(blocks(&lists, 12, 20).map(|blocks| blocks.len()), Ok(1));
        assert_eq!(blocks(&lists, 12, 8), Ok(vec![0..4, 4..8, 8..12]));
        assert_eq!(blocks(&lists, 12, 0).map(|blocks| blocks.len()), Ok(12), "a content is never divided");
    }

    #[test]
    fn one_block_never_has_more_entries_than_32_bits_count() {
        let lists = Claimed { entries: u32::MAX as usize + 1, read: Cell::new(0) };
        assert!(blocks(&lists, 12, usize::MAX).is_ok());
        assert_eq!(lists.read.get(), 1, "the keys of each content are counted before blocks are made");
    }

    /// Contents that are alike in pairs, and how many were reported as settled.
    struct Reporting {
        method: Box<dyn Method>,
        settled: std::sync::atomic::AtomicU64,
    }

    impl Comparer for Reporting {
        type Error = ();

        fn method(&self) -> &dyn Method {
            &*self.method
        }

        fn sizes(&self) -> &[u32] {
            &[6; 12]
        }

        fn sketch<'a>(&'a self, content: u32, buffer: &'a mut Vec<u64>) -> Result<&'a [u64], ()> {
            *buffer = (0..6).map(|word| u64::from(content / 2 * 10) + word).collect();
            Ok(buffer)
        }

        fn settled(&self, contents: u64) {
            self.settled.fetch_add(contents, std::sync::atomic::Ordering::Relaxed);
        }
    }

    #[test]
    fn every_content_is_reported_once_whatever_the_blocks() {
        let config = crate::config::Config { method: "shingles-b".into(), ..Default::default() };
        for entries in [20, 8, 3, 0] {
            let method = crate::similarity::method::method(&config).unwrap();
            let comparer = Reporting { method, settled: 0.into() };
            let lists = Claimed { entries: 20, read: Cell::new(0) };
            let members: Vec<u32> = (0..12).collect();
            let mut settled = Settled::new(12);
            settle(&comparer, &members, &lists, entries, &mut settled).unwrap();
            assert_eq!(settled.winner, [0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 11], "{entries}");
            assert_eq!(comparer.settled.into_inner(), 12, "{entries}");
        }
    }
}

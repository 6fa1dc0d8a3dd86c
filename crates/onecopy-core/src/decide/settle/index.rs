//! Finds the contents that stay and share a key with a given one, for one block of contents.

use std::ops::Range;

use super::{Comparer, CrowdedContents, Holder, KeyLists, Settled};

/// Fewer holders are quickly looked at.
const MANY: usize = 256;
/// A holder of a key takes as long as this many contents of a crowd.
const CROWD_PACE: usize = 8;
/// A key with more holders may be that of a template: pages of one template are not compared in advance.
const SHORT: usize = 16;
/// A content takes as long to join a crowd as this many holders.
const JOIN_PACE: usize = 64;

/// The key lists of a block, and from each content back to its lists.
pub(super) struct ListIndex {
    first: u32,
    /// Where each list's holders begin, and at the end where the last list ends.
    starts: Vec<u32>,
    /// The holders of all lists. Those that stay are moved to the front of their list as they are settled. The
    /// holders that they overwrite were settled before.
    holders: Vec<Holder>,
    /// How many holders at the front of each list stay.
    kept: Vec<u32>,
    /// All contents that stay so far.
    stay: Vec<u32>,
    /// The first of these contents as a crowd, once it pays.
    crowd: Option<CrowdedContents>,
    /// How many holders a whole crowd would have saved since it was whole.
    owed: usize,
    /// Where the lists of each content begin in `lists_of`.
    own: Vec<u32>,
    /// The lists of all contents, each with the number beside the content's key.
    lists_of: Vec<[u32; 2]>,
}

impl ListIndex {
    /// The index of the contents of `block` that are not removed yet.
    pub(super) fn new<K: KeyLists>(
        lists: &K,
        block: Range<u32>,
        settled: &Settled,
    ) -> Result<ListIndex, K::Error> {
        let mut index = ListIndex {
            first: block.start,
            starts: vec![0],
            holders: Vec::new(),
            kept: Vec::new(),
            stay: Vec::new(),
            crowd: None,
            owed: 0,
            own: vec![0; block.len() + 1],
            lists_of: Vec::new(),
        };
        lists.for_each(|list| {
            let from = list.partition_point(|holder| holder[0] < block.start);
            let to = list.partition_point(|holder| holder[0] < block.end);
            let start = index.holders.len();
            index.holders.extend(list[from..to].iter().filter(|holder| settled.stays(holder[0])));
            if index.holders.len() < start + 2 {
                index.holders.truncate(start);
            } else {
                index.starts.push(index.holders.len() as u32);
            }
            Ok(())
        })?;
        index.kept = vec![0; index.starts.len() - 1];
        index.invert();
        Ok(index)
    }

    /// Fills `lists_of` by counting.
    fn invert(&mut self) {
        for &[content, _] in &self.holders {
            self.own[(content - self.first) as usize] += 1;
        }
        let mut sum = 0;
        for slot in &mut self.own {
            sum += std::mem::replace(slot, sum);
        }
        self.lists_of = vec![[0; 2]; self.holders.len()];
        for (list, bounds) in self.starts.windows(2).enumerate() {
            for &[content, rest] in &self.holders[bounds[0] as usize..bounds[1] as usize] {
                let slot = &mut self.own[(content - self.first) as usize];
                self.lists_of[*slot as usize] = [list as u32, rest];
                *slot += 1;
            }
        }
        // Each entry has moved on to where the next content's lists begin.
        self.own.rotate_right(1);
        self.own[0] = 0;
    }

    fn lists_of(&self, content: u32) -> Range<usize> {
        let at = (content - self.first) as usize;
        self.own[at] as usize..self.own[at + 1] as usize
    }

    /// The contents from number `from` on that stay, share a key with `content`, and may be alike. They are best
    /// first and each once.
    pub(super) fn kept_beside<C: Comparer>(
        &self,
        content: u32,
        from: u32,
        comparer: &C,
        out: &mut Candidates,
    ) {
        out.begin(self.own.len());
        for &[list, rest] in &self.lists_of[self.lists_of(content)] {
            let start = self.starts[list as usize] as usize;
            let kept = &self.holders[start..start + self.kept[list as usize] as usize];
            let skipped = if from == 0 { 0 } else { kept.partition_point(|holder| holder[0] < from) };
            for &holder in &kept[skipped..] {
                // Near-duplicates share many keys, so most holders were met a few lists before.
                let place = holder[0] - self.first;
                if !out.has(place) && comparer.may([content, rest], holder) {
                    out.add(place);
                }
            }
        }
        out.finish(self.first);
    }

    /// Whether a content from number `from` on comes before `content`, shares a key with it, and may be alike. None of
    /// them may be settled yet.
    pub(super) fn is_open_beside<C: Comparer>(&self, content: u32, from: u32, comparer: &C) -> bool {
        self.lists_of[self.lists_of(content)].iter().any(|&[list, rest]| {
            let before = self.open_before(list, from, content);
            before.len() > MANY || before.iter().any(|&holder| comparer.may([content, rest], holder))
        })
    }

    /// Collects the contents from number `from` on that come before `content`, share a key with it, and may be alike. None
    /// of them may be settled yet. Returns false if they may be many, and collects none.
    pub(super) fn open_beside<C: Comparer>(
        &self,
        content: u32,
        from: u32,
        comparer: &C,
        out: &mut Candidates,
    ) -> bool {
        let lists = &self.lists_of[self.lists_of(content)];
        out.list.clear();
        if lists.iter().any(|&[list, _]| self.open_before(list, from, content).len() > SHORT) {
            return false;
        }
        out.begin(self.own.len());
        for &[list, rest] in lists {
            for &holder in self.open_before(list, from, content) {
                let place = holder[0] - self.first;
                if !out.has(place) && comparer.may([content, rest], holder) {
                    out.add(place);
                }
            }
        }
        out.finish(self.first);
        true
    }

    /// The holders of a key from number `from` on and before `content`. None of them may be settled yet.
    fn open_before(&self, list: u32, from: u32, content: u32) -> &[Holder] {
        let start = self.starts[list as usize] + self.kept[list as usize];
        // Behind those that stay are some that were settled, then all that were not.
        let others = &self.holders[start as usize..self.starts[list as usize + 1] as usize];
        let open = &others[others.partition_point(|holder| holder[0] < from)..];
        &open[..open.partition_point(|holder| holder[0] < content)]
    }

    /// How many holders the lists of a content have.
    fn holders_beside(&self, content: u32) -> usize {
        let lists = &self.lists_of[self.lists_of(content)];
        lists.iter().map(|&[list, _]| self.kept[list as usize] as usize).sum()
    }

    /// Whether it is faster to look at all contents that stay than at so many holders. Pages of one template share much,
    /// and have no rare key.
    fn are_many(&self, holders: usize) -> bool {
        holders > self.stay.len() / CROWD_PACE && holders > MANY
    }

    /// Makes a crowd of all contents that stay if it pays for `contents`, and for those that went without one before.
    pub(super) fn gather<C: Comparer>(&mut self, contents: &[u32], comparer: &C) -> Result<(), C::Error> {
        let missing = self.stay.len() - self.crowd.as_ref().map_or(0, CrowdedContents::len);
        if missing == 0 {
            return Ok(());
        }
        let beside = contents.iter().map(|&content| self.holders_beside(content));
        self.owed += beside.filter(|&holders| self.are_many(holders)).sum::<usize>();
        if self.owed < missing * JOIN_PACE {
            return Ok(());
        }
        self.owed = 0;
        if self.crowd.is_none() {
            self.crowd = CrowdedContents::new(comparer, contents[0]);
            self.crowd.iter_mut().try_for_each(|crowd| crowd.choose_kin(&self.stay, comparer))?;
        }
        if let Some(crowd) = &mut self.crowd {
            self.stay[crowd.len()..].iter().try_for_each(|&content| crowd.push(content, comparer))?;
        }
        Ok(())
    }

    /// Whether [`ListIndex::crowd_beside`] finds what may be alike to a content.
    pub(super) fn is_crowded(&self, content: u32) -> bool {
        let is_gathered = |crowd: &CrowdedContents| crowd.len() == self.stay.len();
        self.crowd.as_ref().is_some_and(is_gathered) && self.are_many(self.holders_beside(content))
    }

    /// As [`ListIndex::kept_beside`], in a list for each of `few` that is crowded and not of the base.
    pub(super) fn crowd_beside<C: Comparer>(
        &self,
        few: &[u32],
        from: u32,
        comparer: &C,
        near: &mut Vec<Vec<u32>>,
    ) -> Result<(), C::Error> {
        let is_crowded = |content: &u32| *content >= comparer.base() && self.is_crowded(*content);
        let crowded: Vec<u32> = few.iter().copied().filter(is_crowded).collect();
        match &self.crowd {
            Some(crowd) if !crowded.is_empty() => crowd.near(&crowded, from, comparer, near),
            _ => Ok(()),
        }
    }

    /// Records that `content` stays. Contents must be settled in order.
    pub(super) fn keep(&mut self, content: u32) {
        self.stay.push(content);
        for &[list, rest] in &self.lists_of[self.lists_of(content)] {
            let (start, kept) = (self.starts[list as usize], &mut self.kept[list as usize]);
            self.holders[(start + *kept) as usize] = [content, rest];
            *kept += 1;
        }
    }
}

/// Contents to compare with, each once.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    pub list: Vec<u32>,
    /// One bit for each content of the block, which is set while candidates are collected.
    met: Vec<u64>,
}

impl Candidates {
    fn begin(&mut self, contents: usize) {
        self.list.clear();
        self.met.resize(contents.div_ceil(64), 0);
    }

    #[inline]
    fn has(&self, place: u32) -> bool {
        self.met[place as usize / 64] >> (place % 64) & 1 == 1
    }

    #[inline]
    fn add(&mut self, place: u32) {
        self.met[place as usize / 64] |= 1 << (place % 64);
        self.list.push(place);
    }

    /// Orders the candidates, and turns places in the block into contents.
    fn finish(&mut self, first: u32) {
        if self.list.len() > self.met.len() / 8 {
            // Many are faster to read off than to sort.
            self.list.clear();
            for (at, word) in self.met.iter_mut().enumerate() {
                let mut left = std::mem::take(word);
                while left != 0 {
                    self.list.push(first + 64 * at as u32 + left.trailing_zeros());
                    left &= left - 1;
                }
            }
            return;
        }
        self.list.sort_unstable();
        for place in &mut self.list {
            self.met[*place as usize / 64] = 0;
            *place += first;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::settle::MemoryLists;
    use crate::similarity::method::{Method, method};

    /// Contents of ten words each, whose sketches are never read.
    struct Sizes(Box<dyn Method>);

    impl Comparer for Sizes {
        type Error = std::convert::Infallible;

        fn method(&self) -> &dyn Method {
            &*self.0
        }

        fn sizes(&self) -> &[u32] {
            &[10; 5]
        }

        fn sketch<'a>(&'a self, _: u32, _: &'a mut Vec<u64>) -> Result<&'a [u64], Self::Error> {
            Ok(&[])
        }
    }

    #[test]
    fn only_what_stays_and_may_be_alike_is_found() {
        let mut lists = MemoryLists::default();
        for list in
            [&[[0, 9], [2, 9], [3, 9]][..], &[[1, 9], [2, 9]], &[[2, 9], [3, 9], [4, 9]], &[[0, 9], [4, 2]]]
        {
            lists.push(list);
        }
        let settled = Settled::new(5);
        let config = crate::Config { method: "jaccard".into(), ..Default::default() };
        let sizes = Sizes(method(&config).unwrap());
        let mut index = ListIndex::new(&lists, 0..5, &settled).unwrap();
        let mut found = Candidates::default();
        let open = |index: &ListIndex, content| index.is_open_beside(content, 0, &sizes);
        assert_eq!([0, 1, 2, 3, 4].map(|content| open(&index, content)), [false, false, true, true, true]);
        index.keep(0);
        index.keep(1);
        assert!(!index.is_open_beside(2, 2, &sizes) && index.is_open_beside(3, 2, &sizes));
        index.kept_beside(2, 0, &sizes, &mut found);
        assert_eq!(found.list, [0, 1]);
        index.kept_beside(2, 1, &sizes, &mut found);
        assert_eq!(found.list, [1]);
        index.keep(3);
        index.kept_beside(4, 0, &sizes, &mut found);
        assert_eq!(found.list, [3], "what 0 and 4 share comes too late to be enough");
        let later = ListIndex::new(&lists, 2..5, &settled).unwrap();
        assert_eq!(later.holders.iter().map(|holder| holder[0]).collect::<Vec<_>>(), [2, 3, 2, 3, 4]);
    }
}

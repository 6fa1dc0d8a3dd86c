//! Decisions: the fate of every page, ready for the outputs. They are saved to disk, so that a killed run need not make
//! them again.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use onecopy_core::{Decision, End, Groups, Kind, Method, PageEnd, PageId};
use xxhash_rust::xxh3::xxh3_64;

use crate::batch::candidates::contents::{Contents, NO_CONTENT};
use crate::error::{At, Result};
use onecopy_core::settle::Settled;

/// The fate of every page.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Decisions {
    of_page: Vec<u32>,
    best_page: Vec<u32>,
    /// All other compared pages, best first.
    copies: Vec<u32>,
    winner: Vec<u32>,
    /// The similarity of each content to its winner, as two halves of its bits.
    similarity: Vec<u32>,
    group: Vec<u32>,
    /// Pages that stand for another, ascending: the page, its end, and the kind of end.
    ends: Vec<u32>,
    /// One number: how many pages are the base. They have the first numbers, and all of them stay.
    base: Vec<u32>,
    /// A bit for each page that stays, once any is asked for.
    kept: OnceLock<Vec<u64>>,
}

/// The pages of all groups of two or more, in the order of `groups.jsonl`.
pub(crate) struct Grouped {
    /// The pages of each group, best first. Redirects and revisits come behind the pages of the content where they end,
    /// by number.
    pub pages: Vec<PageId>,
    /// Where each group ends.
    ends: Vec<u32>,
}

impl Grouped {
    /// The number of groups.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The pages of some groups.
    pub(crate) fn range(&self, groups: Range<usize>) -> Range<usize> {
        let start = |group: usize| group.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        start(groups.start)..start(groups.end)
    }
}

/// The place of a content that is no part of a group.
const ALONE: u32 = u32::MAX;

/// The number of integers in an entry of `ends`.
const END: usize = 3;

impl Decisions {
    pub(crate) fn new(
        contents: Contents,
        settled: Settled,
        mut groups: Groups,
        ends: &[PageEnd],
        method: &dyn Method,
    ) -> Decisions {
        let group = (0..contents.len() as u32).map(|content| groups.find(content)).collect();
        let Contents { of_page, best_page, copies, sizes, .. } = contents;
        let similarity = |content: usize| settled.similarity(content as u32, &sizes, method);
        let similarity = (0..best_page.len()).flat_map(|content| halves(similarity(content))).collect();
        let ends = ends.iter().flat_map(encode_end).collect();
        let (winner, base) = (settled.winner, vec![0]);
        Decisions { of_page, best_page, copies, winner, similarity, group, ends, base, kept: OnceLock::new() }
    }

    /// These decisions, of which the first `base` pages are the base.
    pub(crate) fn against(self, base: PageId) -> Decisions {
        Decisions { base: vec![base], ..self }
    }

    /// Whether a page is of the base.
    pub(crate) fn is_base(&self, page: PageId) -> bool {
        self.base.first().is_some_and(|&base| page < base)
    }

    pub(crate) fn pages(&self) -> usize {
        self.of_page.len()
    }

    /// The content of a page; [`NO_CONTENT`] if the page stands for another.
    pub(crate) fn content_of(&self, page: PageId) -> u32 {
        self.of_page[page as usize]
    }

    /// Whether a page stands for another.
    pub(crate) fn is_pointing(&self, page: PageId) -> bool {
        self.content_of(page) == NO_CONTENT
    }

    /// The group of a content.
    pub(crate) fn group_of(&self, content: u32) -> u32 {
        self.group[content as usize]
    }

    /// The decision for a page.
    pub(crate) fn of(&self, page: PageId) -> Decision {
        if self.is_kept(page) {
            return Decision::Kept;
        }
        let content = self.of_page[page as usize] as usize;
        if content == NO_CONTENT as usize {
            return self.of_pointing(page);
        }
        let winner = self.winner[content] as usize;
        let best = self.best_page[winner];
        if winner != content {
            let similarity = whole([self.similarity[2 * content], self.similarity[2 * content + 1]]);
            Decision::Removed { winner: best, similarity, kind: Kind::Near }
        } else {
            Decision::Removed { winner: best, similarity: 1.0, kind: Kind::Exact }
        }
    }

    /// Whether a page stays.
    pub(crate) fn is_kept(&self, page: PageId) -> bool {
        let bits = self.kept.get_or_init(|| self.kept_bits());
        bits[page as usize / 64] >> (page % 64) & 1 == 1
    }

    /// A bit for each page that stays. To go through contents once is faster than to follow each page to its winner.
    fn kept_bits(&self) -> Vec<u64> {
        let mut bits = vec![0; self.pages().div_ceil(64)];
        let mut set = |page: PageId| bits[page as usize / 64] |= 1 << (page % 64);
        (0..self.base.first().copied().unwrap_or(0)).for_each(&mut set);
        let best = (0..).zip(self.winner.iter().zip(&self.best_page));
        best.filter(|(content, (winner, _))| content == *winner).for_each(|(_, (_, &page))| set(page));
        bits
    }

    /// The decision for a page that stands for another.
    fn of_pointing(&self, page: PageId) -> Decision {
        match self.end(page) {
            Some(PageEnd { end: End::Page(target), revisit, .. }) => self.of(target).shared(target, revisit),
            _ => Decision::Rejected,
        }
    }

    /// The end of a page that stands for another.
    pub(crate) fn end(&self, page: PageId) -> Option<PageEnd> {
        let (entries, _) = self.ends.as_chunks::<END>();
        let at = entries.binary_search_by_key(&page, |entry| entry[0]).ok()?;
        Some(decode_end(entries[at]))
    }

    /// The content of a page, or of the page that it stands for.
    fn content(&self, page: PageId) -> Option<u32> {
        let content = self.of_page[page as usize];
        match (content, self.end(page)) {
            (NO_CONTENT, Some(PageEnd { end: End::Page(target), .. })) => Some(self.of_page[target as usize]),
            (NO_CONTENT, _) => None,
            _ => Some(content),
        }
    }

    /// All pages that are not rejected, with their contents. The pages of each content are best first.
    fn by_rank(&self) -> impl Iterator<Item = (PageId, usize)> {
        let compared = self.best_page.iter().chain(&self.copies).map(|&page| (page, self.content_of(page)));
        let (ends, _) = self.ends.as_chunks::<END>();
        let pointing = ends.iter().map(|end| end[0]).filter(|&page| self.is_pointing(page));
        let pointing = pointing.filter_map(|page| Some((page, self.content(page)?)));
        compared.chain(pointing).map(|(page, content)| (page, content as usize))
    }

    /// The pages of all groups of two or more. The first page of a group is its winner. Counts pages and sorts none: a
    /// group may be most of the input.
    pub(crate) fn grouped(&self) -> Grouped {
        let mut of_content = vec![0u32; self.group.len()];
        self.by_rank().for_each(|(_, content)| of_content[content] += 1);
        let mut of_group = vec![0u32; self.group.len()];
        self.group.iter().zip(&of_content).for_each(|(&group, pages)| of_group[group as usize] += pages);
        let (mut sum, mut ends) = (0, Vec::new());
        for pages in &mut of_group {
            let start = sum;
            if *pages > 1 {
                sum += *pages;
                ends.push(sum);
            }
            *pages = if *pages > 1 { start } else { ALONE };
        }
        // From here on, each content and each group has the place of its next page instead of a number of pages.
        for (content, &group) in self.group.iter().enumerate() {
            let next = &mut of_group[group as usize];
            let pages = std::mem::replace(&mut of_content[content], *next);
            *next = if *next == ALONE { ALONE } else { *next + pages };
        }
        drop(of_group);
        let mut pages = vec![0; sum as usize];
        for (page, content) in self.by_rank() {
            let next = &mut of_content[content];
            if *next != ALONE {
                pages[*next as usize] = page;
                *next += 1;
            }
        }
        Grouped { pages, ends }
    }

    fn columns(&self) -> [&Vec<u32>; 8] {
        let Decisions { of_page, best_page, copies, winner, similarity, group, ends, base, .. } = self;
        [of_page, best_page, copies, winner, similarity, group, ends, base]
    }

    /// Writes the decisions to a temporary file and renames it, so that the result is complete or absent.
    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        let aside = path.with_extension("part");
        let mut file = File::create(&aside).at("create", &aside)?;
        for column in self.columns() {
            let bytes: &[u8] = bytemuck::cast_slice(column);
            file.write_all(&(column.len() as u64).to_ne_bytes()).at("write", &aside)?;
            file.write_all(&xxh3_64(bytes).to_ne_bytes()).at("write", &aside)?;
            file.write_all(bytes).at("write", &aside)?;
        }
        fs::rename(&aside, path).at("create", path)
    }

    /// Reads the result of [`Decisions::save`]. `None` if it is absent or incomplete.
    pub(crate) fn load(path: &Path) -> Result<Option<Decisions>> {
        let Ok(mut file) = File::open(path) else { return Ok(None) };
        let length = file.metadata().at("read", path)?.len();
        let mut column = || -> Option<Vec<u32>> {
            let mut head = [0; 16];
            file.read_exact(&mut head).ok()?;
            let number = |at: usize| u64::from_ne_bytes(head[at..at + 8].try_into().expect("eight bytes"));
            let mut column = vec![0u32; (number(0) <= length / 4).then_some(number(0) as usize)?];
            file.read_exact(bytemuck::cast_slice_mut(&mut column)).ok()?;
            (xxh3_64(bytemuck::cast_slice(&column)) == number(8)).then_some(column)
        };
        let mut columns = || {
            Some(Decisions {
                of_page: column()?,
                best_page: column()?,
                copies: column()?,
                winner: column()?,
                similarity: column()?,
                group: column()?,
                ends: column()?,
                base: column()?,
                kept: OnceLock::new(),
            })
        };
        Ok(columns())
    }
}

fn halves(similarity: f64) -> [u32; 2] {
    let bits = similarity.to_bits();
    [bits as u32, (bits >> 32) as u32]
}

fn whole([low, high]: [u32; 2]) -> f64 {
    f64::from_bits(u64::from(low) | u64::from(high) << 32)
}

/// Encodes an end. The last number holds the kind of end and whether the page is a revisit.
fn encode_end(end: &PageEnd) -> [u32; END] {
    let (target, how) = match end.end {
        End::Page(target) => (target, 0),
        End::Missing => (0, 1),
        End::Loop => (0, 2),
        End::TooLong => (0, 3),
    };
    [end.page, target, how << 1 | u32::from(end.revisit)]
}

fn decode_end([page, target, how]: [u32; END]) -> PageEnd {
    let end = match how >> 1 {
        0 => End::Page(target),
        1 => End::Missing,
        2 => End::Loop,
        _ => End::TooLong,
    };
    PageEnd { page, end, revisit: how & 1 == 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Decisions {
        // Pages 2, 7 and 0 form content 0, best first. Page 1 is near it, and page 3 is alone. Page 4 points to page 1,
        // page 5 to page 3, and page 6 nowhere.
        let end = |page, end| PageEnd { page, end, revisit: page == 5 };
        let ends = [end(4, End::Page(1)), end(5, End::Page(3)), end(6, End::Loop)];
        Decisions {
            of_page: vec![0, 1, 0, 2, NO_CONTENT, NO_CONTENT, NO_CONTENT, 0],
            best_page: vec![2, 1, 3],
            copies: vec![7, 0],
            winner: vec![0, 0, 2],
            similarity: [1.0, 0.9, 1.0].into_iter().flat_map(halves).collect(),
            group: vec![0, 0, 2],
            ends: ends.iter().flat_map(encode_end).collect(),
            base: vec![0],
            kept: OnceLock::new(),
        }
    }

    #[test]
    fn pages_follow_their_contents() {
        let decisions = example();
        assert_eq!(decisions.of(2), Decision::Kept);
        assert_eq!(decisions.of(0), Decision::Removed { winner: 2, similarity: 1.0, kind: Kind::Exact });
        assert_eq!(decisions.of(1), Decision::Removed { winner: 2, similarity: 0.9, kind: Kind::Near });
        assert_eq!(decisions.of(3), Decision::Kept);
        let grouped = decisions.grouped();
        let pages = |group: usize| &grouped.pages[grouped.range(group..group + 1)];
        let groups: Vec<&[PageId]> = (0..grouped.len()).map(pages).collect();
        assert_eq!(groups, [&[2, 7, 0, 1, 4][..], &[3, 5]]);
    }

    #[test]
    fn pages_that_point_elsewhere_share_the_fate_of_where_they_end() {
        let decisions = example();
        let redirect = Decision::Removed { winner: 2, similarity: 0.9, kind: Kind::Redirect };
        assert_eq!(decisions.of(4), redirect);
        assert_eq!(decisions.of(5), Decision::Removed { winner: 3, similarity: 1.0, kind: Kind::Exact });
        assert_eq!(decisions.of(6), Decision::Rejected);
        assert_eq!(decisions.end(6).map(|end| end.end), Some(End::Loop));
    }

    #[test]
    fn what_was_saved_is_loaded_and_damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("decisions");
        assert_eq!(Decisions::load(&path).unwrap(), None);
        example().save(&path).unwrap();
        assert_eq!(Decisions::load(&path).unwrap(), Some(example()));
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, &bytes).unwrap();
        assert_eq!(Decisions::load(&path).unwrap(), None);
        fs::write(&path, &bytes[..20]).unwrap();
        assert_eq!(Decisions::load(&path).unwrap(), None);
    }
}

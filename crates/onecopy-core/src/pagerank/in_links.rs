//! The links to pages, one page after the other.
//!
//! Four bytes a link are more than differences in variable bytes would take, and three times as fast to add up: the
//! processor can ask for many votes at once.

/// The links to some pages: for each page a head, then the numbers of the voters of all pages.
#[derive(Clone, Copy, Debug)]
pub struct InLinks<'a> {
    heads: &'a [u32],
    voters: &'a [u32],
}

/// Appends the links to `pages` pages in the form of [`InLinks`]. `links` are sorted and distinct: the page in the upper
/// half, the voter in the lower. `votes` says whether a page is a voter itself.
pub fn pack_links(pages: u32, links: &[u64], votes: impl Fn(u32) -> bool, out: &mut Vec<u32>) {
    let start = out.len();
    out.extend((0..pages).map(|page| u32::from(votes(page))));
    links.iter().for_each(|link| out[start + (link >> 32) as usize] += 2);
    out.extend(links.iter().map(|&link| link as u32));
}

impl<'a> InLinks<'a> {
    /// The links that [`pack_links`] wrote for `pages` pages.
    pub fn new(pages: usize, packed: &'a [u32]) -> InLinks<'a> {
        let (heads, voters) = packed.split_at(pages);
        InLinks { heads, voters }
    }

    /// The number of links to each page.
    pub fn counts(self) -> impl Iterator<Item = u32> + use<'a> {
        self.heads.iter().map(|head| head >> 1)
    }

    /// The voters for each page in their order, and whether the page votes itself.
    #[inline]
    pub(super) fn pages(self) -> impl Iterator<Item = (&'a [u32], bool)> {
        let mut rest = self.voters;
        self.heads.iter().map(move |head| {
            let (own, others) = rest.split_at((head >> 1) as usize);
            rest = others;
            (own, head & 1 == 1)
        })
    }
}

//! The links to pages, packed: for each page how many, then the numbers of the voters, ascending, as differences.
//!
//! A number takes seven bits of each byte, lowest first. Most links come from voters with small numbers, so that a link
//! takes about two bytes.

/// Appends the links to `pages` pages. `links` are sorted and distinct: the page in the upper half, the voter in the
/// lower. `votes` says whether a page is a voter itself.
pub fn pack_links(pages: u32, links: &[u64], votes: impl Fn(u32) -> bool, out: &mut Vec<u8>) {
    let mut rest = links;
    for page in 0..pages {
        let count = rest.iter().take_while(|&&link| (link >> 32) as u32 == page).count();
        let (own, others) = rest.split_at(count);
        rest = others;
        push((count as u64) << 1 | u64::from(votes(page)), out);
        let mut before = 0;
        for voter in own.iter().map(|&link| link & u64::from(u32::MAX)) {
            push(voter - before, out);
            before = voter;
        }
    }
}

/// The number of links to each page.
pub fn in_links(packed: &[u8]) -> impl Iterator<Item = u32> {
    let mut links = Links::new(packed);
    std::iter::from_fn(move || {
        (links.at < links.packed.len()).then(|| {
            let count = (links.next() >> 1) as u32;
            for _ in 0..count {
                links.next();
            }
            count
        })
    })
}

fn push(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads packed links.
pub(super) struct Links<'a> {
    packed: &'a [u8],
    at: usize,
}

impl<'a> Links<'a> {
    pub(super) fn new(packed: &'a [u8]) -> Links<'a> {
        Links { packed, at: 0 }
    }

    /// The sum of the votes for the next page, in the order of voters, and whether the page votes itself.
    #[inline]
    pub(super) fn sum(&mut self, votes: &[f64]) -> (f64, bool) {
        let head = self.next();
        let (mut sum, mut voter) = (0.0, 0);
        for _ in 0..head >> 1 {
            voter += self.next();
            sum += votes[voter as usize];
        }
        (sum, head & 1 == 1)
    }

    #[inline(always)]
    fn next(&mut self) -> u64 {
        let first = self.packed[self.at];
        self.at += 1;
        if first < 0x80 { u64::from(first) } else { self.rest(u64::from(first & 0x7f)) }
    }

    #[inline(always)]
    fn rest(&mut self, mut number: u64) -> u64 {
        let mut shift = 7;
        loop {
            let byte = self.packed[self.at];
            self.at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return number;
            }
            shift += 7;
        }
    }
}

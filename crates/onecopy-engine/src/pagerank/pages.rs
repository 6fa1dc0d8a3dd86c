//! Gives each page a number, on all threads, and collects links by their target.
//!
//! Pages are divided into stripes by the first byte of the hash of their name. A number has the stripe in its upper 8
//! bits and the place in the stripe in the others. Places depend on timing; `graph` replaces them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use onecopy_core::digest;

use super::scratch::{Scratch, Spill};
use crate::error::{Error, Result};
use crate::lock::Lock;

/// The number of stripes.
pub(super) const STRIPES: usize = 256;
/// The bits of a number that tell the place in a stripe.
const PLACE_BITS: u32 = 24;
/// Bytes of memory per page: an entry of a growing hash table, numbers, and scores.
pub(super) const BYTES_A_PAGE: u64 = 56;
/// The bit of a page's facts that says that it was read. The others count its links.
const IS_READ: u32 = 1 << 31;

/// The stripe of a number.
pub(super) fn stripe_of(number: u32) -> usize {
    (number >> PLACE_BITS) as usize
}

/// The place of a number in its stripe.
pub(super) fn place_of(number: u32) -> usize {
    (number & ((1 << PLACE_BITS) - 1)) as usize
}

/// The facts about a page before all links are known.
#[derive(Clone, Copy, Default)]
pub(super) struct PageFacts(u32);

impl PageFacts {
    /// Whether the page is in the input, and not only linked to.
    pub(super) fn is_read(self) -> bool {
        self.0 & IS_READ != 0
    }

    /// How many links it has, the same ones counted each time.
    pub(super) fn links(self) -> u32 {
        self.0 & !IS_READ
    }

    fn add_links(&mut self, links: u32) {
        self.0 = (self.0 & IS_READ) | self.links().saturating_add(links).min(IS_READ - 1);
    }
}

/// The pages of a stripe.
pub(super) struct Stripe {
    /// The place of each page, by the hash of its name.
    pub places: HashMap<u64, u32, BuildHasherDefault<Scatter>>,
    pub facts: Vec<PageFacts>,
    /// The names of pages in the order of their places, each with its length in front.
    pub names: Spill,
    /// The links to pages of this stripe: the number of the page that links, and the place of the other.
    pub links: Spill,
}

/// All pages.
pub(super) struct Pages {
    pub stripes: Vec<Lock<Stripe>>,
    count: AtomicU64,
    memory_bytes: u64,
}

impl Pages {
    pub(super) fn new(scratch: &Scratch, memory_bytes: u64) -> Pages {
        let buffer = (memory_bytes / 16 / STRIPES as u64 / 2).clamp(4 << 10, 1 << 18) as usize;
        let stripe = |number| Stripe {
            places: HashMap::default(),
            facts: Vec::new(),
            names: scratch.spill("names", number, buffer),
            links: scratch.spill("found", number, buffer),
        };
        let stripes = (0..STRIPES).map(|number| Lock::new(stripe(number))).collect();
        Pages { stripes, count: AtomicU64::new(0), memory_bytes }
    }

    /// The number of the page with this name, if it is known.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        let hash = digest(name.as_bytes());
        let stripe = (hash >> 56) as u32;
        self.stripes[stripe as usize].lock().places.get(&hash).map(|&place| stripe << PLACE_BITS | place)
    }

    /// Adds the pages and links of a batch, and empties it. Returns how many links pages had to themselves. `done` is
    /// the part of the input that was read, from 0 to 1.
    pub(super) fn add(&self, batch: &mut Batch, done: f64) -> Result<u64> {
        batch.group();
        for stripe in 0..STRIPES {
            self.number(stripe, batch)?;
        }
        let own = batch.link();
        for stripe in 0..STRIPES {
            self.collect(stripe, batch)?;
        }
        batch.clear();
        let pages = self.count.load(Ordering::Relaxed);
        if pages * BYTES_A_PAGE <= self.memory_bytes {
            return Ok(own);
        }
        let needed = (pages as f64 / done.clamp(0.01, 1.0)) as u64 * BYTES_A_PAGE;
        Err(Error::Memory { needed, limit: self.memory_bytes, purpose: "to number the pages".into() })
    }

    /// Gives numbers to the names of a batch in a stripe.
    fn number(&self, stripe: usize, batch: &mut Batch) -> Result<()> {
        let Batch { text, mentions, order, starts, numbers, .. } = batch;
        let members = &order[starts[stripe]..starts[stripe + 1]];
        if members.is_empty() {
            return Ok(());
        }
        let Stripe { places, facts, names, .. } = &mut *self.stripes[stripe].lock();
        let before = facts.len();
        for &member in members {
            let mention = &mentions[member as usize];
            let next = facts.len() as u32;
            let place = match places.entry(mention.hash) {
                Entry::Occupied(place) => *place.get(),
                Entry::Vacant(vacant) => {
                    vacant.insert(next);
                    facts.push(PageFacts::default());
                    names.buffer().extend_from_slice(&mention.length.to_ne_bytes());
                    names.buffer().extend_from_slice(mention.text(text));
                    next
                }
            };
            facts[place as usize].0 |= if mention.is_read { IS_READ } else { 0 };
            numbers[member as usize] = (stripe as u32) << PLACE_BITS | place;
        }
        let added = facts.len() - before;
        let all = self.count.fetch_add(added as u64, Ordering::Relaxed);
        if facts.len() > 1 << PLACE_BITS {
            return Err(Error::TooManyPages { pages: all });
        }
        names.tidy()
    }

    /// Adds the links of a batch to a stripe, and the numbers of links of its pages.
    fn collect(&self, stripe: usize, batch: &Batch) -> Result<()> {
        let links = &batch.by_target[batch.target_starts[stripe]..batch.target_starts[stripe + 1]];
        let members = &batch.order[batch.starts[stripe]..batch.starts[stripe + 1]];
        if links.is_empty() && members.is_empty() {
            return Ok(());
        }
        let Stripe { facts, links: found, .. } = &mut *self.stripes[stripe].lock();
        for &member in members {
            let links = batch.mentions[member as usize].links;
            if links > 0 {
                facts[place_of(batch.numbers[member as usize])].add_links(links);
            }
        }
        found.buffer().extend_from_slice(bytemuck::cast_slice(links));
        found.tidy()
    }
}

/// Pages and links of a chunk of input, before they have numbers. A thread reuses it.
#[derive(Default)]
pub(super) struct Batch {
    /// The names, one after the other.
    text: Vec<u8>,
    mentions: Vec<Mention>,
    /// Which mention links to which.
    links: Vec<(u32, u32)>,
    /// The mentions, by stripe, and where each stripe starts.
    order: Vec<u32>,
    starts: Vec<usize>,
    /// The number of the page of each mention.
    numbers: Vec<u32>,
    /// The links as numbers and places, by the stripe of the target.
    by_target: Vec<[u32; 2]>,
    target_starts: Vec<usize>,
}

struct Mention {
    hash: u64,
    start: u32,
    length: u32,
    /// How many links it has to others.
    links: u32,
    is_read: bool,
}

impl Mention {
    fn text<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.start as usize..][..self.length as usize]
    }

    fn stripe(&self) -> usize {
        (self.hash >> 56) as usize
    }
}

impl Batch {
    /// Adds the name of a page that is in the input.
    pub(super) fn page(&mut self, name: &str) -> u32 {
        let mention = self.mention(name);
        self.mentions[mention as usize].is_read = true;
        mention
    }

    /// Adds the name of a page.
    pub(super) fn mention(&mut self, name: &str) -> u32 {
        let start = self.text.len() as u32;
        self.text.extend_from_slice(name.as_bytes());
        let (hash, length) = (digest(name.as_bytes()), name.len() as u32);
        self.mentions.push(Mention { hash, start, length, links: 0, is_read: false });
        self.mentions.len() as u32 - 1
    }

    /// Adds a link between two mentions.
    pub(super) fn add_link(&mut self, from: u32, to: u32) {
        self.links.push((from, to));
    }

    /// The number of links.
    pub(super) fn links(&self) -> u64 {
        self.links.len() as u64
    }

    /// About the bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.text.len() + self.mentions.len() * size_of::<Mention>() + self.links.len() * 8
    }

    fn clear(&mut self) {
        self.text.clear();
        self.mentions.clear();
        self.links.clear();
    }

    /// Orders the mentions by stripe.
    fn group(&mut self) {
        let Batch { mentions, order, starts, numbers, .. } = self;
        *starts = starts_of(mentions.iter().map(Mention::stripe));
        let mut next = starts.clone();
        order.resize(mentions.len(), 0);
        numbers.resize(mentions.len(), 0);
        for (mention, number) in mentions.iter().zip(0..) {
            let at = &mut next[mention.stripe()];
            order[*at] = number;
            *at += 1;
        }
    }

    /// Orders the links by the stripe of their target, without those of a page to itself. Returns how many those are.
    fn link(&mut self) -> u64 {
        let Batch { mentions, links, numbers, by_target, target_starts, .. } = self;
        let all = links.len();
        links.retain(|&(from, to)| numbers[from as usize] != numbers[to as usize]);
        *target_starts = starts_of(links.iter().map(|&(_, to)| mentions[to as usize].stripe()));
        let mut next = target_starts.clone();
        by_target.resize(links.len(), [0; 2]);
        for &(from, to) in &*links {
            mentions[from as usize].links += 1;
            let at = &mut next[mentions[to as usize].stripe()];
            by_target[*at] = [numbers[from as usize], place_of(numbers[to as usize]) as u32];
            *at += 1;
        }
        (all - links.len()) as u64
    }
}

/// Where the members of each stripe start, if they are ordered by stripe.
fn starts_of(stripes: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut starts = vec![0; STRIPES + 1];
    stripes.for_each(|stripe| starts[stripe + 1] += 1);
    for stripe in 0..STRIPES {
        starts[stripe + 1] += starts[stripe];
    }
    starts
}

/// Scatters hashes: those of a stripe share their upper byte, and the table looks at upper and lower bits.
#[derive(Default)]
pub(super) struct Scatter(u64);

impl Hasher for Scatter {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only hashes are looked up");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

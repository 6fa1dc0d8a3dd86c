//! Renumbers pages by the hashes of their names, and packs the links to the pages of each stripe.
//!
//! The numbers, and with them the order of every sum, depend only on the set of links. So scores have the same bytes for
//! any order of the input and any number of threads.

use std::fs::{self, File};
use std::io::Read;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use onecopy_core::{InLinks, link_key, pack_links, voters};

use super::pages::{BYTES_A_PAGE, PageFacts, Pages, STRIPES, Stripe, place_of, stripe_of};
use super::resets::ResetWeights;
use super::scratch::{Scratch, Spill};
use super::{PageRankJob, UnknownPages};
use crate::error::{At, Error, Result};
use crate::lock::Lock;
use crate::parallel::for_each;
use crate::progress::{Note, Progress, Stage};

/// The number of a page or voter that does not count.
const NONE: u32 = u32::MAX;
/// About the bytes of a packed link, and of a link while its stripe is sorted.
const PACKED_BYTES: u64 = 4;
const SORTED_BYTES: u64 = 16;

/// Pages and the links between them.
pub(super) struct Graph {
    stripes: Vec<PackedStripe>,
    /// The page of each voter, and how many pages it links to.
    pub voters: Vec<u32>,
    pub voter_links: Vec<u32>,
    /// The number of links.
    pub links: u64,
    /// Pages that are only linked to.
    pub unknown: u64,
}

/// The pages of a stripe, and the links to them.
pub(super) struct PackedStripe {
    pub pages: Range<usize>,
    /// The place of each page in the list of names.
    places: Vec<u32>,
    facts: Vec<PageFacts>,
    pub names: Spill,
    links: PackedLinks,
}

enum PackedLinks {
    Memory(Vec<u32>),
    Disk { path: PathBuf, numbers: usize },
}

/// A stripe whose pages are in order.
struct OrderedStripe {
    stripe: Stripe,
    /// The places of pages, in order.
    places: Vec<u32>,
    /// The order of each place.
    position: Vec<u32>,
    unknown: u64,
}

impl Graph {
    pub(super) fn build(
        pages: Pages,
        job: &PageRankJob,
        scratch: &Scratch,
        links: u64,
        progress: &dyn Progress,
    ) -> Result<Graph> {
        progress.begin(Stage::Order, STRIPES as u64);
        let mut ordered = order(pages, job)?;
        let mut starts = vec![0usize];
        ordered.iter().for_each(|stripe| starts.push(starts[starts.len() - 1] + stripe.places.len()));
        let count = starts[STRIPES];
        let on_disk = check_memory(count as u64, links, job)?;
        let (voters, voter_of) = number_voters(&ordered, &starts);
        let voter_links: Vec<AtomicU32> = voters.iter().map(|_| AtomicU32::new(0)).collect();
        let packing = Packing { ordered: &ordered, voter_of: &voter_of, voter_links: &voter_links };
        let total = AtomicU64::new(0);
        let packed: Vec<Lock<Option<PackedLinks>>> = (0..STRIPES).map(|_| Lock::new(None)).collect();
        for_each(
            job.threads,
            STRIPES,
            || (),
            |(), number| {
                let (packed_links, links) = packing.pack(number)?;
                total.fetch_add(links, Ordering::Relaxed);
                let links = if on_disk {
                    on_disk_links(scratch, number, &packed_links)?
                } else {
                    PackedLinks::Memory(packed_links)
                };
                *packed[number].lock() = Some(links);
                progress.advance(1);
                if progress.stopped() { Err(Error::Stopped) } else { Ok(()) }
            },
        )?;
        let unknown = ordered.iter().map(|stripe| stripe.unknown).sum();
        let packed = packed.into_iter().map(|links| links.into_inner().expect("every stripe was packed"));
        let stripes = ordered.drain(..).zip(packed).zip(starts.windows(2));
        let stripes = stripes.map(|((ordered, links), pages)| PackedStripe {
            pages: pages[0]..pages[1],
            places: ordered.places,
            facts: ordered.stripe.facts,
            names: ordered.stripe.names,
            links,
        });
        Ok(Graph {
            stripes: stripes.collect(),
            voters,
            voter_links: voter_links.into_iter().map(AtomicU32::into_inner).collect(),
            links: total.into_inner(),
            unknown,
        })
    }

    /// The number of pages.
    pub(super) fn pages(&self) -> usize {
        self.stripes.last().map_or(0, |stripe| stripe.pages.end)
    }

    pub(super) fn stripes(&self) -> &[PackedStripe] {
        &self.stripes
    }

    /// Whether links are on disk.
    pub(super) fn is_on_disk(&self) -> bool {
        self.stripes.iter().any(|stripe| matches!(stripe.links, PackedLinks::Disk { .. }))
    }

    /// The number of pages that link to no page.
    pub(super) fn dangling(&self) -> u64 {
        self.pages() as u64 - self.voter_links.iter().filter(|&&links| links > 0).count() as u64
    }

    /// The reset of each page, from the weights that a file gives.
    pub(super) fn resets(&self, given: &ResetWeights, progress: &dyn Progress) -> Result<Vec<f64>> {
        let mut resets = vec![0.0; self.pages()];
        let (mut total, mut unknown) = (0.0, given.unknown);
        let mut positions: Vec<(u32, f64)> = given.weights.clone();
        positions.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut of_stripe: Option<(usize, Vec<u32>)> = None;
        for (number, weight) in positions {
            let stripe = stripe_of(number);
            if of_stripe.as_ref().is_none_or(|(known, _)| *known != stripe) {
                of_stripe = Some((stripe, self.stripes[stripe].positions()));
            }
            let position = of_stripe.as_ref().map_or(NONE, |(_, positions)| positions[place_of(number)]);
            if position == NONE {
                unknown += 1;
                continue;
            }
            resets[self.stripes[stripe].pages.start + position as usize] += weight;
            total += weight;
        }
        if total <= 0.0 {
            return Err(Error::NoResets { path: given.path.clone(), unknown });
        }
        if unknown > 0 {
            progress.note(&Note::UnknownResets { path: given.path.clone(), lines: unknown });
        }
        resets.iter_mut().for_each(|reset| *reset /= total);
        Ok(resets)
    }
}

impl PackedStripe {
    /// Its packed links. `buffer` holds those that are on disk.
    pub(super) fn links<'a>(&'a self, buffer: &'a mut Vec<u32>) -> Result<InLinks<'a>> {
        let packed: &[u32] = match &self.links {
            PackedLinks::Memory(links) => links,
            PackedLinks::Disk { path, numbers } => {
                buffer.resize(*numbers, 0);
                let bytes: &mut [u8] = bytemuck::cast_slice_mut(buffer.as_mut_slice());
                File::open(path).and_then(|mut file| file.read_exact(bytes)).at("read", path)?;
                buffer
            }
        };
        Ok(InLinks::new(self.pages.len(), packed))
    }

    /// The names of its pages in order, and whether each was only linked to.
    pub(super) fn names<'a>(&self, bytes: &'a [u8]) -> Vec<(&'a str, bool)> {
        let mut all = Vec::with_capacity(self.facts.len());
        let mut rest = bytes;
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let (name, after) = after.split_at(u32::from_ne_bytes(*length) as usize);
            all.push(std::str::from_utf8(name).unwrap_or_default());
            rest = after;
        }
        let named = self.places.iter().map(|&place| place as usize);
        named.map(|place| (all[place], !self.facts[place].is_read())).collect()
    }

    /// The order of each place.
    fn positions(&self) -> Vec<u32> {
        positions(&self.places, self.facts.len())
    }
}

fn positions(places: &[u32], count: usize) -> Vec<u32> {
    let mut positions = vec![NONE; count];
    places.iter().zip(0..).for_each(|(&place, position)| positions[place as usize] = position);
    positions
}

/// Puts the pages of all stripes in the order of their hashes.
fn order(pages: Pages, job: &PageRankJob) -> Result<Vec<OrderedStripe>> {
    let stripes: Vec<Lock<Option<Stripe>>> =
        pages.stripes.into_iter().map(|stripe| Lock::new(Some(stripe.into_inner()))).collect();
    let ordered: Vec<Lock<Option<OrderedStripe>>> = stripes.iter().map(|_| Lock::new(None)).collect();
    for_each(
        job.threads,
        stripes.len(),
        || (),
        |(), number| {
            let mut stripe = stripes[number].lock().take().expect("each stripe is taken once");
            let mut pages: Vec<(u64, u32)> = std::mem::take(&mut stripe.places).into_iter().collect();
            pages.sort_unstable();
            let counts =
                |place: u32| job.unknown == UnknownPages::Keep || stripe.facts[place as usize].is_read();
            let places: Vec<u32> =
                pages.into_iter().map(|page| page.1).filter(|&place| counts(place)).collect();
            let unknown = stripe.facts.iter().filter(|facts| !facts.is_read()).count() as u64;
            let position = positions(&places, stripe.facts.len());
            *ordered[number].lock() = Some(OrderedStripe { stripe, places, position, unknown });
            Ok(())
        },
    )?;
    Ok(ordered.into_iter().map(|stripe| stripe.into_inner().expect("every stripe is in order")).collect())
}

/// Refuses more pages than fit. Returns whether links must be on disk.
fn check_memory(pages: u64, links: u64, job: &PageRankJob) -> Result<bool> {
    if pages >= u64::from(NONE) {
        return Err(Error::TooManyPages { pages });
    }
    let largest = links / STRIPES as u64 * 2 * SORTED_BYTES * job.threads as u64;
    let needed = pages * BYTES_A_PAGE + largest;
    if needed > job.memory_bytes {
        let purpose = format!("to rank {pages} pages");
        return Err(Error::Memory { needed, limit: job.memory_bytes, purpose });
    }
    Ok(needed + links * PACKED_BYTES > job.memory_bytes)
}

/// The page of each voter, and for each stripe the voter at each place.
fn number_voters(ordered: &[OrderedStripe], starts: &[usize]) -> (Vec<u32>, Vec<Vec<u32>>) {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for (stripe, &start) in ordered.iter().zip(starts) {
        let pages = stripe.places.iter().zip(start as u32..);
        let links = pages.map(|(&place, page)| (stripe.stripe.facts[place as usize].links(), page));
        found.extend(links.filter(|&(links, _)| links > 0));
    }
    let found = voters(found);
    let mut voter_of: Vec<Vec<u32>> =
        ordered.iter().map(|stripe| vec![NONE; stripe.position.len()]).collect();
    for (&(_, page), voter) in found.iter().zip(0..) {
        let stripe = starts.partition_point(|&start| start <= page as usize) - 1;
        let place = ordered[stripe].places[page as usize - starts[stripe]];
        voter_of[stripe][place as usize] = voter;
    }
    (found.into_iter().map(|voter| voter.1).collect(), voter_of)
}

/// Packs stripes.
struct Packing<'a> {
    ordered: &'a [OrderedStripe],
    voter_of: &'a [Vec<u32>],
    voter_links: &'a [AtomicU32],
}

impl Packing<'_> {
    /// The packed links to the pages of a stripe, and their number.
    fn pack(&self, number: usize) -> Result<(Vec<u32>, u64)> {
        let OrderedStripe { stripe, places, position, .. } = &self.ordered[number];
        let bytes = stripe.links.read()?;
        let pairs = bytes.chunks_exact(8).map(|pair| {
            let number = |at: usize| u32::from_ne_bytes([pair[at], pair[at + 1], pair[at + 2], pair[at + 3]]);
            (number(0), number(4))
        });
        let keys =
            pairs.map(|(from, to)| (position[to as usize], self.voter_of[stripe_of(from)][place_of(from)]));
        let counted = keys.filter(|&(page, voter)| page != NONE && voter != NONE);
        let mut links: Vec<u64> = counted.map(|(page, voter)| link_key(page, voter)).collect();
        drop(bytes);
        links.sort_unstable();
        links.dedup();
        for &link in &links {
            self.voter_links[link as u32 as usize].fetch_add(1, Ordering::Relaxed);
        }
        let votes = |page: u32| stripe.facts[places[page as usize] as usize].links() > 0;
        let mut packed = Vec::with_capacity(links.len() + places.len());
        pack_links(places.len() as u32, &links, votes, &mut packed);
        Ok((packed, links.len() as u64))
    }
}

fn on_disk_links(scratch: &Scratch, number: usize, packed: &[u32]) -> Result<PackedLinks> {
    let path = scratch.path().join(format!("links-{number}"));
    fs::write(&path, bytemuck::cast_slice::<u32, u8>(packed)).at("write", &path)?;
    Ok(PackedLinks::Disk { path, numbers: packed.len() })
}

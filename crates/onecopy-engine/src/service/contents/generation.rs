//! Generations: the orders in which keys are chosen.
//!
//! Two similar pages share a key only if one order of shingles chose the keys of both. A good order puts rare shingles
//! first, but rarity is unknown before there are pages. So an order is frozen each time the collection has grown by
//! some factor: a generation.
//!
//! A content keeps its order until Tier 2 gives it keys of the newest one, a few contents with every batch. A page is
//! searched in every generation that has contents, with its keys in that generation. Usually that is one generation.

use std::sync::Arc;

use onecopy_core::{Method, Rarity, Scratch};
use onecopy_store::{Error, Folder, Result, read_whole, write_whole};
use std::io::ErrorKind;

use crate::service::tuning::Tuning;

/// The least number of counters per content in a frozen order.
const COUNTERS_A_CONTENT: u64 = 512;
const LEAST_BITS: u32 = 16;

/// The file of the counters for the next order.
const LIVE_FILE: &str = "counts";

/// The orders of all generations. A copy costs little.
#[derive(Clone, Debug)]
pub(super) struct Orders(Vec<Arc<Rarity>>);

/// All generations, and the data for the next one.
#[derive(Debug)]
pub(super) struct Generations {
    orders: Orders,
    /// The approximate number of contents that hold each shingle.
    live: Vec<u8>,
    /// The number of counted contents.
    counted: u64,
    /// The next generation begins at this number of contents.
    due: u64,
    /// Generations whose order was damaged or missing: the number and the bytes of another order.
    replaced: Vec<(u32, Vec<u8>)>,
    tuning: Tuning,
}

/// The order in which a generation chooses keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyOrder<'a> {
    generation: u32,
    rarity: &'a Rarity,
}

impl Generations {
    /// Opens the `count` generations on disk. `contents` is the size of the collection.
    pub(super) fn open(
        folder: &dyn Folder,
        method: &dyn Method,
        count: u32,
        contents: u64,
        tuning: Tuning,
    ) -> Result<Generations> {
        let Tuning { first_generation, growth, live_bits, .. } = tuning;
        let due =
            if method.asks_rarity() { first_generation * growth.pow(count.max(1) - 1) } else { u64::MAX };
        let live = match due {
            u64::MAX => Vec::new(),
            // The counters may be outdated or lost. They only affect the quality of the next order.
            _ => read_whole(folder, LIVE_FILE)
                .ok()
                .filter(|live| live.len() == 1 << live_bits)
                .unwrap_or_default(),
        };
        let mut frozen = vec![Arc::new(unordered())];
        let mut replaced = Vec::new();
        for number in 1..count {
            let order = match read_order(folder, number) {
                Err(error) if is_lost(&error) => {
                    let bytes = substitute(&live, contents, tuning);
                    let order = order_of(&bytes).ok_or(error)?;
                    replaced.push((number, bytes));
                    order
                }
                read => read?,
            };
            frozen.push(Arc::new(order));
        }
        let orders = Orders(frozen);
        Ok(Generations { orders, live, counted: contents, due, replaced, tuning })
    }

    /// The generations whose order was damaged or missing. Any order serves, if all keys are chosen in it again.
    pub(super) fn replaced(&self) -> &[(u32, Vec<u8>)] {
        &self.replaced
    }

    /// Makes the orders durable that replace others. No keys of the others may be left.
    pub(super) fn save_replaced(&self, folder: &dyn Folder) -> Result<()> {
        self.replaced.iter().try_for_each(|(number, bytes)| write_whole(folder, &order_file(*number), bytes))
    }

    /// The orders of all generations.
    pub(super) fn orders(&self) -> &Orders {
        &self.orders
    }

    /// Frees the orders of generations before this one. No content may have keys of them, so nobody searches in them.
    pub(super) fn release_before(&mut self, generation: u32) {
        for order in self.orders.0.iter_mut().take(generation as usize) {
            *order = Arc::new(unordered());
        }
    }

    /// Counts the shingles of a new content.
    pub(super) fn count(&mut self, sketch: &[u64]) {
        if self.due == u64::MAX {
            return;
        }
        if self.live.is_empty() {
            self.live = vec![0; 1 << self.tuning.live_bits];
        }
        onecopy_core::count(sketch, self.tuning.live_bits, 0, &mut self.live);
        self.counted += 1;
    }

    /// Begins a generation if one is due. It is durable before it is used.
    pub(super) fn renew(&mut self, folder: &dyn Folder, contents: u64) -> Result<bool> {
        if contents < self.due || self.live.is_empty() {
            return Ok(false);
        }
        let bytes = to_bytes(&frozen(&self.live, bits(contents, self.tuning)));
        write_whole(folder, &order_file(self.orders.len()), &bytes)?;
        self.orders.0.extend(order_of(&bytes).map(Arc::new));
        self.due = self.due.saturating_mul(self.tuning.growth);
        self.save(folder)?;
        Ok(true)
    }

    /// Saves the counters, so that the next order is equally good after a restart.
    pub(super) fn save(&self, folder: &dyn Folder) -> Result<()> {
        if self.live.is_empty() { Ok(()) } else { write_whole(folder, LIVE_FILE, &self.live) }
    }
}

impl Orders {
    /// The number of generations.
    pub(super) fn len(&self) -> u32 {
        self.0.len() as u32
    }

    /// The newest generation.
    pub(super) fn newest(&self) -> u32 {
        self.len() - 1
    }

    /// The order in which a generation chooses keys.
    pub(super) fn order(&self, generation: u32) -> KeyOrder<'_> {
        KeyOrder { generation, rarity: &self.0[generation as usize] }
    }
}

impl KeyOrder<'_> {
    /// Appends the keys of a sketch, ascending, with the number beside each. Keys of two generations differ, unless the
    /// generations are a multiple of 16 apart.
    pub(super) fn keys(
        &self,
        sketch: &[u64],
        method: &dyn Method,
        scratch: &mut Scratch,
        out: &mut Vec<(u64, u32)>,
    ) {
        method.keys(sketch, self.rarity, scratch, out);
        out.iter_mut().for_each(|(key, _)| *key = mixed(*key, self.generation));
        out.sort_unstable();
    }
}

/// An order in which all shingles are equally rare.
fn unordered() -> Rarity {
    Rarity::new(vec![UNSEEN])
}

/// Numbers of earlier versions that stand before the counters: a factor, and how many numbers of partitions follow.
const BEFORE: usize = 8;

fn to_bytes(counters: &[u8]) -> Vec<u8> {
    [&[0; BEFORE + 4][..], counters].concat()
}

fn order_of(bytes: &[u8]) -> Option<Rarity> {
    let (count, rest) = bytes.get(BEFORE..)?.split_first_chunk::<4>()?;
    let counters = rest.get(u32::from_le_bytes(*count) as usize * 4..)?;
    counters.len().is_power_of_two().then(|| Rarity::new(counters.to_vec()))
}

fn read_order(folder: &dyn Folder, number: u32) -> Result<Rarity> {
    let file = order_file(number);
    let bytes = read_whole(folder, &file)?;
    let what = "it is not an order of shingles".to_owned();
    order_of(&bytes).ok_or(Error::Damaged { file, offset: 0, what })
}

fn is_lost(error: &Error) -> bool {
    match error {
        Error::Io { source, .. } => source.kind() == ErrorKind::NotFound,
        error => matches!(error, Error::Damaged { .. }),
    }
}

/// The order that would be frozen now.
fn substitute(live: &[u8], contents: u64, tuning: Tuning) -> Vec<u8> {
    let counters = if live.is_empty() { vec![UNSEEN] } else { frozen(live, bits(contents, tuning)) };
    to_bytes(&counters)
}

/// How many counters a frozen order has: two to this power.
fn bits(contents: u64, tuning: Tuning) -> u32 {
    (contents.max(1) * COUNTERS_A_CONTENT).ilog2().clamp(LEAST_BITS, tuning.live_bits)
}

/// The count of a shingle that no content held when the order was frozen. Methods drop shingles with a count below
/// two, because no two contents share them. Here a later content may share one.
const UNSEEN: u8 = 2;

fn frozen(live: &[u8], bits: u32) -> Vec<u8> {
    let fold = live.len() >> bits;
    let sum = |some: &[u8]| some.iter().fold(UNSEEN, |sum, &count| sum.saturating_add(count));
    live.chunks(fold).map(sum).collect()
}

fn order_file(number: u32) -> String {
    format!("order-{number:02}")
}

/// The files of all orders in a folder.
pub(in crate::service) fn order_files(folder: &dyn Folder) -> Vec<String> {
    let mut names = folder.names().unwrap_or_default();
    names.retain(|name| name.strip_prefix("order-").is_some_and(|number| number.parse::<u32>().is_ok()));
    names
}

/// The last bits of a key hold its generation, so that keys of earlier generations can be recognised.
const GENERATION_BITS: u64 = 15;

/// The stored form of a key: uniform for every method, and different in each generation.
pub(super) fn mixed(mut key: u64, generation: u32) -> u64 {
    key = (key ^ key >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    key = (key ^ key >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (key ^ key >> 33) & !GENERATION_BITS | u64::from(generation) & GENERATION_BITS
}

/// Whether a key may belong to a generation. Generations 16 apart look the same.
pub(super) fn may_be_of(key: u64, generation: u32) -> bool {
    key & GENERATION_BITS == u64::from(generation) & GENERATION_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frozen_order_adds_up_neighbours_and_never_leaves_a_shingle_out() {
        assert_eq!(frozen(&[0, 1, 2, 3, 255, 255, 0, 0], 2), [3, 7, 255, 2]);
    }

    #[test]
    fn keys_reach_the_disk_so_their_mixing_is_frozen() {
        assert_eq!(mixed(1, 0), 0xb456_bcfc_34c2_cb20);
        assert_eq!(mixed(1, 3), 0xb456_bcfc_34c2_cb23);
        assert!(may_be_of(mixed(1, 3), 3) && !may_be_of(mixed(1, 3), 4));
    }
}

//! The orders in which keys are chosen.
//!
//! Two pages that are alike share a key only if the keys of both were chosen in one order of shingles. A good order has
//! rare ones first, and what is rare is not known before there are pages. So an order is frozen when the collection has
//! grown some times over, and contents keep the order that they came in with: a generation. A page is looked up in every
//! generation, each time with the keys that it has there. There are few, since each is several times the one before.

use onecopy_core::{Desk, Method, Rarity};
use onecopy_store::{Folder, Result, read_whole, write_whole};

/// A collection that has grown by this factor begins a generation.
const GROWTH: u64 = 8;
/// The first generation with an order begins after so many contents.
const FIRST: u64 = 1_000;
/// Counters of how many contents hold a shingle: two to this power.
const LIVE_BITS: u32 = 25;
/// Counters of a frozen order for a content, at least.
const COUNTERS_A_CONTENT: u64 = 512;
const LEAST_BITS: u32 = 16;

/// The file of the counters that the next order is made of.
const LIVE_FILE: &str = "counts";

/// All orders, and what the next will be made of.
#[derive(Debug)]
pub(super) struct Generations {
    orders: Vec<Rarity>,
    /// How many contents hold each shingle, about.
    live: Vec<u8>,
    /// Contents that are counted.
    counted: u64,
    /// Contents at which the next generation begins.
    due: u64,
}

impl Generations {
    /// For a method; `count` generations are on disk, and `contents` in the collection.
    pub(super) fn open(
        folder: &dyn Folder,
        method: &dyn Method,
        count: u32,
        contents: u64,
    ) -> Result<Generations> {
        let mut orders = vec![Rarity::new(vec![UNSEEN])];
        for number in 1..count {
            orders.push(Rarity::new(read_whole(folder, &order_file(number))?));
        }
        let due = if method.asks_rarity() { FIRST * GROWTH.pow(count.max(1) - 1) } else { u64::MAX };
        let live = match due {
            u64::MAX => Vec::new(),
            // The counters may be of an earlier moment, or lost: they only make the next order better or worse.
            _ => read_whole(folder, LIVE_FILE)
                .ok()
                .filter(|live| live.len() == 1 << LIVE_BITS)
                .unwrap_or_default(),
        };
        Ok(Generations { orders, live, counted: contents, due })
    }

    /// The number of generations.
    pub(super) fn len(&self) -> u32 {
        self.orders.len() as u32
    }

    /// Counts the shingles of a content that comes.
    pub(super) fn count(&mut self, sketch: &[u64]) {
        if self.due == u64::MAX {
            return;
        }
        if self.live.is_empty() {
            self.live = vec![0; 1 << LIVE_BITS];
        }
        onecopy_core::count(sketch, LIVE_BITS, 0, &mut self.live);
        self.counted += 1;
    }

    /// Begins a generation if one is due. It is durable before it is used.
    pub(super) fn renew(&mut self, folder: &dyn Folder) -> Result<bool> {
        if self.counted < self.due || self.live.is_empty() {
            return Ok(false);
        }
        let bits = (self.counted * COUNTERS_A_CONTENT).ilog2().clamp(LEAST_BITS, LIVE_BITS);
        let frozen = frozen(&self.live, bits);
        write_whole(folder, &order_file(self.len()), &frozen)?;
        self.orders.push(Rarity::new(frozen));
        self.due = self.due.saturating_mul(GROWTH);
        self.save(folder)?;
        Ok(true)
    }

    /// Saves the counters, so that the next order is as good after a restart.
    pub(super) fn save(&self, folder: &dyn Folder) -> Result<()> {
        if self.live.is_empty() { Ok(()) } else { write_whole(folder, LIVE_FILE, &self.live) }
    }

    /// Appends the keys of a sketch in a generation, ascending, with the number beside each. Keys of two generations are
    /// never the same but by chance.
    pub(super) fn keys(
        &self,
        generation: u32,
        sketch: &[u64],
        (method, desk): (&dyn Method, &mut Desk),
        out: &mut Vec<(u64, u32)>,
    ) {
        method.keys(sketch, &self.orders[generation as usize], desk, out);
        out.iter_mut().for_each(|(key, _)| *key = mixed(*key, generation));
        out.sort_unstable();
    }
}

/// The count of a shingle that nobody held when the order was frozen. Below two, keys that nobody shares are left out,
/// but here somebody may come who does.
const UNSEEN: u8 = 2;

fn frozen(live: &[u8], bits: u32) -> Vec<u8> {
    let fold = live.len() >> bits;
    let sum = |some: &[u8]| some.iter().fold(UNSEEN, |sum, &count| sum.saturating_add(count));
    live.chunks(fold).map(sum).collect()
}

fn order_file(number: u32) -> String {
    format!("order-{number:02}")
}

/// A key as it is entered: spread evenly whatever the method's keys are, and another one in each generation.
fn mixed(key: u64, generation: u32) -> u64 {
    let mut key = key ^ u64::from(generation).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    key = (key ^ key >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    key = (key ^ key >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    key ^ key >> 33
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
        assert_eq!(mixed(1, 0), 0xb456_bcfc_34c2_cb2c);
        assert_ne!(mixed(1, 1), mixed(1, 0));
    }
}

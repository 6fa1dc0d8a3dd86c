//! Generated lengths of pages, without pages. A seed always gives the same lengths.
//!
//! They follow the description of Zhu and others (2012, Figure 1): from 20 to 1686 words, most often 237, with spikes.

use super::{DIMENSIONS, LengthVector, PageLengths};

/// The least, the most and the most frequent number of words.
const WORDS: [f64; 3] = [20.0, 1686.0, 237.0];
/// The width of the distribution, on the scale of logarithms.
const WIDTH: f64 = 0.7;
/// This share of pages has one of so many lengths: pages of one template.
const SPIKED: f64 = 0.1;
const SPIKES: u64 = 40;
/// How much the share of a sub-dictionary differs between pages, beside chance.
const TOPIC: f64 = 0.08;
/// The largest share of shingles that a page repeats.
const REPEATED: f64 = 0.15;

/// The lengths of the page with this number.
pub fn generated_lengths(seed: u64, number: u64) -> PageLengths {
    let mut random = Random(mix(seed) ^ mix(number.wrapping_add(1)));
    let words = match random.unit() < SPIKED {
        true => spike((random.unit() * random.unit() * SPIKES as f64) as u64),
        false => usual(&mut random),
    };
    let shingles = words * (1.0 - REPEATED * random.unit());
    PageLengths {
        words: split(words.round(), TOPIC, &mut random),
        shingles: split(shingles.round(), 0.0, &mut random),
    }
}

/// The words of a template. Lower numbers are more frequent.
fn spike(number: u64) -> f64 {
    let place = mix(number) as f64 / u64::MAX as f64;
    60.0 + (800.0 * place * place).floor()
}

fn usual(random: &mut Random) -> f64 {
    let [least, most, frequent] = WORDS;
    // Most draws are in range. The bound keeps this from ever hanging.
    for _ in 0..100 {
        let words = frequent * (WIDTH * WIDTH + WIDTH * random.normal()).exp();
        if (least..=most).contains(&words) {
            return words;
        }
    }
    frequent
}

/// Divides a length among three classes by chance, with a further spread of their shares.
fn split(total: f64, spread: f64, random: &mut Random) -> LengthVector {
    let mut part = |rest: f64, share: f64| {
        let chance = (rest * share * (1.0 - share)).sqrt();
        let part = rest * share + random.normal() * chance.hypot(spread * rest * share);
        part.round().clamp(0.0, rest)
    };
    let first = part(total, 1.0 / DIMENSIONS as f64);
    let second = part(total - first, 0.5);
    LengthVector([first as u32, second as u32, (total - first - second) as u32])
}

/// Pseudo-random numbers by splitmix64 (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    /// A number from 0 up to, but not including, 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (scrambled(self.0) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// About normal, with mean 0 and deviation 1: the sum of four even numbers.
    fn normal(&mut self) -> f64 {
        (self.unit() + self.unit() + self.unit() + self.unit() - 2.0) * 3f64.sqrt()
    }
}

fn mix(value: u64) -> u64 {
    scrambled(value.wrapping_add(0x9e37_79b9_7f4a_7c15))
}

fn scrambled(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

//! The fast searches against the scan, and the scan against the definition.

use proptest::prelude::*;

use super::*;
use crate::hash::draw;

/// Sketches that are often near another: copies of a few, with up to 9 bits flipped.
fn sketches(count: u64, width: usize, seed: u64) -> Vec<u64> {
    let mut words = Vec::new();
    for n in 0..count {
        let original = draw(seed ^ n, 1) % (count / 3 + 1);
        let mut sketch: Vec<u64> = (0..width).map(|word| draw(seed ^ original, 2 + word)).collect();
        for turn in 0..draw(seed ^ n, 20) % 10 {
            let bit = draw(seed ^ n, 21 + turn as usize) as usize % (64 * width);
            sketch[bit / 64] ^= 1 << (bit % 64);
        }
        words.extend(sketch);
    }
    words
}

fn by_definition(sketches: Sketches, most: u32) -> Vec<Near> {
    let differ = |a: u32, b: u32| {
        let bit = |sketch: &[u64], bit: usize| sketch[bit / 64] >> (bit % 64) & 1;
        (0..sketches.bits()).filter(|&n| bit(sketches.get(a), n) != bit(sketches.get(b), n)).count() as u32
    };
    let count = sketches.count() as u32;
    let all = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
    all.map(|(a, b)| Near { a, b, distance: differ(a, b) }).filter(|near| near.distance <= most).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_way_finds_what_the_definition_does(
        count in 0u64..60,
        width in prop::sample::select(vec![1usize, 2, 6]),
        most in prop::sample::select(vec![0u32, 1, 3, 5, 12, 63, 64, 500]),
        seed in any::<u64>(),
    ) {
        let words = sketches(count, width, seed);
        let all = Sketches { words: &words, width };
        let expected = by_definition(all, most);
        prop_assert_eq!(&near_by_scan(all, most), &expected);
        prop_assert_eq!(&near_by_tables(all, most), &expected);
        prop_assert_eq!(&near_by_rotation(all, most, 1, 60), &expected, "a window over all misses nothing");
        let index = Index::new(all, most);
        for query in 0..count as u32 {
            let mut found = Vec::new();
            index.near(all, all.get(query), &mut found);
            let touching = expected.iter().filter(|near| near.a == query || near.b == query);
            let mut wanted: Vec<_> = touching.map(|near| (near.a + near.b - query, near.distance)).collect();
            wanted.push((query, 0));
            wanted.sort_unstable();
            prop_assert_eq!(&found, &wanted);
        }
    }
}

#[test]
fn rotation_finds_the_pairs_whose_common_bits_are_many_in_a_row() {
    let mut words: Vec<u64> = (0..4000).map(|n| draw(n, 0)).collect();
    // Three bits in one half leave 32 others in a row, and no other sketch comes between. Bits 21 apart leave 21.
    let planted: Vec<u64> = (0..64).map(|turn| 0b1000_0100_0000_0001u64.rotate_left(turn)).collect();
    let near: Vec<u64> = planted.iter().enumerate().map(|(n, bits)| words[n] ^ bits).collect();
    words.extend(near);
    let all = Sketches { words: &words, width: 1 };
    let found = near_by_rotation(all, 3, 1, 1);
    let wanted: Vec<Near> = (0..64).map(|n| Near { a: n, b: 4000 + n, distance: 3 }).collect();
    assert_eq!(found, wanted);
    assert!(near_by_rotation(all, 3, 64, 1).len() < 40, "one order shows only differences in the last bits");
    assert!(near_by_rotation(all, 3, 8, 1).len() > 60);
}

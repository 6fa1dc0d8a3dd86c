//! Simhash against a slow, plain computation, and the chance of rotation against trials.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::contract::{check, refusal, texts};
use super::super::tests::{made, sketch_of};
use super::*;
use crate::similarity::hamming::{Sketches, near_by_rotation};

/// The steps of the lectures: a number for each bit, to which each feature adds plus or minus one.
fn by_the_book(text: &str, k: usize) -> u64 {
    let tokens: Vec<&str> = text.split_whitespace().collect();
    let hash = |token: &&str| {
        let mut padded = token.as_bytes().to_vec();
        padded.extend([0; hash::TOKEN_PADDING]);
        hash::token(&padded, 0, token.len())
    };
    let mut votes = [0i64; 64];
    for window in tokens.windows(k.min(tokens.len())) {
        let feature =
            window.iter().map(hash).fold(0u64, |sum, token| sum.wrapping_mul(hash::BASE).wrapping_add(token));
        let bits = hash::draw(feature, 0);
        votes.iter_mut().enumerate().for_each(|(n, vote)| *vote += if bits >> n & 1 == 1 { 1 } else { -1 });
    }
    votes.iter().enumerate().map(|(n, &vote)| u64::from(vote > 0) << n).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn similarity_equals_the_book(count in 2u64..9, words in 1u64..40, seed in any::<u64>()) {
        let texts = texts(count, words, seed);
        for (choice, k) in [("simhash", 1), ("simhash:k=3:distance=5", 3), ("simhash:distance=0:search=rotate", 1)] {
            let method = made(choice);
            check(&*method, &texts);
            let (a, b) = (sketch_of(&*method, &texts[0]), sketch_of(&*method, &texts[1]));
            let agree = 64 - (by_the_book(&texts[0], k) ^ by_the_book(&texts[1], k)).count_ones();
            prop_assert_eq!(method.score(&a, &b), agree);
            prop_assert_eq!(method.similarity(agree, (1, 1)), 1.0 - f64::from(64 - agree) / 64.0);
        }
    }

    #[test]
    fn near_sketches_share_a_key(
        sketch in any::<u64>(),
        bits in prop::collection::vec(0u32..64, 0..=14),
    ) {
        let other = bits.iter().fold(sketch, |sketch, bit| sketch ^ 1 << bit);
        for distance in (sketch ^ other).count_ones()..=14 {
            let method = made(&format!("simhash:distance={distance}"));
            let keys = |sketch: u64| {
                let mut keys = Vec::new();
                method.keys(&[sketch], &Rarity::new(vec![2]), &mut Scratch::default(), &mut keys);
                keys.into_iter().collect::<BTreeMap<u64, u32>>()
            };
            let (a, b) = (keys(sketch), keys(other));
            prop_assert!(a.len() <= 120 && a.keys().any(|key| b.contains_key(key)));
        }
    }
}

#[test]
fn pages_that_are_alike_share_a_key() {
    let alike: usize = (0..4).map(|seed| check(&*made("simhash"), &texts(40, 300, seed))).sum();
    assert!(alike > 100, "{alike}");
}

#[test]
fn the_seed_gives_the_defaults() {
    let method = made("simhash");
    assert_eq!((method.threshold(), method.search()), (61.0 / 64.0, Search::Keys));
    let mut keys = Vec::new();
    method.keys(&[7], &Rarity::new(vec![2]), &mut Scratch::default(), &mut keys);
    assert_eq!(keys.len(), 20);
    let rotate = made("simhash:search=rotate:step=8:window=2");
    assert_eq!(rotate.search(), Search::Neighbours { most: 3, step: 8, window: 2 });
    assert_eq!(made("simhash:threshold=0.93").threshold(), 60.0 / 64.0);
    assert!(sketch_of(&*method, "").is_empty());
}

#[test]
fn the_chance_of_rotation_is_what_happens() {
    let random = |n: u64| hash::draw(n, 1);
    let mut words: Vec<u64> = (0..40_000).map(random).collect();
    let turned = |n: u64| (0..3).fold(random(n), |word, turn| word ^ 1 << (hash::draw(n, 2 + turn) % 64));
    words.extend((0..2_000).map(turned));
    let all = Sketches { words: &words, width: 1 };
    let differ = |n: u32| (words[n as usize] ^ words[40_000 + n as usize]).count_ones() == 3;
    let planted = (0..2_000).filter(|&n| differ(n)).count() as f64;
    for (step, window) in [(1, 1), (16, 1), (16, 4), (21, 3)] {
        let pairs = near_by_rotation(all, 3, step as u32, window);
        let found =
            pairs.iter().filter(|near| near.a < 2_000 && near.b == 40_000 + near.a && differ(near.a)).count();
        let chance = rotation::seen(3, step, window as u32, 42_000)[3];
        assert!(
            (found as f64 / planted - chance).abs() < 0.03,
            "{step} {window}: {found} of {planted}, {chance}"
        );
    }
}

#[test]
fn chances_follow_the_cosine() {
    let (tables, rotate) = (made("simhash"), made("simhash:search=rotate"));
    let poor = made("simhash:search=rotate:step=32:window=1");
    assert_eq!((tables.chance(1.0, 1000), rotate.chance(1.0, 1000)), (1.0, 1.0));
    let chances: Vec<f64> = [&tables, &rotate, &poor].map(|method| method.chance(0.99, 10_000_000)).into();
    assert!(chances[0] > 0.6 && chances[0] < 0.8, "{chances:?}");
    assert!(
        chances[1] <= chances[0] && chances[1] > 0.98 * chances[0] && chances[2] < 0.8 * chances[0],
        "{chances:?}"
    );
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    for (choice, remedy) in [
        ("simhash:distance=15", "give a distance of up to 14"),
        ("simhash:distance=65", "give a value from 0 to 64"),
        ("simhash:threshold=0.5", "or a threshold of at least 0.78125"),
        ("simhash:bits=0", "give a value from 64 to 64"),
        ("simhash:k=0", "give a value from 1 to 64"),
        ("simhash:search=sort", "give one of tables, rotate"),
        ("simhash:step=2", "it has bits, k, threshold, distance, search"),
        ("simhash:search=rotate:step=0", "give a value from 1 to 32"),
        ("simhash:search=rotate:window=0", "give a value from 1 to 1000"),
    ] {
        let refusal = refusal(choice);
        assert!(refusal.contains(remedy), "{choice}: {refusal}");
    }
}

/// This value is in stored files. If it changes, the format has changed.
#[test]
fn golden_vector() {
    let sketch = sketch_of(&*made("simhash"), "one two three four five six seven eight nine ten");
    assert_eq!(sketch, [0x40a1_2203_5891_a004]);
}

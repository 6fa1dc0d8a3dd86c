//! Alg. C against a slow, plain computation.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::contract::{check, refusal, texts};
use super::super::tests::{made, sketch_of};
use super::*;

/// Entry `entry` of the vector of a token, in fifteenths.
fn entry(token: &str, entry: usize, bits: usize) -> i64 {
    let mut padded = token.as_bytes().to_vec();
    padded.extend([0; hash::TOKEN_PADDING]);
    let hash = hash::token(&padded, 0, token.len());
    let digit = |plane: usize| hash::draw(hash, plane * bits / 64 + entry / 64) >> (entry % 64) & 1;
    (0..PLANES).map(|plane| (digit(plane) as i64) << (plane + 1)).sum::<i64>() - 15
}

fn by_the_book(text: &str, bits: usize) -> Vec<bool> {
    let mut counts = BTreeMap::new();
    text.split_whitespace().for_each(|token| *counts.entry(token).or_insert(0i64) += 1);
    let sum = |n| counts.iter().map(|(token, count)| count * entry(token, n, bits)).sum::<i64>();
    (0..bits).map(|n| sum(n) > 0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn similarity_equals_the_book(count in 2u64..9, words in 1u64..40, seed in any::<u64>()) {
        let texts = texts(count, words, seed);
        for (choice, bits) in [("projection-c", 384), ("projection-c:bits=128:agree=120", 128)] {
            let method = made(choice);
            check(&*method, &texts);
            let (a, b) = (sketch_of(&*method, &texts[0]), sketch_of(&*method, &texts[1]));
            let (slow_a, slow_b) = (by_the_book(&texts[0], bits), by_the_book(&texts[1], bits));
            let agree = slow_a.iter().zip(&slow_b).filter(|(a, b)| a == b).count();
            prop_assert_eq!(method.score(&a, &b), agree as u32);
            prop_assert_eq!(method.similarity(agree as u32, (a.len(), b.len())), agree as f64 / bits as f64);
        }
    }
}

#[test]
fn pages_that_are_alike_share_a_key() {
    let alike: usize = (0..4).map(|seed| check(&*made("projection-c"), &texts(40, 300, seed))).sum();
    assert!(alike > 100, "{alike}");
    assert!(check(&*made("projection-c:threshold=0.9"), &texts(40, 100, 9)) > 50);
}

#[test]
fn the_seed_gives_the_defaults() {
    let method = made("projection-c");
    assert_eq!(method.threshold(), 372.0 / 384.0);
    let page = sketch_of(&*method, "a page of some words");
    let mut keys = Vec::new();
    method.keys(&page, &Rarity::new(vec![2]), &mut Scratch::default(), &mut keys);
    assert_eq!((page.len(), keys.len()), (6, 13));
    assert_eq!(keys.iter().map(|key| key.1).collect::<Vec<_>>(), (0..13).rev().collect::<Vec<u32>>());
}

#[test]
fn order_does_not_matter_and_counts_do() {
    let method = made("projection-c");
    let of = |text: &str| sketch_of(&*method, text);
    assert_eq!(of("one two two three"), of("two three one two"));
    assert_ne!(of("one one one two two"), of("one one one one one two"));
    assert!(of("").is_empty());
    assert_eq!(method.similarity(method.score(&[], &[]), (0, 0)), 1.0);
    assert_eq!(method.similarity(method.score(&of("a"), &[]), (6, 0)), 0.0);
}

/// Bits agree as often as the angle says. The chance is computed from this.
#[test]
fn agreement_follows_the_angle() {
    let method = made("projection-c:bits=1024:agree=1024");
    let (mut agreed, mut expected) = (0.0, 0.0);
    for seed in 0..40 {
        let texts = texts(2, 150, seed);
        let count = |text: &str| {
            let mut counts = BTreeMap::<String, f64>::new();
            text.split_whitespace().for_each(|token| *counts.entry(token.into()).or_default() += 1.0);
            counts
        };
        let (a, b) = (count(&texts[0]), count(&texts[1]));
        let dot = |a: &BTreeMap<String, f64>, b: &BTreeMap<String, f64>| {
            a.iter().map(|(token, count)| count * b.get(token).unwrap_or(&0.0)).sum::<f64>()
        };
        expected += angle::agreement(dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt());
        agreed += method.similarity(
            method.score(&sketch_of(&*method, &texts[0]), &sketch_of(&*method, &texts[1])),
            (16, 16),
        );
    }
    assert!((agreed - expected).abs() / 40.0 < 0.01, "{agreed} {expected}");
}

#[test]
fn chances_follow_the_cosine() {
    let method = made("projection-c");
    let at = |cosine| method.chance(cosine, 1000);
    let exact = angle::cosine(372.0 / 384.0);
    assert!(at(exact) > 0.5 && at(exact) < 0.62, "{}", at(exact));
    assert!(at(0.9999) > 0.999_999 && at(0.95) < 1e-6 && at(1.0) == 1.0);
    assert!(at(0.999) > at(0.998) && at(0.998) > at(0.99));
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    for (choice, remedy) in [
        ("projection-c:agree=385", "give a value from 1 to 384"),
        ("projection-c:agree=0", "give a value from 1 to 384"),
        ("projection-c:bits=0", "give a value from 64 to 1024"),
        ("projection-c:bits=100", "give a multiple of 64"),
        ("projection-c:bits=2048", "give a value from 64 to 1024"),
        ("projection-c:agree=300", "give agree=337 or more, or a threshold of 0.878 or more"),
        ("projection-c:threshold=0.5", "give agree=337 or more"),
        ("projection-c:bits=1024:agree=900", "give agree=961 or more"),
        ("projection-c:planes=2", "it has bits, threshold, agree"),
    ] {
        let refusal = refusal(choice);
        assert!(refusal.contains(remedy), "{choice}: {refusal}");
    }
    assert_eq!(made("projection-c:threshold=0.878").threshold(), 338.0 / 384.0);
    assert_eq!(made("projection-c:agree=337").threshold(), 337.0 / 384.0);
}

/// These values are in stored files. If one changes, the format has changed.
#[test]
fn golden_vectors() {
    let sketch = sketch_of(&*made("projection-c"), "one two three four five six seven eight nine ten");
    assert_eq!(sketch, GOLDEN);
}

const GOLDEN: [u64; 6] = [
    0x8f8c_be62_b677_c7f3,
    0x9840_dbc4_3a91_716a,
    0xad79_674e_3a36_0f14,
    0xe318_9164_d291_2ecc,
    0xac0d_b1a3_8f44_9b72,
    0x0ad3_16af_2ac3_8562,
];

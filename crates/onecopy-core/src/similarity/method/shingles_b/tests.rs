//! Supershingles against a plain computation, and the megashingles of those that agree.

use proptest::prelude::*;

use super::super::tests::{Book, by_the_book, made, sketch_of};
use super::*;

/// Alg. B with nothing but loops: Rabin fingerprints by division, functions one by one.
fn supershingles(page: &Book, k: usize, min_values: usize, count: usize) -> Vec<u64> {
    let rabin = Rabin::new(POLYNOMIAL);
    let tokens = page.token_hashes();
    let shingles: Vec<u64> = tokens
        .windows(k.min(tokens.len()))
        .map(|window| window.iter().fold(0, |sum, &token| rabin.append_word(sum, token)))
        .collect();
    let value = |i: usize, shingle: u64| {
        let seed = mixed(i as u64);
        (shingle as u32 ^ seed as u32).wrapping_mul((seed >> 32) as u32 | 1) ^ (shingle >> 32) as u32
    };
    let least: Vec<u64> =
        (0..min_values).map(|i| u64::from(shingles.iter().map(|&s| value(i, s)).min().unwrap())).collect();
    least.chunks(min_values / count).map(|group| fingerprint(&rabin, group.iter().copied())).collect()
}

#[test]
fn similarity_is_what_the_book_says() {
    let agreeing = |a: &Book, b: &Book, k, m, count| {
        let (a, b) = (supershingles(a, k, m, count), supershingles(b, k, m, count));
        a.iter().zip(&b).filter(|(x, y)| x == y).count() as f64 / count as f64
    };
    by_the_book(&["shingles-b"], |a, b| agreeing(a, b, 10, 84, 6));
    by_the_book(&["shingles-b:k=2:min-values=40:supershingles=20:agree=19"], |a, b| {
        agreeing(a, b, 2, 40, 20)
    });
}

#[test]
fn defaults_are_those_of_the_paper() {
    let method = made("shingles-b");
    let sketch = sketch_of(&*method, "one two three four five six seven eight nine ten eleven twelve");
    let mut keys = Vec::new();
    method.keys(&sketch, &Rarity::new(vec![0]), &mut Scratch::default(), &mut keys);
    keys.dedup();
    assert_eq!((sketch.len(), keys.len(), method.threshold()), (6, 15, 2.0 / 6.0));
    assert!(sketch_of(&*method, "").is_empty());
    assert_eq!(sketch_of(&*method, "short page").len(), 6);
    assert_eq!(method.stands_for().unwrap().threshold(), 0.9);
}

/// These values are in stored files. If one changes, the format has changed.
#[test]
fn golden_vectors() {
    let sketch =
        sketch_of(&*made("shingles-b"), "one two three four five six seven eight nine ten eleven twelve");
    assert_eq!(sketch, GOLDEN);
}

const GOLDEN: [u64; 6] = [
    0xe45a_56be_5d59_5c0a,
    0xa712_16bb_a85e_a34b,
    0xba38_8316_cde1_ff99,
    0x2801_fee6_82ce_2d5b,
    0x4dd1_ab3c_2602_f202,
    0xc238_86e5_826c_bb39,
];

#[test]
fn a_threshold_says_how_many_agree() {
    let config = |threshold| Config { method: "shingles-b".into(), threshold, ..Config::default() };
    let agree = |threshold| (6.0 * crate::method(&config(threshold)).unwrap().threshold()).round();
    assert_eq!((agree(None), agree(Some(0.5)), agree(Some(0.51)), agree(Some(1.0))), (2.0, 3.0, 4.0, 6.0));
}

#[test]
fn choices_are_all_there_and_each_once() {
    for (of, chosen, count) in
        [(6, 2, 15), (6, 6, 1), (32, 1, 32), (32, 2, 496), (1, 1, 1), (32, 32, 1), (12, 4, 495)]
    {
        let mut found = choices(of, chosen).unwrap();
        assert!(found.iter().all(|choice| choice.count_ones() as usize == chosen && choice >> of == 0));
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), count, "{chosen} of {of}");
    }
    assert_eq!(choices(32, 16), None);
}

/// The method relies on this: min-values agree with a chance equal to the resemblance, independently of each other.
#[test]
fn min_values_agree_as_often_as_pages_are_alike() {
    let blocks: Vec<Functions> = (0..3).map(functions).collect();
    let (trials, count, shared) = (300, 120u64, 80);
    let mut agreeing = Vec::new();
    for trial in 0..trials {
        let shingle = |n: u64| mixed(1_000 * (trial + 1) + n);
        let a: Vec<u64> = (0..count - 20).map(shingle).collect();
        let b: Vec<u64> = (20..count).map(shingle).collect();
        let pairs =
            blocks.iter().flat_map(|some| some.least(level(), &a).into_iter().zip(some.least(level(), &b)));
        agreeing.push(pairs.filter(|(x, y)| x == y).count() as f64);
    }
    let functions = 96.0;
    let p = shared as f64 / count as f64;
    let mean = agreeing.iter().sum::<f64>() / trials as f64;
    let variance = agreeing.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / trials as f64;
    // The error of the mean of 300 trials is less than three times its standard deviation, 0.27.
    assert!((mean - functions * p).abs() < 0.8, "{mean}");
    let expected = functions * p * (1.0 - p);
    assert!((0.7..1.4).contains(&(variance / expected)), "{variance} for {expected}");
}

proptest! {
    #[test]
    fn a_megashingle_is_shared_only_if_enough_supershingles_agree(
        a in prop::collection::vec(0u64..3, 6),
        b in prop::collection::vec(0u64..3, 6),
        agree in 1usize..=6,
    ) {
        let method = made(&format!("shingles-b:agree={agree}"));
        let keys = |sketch: &[u64]| {
            let mut out = Vec::new();
            method.keys(sketch, &Rarity::new(vec![0]), &mut Scratch::default(), &mut out);
            out
        };
        let of_b = keys(&b);
        let shared = keys(&a).iter().any(|key| of_b.contains(key));
        prop_assert_eq!(shared, method.verify(&a, &b).is_some());
    }

    #[test]
    fn rolling_in_place_equals_each_window(tokens in prop::collection::vec(any::<u64>(), 0..40), length in 1usize..12) {
        let rabin = Rabin::new(POLYNOMIAL);
        let expected: Vec<u64> = tokens
            .windows(length.min(tokens.len()).max(1))
            .map(|window| window.iter().fold(0, |sum, &token| rabin.append_word(sum, token)))
            .collect();
        let mut tokens = tokens;
        prop_assert_eq!(roll(&rabin.words(length), length, &mut tokens), expected);
    }
}

//! Checks the contract of [`Method`] on texts that are often nearly the same, for methods that find little else.

use std::collections::BTreeSet;

use super::tests::sketch_of;
use super::{Held, Method, Scratch, Search, method};
use crate::config::Config;
use crate::decide::candidate::Rarity;
use crate::similarity::elsewhere::Elsewhere;

/// Why the method that `choice` names is refused.
pub(super) fn refusal(choice: &str) -> String {
    method(&Config { method: choice.into(), ..Config::default() }).unwrap_err().to_string()
}

/// Checks the contract on every pair of `texts`. Returns how many pairs are alike.
pub(super) fn check(method: &dyn Method, texts: &[String]) -> usize {
    let sketches: Vec<Vec<u64>> = texts.iter().map(|text| sketch_of(method, text)).collect();
    let keys: Vec<Vec<(u64, u32)>> = sketches.iter().map(|sketch| keys(method, sketch)).collect();
    let outlines: Vec<[u64; 4]> = sketches.iter().map(|sketch| outline(method, sketch)).collect();
    let elsewhere = elsewhere(method, &sketches);
    let mut alike = 0;
    for (i, a) in sketches.iter().enumerate().filter(|(_, sketch)| !sketch.is_empty()) {
        for (j, b) in sketches.iter().enumerate().filter(|(_, sketch)| !sketch.is_empty()) {
            let score = method.score(a, b);
            assert_eq!(score, method.score(b, a), "{:?} {:?}", texts[i], texts[j]);
            let similarity = method.similarity(score, (a.len(), b.len()));
            assert!((0.0..=1.0).contains(&similarity));
            let is_alike = similarity >= method.threshold();
            assert_eq!(method.verify(a, b), is_alike.then_some(score));
            assert!(!is_alike || !method.deny(&outlines[i], &outlines[j]));
            assert!(!is_alike || is_within_slack(method, [a, b], &elsewhere));
            alike += usize::from(is_alike && i < j);
            if is_alike && method.search() == Search::Keys {
                let first = keys[i].iter().find_map(|x| Some((x, keys[j].iter().find(|y| x.0 == y.0)?)));
                let (x, y) = first.expect("pages that are alike share a key");
                let held = |size: usize, rest| Held { size: size as u32, rest };
                assert!(method.may(held(a.len(), x.1), held(b.len(), y.1)));
            }
        }
        let itself = method.similarity(method.score(a, a), (a.len(), a.len()));
        assert_eq!(itself, 1.0, "{:?}", texts[i]);
    }
    alike
}

/// Whether two sketches differ in no more shingles than those of alike pages may.
pub(super) fn is_within_slack(method: &dyn Method, sketches: [&[u64]; 2], elsewhere: &Elsewhere) -> bool {
    let read = sketches.map(|sketch| {
        let (mut scratch, mut outline) = (Scratch::default(), [0; 4]);
        method.outline(sketch, &mut scratch, &mut outline);
        let shingles: BTreeSet<u64> = method.outlined(sketch, &mut scratch).iter().copied().collect();
        (method.leeway(&outline, sketch, elsewhere), shingles)
    });
    let [(Some(a), first), (Some(b), second)] = &read else { return true };
    let differing = first.symmetric_difference(second).count();
    let are_kin =
        sketches.iter().any(|model| sketches.iter().all(|sketch| method.has_template(sketch, model)));
    (!are_kin || differing <= (a.kin + b.kin) as usize)
        && (0..2).all(|i| differing <= (a.slacks[i] + b.slacks[i]) as usize)
}

/// The shingles that are not main content somewhere.
pub(super) fn elsewhere(method: &dyn Method, sketches: &[Vec<u64>]) -> Elsewhere {
    let elsewhere = Elsewhere::new(1_000, 1 << 20);
    sketches.iter().for_each(|sketch| method.note_rest(sketch, &elsewhere));
    elsewhere
}

/// The outline of a sketch, if the method has outlines.
pub(super) fn outline(method: &dyn Method, sketch: &[u64]) -> [u64; 4] {
    let mut outline = [0; 4];
    method.outline(sketch, &mut Scratch::default(), &mut outline);
    assert!(method.has_outlines() || outline == [0; 4]);
    outline
}

/// The keys of a sketch, in their order.
fn keys(method: &dyn Method, sketch: &[u64]) -> Vec<(u64, u32)> {
    let mut keys = Vec::new();
    if !sketch.is_empty() {
        method.keys(sketch, &Rarity::new(vec![2]), &mut Scratch::default(), &mut keys);
    }
    keys.sort_unstable_by_key(|key| std::cmp::Reverse(key.1));
    let mut unique: Vec<u64> = keys.iter().map(|key| key.0).collect();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), keys.len(), "each key once");
    keys
}

/// Texts that are often near another: copies of a few, with some words changed.
pub(super) fn texts(count: u64, words: u64, seed: u64) -> Vec<String> {
    let draw = |a: u64, b: u64| crate::hash::repeated(seed ^ a, b);
    let text = |n: u64| {
        let original = draw(n, 0) % (count / 4 + 1);
        let changed = draw(n, 1) % 4;
        let word = |place: u64| {
            let of = if draw(n, place + 2) % words.max(1) < changed { n + 1000 } else { original };
            // Squared, so that some words are common.
            let number = draw(of, place) % 64;
            format!("w{}", number * number / 9)
        };
        (0..words).map(word).collect::<Vec<_>>().join(" ")
    };
    (0..count).map(text).collect()
}

//! The sentences of pages, and the similarity of pages against a plain computation.

use std::ops::Range;

use proptest::prelude::*;

use super::super::method;
use super::*;
use crate::text::canonical::Canonical;

fn chosen(choice: &str) -> Box<dyn Method> {
    method(&Config { method: choice.into(), ..Config::default() }).unwrap()
}

fn sketch_of(text: &str, method: &dyn Method) -> Vec<u64> {
    let (mut canonical, mut out) = (Canonical::default(), Vec::new());
    canonicalise(text, &CanonicalRules::default(), &mut canonical);
    let subject = Subject { canonical: &canonical, text, links: &[], parts: None };
    method.sketch(&subject, &mut Scratch::default(), &mut out);
    out
}

fn keys_of(sketch: &[u64], method: &dyn Method) -> Vec<(u64, u32)> {
    let mut out = Vec::new();
    method.keys(sketch, &Rarity::new(vec![0]), &mut Scratch::default(), &mut out);
    out
}

fn similarity_of(a: &[u64], b: &[u64], method: &dyn Method) -> f64 {
    method.similarity(method.score(a, b), (a.len(), b.len()))
}

/// The definition: a table over all prefixes of both.
fn longest(a: &[u64], b: &[u64]) -> usize {
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..a.len() {
        for j in 0..b.len() {
            table[i + 1][j + 1] =
                if a[i] == b[j] { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
        }
    }
    table[a.len()][b.len()]
}

/// The definition: the best score of all stretches of the common places without a wide gap inside.
fn trusted(pairs: &[(usize, usize)], lengths: (usize, usize), gap: usize, edge: f64) -> f64 {
    let gaps = |i: usize| (pairs[i + 1].0 - pairs[i].0 - 1).min(pairs[i + 1].1 - pairs[i].1 - 1);
    let mut best = 0.0f64;
    for from in 0..pairs.len() {
        for to in from..pairs.len() {
            let whole = (from..to).all(|i| gaps(i) <= gap)
                && (from == 0 || gaps(from - 1) > gap)
                && (to + 1 == pairs.len() || gaps(to) > gap);
            if !whole {
                continue;
            }
            let left = |length: usize, places: &dyn Fn(&(usize, usize)) -> usize| {
                let edge = (length as f64 * edge).floor() as usize;
                let (first, last) = (places(&pairs[from]), places(&pairs[to]));
                let uncommon = |range: Range<usize>| {
                    range.filter(|place| pairs.iter().all(|pair| places(pair) != *place)).count()
                };
                let inside = last + 1 - first;
                let (head, tail) = (uncommon(0..first), uncommon(last + 1..length));
                inside + head.saturating_sub(edge) + tail.saturating_sub(edge)
            };
            let (a, b) = (left(lengths.0, &|pair| pair.0), left(lengths.1, &|pair| pair.1));
            let common = to + 1 - from;
            best = best.max(common as f64 / (a + b - common) as f64);
        }
    }
    best
}

/// `count` sentences that differ from those of any other `name`.
fn lines(name: u64, count: u64) -> Vec<u64> {
    (0..count).map(|n| digest(&(name << 32 | n).to_le_bytes())).collect()
}

#[test]
fn a_page_is_its_sentences() {
    let lcs = chosen("lcs");
    assert_eq!(sketch_of("One story. And  another!\n\n--\nThe end", &*lcs).len(), 3);
    assert_eq!(sketch_of("ONE story", &*lcs), sketch_of("One, story.", &*lcs));
    assert_eq!(sketch_of("一個故事。又一個！", &*lcs).len(), 2);
    assert!(sketch_of("... !", &*lcs).is_empty());
    let mut canonical = Canonical::default();
    canonicalise("no text given", &CanonicalRules::default(), &mut canonical);
    let mut out = Vec::new();
    lcs.sketch(
        &Subject { canonical: &canonical, text: "", links: &[], parts: None },
        &mut Scratch::default(),
        &mut out,
    );
    assert_eq!(out.len(), 1, "a page with tokens has a sentence");
}

#[test]
fn the_example_of_the_authors() {
    let letters = |text: &str| text.bytes().map(u64::from).collect::<Vec<_>>();
    let (a, b) = (letters("abcabba"), letters("cbabac"));
    assert!((similarity_of(&a, &b, &*chosen("lcs:trust=off")) - 4.0 / 9.0).abs() < 2e-9);
}

#[test]
fn a_template_that_is_cut_off_counts_for_nothing() {
    // The same template around different texts: alike by the whole LCS.
    let page = |text: u64| [lines(1, 70), lines(text, 20), lines(3, 60)].concat();
    let (lcs, plain) = (chosen("lcs"), chosen("lcs:trust=off"));
    let (a, b) = (page(7), page(8));
    assert!(plain.verify(&a, &b).is_some() && lcs.verify(&a, &b).is_none());
    assert!((similarity_of(&a, &b, &*lcs) - 70.0 / 110.0).abs() < 2e-9);
    // The same text after the same template, with different advertisements between: as alike as the texts are.
    let page = |noise: u64| [lines(1, 30), lines(noise, 4), lines(2, 50)].concat();
    assert!((similarity_of(&page(7), &page(8), &*lcs) - 50.0 / 58.0).abs() < 2e-9);
    // The same text in different templates: alike only with `edge`.
    let page = |head: u64, tail: u64| [lines(head, 20), lines(2, 50), lines(tail, 15)].concat();
    let (a, b) = (page(1, 3), page(4, 5));
    assert!(lcs.verify(&a, &b).is_none());
    assert_eq!(similarity_of(&a, &b, &*chosen("lcs:edge=0.25")), 1.0);
}

#[test]
fn what_one_page_adds_cuts_nothing() {
    let a = [lines(1, 40), lines(2, 40)].concat();
    let b = [lines(1, 40), lines(3, 12), lines(2, 40)].concat();
    assert!((similarity_of(&a, &b, &*chosen("lcs")) - 80.0 / 92.0).abs() < 2e-9);
}

#[test]
fn keys_are_the_smallest_of_each_bucket() {
    let lcs = chosen("lcs:m=2:n=2");
    let keys = |sketch: &[u64]| keys_of(sketch, &*lcs);
    assert_eq!(keys(&[8, 2, 4, 2, 3]), keys(&[3, 4, 2, 6]), "2 and 4, and 3 alone");
    assert_eq!(keys(&[2, 4]).len(), 1);
    assert_ne!(keys(&[2, 4])[0].0, keys(&[3, 5])[0].0);
    assert!(keys(&[2, 4, 3])[0].1 > keys(&[2, 4, 3])[1].1);
    assert_eq!(keys_of(&[5, 5, 1], &*chosen("lcs:search=all")), [(1, 1), (5, 0)]);
    assert!(keys(&[]).is_empty());
}

#[test]
fn the_chance_is_that_of_the_buckets() {
    let lcs = chosen("lcs");
    assert!((lcs.chance(0.7, 9) - (1.0 - (1.0 - 0.343f64).powi(7))).abs() < 1e-12);
    assert_eq!(lcs.chance(1.0, 9), 1.0);
    let exact = lcs.stands_for().unwrap();
    assert_eq!((exact.search(), exact.chance(0.1, 9)), (Search::Keys, 1.0));
    assert!(exact.stands_for().is_none());
    assert_eq!(lcs.search(), Search::Sets { limit: 1_000 });
}

#[test]
fn what_makes_no_sense_is_refused() {
    for choice in [
        "lcs:m=0",
        "lcs:n=0",
        "lcs:m=65",
        "lcs:limit=1",
        "lcs:trust=yes",
        "lcs:edge=0.5",
        "lcs:edge=NaN",
        "lcs:search=x",
    ] {
        let refused = method(&Config { method: choice.into(), ..Config::default() }).unwrap_err().to_string();
        assert!(refused.contains("give"), "{refused}");
    }
}

#[test]
fn long_pages_are_quick() {
    let lcs = chosen("lcs");
    let mut shuffled = lines(1, 100_000);
    shuffled.sort_unstable();
    for (a, b) in [
        (lines(1, 100_000), lines(2, 100_000)),
        (lines(1, 100_000), shuffled),
        (vec![7; 1_000_000], vec![7; 800_000]),
        ([vec![7; 1_000_000], lines(1, 9)].concat(), [lines(2, 9), vec![7; 1_000_000]].concat()),
    ] {
        let same = a.iter().filter(|&&word| word == 7).count() > 0;
        assert_eq!(lcs.verify(&a, &b).is_some(), same);
        assert!(!keys_of(&a, &*lcs).is_empty());
    }
    assert_eq!(similarity_of(&[1], &[1], &*lcs), 1.0);
    assert_eq!(similarity_of(&[1], &[2], &*lcs), 0.0);
    assert_eq!(similarity_of(&[], &[2], &*lcs), 0.0);
}

/// Two pages made of the same few pieces, so that they share much.
fn pages() -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> {
    let page = || {
        prop::collection::vec((0u64..6, 1u64..9), 0..6).prop_map(|pieces| {
            pieces.iter().flat_map(|&(name, count)| lines(name, count)).collect::<Vec<_>>()
        })
    };
    prop_oneof![
        (page(), page()),
        (prop::collection::vec(0u64..6, 0..20), prop::collection::vec(0u64..6, 0..20))
    ]
}

proptest! {
    #[test]
    fn similarity_is_by_the_book((a, b) in pages(), gap in 0usize..4, edge in prop_oneof![Just(0.0), 0.0f64..0.45], threshold in 0.05f64..=1.0) {
        let plain = chosen("lcs:trust=off");
        let common = longest(&a, &b);
        let exact = common as f64 / (a.len() + b.len() - common).max(1) as f64;
        prop_assert!((similarity_of(&a, &b, &*plain) - exact).abs() < 2e-9);

        let lcs = chosen(&format!("lcs:gap={gap}:edge={edge}:threshold={threshold}:search=all"));
        let pairs: Vec<(usize, usize)> =
            aligned(&a, &b, 0).iter().flat_map(|run| (0..run.length).map(|i| (run.a + i, run.b + i))).collect();
        prop_assert_eq!(pairs.len(), common);
        prop_assert!(pairs.iter().all(|&(i, j)| a[i] == b[j]));
        prop_assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
        let similarity = similarity_of(&a, &b, &*lcs);
        prop_assert!(similarity <= exact + 2e-9 || edge > 0.0);
        prop_assert!((similarity - trusted(&pairs, (a.len(), b.len()), gap, edge)).abs() < 2e-9);
    }

    #[test]
    fn decisions_agree((a, b) in pages(), trust in any::<bool>(), threshold in 0.05f64..=1.0) {
        let trust = if trust { "on" } else { "off" };
        let lcs = chosen(&format!("lcs:gap=2:trust={trust}:threshold={threshold}:search=all"));
        let score = lcs.score(&a, &b);
        prop_assert_eq!(score, lcs.score(&b, &a));
        let alike = lcs.similarity(score, (a.len(), b.len())) >= threshold;
        prop_assert_eq!(lcs.verify(&a, &b), alike.then_some(score));
        if alike {
            let (left, right) = (keys_of(&a, &*lcs), keys_of(&b, &*lcs));
            let first = left.iter().find_map(|x| Some((*x, *right.iter().find(|y| y.0 == x.0)?)));
            let (x, y) = first.expect("alike pages share a key");
            let held = |page: &[u64], rest: u32| Held { size: page.len() as u32, rest };
            prop_assert!(lcs.may(held(&a, x.1), held(&b, y.1)));
        }
    }
}

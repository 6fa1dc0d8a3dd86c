//! `bloom`, `links` and `mix` against a plain computation of filters.

use proptest::prelude::*;

use super::super::{Method, Scratch, Subject, method};
use super::*;
use crate::config::Config;
use crate::decide::candidate::count;
use crate::hash::digest;
use crate::similarity::filter::Filter;
use crate::text::canonical::{Canonical, canonicalise};

fn chosen(choice: &str) -> Box<dyn Method> {
    method(&Config { method: choice.into(), ..Config::default() }).unwrap()
}

fn canonical_of(text: &str) -> Canonical {
    let mut canonical = Canonical::default();
    canonicalise(text, &Default::default(), &mut canonical);
    canonical
}

fn sketch_of(page: &(String, Vec<u64>), method: &dyn Method) -> Vec<u64> {
    let mut out = vec![99];
    let subject = Subject { canonical: &canonical_of(&page.0), text: "", links: &page.1, parts: None };
    method.sketch(&subject, &mut Scratch::default(), &mut out);
    out.split_off(1)
}

fn similarity_of(a: &[u64], b: &[u64], method: &dyn Method) -> f64 {
    method.similarity(method.score(a, b), (a.len(), b.len()))
}

fn text_filter(page: &(String, Vec<u64>), rules: &FilterRules) -> Filter {
    Filter::of_text(&canonical_of(&page.0), rules)
}

fn is_full(filter: &Filter, rules: &FilterRules) -> bool {
    2 * filter.count() > rules.bits
}

/// The similarity of two filters. A filter that is too full is similar only to its equals.
fn by_the_book(a: (&Filter, &str), b: (&Filter, &str), rules: &FilterRules) -> f64 {
    match (is_full(a.0, rules), is_full(b.0, rules)) {
        (false, false) => a.0.similarity(b.0),
        (true, true) if a.1 == b.1 => 1.0,
        _ => 0.0,
    }
}

/// Two pages made of the same few pieces of text and links, so that they share much.
fn pages() -> impl Strategy<Value = [(String, Vec<u64>); 2]> {
    let piece =
        |name: u32| (0..60).map(|n| format!("w{} ", digest(&[name as u8, n]) % 997)).collect::<String>();
    let page = move || {
        let text = prop::collection::vec(0u32..5, 1..6);
        let links = prop::collection::vec(0u64..12, 0..12);
        (text, links).prop_map(move |(text, links)| {
            let text = text.iter().map(|&name| piece(name)).collect::<String>();
            (text, links.iter().map(|link| digest(&link.to_le_bytes())).collect::<Vec<_>>())
        })
    };
    [page(), page()]
}

/// Checks the contract of every method: symmetry, one decision, and for alike pages a shared key that `may` allows.
fn check_contract(method: &dyn Method, a: &[u64], b: &[u64]) {
    let score = method.score(a, b);
    assert_eq!(score, method.score(b, a));
    let alike = method.similarity(score, (a.len(), b.len())) >= method.threshold();
    assert_eq!(method.verify(a, b), alike.then_some(score));
    for sketch in [a, b] {
        assert!(sketch.windows(2).all(|two| two[0] < two[1]), "each word once");
    }
    if !alike {
        return;
    }
    let mut counters = vec![0; 1 << 14];
    count(a, 14, 0, &mut counters);
    count(b, 14, 0, &mut counters);
    let rarity = Rarity::new(counters);
    let keys = |sketch: &[u64]| {
        let mut out = Vec::new();
        method.keys(sketch, &rarity, &mut Scratch::default(), &mut out);
        out
    };
    let (left, right) = (keys(a), keys(b));
    let shared = left.iter().filter_map(|x| Some((x.1, right.iter().find(|y| y.0 == x.0)?.1)));
    let first = shared.max().expect("alike pages share a key");
    let held = |sketch: &[u64], rest: u32| Held { size: sketch.len() as u32, rest };
    assert!(method.may(held(a, first.0), held(b, first.1)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn similarity_is_by_the_book([a, b] in pages(), log in 6u32..11, hashes in 1usize..6, threshold in 0.05f64..=1.0) {
        let rules = FilterRules { chunk: 64, bits: 1 << log, hashes };
        let bits = rules.bits;

        let bloom = chosen(&format!("bloom:chunk=64:bits={bits}:hashes={hashes}:threshold={threshold}"));
        let (x, y) = (sketch_of(&a, &*bloom), sketch_of(&b, &*bloom));
        let text = by_the_book((&text_filter(&a, &rules), &a.0), (&text_filter(&b, &rules), &b.0), &rules);
        prop_assert_eq!(similarity_of(&x, &y, &*bloom), text);
        check_contract(&*bloom, &x, &y);

        let links = chosen(&format!("links:bits={bits}:hashes={hashes}:threshold={threshold}"));
        let (x, y) = (sketch_of(&a, &*links), sketch_of(&b, &*links));
        let (left, right) = (Filter::of(&a.1, &rules), Filter::of(&b.1, &rules));
        let none = a.1.is_empty() || b.1.is_empty();
        let linked = if none { 0.0 } else { by_the_book((&left, &a.0), (&right, &b.0), &rules) };
        prop_assert_eq!(similarity_of(&x, &y, &*links), if none && a == b { 1.0 } else { linked });
        check_contract(&*links, &x, &y);

        let mix = chosen(&format!(
            "mix:text=0.6:chunk=64:bits={bits}:link-bits={bits}:hashes={hashes}:threshold={threshold}"
        ));
        let (x, y) = (sketch_of(&a, &*mix), sketch_of(&b, &*mix));
        let mixed = if a.1.is_empty() && b.1.is_empty() { text } else { 0.6 * text + 0.4 * linked };
        prop_assert!((similarity_of(&x, &y, &*mix) - mixed).abs() < 2e-9);
        check_contract(&*mix, &x, &y);
    }
}

#[test]
fn a_way_round_is_no_shorter() {
    let distance = |a: u32, b: u32| {
        let sizes = (a.count_ones() as usize, b.count_ones() as usize);
        1.0 - similarity((a & b).count_ones() as usize, sizes)
    };
    for (a, b, c) in (0..64).flat_map(|a| (0..64).flat_map(move |b| (0..64).map(move |c| (a, b, c)))) {
        assert!(distance(a, c) <= distance(a, b) + distance(b, c) + 1e-12, "{a:b} {b:b} {c:b}");
    }
}

#[test]
fn long_pages_are_like_their_copies_only() {
    let word = |seed: u64, n: u64| format!("w{} ", digest(&(seed << 32 | n).to_le_bytes()));
    let page = |seed: u64| ((0..20_000).map(|n| word(seed, n)).collect::<String>(), vec![]);
    let bloom = chosen("bloom");
    let (a, b) = (sketch_of(&page(1), &*bloom), sketch_of(&page(2), &*bloom));
    assert_eq!((a.len(), b.len()), (1, 1));
    assert_eq!(similarity_of(&a, &b, &*bloom), 0.0);
    assert_eq!(similarity_of(&a, &a, &*bloom), 1.0);
    let dull = ("a ".repeat(1 << 20), vec![]);
    assert!(!sketch_of(&dull, &*bloom).is_empty());
}

#[test]
fn a_page_with_tokens_has_a_sketch_and_one_without_links_is_alone() {
    let (a, b) = (("one".to_owned(), vec![]), ("two".to_owned(), vec![]));
    for choice in ["bloom", "links", "mix"] {
        let method = chosen(choice);
        let (a, b) = (sketch_of(&a, &*method), sketch_of(&b, &*method));
        assert!(!a.is_empty() && !b.is_empty(), "{choice}");
        assert!(method.verify(&a, &b).is_none(), "{choice}");
        assert!(method.verify(&a, &a).is_some(), "{choice}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    for choice in [
        "bloom:chunk=0",
        "bloom:chunk=100",
        "bloom:bits=0",
        "bloom:bits=3000",
        "bloom:hashes=0",
        "bloom:hashes=17",
        "links:hashes=0",
        "links:chunk=256",
        "mix:text=1.5",
        "mix:text=-0.1",
        "mix:text=NaN",
        "mix:link-bits=7",
    ] {
        let refused = method(&Config { method: choice.into(), ..Config::default() }).unwrap_err().to_string();
        assert!(refused.contains("give") || refused.contains("it has"), "{refused}");
    }
}

//! The contract that every method must keep. A line in [`CHOICES`] adds a method to these tests.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::contract::{elsewhere, is_within_slack, outline};
use super::*;
use crate::config::Unit;
use crate::decide::candidate::count;
use crate::similarity::sketch::{Sketch, sketch};
use crate::text::canonical::canonicalise;
use crate::text::shingle::token_hashes;

/// Methods with interesting parameters. Each method is here at least once.
const CHOICES: &[&str] = &[
    "auto",
    "auto:threshold=0.3",
    "jaccard",
    "jaccard:threshold=0.3",
    "jaccard:threshold=1",
    "jaccard:mod=2",
    "jaccard:mod=7:threshold=0.5",
    "jaccard:min=8",
    "jaccard:min=20:threshold=0.5",
    "jaccard:min=1:threshold=1",
    "containment",
    "containment:threshold=0.3",
    "containment:threshold=1",
    "cosine",
    "cosine:threshold=0.5",
    "cosine:threshold=1",
    "shingles-b",
    "shingles-b:k=2:agree=1",
    "shingles-b:k=3:min-values=12:supershingles=12:agree=4",
    "shingles-b:agree=6",
    "projection-c",
    "projection-c:bits=128:agree=113",
    "projection-c:agree=384",
    "combined",
    "combined:k=2:supershingles=12:super-agree=1:agree=300",
    "simhash",
    "simhash:k=2:distance=10",
    "simhash:distance=0",
    "simhash:search=rotate:step=8",
    "lcs",
    "lcs:search=all:threshold=0.3",
    "lcs:search=all:trust=off:threshold=0.3",
    "bloom",
    "bloom:threshold=0.3:chunk=16",
    "links",
    "mix",
    "mix:text=0.2:threshold=0.4:chunk=16",
];

/// Choices that must be refused.
const REFUSED: &[&str] = &[
    "nothing",
    "jaccard:threshold=0",
    "jaccard:threshold=1.5",
    "jaccard:mod=0",
    "jaccard:min=0",
    "jaccard:mod=4:min=9",
    "containment:threshold=0",
    "containment:k=0",
    "cosine:threshold=-1",
    "cosine:mod=4",
    "shingles-b:k=0",
    "shingles-b:k=65",
    "shingles-b:min-values=0",
    "shingles-b:min-values=85",
    "shingles-b:supershingles=0",
    "shingles-b:agree=0",
    "shingles-b:agree=7",
    "shingles-b:min-values=32:supershingles=32:agree=16",
    "projection-c:bits=0",
    "projection-c:agree=385",
    "combined:bits=100",
    "combined:agree=385",
    "combined:super-agree=7",
    "simhash:distance=15",
    "simhash:bits=128",
];

/// A page, for computing plainly what a method should say about it.
pub(super) struct Book {
    pub choice: String,
    pub tokens: Vec<String>,
    length: usize,
}

impl Book {
    /// Its windows of tokens; one window of all if there are fewer.
    pub fn shingles(&self) -> BTreeSet<Vec<String>> {
        let windows = self.tokens.windows(self.length.min(self.tokens.len()).max(1));
        windows.map(<[String]>::to_vec).collect()
    }

    /// The hashes of its shingles.
    pub fn hashes(&self) -> BTreeSet<u64> {
        let rules = crate::ShingleRules { length: self.length, ..Default::default() };
        let mut out = Sketch::default();
        sketch(&self.canonical(), &rules, &mut out);
        out.shingles().iter().copied().collect()
    }

    pub fn token_hashes(&self) -> Vec<u64> {
        let mut out = Vec::new();
        token_hashes(&self.canonical(), Unit::Words, &mut out);
        out
    }

    fn canonical(&self) -> Canonical {
        let mut out = Canonical::default();
        canonicalise(&self.tokens.join(" "), &Default::default(), &mut out);
        out
    }
}

/// The method that a choice names.
pub(super) fn made(choice: &str) -> Box<dyn Method> {
    method(&configured(choice, 5)).unwrap()
}

fn configured(choice: &str, length: usize) -> Config {
    let shingles = crate::ShingleRules { length, ..Default::default() };
    Config { method: choice.into(), shingles, ..Config::default() }
}

/// The sketch of a text.
pub(super) fn sketch_of(method: &dyn Method, text: &str) -> Vec<u64> {
    let mut canonical = Canonical::default();
    canonicalise(text, &Default::default(), &mut canonical);
    let mut out = Vec::new();
    method.sketch(
        &Subject { canonical: &canonical, text, links: &[], parts: None },
        &mut Scratch::default(),
        &mut out,
    );
    out
}

/// Checks the similarities of random pages against `expected`, to nine digits.
pub(super) fn by_the_book(choices: &[&str], expected: impl Fn(&Book, &Book) -> f64) {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for choice in choices {
        let pages = (random_pages(), 1usize..4);
        let checked = runner.run(&pages, |(pages, length)| {
            let method = method(&configured(choice, length)).unwrap();
            let book =
                |tokens: &Vec<String>| Book { choice: choice.to_string(), tokens: tokens.clone(), length };
            for (a, b) in pairs(&pages) {
                let (x, y) = (sketch_of(&*method, &a.join(" ")), sketch_of(&*method, &b.join(" ")));
                let said = method.similarity(method.score(&x, &y), (x.len(), y.len()));
                let expected = expected(&book(a), &book(b));
                prop_assert!((said - expected).abs() < 1e-9, "{} for {}: {:?} {:?}", said, expected, a, b);
            }
            Ok(())
        });
        checked.unwrap_or_else(|error| panic!("{choice}: {error}"));
    }
}

fn pairs<T>(items: &[T]) -> impl Iterator<Item = (&T, &T)> {
    items.iter().enumerate().flat_map(|(i, a)| items[..=i].iter().map(move |b| (a, b)))
}

/// Pages that share much: each is a text in which parts were cut, replaced, repeated or inserted.
fn random_pages() -> impl Strategy<Value = Vec<Vec<String>>> {
    let text = prop::collection::vec(0u8..40, 1..60);
    let edit = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0u8..5, 0u8..40);
    let edits = prop::collection::vec(prop::collection::vec(edit, 0..4), 2..7);
    (text, edits).prop_map(|(text, pages)| {
        let edited = |edits: Vec<(prop::sample::Index, prop::sample::Index, u8, u8)>| {
            let mut page = text.clone();
            for (at, until, kind, word) in edits {
                let (i, j) = (at.index(page.len()), until.index(page.len()));
                match kind {
                    0 if page.len() > 1 => drop(page.remove(i)),
                    1 => page[i] = word,
                    2 => page.insert(i, word),
                    3 => page = page[i.min(j)..=i.max(j)].to_vec(),
                    _ => page.extend_from_within(i.min(j)..=i.max(j)),
                }
            }
            page.iter().map(|word| format!("w{word}")).collect()
        };
        pages.into_iter().map(edited).collect()
    })
}

#[test]
fn each_method_is_looked_at() {
    for entry in METHODS {
        let named = |choice: &&&str| choice.split(':').next() == Some(entry.name);
        assert!(CHOICES.iter().any(|choice| named(&choice)), "{} is in no choice", entry.name);
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_the_remedy() {
    for choice in REFUSED {
        let said =
            method(&configured(choice, 5)).err().unwrap_or_else(|| panic!("{choice} was taken")).to_string();
        assert!(["give", "choose", "it has"].iter().any(|remedy| said.contains(remedy)), "{choice}: {said}");
    }
    for threshold in [0.0, -1.0, 1.1, f64::NAN] {
        for entry in METHODS {
            let config = Config { threshold: Some(threshold), ..configured(entry.name, 5) };
            assert!(method(&config).is_err(), "{} at {threshold}", entry.name);
        }
    }
}

#[test]
fn pages_without_text_are_no_reason_to_panic() {
    for choice in CHOICES {
        let method = made(choice);
        let (empty, page) = (sketch_of(&*method, " - "), sketch_of(&*method, "word"));
        assert!(!page.is_empty(), "{choice}");
        let similarity = |a: &[u64], b: &[u64]| method.similarity(method.score(a, b), (a.len(), b.len()));
        assert_eq!((similarity(&empty, &page), similarity(&page, &page)), (0.0, 1.0), "{choice}");
        assert_eq!((method.verify(&empty, &page), method.verify(&page, &empty)), (None, None), "{choice}");
        let mut keys = Vec::new();
        method.keys(&empty, &Rarity::new(vec![9]), &mut Scratch::default(), &mut keys);
        assert!(keys.is_empty(), "{choice}");
    }
}

#[test]
fn chances_are_chances() {
    for choice in CHOICES {
        let method = made(choice);
        let chances: Vec<f64> = (0..=20).map(|n| method.chance(f64::from(n) / 20.0, 1_000)).collect();
        assert!(chances.iter().all(|chance| (0.0..=1.0).contains(chance)), "{choice}: {chances:?}");
        assert!(chances.is_sorted(), "{choice}: {chances:?}");
        assert!(method.threshold() > 0.0 && method.threshold() <= 1.0);
    }
}

/// Sketches of one method, and the keys of each, as engines make them.
struct Joined {
    method: Box<dyn Method>,
    sketches: Vec<Vec<u64>>,
    keys: Vec<Vec<(u64, u32)>>,
}

fn join(choice: &str, length: usize, pages: &[Vec<String>], bits: u32) -> Joined {
    let method = method(&configured(choice, length)).unwrap();
    let sketches: Vec<Vec<u64>> = pages.iter().map(|page| sketch_of(&*method, &page.join(" "))).collect();
    let mut counters = vec![0; 1 << bits];
    sketches.iter().for_each(|sketch| count(sketch, bits, 0, &mut counters));
    let (rarity, mut scratch) = (Rarity::new(counters), Scratch::default());
    let keys = |sketch: &Vec<u64>| {
        let mut out = Vec::new();
        method.keys(sketch, &rarity, &mut scratch, &mut out);
        out
    };
    Joined { keys: sketches.iter().map(keys).collect(), sketches, method }
}

impl Joined {
    /// Checks that the comparison of two pages is symmetric, and that alike pages are found.
    fn check(&self, a: usize, b: usize) -> Result<(), TestCaseError> {
        let method = &self.method;
        let (x, y) = (&self.sketches[a], &self.sketches[b]);
        let score = method.score(x, y);
        prop_assert_eq!(score, method.score(y, x), "symmetric");
        let similarity = method.similarity(score, (x.len(), y.len()));
        prop_assert_eq!(similarity, method.similarity(score, (y.len(), x.len())), "symmetric");
        prop_assert!((0.0..=1.0).contains(&similarity));
        let alike = similarity >= method.threshold();
        prop_assert_eq!(method.verify(x, y), alike.then_some(score));
        prop_assert_eq!(method.verify(y, x), alike.then_some(score));
        if x == y {
            prop_assert!(alike, "a page and itself");
        }
        if alike {
            prop_assert!(!method.deny(&outline(&**method, x), &outline(&**method, y)), "outlines");
            let elsewhere = elsewhere(&**method, &self.sketches);
            prop_assert!(is_within_slack(&**method, [x, y], &elsewhere), "slacks");
        }
        if alike && a != b && method.search() == Search::Keys {
            self.check_found(a, b)?;
        }
        Ok(())
    }

    /// Checks that two pages share a key, and that `may` allows the first one.
    fn check_found(&self, a: usize, b: usize) -> Result<(), TestCaseError> {
        let of_b = |key: u64| self.keys[b].iter().find(|(other, _)| *other == key).map(|(_, rest)| *rest);
        let shared = self.keys[a].iter().filter_map(|&(key, rest)| Some((rest, of_b(key)?)));
        let shared: Vec<(u32, u32)> = shared.collect();
        let Some(&first) = shared.iter().max() else {
            return Err(TestCaseError::fail("alike, and they share no key"));
        };
        prop_assert!(shared.iter().all(|rests| rests.1 <= first.1), "one order for all pages: {:?}", shared);
        let is_strong =
            |page: usize, rest: u32| rest >= self.method.least_rest(self.sketches[page].len() as u32);
        prop_assert!(is_strong(a, first.0) || is_strong(b, first.1), "two weak holders are never alike");
        let held = |page: usize, rest: u32| Held { size: self.sketches[page].len() as u32, rest };
        prop_assert!(self.method.may(held(a, first.0), held(b, first.1)), "{:?}", first);
        prop_assert!(self.method.may(held(b, first.1), held(a, first.0)), "{:?}", first);
        prop_assert!(self.method.may(held(b, first.1 + 1), held(a, first.0 + 1)), "more behind a key");
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn alike_pages_share_a_key_and_may_be_alike(
        pages in random_pages(),
        length in 1usize..4,
        bits in prop::sample::select(vec![0u32, 3, 16]),
    ) {
        for choice in CHOICES {
            let joined = join(choice, length, &pages, bits);
            for keys in &joined.keys {
                let unique: BTreeSet<u64> = keys.iter().map(|(key, _)| *key).collect();
                prop_assert_eq!(unique.len(), keys.len(), "{}: each key once", choice);
            }
            for a in 0..pages.len() {
                for b in 0..pages.len() {
                    joined.check(a, b).map_err(|error| TestCaseError::fail(format!("{choice}: {error}")))?;
                }
            }
        }
    }
}

//! Refining results: equality with the slow answer, and the cases that a search operator meets.

use proptest::prelude::*;

use super::*;
use crate::reference;
use crate::similarity::filter::FilterRules;

fn options(method: &str) -> RefineOptions {
    RefineOptions {
        config: Config { method: method.into(), ..Config::default() },
        ..RefineOptions::default()
    }
}

/// Words that only this number has.
fn words(numbers: std::ops::Range<u32>) -> String {
    numbers.map(|n| format!("word{} ", n.wrapping_mul(2_654_435_761) >> 8)).collect()
}

fn anchors(refined: &Refined) -> Vec<Option<usize>> {
    refined.places.iter().map(|place| place.map(|place| place.anchor)).collect()
}

/// Pages that overlap more or less: each is a stretch of one long text.
fn stretches() -> impl Strategy<Value = Vec<String>> {
    let stretch = (0u32..60, 0u32..120).prop_map(|(start, length)| words(start..start + length));
    prop::collection::vec(stretch, 0..12)
}

/// A page with a menu, and with links in its text.
fn as_html(text: &str) -> String {
    let link = text.len() % 3;
    format!(
        "<nav><a href=/>Home</a> <a href=/{link}>Next</a></nav><main><p>{text}<a href=/{link}>more</a></p></main>"
    )
}

proptest! {
    #[test]
    fn refining_equals_comparing_all_pairs(
        pages in stretches(),
        method in prop::sample::select(vec!["auto", "jaccard", "containment", "simhash", "bloom:chunk=16", "cosine", "lcs"]),
        threshold in prop::option::of(0.3f64..1.0),
        transitive: bool,
        keep in prop::option::of(1usize..5),
        query in prop::option::of(0u32..80),
        html: bool,
    ) {
        let mut options = options(method);
        options.config.threshold = threshold.filter(|_| method != "simhash");
        options.grouping = if transitive { Grouping::Transitive } else { Grouping::ByAnchor };
        (options.keep, options.query) = (keep, query.map(|n| words(n..n + 1)));
        let pages: Vec<String> = pages.iter().map(|page| if html { as_html(page) } else { page.clone() }).collect();
        let evidence = |page| if html { Evidence::Html(page) } else { Evidence::Text(page) };
        let results: Vec<Evidence> = pages.iter().map(|page| evidence(page)).collect();
        prop_assert_eq!(refine(&results, &options), reference::refine(&results, &options));
    }

    #[test]
    fn refining_tags_equals_comparing_all_bits(
        pages in stretches(),
        bits in prop::sample::select(vec![64usize, 512, 2048, 4096]),
        threshold in 0.2f64..1.0,
        transitive: bool,
    ) {
        let rules = FilterRules { bits, chunk: 16, hashes: 3 };
        let tags: Vec<Tag> = pages.iter().map(|page| Tag::of_text(page, &rules)).collect();
        let mut results: Vec<Evidence> = tags.iter().map(Evidence::Tag).collect();
        if let (Some(last), Some(text), true) = (results.last_mut(), pages.last(), pages.len() > 1) {
            *last = Evidence::Text(text);
        }
        let mut options = RefineOptions::default();
        options.config.threshold = Some(threshold);
        options.grouping = if transitive { Grouping::Transitive } else { Grouping::ByAnchor };
        prop_assert_eq!(refine(&results, &options), reference::refine(&results, &options));
    }
}

#[test]
fn long_and_many_pages_are_refined_as_short_and_few_ones() {
    // Outlines of the first say too little, and the second are too many to compare all of them.
    let long: Vec<String> = (0..6).map(|page| words(page * 300..page * 300 + 5_000)).collect();
    let many: Vec<String> =
        (0..1_100).map(|page| words(page / 3 * 40..page / 3 * 40 + 30 + page % 3)).collect();
    for pages in [long, many] {
        let results: Vec<Evidence> = pages.iter().map(|page| Evidence::Text(page)).collect();
        let refined = refine(&results, &RefineOptions::default()).unwrap();
        let repeats = (0..).zip(&refined.places).filter(|(at, place)| place.is_some_and(|p| p.anchor != *at));
        assert!(repeats.count() > 0);
        let some = results.len().min(90);
        let few = refine(&results[..some], &RefineOptions::default()).unwrap();
        assert_eq!(few.places[..], refined.places[..some]);
        assert_eq!(few, reference::refine(&results[..some], &RefineOptions::default()).unwrap());
    }
}

#[test]
fn texts_may_come_with_the_escapes_of_json() {
    let story = words(0..80);
    let raw = story.replace(' ', "\\n").replace("word", "\\u0077ord");
    let tag = Tag::of_text(&story, &FilterRules::default());
    assert_eq!(Tag::of_json(&raw, &FilterRules::default()), tag);
    for first in [Evidence::Text(&story), Evidence::Tag(&tag)] {
        let refined = refine(&[first, Evidence::Json(&raw)], &RefineOptions::default()).unwrap();
        assert_eq!(refined.places[1].map(|place| (place.anchor, place.similarity)), Some((0, 1.0)));
    }
}

#[test]
fn a_chain_is_one_group_only_if_asked() {
    // Each page shares 96 of 116 shingles with the next, and 76 of 116 with the one after it.
    let pages = [words(0..110), words(10..120), words(20..130)];
    let results: Vec<Evidence> = pages.iter().map(|page| Evidence::Text(page)).collect();
    let promised = refine(&results, &options("jaccard")).unwrap();
    assert_eq!(anchors(&promised), [Some(0), Some(0), Some(2)]);
    let joined = RefineOptions { grouping: Grouping::Transitive, ..options("jaccard") };
    let joined = refine(&results, &joined).unwrap();
    assert_eq!(anchors(&joined), [Some(0); 3]);
    assert!(joined.places[2].unwrap().similarity < 0.8, "the true similarity to the anchor");
}

#[test]
fn contained_pages_say_which_contains_which() {
    let (whole, part) = (words(0..200), words(0..170));
    let check = |method: &str, evidence: [Evidence; 2], expected: Relation| {
        let refined = refine(&evidence, &options(method)).unwrap();
        assert_eq!(refined.places[1].unwrap().relation, expected, "{method}");
    };
    for method in ["auto", "jaccard", "containment", "simhash:distance=14", "cosine:threshold=0.8"] {
        check(method, [Evidence::Text(&whole), Evidence::Text(&part)], Relation::Contained);
        check(method, [Evidence::Text(&part), Evidence::Text(&whole)], Relation::Contains);
        check(method, [Evidence::Text(&part), Evidence::Text(&part)], Relation::Similar);
    }
    let rules = FilterRules { chunk: 16, ..FilterRules::default() };
    let (whole, part) = (Tag::of_text(&whole, &rules), Tag::of_text(&part, &rules));
    check("auto", [Evidence::Tag(&whole), Evidence::Tag(&part)], Relation::Contained);
    check("bloom:chunk=16", [Evidence::Tag(&part), Evidence::Tag(&whole)], Relation::Contains);
}

#[test]
fn results_without_words_repeat_nothing() {
    let empty = Tag::of_text("", &FilterRules::default());
    let silent = [Evidence::Text(""), Evidence::Text(" ... "), Evidence::Html("<p"), Evidence::Nothing];
    let refined = refine(&silent, &RefineOptions::default()).unwrap();
    assert_eq!(anchors(&refined), [0, 1, 2, 3].map(Some));
    let refined = refine(&[Evidence::Tag(&empty), Evidence::Tag(&empty)], &RefineOptions::default()).unwrap();
    assert_eq!(anchors(&refined), [0, 1].map(Some));
    assert_eq!(refine(&[], &RefineOptions::default()).unwrap().places, []);
}

#[test]
fn groups_are_kept_whole_and_counted() {
    let (a, b, c) = (words(0..50), words(100..150), words(200..250));
    let results = [&a, &b, &c, &b, &a, &c].map(|page| Evidence::Text(page));
    let two = RefineOptions { keep: Some(2), ..RefineOptions::default() };
    let found = anchors(&refine(&results, &two).unwrap());
    assert_eq!(found, [Some(0), Some(1), None, Some(1), Some(0), None]);
    let none = RefineOptions { keep: Some(0), ..RefineOptions::default() };
    assert_eq!(refine(&results, &none), Err(RefineError::KeepsNothing));
}

#[test]
fn passages_decide_where_a_query_is_given() {
    let passage = format!("{}tortoise {}", words(0..30), words(30..60));
    let (a, b) = (
        format!("{} {passage} {}", words(300..500), words(500..700)),
        format!("{passage} {}", words(700..900)),
    );
    let other = format!("{} tortoise {}", words(900..960), words(1000..1060));
    let results = [Evidence::Text(&a), Evidence::Text(&b), Evidence::Text(&other)];
    let asked = |query: &str| {
        let options = RefineOptions { query: Some(query.into()), ..RefineOptions::default() };
        let refined = refine(&results, &options).unwrap();
        (anchors(&refined), refined.compared)
    };
    assert_eq!(asked("Tortoise"), (vec![Some(0), Some(0), Some(2)], Compared::Passages));
    assert_eq!(asked("the Tortoise, of"), (vec![Some(0), Some(0), Some(2)], Compared::Passages));
    assert_eq!(
        asked("hare"),
        (vec![Some(0), Some(1), Some(2)], Compared::Passages),
        "whole pages without it"
    );
    for stop_words in ["the of", "", " -- "] {
        assert_eq!(asked(stop_words), (vec![Some(0), Some(1), Some(2)], Compared::Pages), "{stop_words}");
    }
}

#[test]
fn evidence_that_cannot_be_compared_is_refused() {
    let rules = FilterRules::default();
    let (usual, other) =
        (Tag::of_text("one", &rules), Tag::of_text("one", &FilterRules { bits: 1024, ..rules }));
    let refused = |results: &[Evidence], method: &str| {
        let (fast, slow) =
            (refine(results, &options(method)).unwrap_err(), reference::refine(results, &options(method)));
        assert_eq!(slow, Err(fast.clone()));
        fast.to_string()
    };
    let both = [Evidence::Tag(&usual), Evidence::Text("one"), Evidence::Tag(&other)];
    assert!(refused(&both, "auto").contains("bits=1024"));
    assert!(refused(&both[..1], "simhash").contains("method simhash cannot compare tags"));
    assert!(refused(&both[..1], "bloom:chunk=16").contains("chunk=16"));
    assert!(refused(&[Evidence::Tag(&usual), Evidence::Sketch(&[1])], "auto").contains("sketch"));
    assert!(refused(&[], "bloom:chunk=7").contains("chunk"));
}

#[test]
fn sketches_stand_for_their_texts() {
    let page = words(0..80);
    let mut options = options("jaccard");
    options.config.shingles.length = 3;
    let (mut canonical, mut sketch) = (crate::Canonical::default(), crate::Sketch::default());
    crate::canonicalise(&page, &options.config.canonical, &mut canonical);
    crate::sketch(&canonical, &options.config.shingles, &mut sketch);
    let results = [Evidence::Text(&page), Evidence::Sketch(sketch.shingles()), Evidence::Sketch(&[])];
    assert_eq!(anchors(&refine(&results, &options).unwrap()), [Some(0), Some(0), Some(2)]);
}

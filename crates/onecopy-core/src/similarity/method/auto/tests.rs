//! Pages with separate main content, compared by hand and by the contract.

use proptest::prelude::*;

use super::super::contract::{elsewhere, is_within_slack, outline};
use super::super::tests::{Book, by_the_book, made};
use super::*;
use crate::decide::candidate::count;
use crate::similarity::method::Parts;
use crate::text::canonical::{Canonical, canonicalise};

#[test]
fn plain_text_is_compared_by_resemblance() {
    by_the_book(&["auto", "auto:threshold=0.4"], |a: &Book, b: &Book| {
        let (a, b) = (a.shingles(), b.shingles());
        a.intersection(&b).count() as f64 / a.union(&b).count() as f64
    });
}

/// The sketch of a page whose lines that begin with `+` are main content. A line that begins with `#` is the title.
fn sketch_of(method: &dyn Method, page: &str) -> Vec<u64> {
    let (mut text, mut main, mut alone, mut title) = (String::new(), Vec::new(), String::new(), "");
    for line in page.lines() {
        if let Some(line) = line.strip_prefix('#') {
            title = line;
            continue;
        }
        let start = text.len();
        text.push_str(line.trim_start_matches('+'));
        text.push('\n');
        if line.starts_with('+') {
            main.push(start..text.len());
            alone.push_str(&text[start..]);
        }
    }
    let mut canonical = Canonical::default();
    canonicalise(&alone, &CanonicalRules::default(), &mut canonical);
    let parts = Some(Parts { text: &text, main: &main, title });
    let subject = Subject { canonical: &canonical, text: "", links: &[], parts };
    let mut out = Vec::new();
    method.sketch(&subject, &mut Scratch::default(), &mut out);
    out
}

/// The similarity of two pages by single words, of which every one is evidence.
fn similar(a: &str, b: &str) -> f64 {
    let config = Config { method: "auto:evidence=0".into(), ..Config::default() };
    let config = Config { shingles: ShingleRules { length: 1, ..config.shingles.clone() }, ..config };
    let method = crate::similarity::method::method(&config).unwrap();
    let (a, b) = (sketch_of(&*method, a), sketch_of(&*method, b));
    assert_eq!(method.score(&a, &b), method.score(&b, &a));
    method.similarity(method.score(&a, &b), (a.len(), b.len()))
}

/// Pages that share `words` words are as similar as the measure says at this agreement.
fn assert_agree(similarity: f64, agreement: f64, words: f64) {
    let expected = agreement / (agreement + (0.43 + 8.0 / words) * (1.0 - agreement));
    assert!((similarity - expected).abs() < 2e-9, "{similarity}, not {expected}");
}

#[test]
fn main_content_that_was_overlooked_still_counts() {
    assert_eq!(similar("+a b c d e f g h\nmenu", "+a b c d e f\ng h\nother"), 1.0);
    let (long, short) = ("x ".repeat(40), "y ".repeat(40));
    assert_agree(similar(&format!("+a b c d e f g h\n{long}"), &format!("+a b c d e f\n{short}")), 0.75, 6.0);
}

#[test]
fn short_pages_are_alike_only_as_a_whole() {
    let method = made("auto");
    let words = |range: std::ops::Range<u32>| range.map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
    let similar = |a: &str, b: &str| {
        let (a, b) = (sketch_of(&*method, a), sketch_of(&*method, b));
        method.similarity(method.score(&a, &b), (a.len(), b.len()))
    };
    let page = |main: &str, rest: &str| format!("{rest}\n+{main}");
    let (stub, bar, other) = (words(0..12), words(100..200), words(300..400));
    assert!(similar(&page(&stub, &bar), &page(&stub, &bar)) == 1.0);
    assert!(similar(&page(&stub, &bar), &page(&stub, &other)) < 0.1, "a stub proves nothing");
    assert!(similar(&page(&stub, &bar), &page(&words(20..32), &bar)) < 0.1, "nor does a side bar");
    let long = words(0..200);
    assert!(similar(&page(&long, &bar), &page(&long, &other)) == 1.0);
}

#[test]
fn small_changes_count_by_words_if_the_titles_name_one_subject() {
    let method = made("auto");
    let page = |own: &str, title: &str| {
        let word = |n: usize| if n % 20 == 7 { format!("{own}{n}") } else { format!("w{n}") };
        let words: Vec<String> = (0..150).map(word).collect();
        format!("#{title}\n+{}\n{own}\n", words.join(" "))
    };
    let similar = |one: &str, other: &str| {
        let (a, b) = (sketch_of(&*method, &page("a", one)), sketch_of(&*method, &page("b", other)));
        assert_eq!(method.score(&a, &b), method.score(&b, &a));
        method.similarity(method.score(&a, &b), (a.len(), b.len()))
    };
    let by_shingles = similar("", "");
    assert!(by_shingles < 0.75, "{by_shingles}");
    assert!(similar("w3", "w3 - some site") > 0.8, "and the name of a site is no subject");
    assert!(similar("w3 w4", "w4 - some site") > 0.8);
    for (one, other) in [("w3 w4", "w4 w5"), ("some site", "some site"), ("w3", "")] {
        assert_eq!(similar(one, other), by_shingles, "{one}, {other}");
    }
    assert!(similar("w3", "w4") < by_shingles, "two subjects count against");
}

#[test]
fn pages_longer_than_places_are_known_are_compared_by_shingles() {
    let method = made("auto");
    let page = |words: usize, title: &str| {
        let word = |n: usize| if n % 20 == 7 { format!("{title}{n}") } else { format!("w{n}") };
        let words: Vec<String> = (0..words).map(word).collect();
        sketch_of(&*method, &format!("#w1 {title}\n+{}\nmenu\n", words.join(" ")))
    };
    let similar = |words: usize| {
        let (a, b) = (page(words, "a"), page(words, "b"));
        method.similarity(method.score(&a, &b), (a.len(), b.len()))
    };
    assert!(similar(2_000) > 0.85);
    assert!((0.6..0.8).contains(&similar(2_100)), "{}", similar(2_100));
}

#[test]
fn a_template_that_was_taken_for_content_costs_only_where_the_other_page_lacks_it() {
    assert_eq!(similar("+a b c d\n+menu", "+a b c d\nmenu"), 1.0);
    assert_agree(similar("+a b c d\n+menu", "+a b c d\nother 1 2 3 4 5 6 7 8 9"), 0.8, 4.0);
    assert_eq!(similar("+a b\nx y z", "+c d\nx y z"), 0.0, "a template alone makes no copies");
}

#[test]
fn pages_that_quote_each_other_are_not_alike() {
    assert_eq!(similar("+a b c d\ne f g h", "+e f g h\na b c d"), 0.0);
    let third = similar("+a b c d\ne f 1 2 3 4 5 6 7 8 9", "+c d e f\na b p q r s t u v w");
    assert_agree(third, 1.0 / 3.0 / 0.625, 4.0);
}

#[test]
fn a_text_and_a_page_are_compared_by_main_content_alone() {
    let method = made("auto");
    let words: Vec<String> = (0..40).map(|n| format!("w{n}")).collect();
    let text = super::super::tests::sketch_of(&*method, &words.join(" "));
    let page = sketch_of(&*method, &format!("home\n+{}\nimprint", words[..36].join(" ")));
    let similarity = method.similarity(method.score(&text, &page), (text.len(), page.len()));
    assert!((similarity - 32.0 / 36.0).abs() < 2e-9, "{similarity}");
    assert_eq!(method.distance(method.score(&text, &page), (text.len(), page.len())), None);
}

#[test]
fn a_large_page_has_the_keys_and_the_outline_of_its_main_content() {
    let Config { canonical, shingles, .. } = Config::default();
    let method = Auto { threshold: 0.8, evidence: EVIDENCE, canonical, shingles };
    let line = |n: usize| {
        let words: String = (0..50).map(|word| format!("w{} ", n * 50 + word)).collect();
        if n.is_multiple_of(3) { format!("{words}\n") } else { format!("+{words}\n") }
    };
    let sketch = sketch_of(&method, &(0..1_000).map(line).collect::<String>());
    assert!(is_told(&sketch) && sketch.is_sorted() && sketch.len() > 2 * PIECE);
    let mut counters = vec![2; 1 << 12];
    count(&sketch, 12, 0, &mut counters);
    let (rarity, mut main, mut expected) = (Rarity::new(counters), Vec::new(), Vec::new());
    write_main(&sketch, &mut main);
    let least = method.least_main(true);
    crate::decide::candidate::keys(&main, least, &rarity, &mut Vec::new(), &mut expected);
    expected.iter_mut().for_each(|(_, rest)| *rest = packed(main.len() as u32, *rest));
    let (mut scratch, mut keys, mut pieces) = (Scratch::default(), Vec::new(), 0);
    method.keys(&sketch, &rarity, &mut scratch, &mut keys);
    assert!(keys == expected && keys.len() > PIECE / 2);
    keys.clear();
    method.keys_in_pieces(&sketch, &rarity, &mut scratch, &mut |piece| {
        keys.extend_from_slice(piece);
        pieces += 1;
    });
    assert!(keys == expected && pieces > 2 && scratch.words.len() <= PIECE);
    let mut drawn = [0; 4];
    crate::similarity::outline::draw(&main, main.len() as u64 | OUTLINE_TOLD, &mut drawn);
    assert_eq!(outline(&method, &sketch), drawn);
}

#[test]
fn numbers_are_shortened_in_order_and_by_little() {
    let numbers = [0, 1, 1_023, 1_024, 1_025, 2_047, 2_048, 2_049, 123_456, u32::MAX >> 1, u32::MAX];
    let codes: Vec<u32> = numbers.iter().map(|&number| shortened(number)).collect();
    assert!(codes.is_sorted() && codes.iter().all(|&code| code < 1 << 15), "{codes:?}");
    for number in numbers {
        let back = lengthened(shortened(number));
        assert!(back <= number && f64::from(number - back) <= SIZE_ROUNDING * f64::from(number));
        let held = unpacked(Held { size: 7, rest: packed(number, number / 2) });
        assert!(held.size == back && held.rest >= number / 2);
    }
}

#[test]
fn outlines_tell_of_main_content() {
    let method = made("auto");
    let words = |range: std::ops::Range<u32>| range.map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
    let page =
        |main, rest| outline(&*method, &sketch_of(&*method, &format!("{}\n+{}", words(rest), words(main))));
    let text = |all| outline(&*method, &super::super::tests::sketch_of(&*method, &words(all)));
    assert!(method.deny(&text(0..80), &text(60..140)));
    assert!(method.deny(&page(0..80, 500..600), &page(100..180, 500..600)), "a template makes no copies");
    assert!(!method.deny(&page(0..80, 500..600), &page(0..80, 700..900)));
    assert!(!method.deny(&page(0..80, 500..600), &text(0..80)));
    assert!(method.deny(&page(0..80, 500..600), &text(500..600)));
}

fn pages() -> impl Strategy<Value = Vec<String>> {
    let line = (any::<bool>(), prop::collection::vec(0u8..12, 1..8));
    let page = (0u8..14, prop::collection::vec(line, 1..6)).prop_map(|(title, lines)| {
        let line = |(main, words): (bool, Vec<u8>)| {
            let words: Vec<String> = words.iter().map(|word| format!("w{word}")).collect();
            format!("{}{}\n", if main { "+" } else { "" }, words.join(" "))
        };
        lines.into_iter().map(line).fold(format!("#w{title}\n"), |page, line| page + &line)
    });
    prop::collection::vec(page, 2..8)
}

/// Copies of a page of many words, each with some words replaced and another choice of main content.
fn copies() -> impl Strategy<Value = Vec<String>> {
    let copy = (prop::collection::vec(0usize..120, 0..8), 0usize..30, 0usize..30);
    (40usize..120, prop::collection::vec(copy, 2..6)).prop_map(|(words, copies)| {
        let page = |(number, (replaced, head, foot)): (usize, (Vec<usize>, usize, usize))| {
            let word = |at: usize| match replaced.contains(&at) {
                true => format!("own{number}x{at}"),
                false => format!("w{at}"),
            };
            let text = |range: std::ops::Range<usize>| range.map(word).collect::<Vec<_>>().join(" ");
            let end = words - foot.min(words - head);
            let title = text(words / 2..words / 2 + 2);
            format!("#{title}\n{}\n+{}\n{}\n", text(0..head), text(head..end), text(end..words))
        };
        copies.into_iter().enumerate().map(page).collect()
    })
}

/// Pages of one template with other values. Some have the values of others beside their main content.
fn templates() -> impl Strategy<Value = Vec<String>> {
    let page = (0usize..4, prop::collection::vec(0u8..4, 20), prop::collection::vec(0u8..4, 0..20));
    (0usize..30, prop::collection::vec(page, 2..8)).prop_map(|(menu, pages)| {
        let text = |values: &[u8]| -> String {
            // Most values are the same.
            let value = |(at, value): (usize, &u8)| format!("a{at} b{at} c{at} d{at} v{}", value / 2 * value);
            values.iter().enumerate().map(value).collect::<Vec<_>>().join(" ")
        };
        let menu: String = (0..menu).map(|n| format!("m{n} ")).collect();
        let page = |(title, main, rest): (usize, Vec<u8>, Vec<u8>)| {
            let title = ["", "a1", "a1 b2", "d3 name"][title];
            format!("#{title}\n{menu}\n+{}\n{}\n", text(&main), text(&rest))
        };
        pages.into_iter().map(page).collect()
    })
}

/// Pages with one text under some templates. Each has text of its own around it, and some of that is main content.
fn framed() -> impl Strategy<Value = Vec<String>> {
    let page = (0usize..3, 0usize..60, 0usize..60, prop::collection::vec(0usize..120, 0..3));
    (40usize..120, prop::collection::vec(page, 2..6)).prop_map(|(words, pages)| {
        let page =
            |(number, (template, head, foot, replaced)): (usize, (usize, usize, usize, Vec<usize>))| {
                let own = |part: &str, count: usize| -> String {
                    (0..count).map(|at| format!("t{template}{part}{at} ")).collect()
                };
                let word = |at: usize| match replaced.contains(&at) {
                    true => format!("own{number}x{at}"),
                    false => format!("w{at}"),
                };
                let text: Vec<String> = (0..words).map(word).collect();
                let (head, foot) = (own("head", head), own("foot", foot));
                format!("#w1 w2\n{}\n+{head}{} {foot}\n", own("menu", 40), text.join(" "))
            };
        pages.into_iter().enumerate().map(page).collect()
    })
}

/// Asserts that alike pages share a key, that `may` allows the first one, and that no outline denies them.
fn assert_nothing_alike_is_missed(method: &dyn Method, sketches: &[Vec<u64>], bits: u32) {
    let mut counters = vec![0; 1 << bits];
    sketches.iter().for_each(|sketch| count(sketch, bits, 0, &mut counters));
    let rarity = Rarity::new(counters);
    let keys = |sketch: &Vec<u64>| {
        let mut keys: Vec<(u64, u32)> = Vec::new();
        method.keys(sketch, &rarity, &mut Scratch::default(), &mut keys);
        keys.sort_unstable_by_key(|key| std::cmp::Reverse(key.1));
        keys
    };
    let keys: Vec<Vec<(u64, u32)>> = sketches.iter().map(keys).collect();
    let elsewhere = elsewhere(method, sketches);
    for (i, a) in sketches.iter().enumerate() {
        for (j, b) in sketches.iter().enumerate().skip(i + 1) {
            let score = method.score(a, b);
            let is_alike = method.similarity(score, (a.len(), b.len())) >= method.threshold();
            assert_eq!(method.verify(a, b), is_alike.then_some(score));
            if !is_alike {
                continue;
            }
            let outlines = [outline(method, a), outline(method, b)];
            assert!(!method.deny(&outlines[0], &outlines[1]));
            assert!(is_within_slack(method, [a, b], &elsewhere), "{a:?} {b:?}");
            let held = |sketch: &[u64], rest| Held { size: sketch.len() as u32, rest };
            let meets = |x: &(u64, u32), y: &(u64, u32)| x.0 == y.0 && method.may(held(a, x.1), held(b, y.1));
            assert!(keys[i].iter().any(|x| keys[j].iter().any(|y| meets(x, y))), "{a:?} {b:?}");
        }
    }
}

proptest! {
    #[test]
    fn nothing_alike_is_missed(
        pages in prop_oneof![pages(), copies(), templates(), framed()],
        threshold in 0.2f64..=1.0,
        evidence in 0usize..20,
        bits in 4u32..16,
        length in 1usize..4,
    ) {
        let name = format!("auto:evidence={evidence}");
        let config = Config { method: name, threshold: Some(threshold), ..Config::default() };
        let config = Config { shingles: ShingleRules { length, ..config.shingles.clone() }, ..config };
        let method = crate::similarity::method::method(&config).unwrap();
        let plain = |page: &String| super::super::tests::sketch_of(&*method, &page.replace(['+', '#'], ""));
        let told = |page: &String| sketch_of(&*method, page);
        let sketches: Vec<Vec<u64>> = pages.iter().flat_map(|page| [told(page), plain(page)]).collect();
        assert_nothing_alike_is_missed(&*method, &sketches, bits);
    }
}

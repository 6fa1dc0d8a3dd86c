//! Canonical form: the fast pass against the obvious one, and the rules one by one.

use proptest::prelude::*;

use super::*;
use crate::simd::each_level;

fn canonical(text: &str, rules: &CanonicalRules) -> String {
    let mut out = Canonical::default();
    canonicalise(text, rules, &mut out);
    assert_eq!(out.tokens().collect::<Vec<_>>().join(" "), out.text());
    assert_eq!(out.token_count(), out.tokens().count());
    out.text().to_owned()
}

fn folded(text: &str) -> String {
    canonical(text, &CanonicalRules::default())
}

#[test]
fn words_are_lower_cased_runs_of_letters_digits_and_underscores() {
    assert_eq!(folded("  The CAT's snake_case:  42nd—time! "), "the cat s snake_case 42nd time");
    assert_eq!(folded(""), "");
    assert_eq!(folded(" \n\t—…"), "");
    assert_eq!(folded("Ελλάς ΟΔΟΣ"), "ελλάσ οδοσ");
    assert_eq!(folded("ЁЖИК в тумане"), "ёжик в тумане");
    assert_eq!(folded("重复的网页,很多。a b c"), "重复的网页 很多 a b c");
}

#[test]
fn marks_separate_as_in_the_published_token_rule() {
    assert_eq!(folded("e\u{301}te"), "e te");
    assert_eq!(folded("İstanbul"), "i stanbul");
    assert_eq!(folded("हिन्दी"), "ह न द");
    assert_eq!(folded("Ⓐx"), "x");
    assert_eq!(folded("x² ½ Ⅷ"), "x² ½ ⅷ");
}

#[test]
fn one_buffer_serves_many_pages() {
    let mut out = Canonical::default();
    canonicalise("a long first page of words", &CanonicalRules::default(), &mut out);
    canonicalise("short", &CanonicalRules::default(), &mut out);
    assert_eq!(out.text(), "short");
    assert_eq!(out.token_count(), 1);
}

#[test]
fn each_rule_does_what_it_says() {
    let rules = CanonicalRules { case: Case::Keep, ..Default::default() };
    assert_eq!(canonical("The Cat", &rules), "The Cat");
    let rules = CanonicalRules { punctuation: Punctuation::Keep, ..Default::default() };
    assert_eq!(canonical("Note: \"well-known\", isn't it?", &rules), "note well known , isn t it ?");
    let rules = CanonicalRules { numbering: Numbering::Drop, ..Default::default() };
    assert_eq!(
        canonical("a.1 first\n (iv) fourth\n• dot\n2. two\netc. stays\n3 stays", &rules),
        "first fourth dot two etc stays 3 stays"
    );
    let rules = CanonicalRules { stop_words: vec!["the".into()], ..Default::default() };
    assert_eq!(canonical("The cat and the dog", &rules), "cat and dog");
}

/// Checks that every level gives the same text as the obvious pass.
fn check_every_level(text: &str, written: Written) {
    let meant = if written == Written::Json { unescape(text) } else { text.to_owned() };
    let mut slow = Canonical::default();
    tokens::by_rules(&meant, &CanonicalRules::default(), Words::Runs, &mut slow);
    each_level(|level| {
        let mut fast = Canonical::default();
        fold::fold_by(level, text, written, &mut fast);
        assert_eq!(fast.text(), slow.text(), "{level:?}: {text}");
        assert!(fast.spans().eq(slow.spans()), "{level:?}: {text}");
    });
}

#[test]
fn every_character_at_every_place_of_a_block_is_taken_alike_at_every_level() {
    for c in (0..0x80).map(char::from).chain(['\u{80}', 'É', '漢']) {
        for place in 0..66 {
            let before: String = ('a'..='e').chain([' ']).cycle().take(place).collect();
            check_every_level(&format!("{before}{c}{c}x y"), Written::Plain);
            if !matches!(c, '\\' | '"' | '\0'..' ') {
                check_every_level(&format!("{before}\\n{c}\\\\\\u0041\\\"{c}"), Written::Json);
            }
        }
    }
}

proptest! {
    #[test]
    fn the_fast_pass_equals_the_obvious_one(text in "\\PC{0,80}|[a-zA-Z_ .İΣςéñЖ漢字ⅧⒶ\u{301}\u{1F130}\n-]{0,120}") {
        let (mut fast, mut slow) = (Canonical::default(), Canonical::default());
        fold(&text, Written::Plain, &mut fast);
        tokens::by_rules(&text, &CanonicalRules::default(), Words::Runs, &mut slow);
        prop_assert_eq!(fast.text(), slow.text());
        prop_assert!(fast.spans().eq(slow.spans()));
    }

    #[test]
    fn every_level_equals_the_obvious_pass(
        text in "\\PC{0,80}|([a-zA-Z_0-9]{0,70}[ .\\\\-]{0,3}){0,30}|[a-zA-Z_ .é漢\n-]{0,300}"
    ) {
        let json = text.replace('\\', "\\\\").replace('\n', "\\n").replace('-', "\\u00e9");
        for (text, written) in [(&text, Written::Plain), (&json, Written::Json)] {
            check_every_level(text, written);
        }
    }

    #[test]
    fn text_in_json_equals_the_text(
        pieces in prop::collection::vec(prop_oneof![
            Just("\\n"), Just("\\\\"), Just("\\\""), Just("\\u00c9"), Just("\\ud83d\\ude00"), Just("\\ud83d"), Just("\\/"),
            Just("n"), Just("word"), Just(" "), Just("É"), Just("u00e9"), Just("a long stretch of plain text, longer than a block of it"),
        ], 0..60)
    ) {
        let raw = pieces.concat();
        let (mut fast, mut slow) = (Canonical::default(), Canonical::default());
        canonicalise_json(&raw, &CanonicalRules::default(), &mut fast);
        canonicalise(&unescape(&raw), &CanonicalRules::default(), &mut slow);
        prop_assert_eq!(fast.text(), slow.text());
    }
}

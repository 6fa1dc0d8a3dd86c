//! The words of all languages in one table, and the names that the trigram library has for languages.

use std::sync::OnceLock;

use whatlang::Lang;

use super::Language;
use crate::canonical::{Canonical, canonicalise};
use crate::config::{CanonicalRules, Words};
use crate::hash::token;

/// The words of each language, with a comment that says which.
const WORDS: &str = include_str!("../../rules/words.txt");
/// Slots; about a third are taken, so that most words of a page meet an empty one at once.
pub(super) const SLOTS: usize = 8192;
/// Longer words are in no list worth a look. Single letters are in many, but in code and formulas too.
const WORD_BYTES: std::ops::RangeInclusive<usize> = 2..=24;

/// Which languages use a word. Apart, so that looking for a word touches little memory.
pub(super) struct Table {
    /// Eight bits of the hash in each slot, and zero for none: little enough to stay in the processor's first cache.
    tags: Vec<u8>,
    /// The hash of the word in each slot; zero for none.
    hashes: Vec<u64>,
    /// The languages that use it, a bit each by number.
    languages: Vec<u64>,
}

/// The table, made once.
pub(super) fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Table { tags: vec![0; SLOTS], hashes: vec![0; SLOTS], languages: vec![0; SLOTS] };
        let (mut canonical, rules) =
            (Canonical::default(), CanonicalRules { words: Words::Runs, ..Default::default() });
        for (language, word) in words() {
            canonicalise(word, &rules, &mut canonical);
            // Vowel signs cut some words to pieces, which are words of other languages.
            if let (Some((start, end)), 1) = (canonical.spans().next(), canonical.token_count()) {
                table.insert(token(canonical.padded(), start, end), language);
            }
        }
        table
    })
}

/// Every word with its language. A line that names none goes on with the line before.
pub(super) fn words() -> impl Iterator<Item = (Language, &'static str)> {
    let mut language = None;
    WORDS.lines().filter(|line| !line.starts_with('#')).flat_map(move |line| {
        let (code, words) = line.split_once(' ').unwrap_or_default();
        language = Language::ALL.iter().copied().find(|language| language.code() == code).or(language);
        let named = language;
        words.split_whitespace().filter_map(move |word| Some((named?, word)))
    })
}

impl Table {
    fn insert(&mut self, hash: u64, language: Language) {
        let slot = self.slot(hash);
        (self.tags[slot], self.hashes[slot]) = (tag(hash), hash);
        self.languages[slot] |= 1 << language.to_u8();
    }

    /// The slot of the word `padded[start..end]`. `None`: no language uses it.
    #[inline]
    pub(super) fn word(&self, padded: &[u8], start: usize, end: usize) -> Option<usize> {
        if !WORD_BYTES.contains(&(end - start)) {
            return None;
        }
        let slot = self.slot(token(padded, start, end));
        (self.tags[slot] != 0).then_some(slot)
    }

    /// The languages that use the word in a slot, a bit each by number.
    pub(super) fn languages(&self, slot: u16) -> u64 {
        self.languages[usize::from(slot)]
    }

    /// The slot that has `hash`, or the empty one where it belongs.
    #[inline]
    fn slot(&self, hash: u64) -> usize {
        let mut slot = hash as usize % SLOTS;
        while self.tags[slot] != 0 && (self.tags[slot] != tag(hash) || self.hashes[slot] != hash) {
            slot = (slot + 1) % SLOTS;
        }
        slot
    }
}

/// Bits of a hash that its slot does not tell.
fn tag(hash: u64) -> u8 {
    (hash >> 56) as u8 | 1
}

/// The languages that trigrams can decide about, under both names. Those that have a script alone are not among them.
pub(super) const TRIGRAMS: &[(Lang, Language)] = &[
    (Lang::Eng, Language::English),
    (Lang::Deu, Language::German),
    (Lang::Fra, Language::French),
    (Lang::Spa, Language::Spanish),
    (Lang::Por, Language::Portuguese),
    (Lang::Ita, Language::Italian),
    (Lang::Nld, Language::Dutch),
    (Lang::Swe, Language::Swedish),
    (Lang::Dan, Language::Danish),
    (Lang::Nob, Language::Norwegian),
    (Lang::Fin, Language::Finnish),
    (Lang::Pol, Language::Polish),
    (Lang::Ces, Language::Czech),
    (Lang::Slk, Language::Slovak),
    (Lang::Hun, Language::Hungarian),
    (Lang::Ron, Language::Romanian),
    (Lang::Hrv, Language::Croatian),
    (Lang::Slv, Language::Slovenian),
    (Lang::Lit, Language::Lithuanian),
    (Lang::Lav, Language::Latvian),
    (Lang::Est, Language::Estonian),
    (Lang::Tur, Language::Turkish),
    (Lang::Aze, Language::Azerbaijani),
    (Lang::Vie, Language::Vietnamese),
    (Lang::Ind, Language::Indonesian),
    (Lang::Tgl, Language::Tagalog),
    (Lang::Cat, Language::Catalan),
    (Lang::Afr, Language::Afrikaans),
    (Lang::Epo, Language::Esperanto),
    (Lang::Lat, Language::Latin),
    (Lang::Uzb, Language::Uzbek),
    (Lang::Rus, Language::Russian),
    (Lang::Ukr, Language::Ukrainian),
    (Lang::Bul, Language::Bulgarian),
    (Lang::Srp, Language::Serbian),
    (Lang::Mkd, Language::Macedonian),
    (Lang::Bel, Language::Belarusian),
    (Lang::Ara, Language::Arabic),
    (Lang::Pes, Language::Persian),
    (Lang::Urd, Language::Urdu),
];

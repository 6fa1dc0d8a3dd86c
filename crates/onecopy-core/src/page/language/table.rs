//! The words of all languages in one table, and the names that the trigram library uses for languages.

use std::collections::HashSet;
use std::sync::OnceLock;

use whatlang::Lang;

use super::Language;
use crate::config::{CanonicalRules, Words};
use crate::hash::token;
use crate::text::canonical::{Canonical, canonicalise};

/// The words of each language. A comment in the file says which words were chosen.
const WORDS: &str = include_str!("../../../rules/words.txt");
/// The most words of the table plus one: number zero stands for no word.
pub(super) const NUMBERS: usize = 4096;
/// How many buckets the table has, and how many words one holds. They are a sixth full on average; a test checks
/// that none overflows.
const BUCKETS: usize = 2048;
const BUCKET: usize = 8;
/// The bits of the filter: one in twelve of the words that are in no list passes.
const FILTER: usize = 1 << 15;
/// Longer words are in no useful list. Single letters are in many, but also in code and formulas.
const WORD_BYTES: std::ops::RangeInclusive<usize> = 2..=24;

/// Which languages use a word. No processor can predict whether a word is in the table, so the lookup has no branch.
/// Words that may be in it are collected first, and each is then compared with a whole bucket.
pub(super) struct WordTable {
    buckets: Vec<Bucket>,
    /// The languages that use the word of each number, one bit each by number.
    languages: Vec<u64>,
    /// A bit for each word, by some bits of its hash. It is small enough for the processor's cache, so that words of
    /// no language, half of all, cost no wait.
    filter: Box<[u64; FILTER / 64]>,
}

/// Some words in one cache line, so that a lookup waits for one.
#[derive(Clone, Default)]
#[repr(align(64))]
struct Bucket {
    /// The upper halves of the words' hashes; zero for none.
    hashes: [u32; BUCKET],
    /// Their numbers, with a zero at the end.
    numbers: [u16; BUCKET + 1],
}

/// The table, made once.
pub(super) fn table() -> &'static WordTable {
    static TABLE: OnceLock<WordTable> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = WordTable {
            buckets: vec![Bucket::default(); BUCKETS],
            languages: vec![0],
            filter: Box::new([0; FILTER / 64]),
        };
        let (mut canonical, rules) =
            (Canonical::default(), CanonicalRules { words: Words::Runs, ..Default::default() });
        for (language, word) in words() {
            canonicalise(word, &rules, &mut canonical);
            // Vowel signs cut some words into pieces, which are words of other languages.
            if let (Some((start, end)), 1) = (canonical.spans().next(), canonical.token_count()) {
                table.insert(token(canonical.padded(), start, end), language);
            }
        }
        table
    })
}

/// Every word with its language. A line without a code continues the line before.
pub(super) fn words() -> impl Iterator<Item = (Language, &'static str)> {
    let mut language = None;
    WORDS.lines().filter(|line| !line.starts_with('#')).flat_map(move |line| {
        let (code, words) = line.split_once(' ').unwrap_or_default();
        language = Language::ALL.iter().copied().find(|language| language.code() == code).or(language);
        let named = language;
        words.split_whitespace().filter_map(move |word| Some((named?, word)))
    })
}

/// Whether a language counts a lower-case word among its frequent short words.
pub(crate) fn is_frequent_word(word: &str) -> bool {
    static ALL: OnceLock<HashSet<&str>> = OnceLock::new();
    ALL.get_or_init(|| words().map(|(_, word)| word).collect()).contains(word)
}

impl WordTable {
    fn insert(&mut self, hash: u64, language: Language) {
        self.filter[filter_bit(hash) / 64] |= 1 << (filter_bit(hash) % 64);
        let (bucket, hash) = (&mut self.buckets[hash as usize % BUCKETS], (hash >> 32) as u32);
        let free = bucket.hashes.iter().position(|&other| other == hash || other == 0);
        let Some(place) = free else { return };
        if bucket.hashes[place] == 0 && self.languages.len() < NUMBERS {
            bucket.hashes[place] = hash;
            bucket.numbers[place] = self.languages.len() as u16;
            self.languages.push(0);
        }
        self.languages[usize::from(bucket.numbers[place])] |= 1 << language.to_u8();
    }

    /// Whether a word with this hash and length may be in the table.
    #[inline]
    pub(super) fn may_have(&self, hash: u64, bytes: usize) -> bool {
        let bit = self.filter[filter_bit(hash) / 64] >> (filter_bit(hash) % 64) & 1 == 1;
        bit & WORD_BYTES.contains(&bytes)
    }

    /// The number of the word with a hash. Zero: no language uses it.
    #[inline]
    pub(super) fn find(&self, hash: u64) -> u16 {
        let (bucket, hash) = (&self.buckets[hash as usize % BUCKETS], (hash >> 32) as u32);
        // A bit for each place, and one after them that is always set.
        let mut places = 1 << BUCKET;
        for (place, &other) in bucket.hashes.iter().enumerate() {
            places |= u32::from(other == hash) << place;
        }
        bucket.numbers[places.trailing_zeros() as usize]
    }

    /// The languages that use the word of a number, one bit each by number.
    pub(super) fn languages(&self, word: u16) -> u64 {
        self.languages[usize::from(word)]
    }
}

/// The place of a hash in the filter. It uses other bits than the choice of the bucket.
fn filter_bit(hash: u64) -> usize {
    (hash >> 17) as usize % FILTER
}

/// The languages that trigrams can decide between, under both names. Languages with a script of their own are left
/// out.
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

//! The language of a page, as one of about seventy.
//!
//! Every page is classified, so this may cost about as much as hashing a line. The script decides for most of the
//! world's languages. If many languages share a script, words are looked up among the frequent short words of each.
//! A glance takes a few words, a sample more if these leave a doubt, and a larger sample if it has too few known
//! words. Trigrams are counted only for short or mixed pages, which takes many times as long. The language is a
//! signal, never proof of anything.

mod glance;
mod table;

use std::ops::{Range, RangeInclusive};

use crate::hash;
use crate::text::canonical::Canonical;
pub(crate) use table::is_frequent_word;
use table::{NUMBERS, WordTable, table};

macro_rules! languages {
    ($($name:ident = $number:literal $code:literal $english:literal,)*) => {
        /// A language. The numbers are stored and never change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Language {
            $(#[doc = $english] $name = $number,)*
        }

        impl Language {
            /// The code of ISO 639-1.
            pub fn code(self) -> &'static str {
                match self { $(Language::$name => $code,)* }
            }

            /// The language of a number that [`Language::to_u8`] returned.
            pub fn from_u8(number: u8) -> Option<Language> {
                match number { $($number => Some(Language::$name),)* _ => None }
            }

            /// Every language, by number.
            pub const ALL: &[Language] = &[$(Language::$name,)*];
        }
    };
}

languages! {
    English = 1 "en" "English.", German = 2 "de" "German.", French = 3 "fr" "French.", Spanish = 4 "es" "Spanish.",
    Portuguese = 5 "pt" "Portuguese.", Italian = 6 "it" "Italian.", Dutch = 7 "nl" "Dutch.",
    Swedish = 8 "sv" "Swedish.", Danish = 9 "da" "Danish.", Norwegian = 10 "no" "Norwegian, both forms.",
    Finnish = 11 "fi" "Finnish.", Icelandic = 12 "is" "Icelandic.", Polish = 13 "pl" "Polish.",
    Czech = 14 "cs" "Czech.", Slovak = 15 "sk" "Slovak.", Hungarian = 16 "hu" "Hungarian.",
    Romanian = 17 "ro" "Romanian.", Croatian = 18 "hr" "Croatian, and its neighbours in Latin script.",
    Slovenian = 19 "sl" "Slovenian.", Albanian = 20 "sq" "Albanian.", Lithuanian = 21 "lt" "Lithuanian.",
    Latvian = 22 "lv" "Latvian.", Estonian = 23 "et" "Estonian.", Turkish = 24 "tr" "Turkish.",
    Azerbaijani = 25 "az" "Azerbaijani.", Vietnamese = 26 "vi" "Vietnamese.", Indonesian = 27 "id" "Indonesian.",
    Malay = 28 "ms" "Malay.", Tagalog = 29 "tl" "Tagalog.", Catalan = 30 "ca" "Catalan.",
    Galician = 31 "gl" "Galician.", Basque = 32 "eu" "Basque.", Welsh = 33 "cy" "Welsh.", Irish = 34 "ga" "Irish.",
    Maltese = 35 "mt" "Maltese.", Swahili = 36 "sw" "Swahili.", Afrikaans = 37 "af" "Afrikaans.",
    Esperanto = 38 "eo" "Esperanto.", Latin = 39 "la" "Latin.", Uzbek = 40 "uz" "Uzbek.",
    Russian = 41 "ru" "Russian.", Ukrainian = 42 "uk" "Ukrainian.", Bulgarian = 43 "bg" "Bulgarian.",
    Serbian = 44 "sr" "Serbian in Cyrillic script.", Macedonian = 45 "mk" "Macedonian.",
    Belarusian = 46 "be" "Belarusian.", Kazakh = 47 "kk" "Kazakh.", Mongolian = 48 "mn" "Mongolian.",
    Arabic = 49 "ar" "Arabic.", Persian = 50 "fa" "Persian.", Urdu = 51 "ur" "Urdu.", Pashto = 52 "ps" "Pashto.",
    Hindi = 53 "hi" "Hindi.", Marathi = 54 "mr" "Marathi.", Nepali = 55 "ne" "Nepali.",
    Chinese = 56 "zh" "Chinese.", Japanese = 57 "ja" "Japanese.", Korean = 58 "ko" "Korean.",
    Greek = 59 "el" "Greek.", Hebrew = 60 "he" "Hebrew.", Thai = 61 "th" "Thai.", Lao = 62 "lo" "Lao.",
    Khmer = 63 "km" "Khmer.", Burmese = 64 "my" "Burmese.", Georgian = 65 "ka" "Georgian.",
    Armenian = 66 "hy" "Armenian.", Tamil = 67 "ta" "Tamil.", Telugu = 68 "te" "Telugu.",
    Kannada = 69 "kn" "Kannada.", Malayalam = 70 "ml" "Malayalam.", Gujarati = 71 "gu" "Gujarati.",
    Punjabi = 72 "pa" "Punjabi in Gurmukhi script.", Bengali = 73 "bn" "Bengali.", Odia = 74 "or" "Odia.",
    Sinhala = 75 "si" "Sinhala.", Amharic = 76 "am" "Amharic.", Tibetan = 77 "bo" "Tibetan.",
}

impl Language {
    /// Its number, which never changes and is never zero.
    pub fn to_u8(self) -> u8 {
        self as u8
    }
}

/// How many places of a page words are taken from. Menus at the front often are in another language than the text.
const WINDOWS: usize = 3;
/// How many places are used if those say too little: pages of code and names have few known words, but some.
const MORE_WINDOWS: usize = 15;
/// How many words are taken from each place.
const WINDOW_TOKENS: usize = 40;
/// How many bytes of a word are read: a clause of Chinese is one word.
const TOKEN_BYTES: usize = 48;
/// A script other than Latin decides if it has at least one in this many bytes. Names, code and brands are in Latin
/// script everywhere, while pages in Latin script rarely quote others at length.
const FOREIGN_SHARE: u32 = 5;
/// Kana decide for Japanese if they are at least one in this many bytes: no Japanese sentence is without them.
const KANA_SHARE: u32 = 20;

/// How many words of a language decide, and how clearly it must lead, in percent of the next.
const WORDS_NEEDED: u32 = 3;
const LEAD_PERCENT: u32 = 115;
/// How often one word counts: a repeated name, such as `numpy.ma`, is not French text.
const REPETITIONS: u8 = 2;
/// How many languages trigrams decide between in doubt.
const CANDIDATES: usize = 5;
/// How many bytes are read for trigrams in doubt.
const TRIGRAM_BYTES: usize = 512;

/// The language of a page. `None`: there is too little text, or too much doubt.
pub fn language(canonical: &Canonical) -> Option<Language> {
    glance::glance(canonical).or_else(|| closely(canonical))
}

/// The language by a sample, in any script.
fn closely(canonical: &Canonical) -> Option<Language> {
    let sample = Sample::of(canonical, WINDOWS);
    let script = sample.script()?;
    match script {
        Language::English => sample.decide(canonical, 1..=40),
        Language::Russian => sample.decide(canonical, 41..=48),
        Language::Arabic => sample.decide(canonical, 49..=52),
        // Without their vowel signs, many words of the three are the same, and trigrams do not help.
        Language::Hindi => sample.best(53..=55, 1),
        Language::Chinese if sample.is_japanese() => Some(Language::Japanese),
        language => Some(language),
    }
}

/// The result of a sample of words.
struct Sample {
    /// Bytes of words in each script, by the number of the language that stands for it.
    scripts: [u32; 128],
    /// Bytes of kana, which are also counted as Chinese characters.
    kana: u32,
    /// The votes of the words for each language, by number.
    votes: [u32; 64],
    /// How often each word of the table was met, up to the limit. Word zero, which is none, starts at the limit.
    met: [u8; NUMBERS],
    /// The first `count` values are the words of the table that were met.
    words: [u16; MORE_WINDOWS * WINDOW_TOKENS + 1],
    count: usize,
}

impl Sample {
    /// A sample of words from `windows` places of a page; all words of a shorter page.
    fn of(canonical: &Canonical, windows: usize) -> Sample {
        let words = [0; MORE_WINDOWS * WINDOW_TOKENS + 1];
        let mut sample =
            Sample { scripts: [0; 128], kana: 0, votes: [0; 64], met: [0; NUMBERS], words, count: 0 };
        sample.met[0] = REPETITIONS;
        let (table, count) = (table(), canonical.token_count());
        if count <= windows * WINDOW_TOKENS {
            for start in (0..count).step_by(WINDOW_TOKENS) {
                sample.take(canonical, start..start + WINDOW_TOKENS, table);
            }
        } else {
            for window in 0..windows {
                let start = (2 * window + 1) * count / (2 * windows) - WINDOW_TOKENS / 2;
                sample.take(canonical, start..start + WINDOW_TOKENS, table);
            }
        }
        sample.vote(table);
        sample
    }

    /// Takes at most one window.
    fn take(&mut self, canonical: &Canonical, tokens: Range<usize>, table: &WordTable) {
        let bytes = canonical.padded();
        let (mut hashes, mut words) = ([0; WINDOW_TOKENS + 1], 0);
        for (start, end) in canonical.spans_of(tokens) {
            let token = &bytes[start..end];
            let Some(script) = script_of_token(token) else { continue };
            self.scripts[usize::from(script.to_u8())] += token.len().min(TOKEN_BYTES) as u32;
            if script == Language::Chinese {
                self.kana += kana_bytes(&token[..token.len().min(TOKEN_BYTES)]);
            }
            let hash = hash::token(bytes, start, end);
            hashes[words] = hash;
            words += usize::from(table.may_have(hash, end - start));
        }
        for &hash in &hashes[..words] {
            let word = table.find(hash);
            let met = &mut self.met[usize::from(word)];
            self.words[self.count] = word;
            self.count += usize::from(*met == 0);
            *met = (*met + 1).min(REPETITIONS);
        }
    }

    /// Distributes the votes of the words that were met. It runs at the end, because a word is met many times.
    fn vote(&mut self, table: &WordTable) {
        for &word in &self.words[..self.count] {
            let mut languages = table.languages(word);
            let vote = u32::from(self.met[usize::from(word)]) * (WORD_VOTE / languages.count_ones());
            while languages != 0 {
                self.votes[languages.trailing_zeros() as usize] += vote;
                languages &= languages - 1;
            }
        }
    }

    /// The language that stands for the script of the page.
    fn script(&self) -> Option<Language> {
        let total: u32 = self.scripts.iter().sum();
        let latin = usize::from(Language::English.to_u8());
        let others = self.scripts.iter().enumerate().filter(|&(script, _)| script != latin);
        // Among equal scripts the smaller number wins, so that the answer does not depend on chance.
        let (other, bytes) = others.rev().max_by_key(|&(_, bytes)| bytes)?;
        let script = if bytes * FOREIGN_SHARE >= total && *bytes > 0 { other } else { latin };
        (total > 0).then(|| Language::from_u8(script as u8))?
    }

    fn is_japanese(&self) -> bool {
        self.kana * KANA_SHARE >= self.scripts[usize::from(Language::Chinese.to_u8())]
    }

    /// The language with the most words. In doubt it takes a larger sample if the page has more words. Otherwise
    /// trigrams decide among the languages that words vote for.
    fn decide(&self, canonical: &Canonical, languages: RangeInclusive<u8>) -> Option<Language> {
        if let Some(language) = self.best(languages.clone(), WORDS_NEEDED) {
            return Some(language);
        }
        let votes = |language: &Language| self.votes[usize::from(language.to_u8())];
        let mut candidates: Vec<Language> = languages.clone().filter_map(Language::from_u8).collect();
        candidates.sort_by_key(|language| std::cmp::Reverse(votes(language)));
        candidates.truncate(CANDIDATES);
        let most = votes(candidates.first()?);
        if most < WORD_VOTE {
            return None;
        }
        // A few more words are better evidence than trigrams, and cost less.
        if most < WORDS_NEEDED * WORD_VOTE && canonical.token_count() > WINDOWS * WINDOW_TOKENS {
            return Sample::of(canonical, MORE_WINDOWS).best(languages, WORDS_NEEDED);
        }
        // At least two: trigrams with only one choice say nothing.
        let close = candidates.iter().take_while(|language| 2 * votes(language) >= most).count().max(2);
        candidates.truncate(close);
        by_trigrams(canonical, &candidates)
    }

    /// The language with the most words, if it leads clearly.
    fn best(&self, languages: RangeInclusive<u8>, words_needed: u32) -> Option<Language> {
        let (mut first, mut second, mut best) = (0, 0, 0);
        for language in languages {
            let votes = self.votes[usize::from(language)];
            if votes > first {
                (second, first, best) = (first, votes, language);
            } else {
                second = second.max(votes);
            }
        }
        let clear = first >= words_needed * WORD_VOTE && first * 100 >= second * LEAD_PERCENT;
        clear.then(|| Language::from_u8(best))?
    }
}

/// The votes of a word of one language. A word of several languages divides them.
const WORD_VOTE: u32 = 60;

/// The language that stands for the script of a token, by its first character. `None`: a number, or a rare script.
fn script_of_token(token: &[u8]) -> Option<Language> {
    match token.first()? {
        b'a'..=b'z' | b'A'..=b'Z' => Some(Language::English),
        0..=0x7f => None,
        _ => script_of(first_char(token)?),
    }
}

fn first_char(bytes: &[u8]) -> Option<char> {
    let length = match bytes.first()? {
        0..=0x7f => 1,
        0x80..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    };
    std::str::from_utf8(bytes.get(..length)?).ok()?.chars().next()
}

fn script_of(c: char) -> Option<Language> {
    Some(match c {
        '\u{aa}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | '\u{2c60}'..='\u{2c7f}' => Language::English,
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Language::Greek,
        '\u{400}'..='\u{52f}' => Language::Russian,
        '\u{531}'..='\u{58f}' => Language::Armenian,
        '\u{590}'..='\u{5ff}' => Language::Hebrew,
        '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}' | '\u{fb50}'..='\u{fefc}' => Language::Arabic,
        '\u{900}'..='\u{97f}' => Language::Hindi,
        '\u{980}'..='\u{9ff}' => Language::Bengali,
        '\u{a00}'..='\u{a7f}' => Language::Punjabi,
        '\u{a80}'..='\u{aff}' => Language::Gujarati,
        '\u{b00}'..='\u{b7f}' => Language::Odia,
        '\u{b80}'..='\u{bff}' => Language::Tamil,
        '\u{c00}'..='\u{c7f}' => Language::Telugu,
        '\u{c80}'..='\u{cff}' => Language::Kannada,
        '\u{d00}'..='\u{d7f}' => Language::Malayalam,
        '\u{d80}'..='\u{dff}' => Language::Sinhala,
        '\u{e00}'..='\u{e7f}' => Language::Thai,
        '\u{e80}'..='\u{eff}' => Language::Lao,
        '\u{f00}'..='\u{fff}' => Language::Tibetan,
        '\u{1000}'..='\u{109f}' => Language::Burmese,
        '\u{10a0}'..='\u{10ff}' | '\u{1c90}'..='\u{1cbf}' => Language::Georgian,
        '\u{1200}'..='\u{139f}' => Language::Amharic,
        '\u{1780}'..='\u{17ff}' => Language::Khmer,
        '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7af}' => Language::Korean,
        '\u{3005}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9d}' => Language::Chinese,
        '\u{20000}'..='\u{3ffff}' => Language::Chinese,
        _ => return None,
    })
}

/// Bytes of Hiragana and Katakana, which all are `e3 81` to `e3 83` and a third byte.
fn kana_bytes(token: &[u8]) -> u32 {
    let kana = |triple: &&[u8]| triple[0] == 0xe3 && (0x81..=0x83).contains(&triple[1]);
    3 * token.windows(2).filter(kana).count() as u32
}

/// The one of `languages` that trigrams from the middle of the page indicate, if they are sure. A choice among few
/// is many times as fast as one among all.
fn by_trigrams(canonical: &Canonical, languages: &[Language]) -> Option<Language> {
    let named = table::TRIGRAMS.iter().filter(|(_, language)| languages.contains(language));
    let candidates: Vec<whatlang::Lang> = named.map(|&(lang, _)| lang).collect();
    let bytes = canonical.as_bytes();
    let middle = bytes.len().saturating_sub(TRIGRAM_BYTES) / 2;
    let text = String::from_utf8_lossy(&bytes[middle..(middle + TRIGRAM_BYTES).min(bytes.len())]);
    let detector = whatlang::Detector::with_allowlist(candidates);
    let found = detector.detect(&text).filter(whatlang::Info::is_reliable)?;
    table::TRIGRAMS.iter().find(|(lang, _)| *lang == found.lang()).map(|&(_, language)| language)
}

#[cfg(test)]
mod tests;

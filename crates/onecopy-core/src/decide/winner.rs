//! Which of two duplicates is kept.
//!
//! The rules become one byte string per page, whose order is the order of preference: smaller is better. It ends
//! with the page's name and a hash of its record. It never contains the page's place in the input, so that the order
//! of the input changes nothing.

use url::Url;

use crate::config::WinnerRule;
use crate::page::Signals;
use crate::page::address::host;

/// The facts that the rules look at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Contender<'a> {
    /// The page's name in every output.
    pub name: &'a str,
    /// The signals of the page.
    pub signals: Signals<'a>,
    /// The length of the canonical text in bytes.
    pub length: usize,
    /// A hash of the record, to order pages with the same name.
    pub digest: u64,
}

/// Appends the page's place in the order of preference. The page with the smaller bytes is kept.
pub fn rank(page: &Contender, rules: &[WinnerRule], out: &mut Vec<u8>) {
    for &rule in rules {
        out.extend_from_slice(&place(page, rule).to_be_bytes());
    }
    out.extend_from_slice(page.name.as_bytes());
    out.push(0);
    out.extend_from_slice(&page.digest.to_be_bytes());
}

/// Whether the address is on a host of `market`: `uk` has all hosts that end in `.uk`, `gov.uk` some of them.
pub fn in_market(url: &str, market: &str) -> bool {
    let Some(host) = host(url) else { return false };
    let market = market.strip_prefix('.').unwrap_or(market);
    if host.is_ascii() && market.is_ascii() {
        return ends_in(host, market);
    }
    let ascii = |host: &str| Some(Url::parse(&format!("http://{host}/")).ok()?.host_str()?.to_owned());
    ascii(host).zip(ascii(market)).is_some_and(|(host, market)| ends_in(&host, &market))
}

/// Whether the last labels of `host` are those of `suffix`.
fn ends_in(host: &str, suffix: &str) -> bool {
    let host = host.trim_end_matches('.').as_bytes();
    let Some(start) = host.len().checked_sub(suffix.len()) else { return false };
    let whole_labels = start == 0 || host[start - 1] == b'.';
    whole_labels && !suffix.is_empty() && host[start..].eq_ignore_ascii_case(suffix.as_bytes())
}

/// A page's place by one rule: smaller is better, and the largest value means that nothing is known.
fn place(page: &Contender, rule: WinnerRule) -> u64 {
    let signals = &page.signals;
    let known = match rule {
        WinnerRule::Popularity => signals.popularity.map(|value| !ordered(value)),
        WinnerRule::Static => signals.url.map(|url| u64::from(url.contains('?'))),
        WinnerRule::ShortUrl => signals.url.map(|url| url.len() as u64),
        WinnerRule::Older => signals.time.map(|time| time as u64 ^ SIGN),
        WinnerRule::Newer => signals.time.map(|time| !(time as u64 ^ SIGN)),
        WinnerRule::Longer => Some(!(page.length as u64)),
    };
    known.unwrap_or(u64::MAX)
}

const SIGN: u64 = 1 << 63;

/// Bits that sort like the numbers. Not-a-number sorts first, as the least popular.
fn ordered(value: f64) -> u64 {
    let bits = value.to_bits();
    if value.is_nan() {
        0
    } else if value.is_sign_negative() {
        !bits
    } else {
        bits | SIGN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn ranked(name: &str, signals: Signals, length: usize, rules: &[WinnerRule]) -> Vec<u8> {
        let mut out = Vec::new();
        let page = Contender { name, signals, length, ..Contender::default() };
        rank(&page, rules, &mut out);
        out
    }

    fn beats(rule: WinnerRule, better: Signals, worse: Signals) {
        assert!(ranked("b", better, 1, &[rule]) < ranked("a", worse, 1, &[rule]), "{rule:?}");
    }

    #[test]
    fn each_rule_prefers_what_it_says() {
        let none = Signals::default();
        let url = |url| Signals { url: Some(url), ..none };
        let time = |time| Signals { time: Some(time), ..none };
        let popular = |value| Signals { popularity: Some(value), ..none };
        beats(WinnerRule::Static, url("http://a.example/x/y"), url("http://a.example/?p=1"));
        beats(WinnerRule::ShortUrl, url("http://a.example/"), url("http://a.example/b"));
        beats(WinnerRule::Older, time(-5), time(3));
        beats(WinnerRule::Newer, time(3), time(-5));
        for (more, less) in [(2.0, 1.0), (0.5, -1.0), (-1.0, -2.0), (1e300, 1.0), (0.0, f64::NAN)] {
            beats(WinnerRule::Popularity, popular(more), popular(less));
        }
        beats(WinnerRule::Older, time(9), none);
        beats(WinnerRule::Popularity, popular(-1e300), none);
        assert!(ranked("b", none, 2, &[WinnerRule::Longer]) < ranked("a", none, 1, &[WinnerRule::Longer]));
    }

    #[test]
    fn rules_count_in_their_order_and_names_break_ties() {
        let both = Signals { popularity: Some(1.0), time: Some(2), ..Default::default() };
        let old = Signals { popularity: Some(0.5), time: Some(1), ..Default::default() };
        let rules = [WinnerRule::Older, WinnerRule::Popularity];
        assert!(ranked("z", old, 1, &rules) < ranked("a", both, 1, &rules));
        assert!(ranked("a", old, 1, &rules) < ranked("b", old, 1, &rules));
        assert!(ranked("a", old, 1, &rules) < ranked("a!", old, 1, &rules));
    }

    #[test]
    fn the_bytes_are_frozen() {
        let signals = Signals { url: Some("http://a.example/?x"), time: Some(5), popularity: Some(1.5) };
        let page = Contender { name: "p", signals, length: 3, digest: 0x0102 };
        let mut out = Vec::new();
        rank(&page, &Config::default().winner, &mut out);
        let places = [0x4007_ffff_ffff_ffff_u64, 1, 19, 0x8000_0000_0000_0005, !3];
        let mut expected: Vec<u8> = places.iter().flat_map(|place| place.to_be_bytes()).collect();
        expected.extend_from_slice(b"p\0\0\0\0\0\0\0\x01\x02");
        assert_eq!(out, expected);
    }

    #[test]
    fn a_market_is_the_end_of_a_host() {
        for (url, market) in [
            ("http://shop.co.uk/", "uk"),
            ("https://u@www.GOV.uk.:8080/a", "gov.UK"),
            ("http://gov.uk", "gov.uk"),
            ("http://shop.de?x", ".de"),
            ("http://пример.рф/", "рф"),
            ("http://xn--e1afmkfd.xn--p1ai/", "рф"),
        ] {
            assert!(in_market(url, market), "{url} {market}");
        }
        for (url, market) in [
            ("http://shop.com/uk/", "uk"),
            ("http://uk.shop.com/", "uk"),
            ("http://shop.fuk/", "uk"),
            ("http://shop.co.uk/", "gov.uk"),
            ("http://shop.de/.uk", "uk"),
            ("ftp://shop.uk/", "uk"),
            ("shop.uk", "uk"),
            ("http://shop.de/", ""),
        ] {
            assert!(!in_market(url, market), "{url} {market}");
        }
    }
}

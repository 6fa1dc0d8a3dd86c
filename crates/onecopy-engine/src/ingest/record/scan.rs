//! Finds the fields of a record quickly.
//!
//! Nearly all records are flat objects of strings and numbers, and most of their bytes are one long string. This
//! scanner only looks for the end of each string, many bytes at a time. It leaves anything unusual, invalid or nested
//! to the general parser, which also reports errors. Every record it accepts, the general parser would accept with the
//! same result.

mod wide;

use onecopy_core::escaped;
use onecopy_core::simd::{level, mask};

/// Calls `each` with the raw name and value of every field of a JSON object. Returns false if it could not read all of
/// the object; the caller must then discard the calls so far.
pub(super) fn fields<'a>(text: &'a str, mut each: impl FnMut(&'a str, &'a str)) -> bool {
    object(text, &mut each).is_some()
}

fn object<'a>(text: &'a str, each: &mut impl FnMut(&'a str, &'a str)) -> Option<()> {
    let mut rest = text.trim_start_matches(' ').strip_prefix('{')?;
    loop {
        let (name, behind) = cut(rest.trim_start_matches(' '), string)?;
        let value = behind.trim_start_matches(' ').strip_prefix(':')?.trim_start_matches(' ');
        let (value, behind) = cut(value, scalar)?;
        let name = name.get(1..name.len() - 1).filter(|name| !name.contains('\\'))?;
        each(name, value);
        let behind = behind.trim_start_matches(' ');
        match behind.strip_prefix(',') {
            Some(next) => rest = next,
            None => return (behind.strip_prefix('}')?.trim_start_matches(' ').is_empty()).then_some(()),
        }
    }
}

/// Splits a text at the position that `length` returns.
fn cut(text: &str, length: impl Fn(&[u8]) -> Option<usize>) -> Option<(&str, &str)> {
    text.split_at_checked(length(text.as_bytes())?)
}

/// The length of the leading string, integer or literal.
fn scalar(bytes: &[u8]) -> Option<usize> {
    match bytes.first()? {
        b'"' => string(bytes),
        b'0'..=b'9' => number(bytes),
        b'-' => Some(1 + number(&bytes[1..])?),
        _ => [&b"true"[..], b"false", b"null"]
            .iter()
            .find(|word| bytes.starts_with(word))
            .map(|word| word.len()),
    }
}

/// The length of the leading integer. It must not have a redundant leading zero.
fn number(bytes: &[u8]) -> Option<usize> {
    let length = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let behind = bytes.get(length);
    let whole = !matches!(behind, Some(b'.' | b'e' | b'E')) && (length == 1 || bytes.first() != Some(&b'0'));
    (length > 0 && whole).then_some(length)
}

/// The length of the leading string, with its quotes. `None` if it contains a control character, which JSON forbids.
fn string(bytes: &[u8]) -> Option<usize> {
    let inside = bytes.strip_prefix(b"\"")?;
    Some(wide::inside(level(), inside)? + 2)
}

/// How many bytes are checked together.
const BLOCK: usize = 64;

/// The classes of the bytes of a block, one bit per byte.
#[derive(Default)]
struct Masks {
    quotes: u64,
    backslashes: u64,
    controls: u64,
    /// The letter `n`, which after a backslash makes a line end. Most escapes are `\n` or `\"`.
    line_ends: u64,
}

/// The number of bytes before the closing quote of a string. `masks` computes the masks of a block.
#[inline(always)]
fn inside_by(bytes: &[u8], masks: impl Fn(&[u8; BLOCK]) -> Masks) -> Option<usize> {
    let (blocks, rest) = bytes.as_chunks();
    let mut last = [b' '; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    // Whether the first byte of the block is the second byte of an escape.
    let mut first = false;
    for (at, block) in (0..).step_by(BLOCK).zip(blocks.iter().chain([&last])) {
        let Masks { quotes, backslashes, controls, line_ends } = masks(block);
        let mut letters = 0;
        if first || backslashes != 0 {
            (letters, first) = escaped(backslashes, first);
        }
        let ends = quotes & !letters;
        let before = ends.wrapping_sub(1) & !ends;
        let rare = letters & before & !(line_ends | quotes | backslashes);
        if controls & before != 0 || !valid(rare, &bytes[at..]) {
            return None;
        }
        if ends != 0 {
            return Some(at + ends.trailing_zeros() as usize);
        }
    }
    None
}

/// The masks of a block, without SIMD. Most blocks contain none of these bytes.
fn masks(block: &[u8; BLOCK]) -> Masks {
    let marks = |byte: u8| byte == b'"' || byte == b'\\' || byte < b' ';
    if !block.iter().fold(false, |any, &byte| any | marks(byte)) {
        return Masks::default();
    }
    Masks {
        quotes: mask(block, |byte| byte == b'"'),
        backslashes: mask(block, |byte| byte == b'\\'),
        controls: mask(block, |byte| byte < b' '),
        line_ends: mask(block, |byte| byte == b'n'),
    }
}

/// Whether all `letters` of the block at the front of `bytes` form valid escapes with their backslashes.
#[inline]
fn valid(mut letters: u64, bytes: &[u8]) -> bool {
    while letters != 0 {
        if escape(&bytes[letters.trailing_zeros() as usize..]).is_none() {
            return false;
        }
        letters &= letters - 1;
    }
    true
}

/// The length of an escape, with its backslash; `bytes` start after the backslash. `None` if it is invalid.
#[inline]
fn escape(bytes: &[u8]) -> Option<usize> {
    match bytes.first()? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' if bytes.get(1..5)?.iter().all(u8::is_ascii_hexdigit) => Some(6),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use onecopy_core::simd::Level;
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    /// The fields found, if the whole text was read.
    fn found(text: &str) -> Option<BTreeMap<String, String>> {
        let mut found = BTreeMap::new();
        fields(text, |name, value| drop(found.insert(name.to_owned(), value.to_owned()))).then_some(found)
    }

    #[test]
    fn usual_records_are_read() {
        let text = r#" {"id" : "a\"b\\", "text":"\u00e9\n{}é", "n":-12,"z":0 ,"t":true,"f":false,"x":null} "#;
        let found = found(text).unwrap();
        assert_eq!((found.len(), found["id"].as_str()), (7, r#""a\"b\\""#));
        assert_eq!((found["text"].as_str(), found["n"].as_str()), (r#""\u00e9\n{}é""#, "-12"));
    }

    #[test]
    fn what_is_strange_is_left_to_the_parser() {
        for text in [
            "",
            "{}",
            "{",
            r#"{"a":1"#,
            r#"{"a":1}}"#,
            r#"{"a":1,}"#,
            r#"{"a":01}"#,
            r#"{"a":1.5}"#,
            r#"{"a":-}"#,
            r#"{"a":[]}"#,
            r#"{"a":{}}"#,
            r#"{"a":"\x"}"#,
            r#"{"a":"\u12g4"}"#,
            r#"{"a":"\"#,
            "{\"a\":\"\t\"}",
            r#"{"\u0061":1}"#,
            r#"{a:1}"#,
            r#"{"a" 1}"#,
            r#"{"a":nul}"#,
            r#"{"a":nulls}"#,
            r#"["a"]"#,
            r#"{"a":"b"#,
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    /// The reference implementation: byte by byte.
    fn one_by_one(bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            match bytes.get(at)? {
                b'"' => return Some(at),
                b'\\' => at += escape(&bytes[at + 1..])?,
                0..b' ' => return None,
                _ => at += 1,
            }
        }
    }

    /// Levels that this machine lacks are reported by the tests of `onecopy_core::simd`.
    fn check_every_level(text: &str) {
        for level in Level::all() {
            let found = wide::inside(level, text.as_bytes());
            assert_eq!(found, one_by_one(text.as_bytes()), "{level:?}: {text}");
        }
    }

    #[test]
    fn strings_end_where_they_end_wherever_that_is() {
        for before in 0..140 {
            for end in [
                "\"",
                "\\\"\"",
                "\\\\\"",
                "\\\\\\\"\"",
                "\\u00e9\"",
                "\\u00e\"",
                "\\x\"",
                "\n\"",
                "\u{7f}\"",
                "é\"",
                "\\",
                "",
            ] {
                for behind in [0, 1, 70] {
                    let text = format!("{}{end}{}", "a".repeat(before), "\"".repeat(behind));
                    check_every_level(&text);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn many_bytes_at_once_end_where_one_by_one_do(
            pieces in prop::collection::vec(
                prop::sample::select(vec!["\\", "\\\\", "\\\"", "\\n", "\\u00e9", "aaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaa", "é", "\""]),
                0..60,
            )
        ) {
            check_every_level(&pieces.concat());
        }

        #[test]
        fn what_is_read_is_what_the_parser_reads(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "{", "}", "\"", "\"", "\\", "\\n", "\\u00e9", ",", ":", " ", "a", "\"a\"", "\"b\":", "1", "-", "0", "true",
                    "null", "[", "]", "é", "\t", "\"c\":2,",
                ]),
                0..12,
            )
        ) {
            for text in [pieces.concat(), format!("{{\"x\":{}}}", pieces.concat())] {
                if let Some(found) = found(&text) {
                    let parsed: BTreeMap<String, &RawValue> = serde_json::from_str(&text).unwrap();
                    let parsed: BTreeMap<String, String> =
                        parsed.into_iter().map(|(name, raw)| (name, raw.get().to_owned())).collect();
                    prop_assert_eq!(found, parsed);
                }
            }
        }
    }
}

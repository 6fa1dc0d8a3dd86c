//! The escapes of JSON strings.

/// The character that an escape stands for, and the length of the escape. `bytes` begin with a backslash. An
/// unpaired surrogate becomes a replacement character, and so does an invalid escape.
pub(super) fn unescape_one(bytes: &[u8]) -> (char, usize) {
    let simple = |c| (c, 2);
    match bytes.get(1) {
        Some(b'n') => simple('\n'),
        Some(b't') => simple('\t'),
        Some(b'r') => simple('\r'),
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(&c @ (b'"' | b'\\' | b'/')) => simple(c as char),
        Some(b'u') => unicode(bytes),
        _ => (char::REPLACEMENT_CHARACTER, 1),
    }
}

fn unicode(bytes: &[u8]) -> (char, usize) {
    let Some(first) = unit(bytes) else { return (char::REPLACEMENT_CHARACTER, 2) };
    let second = bytes.get(6..).filter(|rest| rest.starts_with(b"\\u")).and_then(unit);
    if let (0xd800..=0xdbff, Some(low @ 0xdc00..=0xdfff)) = (first, second) {
        let code = 0x1_0000 + ((first - 0xd800) << 10) + (low - 0xdc00);
        return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6)
}

/// The number after `\u`.
fn unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.get(2..6)?;
    digits.iter().try_fold(0, |number, &digit| Some(number << 4 | (digit as char).to_digit(16)?))
}

/// Which characters of a block belong to the backslash before them, one bit each, and whether the first one after
/// the block does. `first` says whether the first character belongs to a backslash of the block before.
#[inline]
pub fn escaped(backslashes: u64, first: bool) -> (u64, bool) {
    let first = u64::from(first);
    let mut open = backslashes & !first;
    let mut behind = open << 1;
    // Adjacent backslashes are rare: the second of two belongs to the first, and begins no escape.
    let mut doubled = open & behind;
    while doubled != 0 {
        open &= !(doubled & doubled.wrapping_neg());
        behind = open << 1;
        doubled = open & behind;
    }
    (behind | first, open >> 63 == 1)
}

/// The text that the inside of a JSON string stands for.
pub fn unescape(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let (c, length) = unescape_one(&rest.as_bytes()[at..]);
        out.push(c);
        rest = &rest[at + length..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::{escaped, unescape};

    #[test]
    fn escapes_mean_what_json_says() {
        assert_eq!(unescape(r#"a\n\"b\\\/\u00e9\ud83d\ude00"#), "a\n\"b\\/é😀");
        assert_eq!(unescape(r"\ud83d \ude00x \u12"), "\u{fffd} \u{fffd}x \u{fffd}12");
        assert_eq!(unescape("plain"), "plain");
    }

    #[test]
    fn every_second_backslash_of_a_run_is_escaped() {
        for seed in 0..2_000u64 {
            let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            for (backslashes, first) in
                [(mixed, seed % 2 == 0), (mixed | mixed >> 7, false), (!0 << (seed % 64), true)]
            {
                let (mut expected, mut open) = (0, first);
                for place in 0..64 {
                    expected |= u64::from(open) << place;
                    open = !open && backslashes >> place & 1 == 1;
                }
                assert_eq!(escaped(backslashes, first), (expected, open), "{backslashes:b}");
            }
        }
    }
}

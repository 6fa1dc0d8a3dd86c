//! Character references: `&amp;`, `&eacute`, `&#8217;` → characters.

mod table;

use table::{WITH_SEMICOLON, WITHOUT_SEMICOLON};

/// The longest name in the tables, in bytes.
const NAME_LIMIT: usize = 24;

/// The characters that browsers read for the numbers 0x80 to 0x9f: pages that use them mean windows-1252.
const WINDOWS_1252: [u16; 32] = [
    0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0x8d,
    0x17d, 0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a,
    0x153, 0x9d, 0x17e, 0x178,
];

/// The character of the reference that `text` begins with, and the length of the reference in bytes. `text` begins
/// with `&`. `None` if it is not a reference: then the `&` stands for itself.
pub fn decode(text: &[u8]) -> Option<(char, usize)> {
    match text.get(1)? {
        b'#' => number(text),
        letter if letter.is_ascii_alphabetic() => name(text),
        _ => None,
    }
}

/// `value` with its character references decoded.
pub fn decoded(value: &[u8]) -> String {
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = memchr::memchr(b'&', rest) {
        out.extend_from_slice(&rest[..at]);
        let (c, length) = decode(&rest[at..]).unwrap_or(('&', 1));
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[at + length..];
    }
    out.extend_from_slice(rest);
    String::from_utf8_lossy(&out).into_owned()
}

fn number(text: &[u8]) -> Option<(char, usize)> {
    let hex = matches!(text.get(2), Some(b'x' | b'X'));
    let (start, base) = if hex { (3, 16) } else { (2, 10) };
    let digits = text[start..].iter().map_while(|&byte| char::from(byte).to_digit(base));
    let (count, value) = digits.fold((0, 0u32), |(count, value), digit| {
        (count + 1, value.saturating_mul(base).saturating_add(digit))
    });
    if count == 0 {
        return None;
    }
    let end = start + count;
    let character = match value {
        0x80..=0x9f => char::from_u32(u32::from(WINDOWS_1252[value as usize - 0x80])),
        0 => None,
        _ => char::from_u32(value),
    };
    Some((character.unwrap_or('\u{fffd}'), end + usize::from(text.get(end) == Some(&b';'))))
}

fn name(text: &[u8]) -> Option<(char, usize)> {
    let run = text[1..].iter().take(NAME_LIMIT).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let name = &text[1..1 + run];
    if text.get(1 + run) == Some(&b';')
        && let Some(found) = find(&WITHOUT_SEMICOLON, name).or_else(|| find(&WITH_SEMICOLON, name))
    {
        return Some((found, run + 2));
    }
    (2..=run.min(6)).rev().find_map(|length| Some((find(&WITHOUT_SEMICOLON, &name[..length])?, length + 1)))
}

fn find(table: &[(&str, u16)], name: &[u8]) -> Option<char> {
    let index = table.binary_search_by(|(entry, _)| entry.as_bytes().cmp(name)).ok()?;
    char::from_u32(u32::from(table[index].1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_as_browsers_do() {
        let check = |text: &str, expected| assert_eq!(decode(text.as_bytes()), expected, "{text}");
        check("&amp;x", Some(('&', 5)));
        check("&ampx", Some(('&', 4)));
        check("&eacute;t&eacute;", Some(('é', 8)));
        check("&notit;", Some(('¬', 4)));
        check("&ccaron;", Some(('č', 8)));
        check("&ccaron ", None);
        check("&#8217;", Some(('’', 7)));
        check("&#x4e2D", Some(('中', 7)));
        check("&#146;", Some(('’', 6)));
        check("&#0;", Some(('\u{fffd}', 4)));
        check("&#xd800;", Some(('\u{fffd}', 8)));
        check("&#99999999999999999999;", Some(('\u{fffd}', 23)));
        for text in ["&", "& x", "&#", "&#x", "&#;", "&nosuchname;", "&;"] {
            check(text, None);
        }
    }

    #[test]
    fn tables_are_sorted() {
        assert!(WITH_SEMICOLON.is_sorted() && WITHOUT_SEMICOLON.is_sorted());
        assert!(WITH_SEMICOLON.iter().chain(&WITHOUT_SEMICOLON).all(|(name, _)| name.len() <= NAME_LIMIT));
    }
}

//! Letters as strokes, for pictures in which text must be drawn. They were made for this program, so that no font
//! has to be shipped or found.
//!
//! A glyph is a list of strokes, and a stroke a list of points. A point is two digits, x and y, in base 36. The base
//! line is at y = 4, small letters end at e (14), large ones at i (18).

/// The base line, and the height of a large letter above it.
const BASE: f64 = 4.0;
const TALL: f64 = 14.0;
/// The height of a large letter, as a share of the size of the text.
const SIZE: f64 = 0.72;
/// The room between two letters, and the width of a space.
const ROOM: f64 = 3.4;
const SPACE: f64 = 5.5;
/// A letter that there is no glyph for: an empty box.
const UNKNOWN: &str = "04 0i 6i 64 04";

/// The width of a text, for text of size 1.
pub fn width_of(text: &str) -> f64 {
    text.chars().map(advance).sum::<f64>() * SIZE / TALL
}

fn advance(c: char) -> f64 {
    if c == ' ' {
        return SPACE;
    }
    points(glyph(c)).into_iter().flatten().map(|(x, _)| x).fold(0.0, f64::max) + ROOM
}

/// The strokes of a text of size 1 that begins at (0, 0). Here y grows upwards.
pub fn strokes(text: &str) -> Vec<Vec<(f64, f64)>> {
    let mut found = Vec::new();
    let mut left = ROOM / 2.0;
    for c in text.chars() {
        if c != ' ' {
            let place = |(x, y): (f64, f64)| ((left + x) * SIZE / TALL, (y - BASE) * SIZE / TALL);
            let placed = points(glyph(c)).into_iter().map(|stroke| stroke.into_iter().map(place).collect());
            found.extend(placed);
        }
        left += advance(c);
    }
    found
}

/// The points of each stroke.
fn points(glyph: &str) -> Vec<Vec<(f64, f64)>> {
    let digit = |c: char| f64::from(c.to_digit(36).unwrap_or(0));
    let point = |pair: &str| {
        let mut digits = pair.chars().map(digit);
        (digits.next().unwrap_or(0.0), digits.next().unwrap_or(0.0))
    };
    glyph.split('|').map(|stroke| stroke.split_whitespace().map(point).collect()).collect()
}

fn glyph(c: char) -> &'static str {
    let find = |c: char| GLYPHS.iter().find(|(known, _)| *known == c).map(|(_, glyph)| *glyph);
    find(c).unwrap_or(UNKNOWN)
}

#[rustfmt::skip]
const GLYPHS: &[(char, &str)] = &[
    ('a', "7e 74 | 7b 6d 4e 3e 1d 0b 07 15 34 44 65 77"), ('b', "0i 04 | 0b 1d 3e 4e 6d 7b 77 65 44 34 15 07"),
    ('c', "6c 5d 4e 3e 1d 0b 07 15 34 44 55 66"), ('d', "7i 74 | 7b 6d 4e 3e 1d 0b 07 15 34 44 65 77"),
    ('e', "09 79 7b 6d 4e 3e 1d 0b 07 15 34 54 65"), ('f', "5i 4i 3h 2f 24 | 0e 5e"),
    ('g', "7e 73 61 40 30 11 | 7b 6d 4e 3e 1d 0b 07 15 34 44 65 77"), ('h', "0i 04 | 0b 1d 3e 4e 5d 6b 64"),
    ('i', "0e 04 | 0h 0i"), ('j', "2e 22 10 00 | 2h 2i"), ('k', "0i 04 | 6e 08 | 2a 64"), ('l', "0i 04"),
    ('m', "0e 04 | 0b 1d 3e 4e 5c 54 | 5b 6d 8e 9e ac a4"), ('n', "0e 04 | 0b 1d 3e 4e 5d 6b 64"),
    ('o', "34 15 07 0b 1d 3e 4e 6d 7b 77 65 44 34"), ('p', "0e 00 | 0b 1d 3e 4e 6d 7b 77 65 44 34 15 07"),
    ('q', "7e 70 | 7b 6d 4e 3e 1d 0b 07 15 34 44 65 77"), ('r', "0e 04 | 0a 1c 3e 4e"),
    ('s', "6d 4e 2e 0d 0b 1a 59 68 66 54 24 05"), ('t', "2h 26 34 54 | 0e 5e"),
    ('u', "0e 07 15 24 34 55 67 | 6e 64"), ('v', "0e 34 6e"), ('w', "0e 24 5d 84 ae"), ('x', "0e 64 | 6e 04"),
    ('y', "0e 34 | 6e 21 10 00"), ('z', "0e 6e 04 64"),
    ('A', "04 4i 84 | 19 79"), ('B', "04 0i 4i 6h 7f 7e 6c 4b 0b | 4b 6a 78 77 65 44 04"),
    ('C', "7f 6h 4i 3i 1g 0d 09 16 34 44 65 77"), ('D', "04 0i 3i 6g 7d 79 66 34 04"),
    ('E', "7i 0i 04 74 | 0b 6b"), ('F', "7i 0i 04 | 0b 6b"), ('G', "7f 6h 4i 3i 1g 0d 09 16 34 44 66 78 7a 4a"),
    ('H', "0i 04 | 7i 74 | 0b 7b"), ('I', "0i 04"), ('J', "5i 57 45 34 24 05 07"), ('K', "0i 04 | 7i 09 | 2b 74"),
    ('L', "0i 04 64"), ('M', "04 0i 4a 8i 84"), ('N', "04 0i 74 7i"),
    ('O', "34 16 09 0d 1g 3i 5i 7g 8d 89 76 54 34"), ('P', "04 0i 4i 6h 7f 7d 6b 4a 0a"),
    ('Q', "34 16 09 0d 1g 3i 5i 7g 8d 89 76 54 34 | 57 83"), ('R', "04 0i 4i 6h 7f 7d 6b 4a 0a | 4a 74"),
    ('S', "7g 5i 3i 1h 0f 0e 1c 6a 78 77 65 44 34 06"), ('T', "0i 8i | 4i 44"), ('U', "0i 08 16 34 44 66 78 7i"),
    ('V', "0i 44 8i"), ('W', "0i 34 6g 94 ci"), ('X', "0i 84 | 8i 04"), ('Y', "0i 4b 8i | 4b 44"),
    ('Z', "0i 7i 04 74"),
    ('0', "34 16 09 0d 1g 3i 4i 6g 7d 79 66 44 34"), ('1', "1f 4i 44"), ('2', "0f 1h 3i 4i 6h 7f 7d 6b 04 74"),
    ('3', "0g 2i 4i 6h 7f 6d 4c 2c | 4c 6b 79 77 65 44 24 06"), ('4', "54 5i 08 78"),
    ('5', "6i 1i 0b 2c 4c 6b 79 77 65 44 24 06"), ('6', "6h 4i 3i 1g 0d 08 16 34 44 66 78 79 6b 4c 3c 1b 09"),
    ('7', "0i 7i 24"), ('8', "3c 1d 0f 1h 3i 4i 6h 7f 6d 4c 3c 1a 08 07 15 34 44 65 77 78 6a 4c"),
    ('9', "15 34 44 66 79 7e 6g 4i 3i 1g 0e 0d 1b 3a 4a 6b 7d"),
    ('.', "04 05 15 14 04"), (',', "15 14 01"), (':', "04 05 15 14 04 | 0c 0d 1d 1c 0c"), (';', "15 14 01 | 1c 1d"), ('-', "09 49"),
    ('_', "02 82"), ('=', "07 77 | 0c 7c"), ('+', "0a 8a | 46 4e"), ('/', "02 6i"), ('\\', "0i 62"),
    ('(', "3j 1g 0c 08 14 31"), (')', "0j 2g 3c 38 24 01"), ('[', "3i 0i 01 31"), (']', "0i 3i 31 01"),
    ('{', "4i 3i 2h 2c 0a 28 23 32 42"), ('}', "0i 1i 2h 2c 4a 28 23 12 02"), ('|', "0j 01"),
    ('%', "9i 14 | 2i 0h 0f 2e 4f 4h 2i | 88 67 65 84 a5 a7 88"), ('\'', "0i 0f"), ('"', "0i 0f | 3i 3f"),
    ('!', "0i 09 | 04 05"), ('?', "0f 1h 3i 4i 6h 6f 5d 3b 39 | 34 35"), ('*', "3i 3c | 0d 6h | 0h 6d"),
    ('#', "34 5i | 64 8i | 19 99 | 2e ae"), ('$', "7g 5i 3i 0f 0e 1c 6a 78 77 44 34 06 | 4k 42"),
    ('&', "94 1f 1h 3i 4i 5g 5e 0a 07 15 34 44 75 9a"), ('@', "98 97 77 6a 5b 4b 39 36 45 57 6a | 77 98 9c 7f 3f 0c 06 33 73"),
    ('<', "6e 09 64"), ('>', "0e 69 04"), ('^', "0d 3i 6d"), ('`', "0i 2g"), ('~', "09 1b 3b 58 78 8a"),
    ('–', "09 79"), ('…', "04 05 15 14 04 | 44 45 55 54 44 | 84 85 95 94 84"), ('×', "06 8e | 0e 86"), ('±', "0c 8c | 48 4g | 05 85"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_ascii_character_has_a_glyph_of_its_own() {
        for c in (33..127).map(char::from) {
            assert_ne!(glyph(c), UNKNOWN, "{c}");
            let strokes = points(glyph(c));
            assert!(strokes.iter().all(|stroke| stroke.len() >= 2), "{c} has a stroke of one point");
            assert!(strokes.iter().flatten().all(|(x, y)| *x <= 12.0 && *y <= 20.0), "{c} is too large");
        }
        assert_eq!(glyph('湖'), UNKNOWN);
    }

    #[test]
    fn text_is_about_as_wide_as_in_a_common_font() {
        for text in ["precision by recall", "jaccard:threshold=0.7", "ota-pages-dev"] {
            let each = width_of(text) / text.chars().count() as f64;
            assert!((0.38..0.62).contains(&each), "{text}: {each}");
        }
    }
}

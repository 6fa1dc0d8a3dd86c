//! Which characters make words.
//!
//! A word is a run of letters, digits and underscores after lower-casing, as in Python's `\w+` on `text.lower()`.
//! Combining marks separate words. The field computes its exact-Jaccard figures by this rule. One deviation: a final
//! sigma always equals a sigma.

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use super::segment::{is_complex, is_dense, is_mark};

/// Whether `c`, already lower-cased, belongs to a word.
pub(super) fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    // `is_alphanumeric` alone would include vowel signs and circled letters, which are not letters by category.
    c.is_alphanumeric()
        && !matches!(
            c.general_category(),
            GeneralCategory::NonspacingMark | GeneralCategory::SpacingMark | GeneralCategory::OtherSymbol
        )
}

/// How to treat a character that is not ASCII.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Class {
    Separator,
    /// Also a separator, but one that some tools keep within a word.
    Mark,
    /// Belongs to a word as it is.
    Word,
    /// Like `Word`, and a Chinese character or kana, scripts without spaces between words.
    Dense,
    /// Like `Word`, and in another script without spaces.
    Complex,
    /// Has a lower-case form, which must be looked up.
    Fold,
}

fn classify(c: char) -> Class {
    let mut lower = c.to_lowercase();
    if c == 'ς' || (lower.next(), lower.next()) != (Some(c), None) {
        Class::Fold
    } else if is_word(c) {
        match c {
            _ if is_dense(c) => Class::Dense,
            _ if is_complex(c) => Class::Complex,
            _ => Class::Word,
        }
    } else if is_mark(c) {
        Class::Mark
    } else {
        Class::Separator
    }
}

pub(super) fn class(c: char, classes: &[Class]) -> Class {
    match classes.get(c as usize) {
        Some(&class) => class,
        None => classify(c),
    }
}

/// The class of each character of the basic plane. On Russian or Chinese text, a lookup in Unicode's compressed
/// tables would cost as much as the rest of the pass.
pub(super) fn classes() -> &'static [Class] {
    static CLASSES: OnceLock<Vec<Class>> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let mut classes = Vec::with_capacity(0x1_0000);
        while classes.len() < 0x1_0000 {
            let code = classes.len() as u32;
            let alike =
                ALIKE.iter().find(|block| *block.start() == code).map_or(1, |block| block.clone().count());
            let class = char::from_u32(code).map_or(Class::Separator, classify);
            classes.resize(classes.len() + alike, class);
        }
        classes
    })
}

/// Blocks whose characters all have one class: Chinese characters, Hangul, surrogates and private use. They are most
/// of the basic plane. Classifying each of their characters would take a quarter of the time of a small job.
const ALIKE: [RangeInclusive<u32>; 4] = [0x3400..=0x4dbf, 0x4e00..=0x9fff, 0xac00..=0xd7a3, 0xd800..=0xf8ff];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_that_of_its_character() {
        assert_eq!(classes().len(), 0x1_0000);
        for (code, &class) in (0..).zip(classes()) {
            let right = char::from_u32(code).map_or(Class::Separator, classify);
            assert!(class == right, "{code:x}");
        }
    }
}

//! The words of a title, to recognise its headline.

/// The most words in a headline.
const HEADLINE_WORDS: u32 = 40;

/// The words of the title, as hashes.
pub struct TitleWords {
    hashes: Vec<u32>,
}

impl TitleWords {
    pub fn new(title: &str) -> TitleWords {
        let mut hashes: Vec<u32> = hashes(title).map(|(hash, _)| hash).take(64).collect();
        hashes.sort_unstable();
        TitleWords { hashes }
    }

    /// The share of the words of `text` that are in the title, in thousandths; -1 if the text is too long for a
    /// headline.
    pub fn share_in(&self, text: &str, words: u32) -> i32 {
        if words > HEADLINE_WORDS || self.hashes.is_empty() {
            return -1;
        }
        let (all, known) = hashes(text).fold((0, 0), |(all, known), (hash, _)| {
            (all + 1, known + i32::from(self.hashes.binary_search(&hash).is_ok()))
        });
        if all == 0 { -1 } else { known * 1000 / all }
    }
}

/// A hash of each word, ignoring ASCII case, and whether the word begins with a letter.
pub fn hashes(text: &str) -> impl Iterator<Item = (u32, bool)> + '_ {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80;
    let words = text.as_bytes().split(move |byte| !is_letter(*byte)).filter(|word| !word.is_empty());
    words.map(|word| {
        let hash = word.iter().fold(0x811c_9dc5, |hash: u32, byte| {
            (hash ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0193)
        });
        (hash, !word[0].is_ascii_digit())
    })
}

//! Text → chunks whose boundaries the text itself decides, so that an edit changes only the chunks around it.
//!
//! A boundary follows every 48 bytes whose Rabin fingerprint ends in a marker (Muthitacharoen, Chen and Mazières
//! 2001; Jain, Dahlin and Tewari 2005). The number of marker bits that are compared decides the average length of a
//! chunk.

use std::sync::OnceLock;

use crate::hash::digest;
use crate::similarity::sketch::number_replicas;
use crate::text::rabin::{ByteWindow, POLYNOMIAL, Rabin};

/// How many bytes decide whether a boundary follows them.
const WINDOW: usize = 48;
const MARKER: u64 = 0x78;
/// The longest chunk, in bytes.
pub(crate) const CHUNK_BYTES_MAX: usize = 64 << 10;

/// The chunks of `text`, in order. They have about `expected` bytes on average, which is a power of two.
pub(crate) fn chunks(text: &[u8], expected: usize) -> Chunks<'_> {
    Chunks { text, start: 0, at: 0, fingerprint: 0, mask: expected as u64 - 1, window: window() }
}

/// Writes a hash for each chunk of `text` into `out`, replacing its contents. Each repetition of a chunk gets a
/// different hash.
pub(crate) fn chunk_hashes(text: &[u8], expected: usize, out: &mut Vec<u64>) {
    out.clear();
    out.extend(chunks(text, expected).map(digest));
    out.sort_unstable();
    number_replicas(out);
}

/// Iterates over the chunks of a text.
pub(crate) struct Chunks<'a> {
    text: &'a [u8],
    start: usize,
    at: usize,
    /// The fingerprint of the last bytes before `at`, as many as the window holds.
    fingerprint: u64,
    mask: u64,
    window: &'static ByteWindow,
}

impl<'a> Iterator for Chunks<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.start == self.text.len() {
            return None;
        }
        let limit = self.text.len().min(self.start + CHUNK_BYTES_MAX);
        while self.at < limit {
            // No byte leaves a window that is not full.
            let leaves = if self.at < WINDOW { 0 } else { self.text[self.at - WINDOW] };
            self.fingerprint = self.window.roll(self.fingerprint, leaves, self.text[self.at]);
            self.at += 1;
            if (self.fingerprint ^ MARKER) & self.mask == 0 && self.at >= WINDOW {
                break;
            }
        }
        Some(&self.text[std::mem::replace(&mut self.start, self.at)..self.at])
    }
}

/// The window, made once: building its tables takes longer than cutting a page.
fn window() -> &'static ByteWindow {
    static TABLES: OnceLock<ByteWindow> = OnceLock::new();
    TABLES.get_or_init(|| Rabin::new(POLYNOMIAL).bytes(WINDOW))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Letters without a pattern.
    fn noise(seed: u64, length: usize) -> Vec<u8> {
        let letter = |n: usize| b'a' + (digest(&(seed << 32 | n as u64).to_le_bytes()) % 26) as u8;
        (0..length).map(letter).collect()
    }

    /// The definition: each window by itself.
    fn ends_chunk(window: &[u8], expected: usize) -> bool {
        let rabin = Rabin::new(POLYNOMIAL);
        let fingerprint = window.iter().fold(0, |sum, &byte| rabin.append(sum, byte));
        fingerprint % expected as u64 == MARKER % expected as u64
    }

    #[test]
    fn boundaries_are_where_the_window_says() {
        let text = noise(1, 3_000);
        for expected in [16, 256] {
            let ends = (WINDOW..=text.len()).filter(|&end| ends_chunk(&text[end - WINDOW..end], expected));
            let mut ends: Vec<usize> = ends.chain([text.len()]).collect();
            ends.dedup();
            let found = chunks(&text, expected).scan(0, |end, chunk| {
                *end += chunk.len();
                Some(*end)
            });
            assert_eq!(found.collect::<Vec<_>>(), ends);
        }
    }

    #[test]
    fn chunks_have_about_the_expected_length_and_a_limit() {
        let count = chunks(&noise(2, 1 << 18), 256).count();
        assert!((900..1150).contains(&count), "{count}");
        let dull = vec![b'a'; 200_000];
        assert!(chunks(&dull, 256).all(|chunk| chunk.len() <= CHUNK_BYTES_MAX));
        assert_eq!(chunks(&dull, 256).count(), 4);
    }

    #[test]
    fn an_edit_changes_few_chunks_and_copies_are_told_apart() {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let text = noise(3, 20_000);
        let edited = [&text[..9_000], b"something else", &text[9_100..]].concat();
        chunk_hashes(&text, 256, &mut before);
        chunk_hashes(&edited, 256, &mut after);
        let lost = before.iter().filter(|hash| !after.contains(hash)).count();
        assert!((1..=4).contains(&lost), "{lost} of {}", before.len());
        chunk_hashes(&text.repeat(3), 256, &mut after);
        after.sort_unstable();
        after.dedup();
        assert!(after.len() > 2 * before.len());
    }

    proptest! {
        #[test]
        fn nothing_is_lost(text in prop::collection::vec(any::<u8>(), 0..2_000)) {
            prop_assert_eq!(chunks(&text, 16).collect::<Vec<_>>().concat(), text);
        }
    }
}

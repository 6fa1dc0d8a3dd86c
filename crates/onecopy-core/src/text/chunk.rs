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
pub(crate) fn chunks(text: &[u8], expected: usize) -> impl Iterator<Item = &[u8]> {
    let mut marked = boundaries(text, expected as u64 - 1).into_iter().peekable();
    let mut start = 0;
    std::iter::from_fn(move || {
        if start == text.len() {
            return None;
        }
        let limit = text.len().min(start + CHUNK_BYTES_MAX);
        let end = marked.next_if(|&marked| marked <= limit).unwrap_or(limit);
        marked.next_if_eq(&end);
        Some(&text[std::mem::replace(&mut start, end)..end])
    })
}

/// Writes a hash for each chunk of `text` into `out`, replacing its contents. Each repetition of a chunk gets a
/// different hash.
pub fn chunk_hashes(text: &[u8], expected: usize, out: &mut Vec<u64>) {
    out.clear();
    out.extend(chunks(text, expected).map(digest));
    out.sort_unstable();
    number_replicas(out);
}

/// How many places of a text are read at a time. Each step of a window waits for the one before, so that several
/// windows take as long as one.
const LANES: usize = 4;

/// Where the window before is marked, ascending.
fn boundaries(text: &[u8], mask: u64) -> Vec<usize> {
    let window = window();
    let part = text.len().saturating_sub(WINDOW) / LANES;
    let starts: [usize; LANES] = std::array::from_fn(|lane| WINDOW.min(text.len()) + lane * part);
    let full =
        |end: usize| text[end - WINDOW.min(end)..end].iter().fold(0, |sum, &byte| window.roll(sum, 0, byte));
    let mut fingerprints = starts.map(full);
    let mut marked: [Vec<usize>; LANES] = Default::default();
    let is_marked = |fingerprint: u64| (fingerprint ^ MARKER) & mask == 0;
    if text.len() >= WINDOW && is_marked(fingerprints[0]) {
        marked[0].push(WINDOW);
    }
    let mut step = |lane: usize, at: usize| {
        fingerprints[lane] = window.roll(fingerprints[lane], text[at - WINDOW], text[at]);
        if is_marked(fingerprints[lane]) {
            marked[lane].push(at + 1);
        }
    };
    for place in 0..part {
        for (lane, start) in starts.iter().enumerate() {
            step(lane, start + place);
        }
    }
    for at in starts[LANES - 1] + part..text.len() {
        step(LANES - 1, at);
    }
    marked.concat()
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

//! Finds pages that share a word of their sketches. Most pairs share none and need no comparison.

/// The leading bits that identify a word. Words that differ only in lower bits count as equal, which costs one
/// comparison.
const IDENTITY_BITS: u32 = 32;
/// The most words to index. More would take too much memory.
const WORDS_LIMIT: usize = 1 << 27;

/// For each page, the later pages that share a word with it.
pub(super) struct SharedShingles {
    /// The pages of each word that two or more pages have, ascending, word by word.
    pages: Vec<u32>,
    /// For each page and each shared word, the part of `pages` after this page.
    later: Vec<Vec<(u32, u32)>>,
}

impl SharedShingles {
    /// An index of sketches whose words are identified by their leading bits. `None` if there are too many words.
    pub(super) fn new(sketches: &[Vec<u64>]) -> Option<SharedShingles> {
        let words: usize = sketches.iter().map(Vec::len).sum();
        if words > WORDS_LIMIT {
            return None;
        }
        let mut holders = Vec::with_capacity(words);
        for (page, sketch) in sketches.iter().enumerate() {
            let identity = |&word: &u64| (word >> (64 - IDENTITY_BITS)) << 32 | page as u64;
            holders.extend(sketch.iter().map(identity));
        }
        holders.sort_unstable();
        holders.dedup();
        let mut shared = SharedShingles { pages: Vec::new(), later: vec![Vec::new(); sketches.len()] };
        for same in holders.chunk_by(|a, b| a >> 32 == b >> 32).filter(|same| same.len() > 1) {
            let end = (shared.pages.len() + same.len()) as u32;
            for &holder in &same[..same.len() - 1] {
                shared.pages.push(holder as u32);
                shared.later[holder as u32 as usize].push((shared.pages.len() as u32, end));
            }
            shared.pages.push(same[same.len() - 1] as u32);
        }
        Some(shared)
    }

    /// Marks the later pages that share a word with `page`: sets their marks to `page`.
    pub(super) fn mark<'a>(&self, page: u32, marks: &'a mut [u32]) -> &'a [u32] {
        for &(from, to) in &self.later[page as usize] {
            for &other in &self.pages[from as usize..to as usize] {
                marks[other as usize] = page;
            }
        }
        marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_share_a_word_are_marked() {
        let word = |n: u64| n << 40;
        let sketches = [
            vec![word(1), word(2)],
            vec![word(3)],
            vec![word(2), word(5)],
            vec![word(1), word(2) + 1],
            vec![],
        ];
        let shared = SharedShingles::new(&sketches).unwrap();
        let marked = |page: u32| {
            let mut marks = vec![u32::MAX; sketches.len()];
            let marks = shared.mark(page, &mut marks);
            marks.iter().map(|&mark| mark == page).collect::<Vec<_>>()
        };
        assert_eq!(marked(0), [false, false, true, true, false]);
        assert_eq!(marked(1), [false; 5]);
        assert_eq!(marked(2), [false, false, false, true, false]);
    }
}

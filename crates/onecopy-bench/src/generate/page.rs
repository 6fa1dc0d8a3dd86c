//! Turns a recipe into the words of a page, and those into a line of JSON.
//!
//! Words stay numbers until the line is written, so an edit changes a list of integers.

use std::io::Write;

use super::layout::{Edit, Host, Recipe};
use super::random::{Random, derive, mix};
use super::vocabulary::{SCRIPT_COUNT, Vocabulary};

const KIND_SITE: u64 = 11;
const KIND_PAGE: u64 = 12;
const KIND_SHARED: u64 = 13;
const KIND_PLATFORM: u64 = 14;

/// Sentences that the pages of a site share.
const SHARED_SENTENCES: u64 = 40;
/// Publishing platforms, whose small print is at the foot of one page in twelve.
const PLATFORMS: u64 = 12;
/// One site in this many is not in Latin letters.
const OTHER_SCRIPT_ONE_IN: u64 = 6;

/// The low bits of a word are its index in the vocabulary; these two fields follow.
const NUMBER_BITS: u32 = 20;
const CAPITAL: u32 = 1 << 24;

/// The characters after a word, already escaped for JSON.
const AFTER: [&[u8]; 6] = [b" ", b", ", b". ", b".\\n", b"\\n", b" \\\""];
const SPACE: u32 = 0;
const COMMA: u32 = 1;
const STOP: u32 = 2;
const PARAGRAPH: u32 = 3;
const LINE: u32 = 4;
const QUOTE: u32 = 5;

/// How many words the longest pages have more than the shortest, unless a corpus says otherwise.
pub const LONGEST: u64 = 1700;

/// Makes the pages of one seed.
pub struct Press {
    vocabulary: Vocabulary,
    seed: u64,
    /// How many words the longest pages have more than the shortest.
    pub longest: u64,
}

impl Press {
    /// The generator for the corpus of `seed`.
    pub fn new(seed: u64) -> Press {
        Press { vocabulary: Vocabulary::new(), seed, longest: LONGEST }
    }

    /// Appends the page to `out` as a line of JSON.
    pub fn print(&self, position: u64, recipe: &Recipe, out: &mut Vec<u8>) {
        self.print_at(position, &url(recipe), recipe, out);
    }

    /// Appends the page to `out` as a line of JSON, with the given URL, which must need no escapes.
    pub fn print_at(&self, position: u64, url: &str, recipe: &Recipe, out: &mut Vec<u8>) {
        let words = self.words(recipe);
        write!(out, "{{\"id\": \"p{position:09}\", \"url\": \"{url}").expect("memory takes writes");
        out.extend_from_slice(b"\", \"text\": \"");
        for word in words {
            let start = out.len();
            out.extend_from_slice(self.vocabulary.letters(word & ((1 << NUMBER_BITS) - 1)));
            if word & CAPITAL != 0 {
                // Non-ASCII letters have no single-byte capital and stay unchanged.
                out[start].make_ascii_uppercase();
            }
            out.extend_from_slice(AFTER[(word >> NUMBER_BITS & 7) as usize]);
        }
        out.extend_from_slice(b"\"}\n");
    }

    /// The words of the page after its edits.
    fn words(&self, recipe: &Recipe) -> Vec<u32> {
        let script = script(derive(self.seed, KIND_SITE, recipe.site));
        let mut words = self.original(recipe.site, recipe.page, script);
        for edit in &recipe.edits {
            words = self.edited(&words, *edit, script);
        }
        words
    }

    fn original(&self, site: u64, page: u64, script: usize) -> Vec<u32> {
        let mut template = Random::new(derive(self.seed, KIND_SITE, site));
        let mut body = Random::new(derive(self.seed, KIND_PAGE, page));
        let mut words = Vec::with_capacity(1024);
        let menu = 10 + template.below(20);
        self.run(&mut words, 3, script, LINE, &mut template);
        for _ in 0..menu {
            self.run(&mut words, 1, script, LINE, &mut template);
        }
        let title = 3 + body.below(7);
        self.run(&mut words, title, script, LINE, &mut body);
        // Page lengths are skewed: many short, few long.
        let end = words.len() + 80 + (self.longest as f64 * body.unit() * body.unit()) as usize;
        while words.len() < end {
            if body.once_in(8) {
                let number = site.wrapping_mul(SHARED_SENTENCES).wrapping_add(body.below(SHARED_SENTENCES));
                self.sentence(&mut words, script, &mut Random::new(derive(self.seed, KIND_SHARED, number)));
            } else {
                self.sentence(&mut words, script, &mut body);
            }
        }
        let small_print = 10 + template.below(40);
        self.run(&mut words, small_print, script, LINE, &mut template);
        let platform = mix(site) % PLATFORMS;
        self.run(&mut words, 20, 0, LINE, &mut Random::new(derive(self.seed, KIND_PLATFORM, platform)));
        words
    }

    /// `count` words, the last followed by `after`.
    fn run(&self, words: &mut Vec<u32>, count: u64, script: usize, after: u32, random: &mut Random) {
        let start = words.len();
        for _ in 0..count {
            words.push(self.vocabulary.draw(script, random));
        }
        words[start] |= CAPITAL;
        if let Some(last) = words.last_mut() {
            *last |= after << NUMBER_BITS;
        }
    }

    fn sentence(&self, words: &mut Vec<u32>, script: usize, random: &mut Random) {
        let start = words.len();
        let (count, style) = (6 + random.below(14), random.below(32));
        let after = if style < 8 { PARAGRAPH } else { STOP };
        self.run(words, count, script, after, random);
        words[start + 3] |= [COMMA, SPACE, SPACE, QUOTE][(style % 4) as usize] << NUMBER_BITS;
    }

    /// Replaces, deletes and inserts words, and sometimes a run of them.
    fn edited(&self, words: &[u32], edit: Edit, script: usize) -> Vec<u32> {
        let mut random = Random::new(edit.seed);
        let hit = (edit.rate * u32::MAX as f64) as u64;
        let mut out = Vec::with_capacity(words.len() + 64);
        let mut rest = words.iter();
        while let Some(&word) = rest.next() {
            if random.next() >> 32 >= hit {
                out.push(word);
                continue;
            }
            let run = 5 + random.below(10);
            match random.below(20) {
                0..8 => out.push(self.vocabulary.draw(script, &mut random)),
                8..13 => {}
                13..18 => out.extend([word, self.vocabulary.draw(script, &mut random)]),
                18 => rest = rest.as_slice()[(run as usize).min(rest.len())..].iter(),
                _ => self.run(&mut out, run, script, STOP, &mut random),
            }
        }
        out
    }
}

/// The script of a site: Latin for most.
fn script(site: u64) -> usize {
    let mut random = Random::new(mix(site));
    if random.once_in(OTHER_SCRIPT_ONE_IN) { 1 + random.below(SCRIPT_COUNT as u64 - 1) as usize } else { 0 }
}

fn url(recipe: &Recipe) -> String {
    let (site, page) = (recipe.site, recipe.page);
    match recipe.host {
        Host::Own => format!("https://site-{site}.example/pages/{page}.html"),
        Host::Mirror => format!("https://mirror-{site}.example/pages/{page}.html"),
        Host::Copier(number) => format!("https://copier-{}.example/read/{number}", number % 997),
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::{giant_recipe, recipe};
    use super::*;
    use std::collections::HashSet;

    fn shingles(press: &Press, recipe: &Recipe) -> HashSet<Vec<u32>> {
        let number = |word: &u32| word & ((1 << NUMBER_BITS) - 1);
        let words: Vec<u32> = press.words(recipe).iter().map(number).collect();
        words.windows(5).map(<[u32]>::to_vec).collect()
    }

    fn similarity(press: &Press, left: &Recipe, right: &Recipe) -> f64 {
        let (left, right) = (shingles(press, left), shingles(press, right));
        let shared = left.intersection(&right).count();
        shared as f64 / (left.len() + right.len() - shared) as f64
    }

    #[test]
    fn edited_copies_are_spread_from_half_alike_to_the_same() {
        let press = Press::new(1);
        let mut tenths = [0; 11];
        for index in 0..2000 {
            let copy = recipe(1, index);
            if copy.edits.len() == 1 {
                let original = Recipe { edits: vec![], ..copy.clone() };
                tenths[(similarity(&press, &copy, &original) * 10.0) as usize] += 1;
            }
        }
        assert!(tenths[..4].iter().sum::<i32>() < 10, "{tenths:?}");
        assert!(tenths[5..10].iter().all(|&count| count > 15), "{tenths:?}");
    }

    #[test]
    fn chains_link_neighbours_only() {
        let press = Press::new(1);
        let links: Vec<Recipe> = (0..4000).map(|i| recipe(1, i)).filter(|r| r.edits.len() == 3).collect();
        let (mut near, mut far) = (0.0, 0.0);
        for link in &links {
            let cut = |length: usize| Recipe { edits: link.edits[..length].to_vec(), ..link.clone() };
            near += similarity(&press, link, &cut(2));
            far += similarity(&press, link, &cut(1));
        }
        let count = links.len() as f64;
        assert!(near / count > 0.82 && far / count < 0.76, "{} {}", near / count, far / count);
    }

    #[test]
    fn pages_of_one_site_share_a_template_but_are_not_alike() {
        let press = Press::new(1);
        let page = |page| Recipe { site: 1, page, edits: vec![], host: Host::Own };
        let alike = similarity(&press, &page(31), &page(32));
        assert!((0.02..0.5).contains(&alike), "{alike}");
    }

    #[test]
    fn the_giant_group_is_near_identical() {
        let press = Press::new(1);
        assert!(similarity(&press, &giant_recipe(1, 0), &giant_recipe(1, 1)) > 0.9);
    }
}

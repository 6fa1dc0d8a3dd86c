//! An endless stream of changes, made from their numbers alone: equal numbers give equal bytes.
//!
//! A third are unchanged pages, a third slightly edited ones, a third new ones. Half of the new pages are copies of
//! known pages. Edited pages are disjoint from those that must stay unchanged.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};

use crate::generate::random::{Random, derive};
use crate::generate::{Edit, Host, Press, Recipe, recipe};

const KIND_CHANGE: u64 = 31;
const KIND_EDIT: u64 = 32;
const KIND_COPY: u64 = 33;
const KIND_REWRITE: u64 = 34;

/// An edit of this rate leaves a similarity of about 0.96.
const SMALL_EDIT: f64 = 0.002;
/// The highest edit rate of copies, whose similarity is from 0.7 to 1.
const MOST_COPY_EDIT: f64 = 0.035;

/// Makes the pages of a collection, and changes to them.
pub struct Stream {
    press: Press,
    seed: u64,
    pages: u64,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Unchanged,
    Edited,
    New,
}

impl Stream {
    /// A stream over a collection of `pages` pages, at least two.
    pub fn new(seed: u64, pages: u64) -> Stream {
        Stream { press: Press::new(seed), seed, pages: pages.max(2) }
    }

    /// The same stream over a collection that has grown.
    pub fn grown(self, pages: u64) -> Stream {
        Stream { pages: pages.max(2), ..self }
    }

    /// Writes pages of the collection to a JSON Lines file. Every prefix of the pages has the same share of copies.
    pub fn write(&self, numbers: std::ops::Range<u64>, path: &Path) -> Result<()> {
        let file =
            std::fs::File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
        let mut out = std::io::BufWriter::with_capacity(1 << 20, file);
        let mut line = Vec::new();
        for number in numbers {
            line.clear();
            self.page(number, &mut line);
            out.write_all(&line).with_context(|| format!("cannot write {}", path.display()))?;
        }
        out.flush().with_context(|| format!("cannot write {}", path.display()))
    }

    /// Appends a page of the collection in its initial version.
    pub fn page(&self, number: u64, out: &mut Vec<u8>) {
        self.press.print(number, &recipe(self.seed, number), out);
    }

    /// The number of pages of the collection.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Appends a page of the collection, slightly edited in another way in every round. In round 0 it is as it was loaded.
    pub fn rewritten(&self, number: u64, round: u64, out: &mut Vec<u8>) {
        let mut edited = recipe(self.seed, number);
        let seed = derive(self.seed, KIND_REWRITE, round * self.pages + number);
        edited.edits.extend((round > 0).then_some(Edit { seed, rate: SMALL_EDIT }));
        self.press.print(number, &edited, out);
    }

    /// The name of a page of the collection.
    pub fn name(number: u64) -> String {
        format!("p{number:09}")
    }

    /// Appends change `number`. Returns its kind and the name of its page.
    pub fn change(&self, number: u64, out: &mut Vec<u8>) -> (Kind, String) {
        let mut random = Random::new(derive(self.seed, KIND_CHANGE, number));
        let half = self.pages / 2;
        match number % 3 {
            0 => {
                let page = random.below(half);
                self.page(page, out);
                (Kind::Unchanged, Stream::name(page))
            }
            1 => {
                let page = half + random.below(self.pages - half);
                let mut edited = recipe(self.seed, page);
                edited.edits.push(Edit { seed: derive(self.seed, KIND_EDIT, number), rate: SMALL_EDIT });
                self.press.print(page, &edited, out);
                (Kind::Edited, Stream::name(page))
            }
            _ => (Kind::New, self.fresh(number / 3, random, out)),
        }
    }

    /// Appends new page `number`. Returns its name.
    pub fn fresh_page(&self, number: u64, out: &mut Vec<u8>) -> String {
        self.fresh(number, Random::new(derive(self.seed, KIND_CHANGE, number)), out)
    }

    fn fresh(&self, number: u64, mut random: Random, out: &mut Vec<u8>) -> String {
        let position = self.pages + number;
        let made = if number.is_multiple_of(2) {
            recipe(self.seed, position)
        } else {
            let seed = derive(self.seed, KIND_COPY, number);
            let edit = Edit { seed, rate: MOST_COPY_EDIT * random.unit() * random.unit() };
            let mut copied = recipe(self.seed, random.below(self.pages));
            copied.edits.push(edit);
            Recipe { host: Host::Copier(position), ..copied }
        };
        self.press.print(position, &made, out);
        Stream::name(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn change(stream: &Stream, number: u64) -> (Kind, String, Value) {
        let mut line = Vec::new();
        let (kind, name) = stream.change(number, &mut line);
        (kind, name, serde_json::from_slice(&line).unwrap())
    }

    #[test]
    fn a_third_of_each_kind_under_the_names_that_are_told() {
        let stream = Stream::new(5, 1_000);
        let mut counts = [0; 3];
        for number in 0..300 {
            let (kind, name, page) = change(&stream, number);
            counts[kind as usize] += 1;
            assert_eq!(page["id"], name.as_str());
            let position: u64 = name[1..].parse().unwrap();
            assert_eq!(position >= 1_000, kind == Kind::New, "{name}");
            let mut loaded = Vec::new();
            stream.page(position, &mut loaded);
            let loaded: Value = serde_json::from_slice(&loaded).unwrap();
            match kind {
                Kind::Unchanged => assert_eq!(page, loaded),
                Kind::Edited => assert!(position >= 500 && page["url"] == loaded["url"], "{name}"),
                Kind::New => {}
            }
        }
        assert_eq!(counts, [100; 3]);
    }

    #[test]
    fn a_page_is_another_in_every_round_and_the_loaded_one_at_last() {
        let stream = Stream::new(5, 1_000);
        let text = |round| {
            let mut lines = Vec::new();
            // A small edit may leave a short page as it was.
            for page in 0..50 {
                match round {
                    None => stream.page(page, &mut lines),
                    Some(round) => stream.rewritten(page, round, &mut lines),
                }
            }
            lines
        };
        assert_eq!(text(None), text(Some(0)));
        assert!(text(Some(1)) != text(Some(0)) && text(Some(1)) != text(Some(2)));
    }

    #[test]
    fn the_same_numbers_are_the_same_bytes() {
        let (one, other) = (Stream::new(5, 1_000), Stream::new(5, 1_000));
        assert!((0..30).all(|number| change(&one, number) == change(&other, number)));
        assert_ne!(change(&one, 2), change(&Stream::new(6, 1_000), 2));
    }
}

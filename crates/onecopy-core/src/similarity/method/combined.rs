//! Alg. B, then Alg. C (Henzinger 2006): pages that share a megashingle and agree in enough bits of their
//! projections.
//!
//! B mistakes pages of one template for copies, and C pages with the same words; few pairs fool both. A sketch is
//! that of B followed by that of C. The similarity is that of C, or zero if B finds none, so the keys of B miss no
//! pair.

use super::binomial::at_least;
use super::parameters::Parameters;
use super::projection_c::{agree, agreeing, bits, project};
use super::shingles_b::ShinglesB;
use super::{Method, Scratch, Subject, angle};
use crate::config::{Config, ConfigError};
use crate::decide::candidate::Rarity;

pub(super) const ABOUT: &str = "agreeing bits of Alg. C, of pages that Alg. B finds";

/// Both sketches of a page.
#[derive(Debug)]
struct Combined {
    b: ShinglesB,
    bits: usize,
    agree: usize,
}

pub(super) fn make(parameters: &mut Parameters, config: &Config) -> Result<Box<dyn Method>, ConfigError> {
    let b = ShinglesB::read(parameters, config, |parameters, supershingles| {
        parameters.count("super-agree", 2.min(supershingles), 1..=supershingles)
    })?;
    let bits = bits(parameters)?;
    // 355 of 384 bits, which the study found best together with B.
    let agree = agree(parameters, config.threshold, 355.0 / 384.0, bits)?;
    Ok(Box::new(Combined { b, bits, agree }))
}

impl Combined {
    /// The sketch of B and the sketch of C.
    fn split<'a>(&self, sketch: &'a [u64]) -> (&'a [u64], &'a [u64]) {
        sketch.split_at(self.b.supershingles.min(sketch.len()))
    }
}

impl Method for Combined {
    fn threshold(&self) -> f64 {
        self.agree as f64 / self.bits as f64
    }

    fn measures(&self) -> String {
        "agreeing bits of projections, where supershingles agree".into()
    }

    fn sketch(&self, page: &Subject, scratch: &mut Scratch, out: &mut Vec<u64>) {
        self.b.sketch(page, scratch, out);
        project(page.canonical, self.bits, scratch, out);
    }

    fn keys(&self, sketch: &[u64], rarity: &Rarity, scratch: &mut Scratch, out: &mut Vec<(u64, u32)>) {
        self.b.keys(self.split(sketch).0, rarity, scratch, out);
    }

    fn score(&self, a: &[u64], b: &[u64]) -> u32 {
        let ((b_a, c_a), (b_b, c_b)) = (self.split(a), self.split(b));
        if (self.b.score(b_a, b_b) as usize) < self.b.agree { 0 } else { agreeing(c_a, c_b, self.bits) }
    }

    fn similarity(&self, score: u32, sizes: (usize, usize)) -> f64 {
        if sizes == (0, 0) { 1.0 } else { f64::from(score) / self.bits as f64 }
    }

    fn stands_for(&self) -> Option<Box<dyn Method>> {
        self.b.stands_for()
    }

    /// C rejects some of the pairs that B finds. The resemblance does not say how many. This estimate is for pages
    /// in which each word occurs once and each differing word stands alone, in k shingles. If differing words stand
    /// together, fewer pairs are found. If words repeat, more are found.
    fn chance(&self, similarity: f64, pages: u64) -> f64 {
        let shingles = (1.0 - similarity) / (1.0 + similarity);
        let cosine = 1.0 - shingles / self.b.shingles.length as f64;
        self.b.chance(similarity, pages) * at_least(self.agree, self.bits, angle::agreement(cosine))
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::{check, refusal, texts};
    use super::super::tests::{Book, by_the_book, made, sketch_of};

    /// Compares with B and C run separately.
    #[test]
    fn similarity_is_that_of_c_where_b_finds_some() {
        let similarity = |choice: &str, a: &Book, b: &Book| {
            let method = made(choice);
            let [a, b] = [a, b].map(|page| sketch_of(&*method, &page.tokens.join(" ")));
            method.similarity(method.score(&a, &b), (a.len(), b.len()))
        };
        by_the_book(&["combined:k=3"], |a, b| {
            let is_b = similarity("shingles-b:k=3", a, b) >= 2.0 / 6.0;
            if is_b { similarity("projection-c", a, b) } else { 0.0 }
        });
    }

    #[test]
    fn the_study_gives_the_defaults() {
        let method = made("combined");
        assert_eq!(method.threshold(), 355.0 / 384.0);
        assert_eq!(sketch_of(&*method, "a page of some words").len(), 12);
        assert!(sketch_of(&*method, "").is_empty());
        let alike: usize = (0..4).map(|seed| check(&*method, &texts(40, 300, seed))).sum();
        assert!(alike > 50, "{alike}");
        // The words of one page in another order: alike for C, not for B.
        let words: Vec<String> = (0..200).map(|n| format!("w{n}")).collect();
        let turned: Vec<String> = words.iter().rev().cloned().collect();
        let [a, b] = [words, turned].map(|words| sketch_of(&*method, &words.join(" ")));
        assert_eq!((method.score(&a, &b), method.score(&a, &a)), (0, 384));
    }

    #[test]
    fn parameters_that_make_no_sense_are_refused() {
        for (choice, remedy) in [
            ("combined:agree=385", "give a value from 1 to 384"),
            ("combined:super-agree=7", "give a value from 1 to 6"),
            ("combined:bits=65", "give a multiple of 64"),
            ("combined:min-values=85", "give a multiple of 6"),
            ("combined:x=1", "it has k, min-values, supershingles, super-agree, bits, threshold, agree"),
        ] {
            let refusal = refusal(choice);
            assert!(refusal.contains(remedy), "{choice}: {refusal}");
        }
    }
}

//! Compares all pairs of a set by brute force, so that duplicates which a method's search misses are counted too.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use onecopy_core::{Canonical, Config, Method, Scratch, Subject, candidates, canonicalise};

use super::EvalJob;
use super::labels::{Label, Listed};
use super::set::Set;
use super::shared::SharedShingles;
use super::tally::{JudgedPair, Tally};
use crate::error::{Error, Result};
use crate::parallel::{for_each, on_each};
use crate::progress::{Progress, Stage};
use onecopy_core::TextParts;

/// A method, and the set to evaluate it on.
pub(super) struct Trial<'a> {
    pub set: &'a Set,
    pub method: &'a dyn Method,
    pub config: &'a Config,
    pub job: &'a EvalJob,
    pub progress: &'a dyn Progress,
}

impl Trial<'_> {
    /// The sketches of the set's pages.
    pub(super) fn sketches(&self) -> Result<Vec<Vec<u64>>> {
        let pages = &self.set.pages;
        self.progress.begin(Stage::Sketch, pages.len() as u64);
        let sketches: Vec<OnceLock<Vec<u64>>> = pages.iter().map(|_| OnceLock::new()).collect();
        let buffers = || (Canonical::default(), Scratch::default());
        for_each(self.job.threads, pages.len(), buffers, |(canonical, scratch), number| {
            let page = &pages[number];
            canonicalise(&page.text, &self.config.canonical, canonical);
            let parts = page.parts.as_ref().filter(|_| self.method.looks_at().parts).map(TextParts::parts);
            let subject = Subject { canonical, text: &page.text, links: &page.links, parts };
            let mut sketch = Vec::new();
            self.method.sketch(&subject, scratch, &mut sketch);
            sketch.shrink_to_fit();
            let _ = sketches[number].set(sketch);
            self.advance(1)
        })?;
        Ok(sketches.into_iter().map(|sketch| sketch.into_inner().unwrap_or_default()).collect())
    }

    /// Compares all pairs.
    pub(super) fn compare(&self, sketches: &[Vec<u64>]) -> Result<Tally> {
        let (pages, mistakes) = (self.set.pages.len(), self.job.mistakes);
        let slices: Vec<&[u64]> = sketches.iter().map(Vec::as_slice).collect();
        let candidates = candidates(self.method, &slices);
        let few = self.job.listed_only || candidates.is_some();
        let shared = if few || !self.method.asks_rarity() { None } else { SharedShingles::new(sketches) };
        let pairs = Pairs { set: self.set, method: self.method, sketches, candidates };
        self.progress.begin(Stage::Pairs, self.pairs());
        let next = AtomicUsize::new(0);
        let total = Mutex::new(Tally::new(pages, mistakes));
        on_each(self.job.threads, |failed: &AtomicBool| {
            let mut tally = Tally::new(pages, mistakes);
            let mut marks = vec![u32::MAX; pages];
            while !failed.load(Ordering::Relaxed) {
                let row = next.fetch_add(1, Ordering::Relaxed);
                if row >= pages {
                    break;
                }
                let row = row as u32;
                let compared = if self.job.listed_only {
                    pairs.listed(row, &mut tally)
                } else {
                    let shares = shared.as_ref().map(|shared| shared.mark(row, &mut marks));
                    pairs.all(row, shares, &mut tally)
                };
                self.advance(compared)?;
            }
            total.lock().expect("no thread panics with this lock").add(tally);
            Ok(())
        })?;
        Ok(total.into_inner().expect("no thread panics with this lock"))
    }

    /// The number of pairs to compare.
    fn pairs(&self) -> u64 {
        let pages = self.set.pages.len() as u64;
        let listed = self.set.labels.all().len() as u64;
        if self.job.listed_only { listed } else { pages * pages.saturating_sub(1) / 2 }
    }

    fn advance(&self, steps: u64) -> Result<()> {
        self.progress.advance(steps);
        if self.progress.stopped() { Err(Error::Stopped) } else { Ok(()) }
    }
}

/// Pairs of pages, with the method's verdict and the set's label.
struct Pairs<'a> {
    set: &'a Set,
    method: &'a dyn Method,
    sketches: &'a [Vec<u64>],
    candidates: Option<Vec<(u32, u32)>>,
}

impl Pairs<'_> {
    /// Compares a page with the later pages it is listed with. Returns their number.
    fn listed(&self, a: u32, tally: &mut Tally) -> u64 {
        let listed = self.set.labels.row(a);
        for pair in listed {
            tally.count(&self.judged(a, pair.b, Some(pair), None), self.method.threshold());
        }
        listed.len() as u64
    }

    /// Compares a page with all later pages. Returns their number. `shares`, if known, marks the pages that share a
    /// word with this page by its number.
    fn all(&self, a: u32, shares: Option<&[u32]>, tally: &mut Tally) -> u64 {
        let threshold = self.method.threshold();
        let pages = self.set.pages.len() as u32;
        let mut listed = self.set.labels.row(a).iter().peekable();
        for b in a + 1..pages {
            let pair = listed.next_if(|pair| pair.b == b);
            tally.count(&self.judged(a, b, pair, shares), threshold);
        }
        u64::from(pages - a - 1)
    }

    /// The method's verdict and the label of a pair. Pages whose sketches share no word are not similar.
    fn judged(&self, a: u32, b: u32, listed: Option<&Listed>, shares: Option<&[u32]>) -> JudgedPair {
        let label = listed.map_or(Label::Other, |pair| pair.label);
        let whole = listed.map_or(f32::NAN, |pair| pair.whole);
        let (one, two) = (&self.set.pages[a as usize], &self.set.pages[b as usize]);
        let exact = one.fingerprint == two.fingerprint;
        let found = |pairs: &Vec<(u32, u32)>| exact || pairs.binary_search(&(a, b)).is_ok();
        let candidate = self.candidates.as_ref().is_none_or(found);
        let similarity = match label {
            _ if exact => 1.0,
            // Their similarity is never used: they neither count nor appear among the mistakes.
            Label::Unscored => 0.0,
            Label::Other if !candidate => 0.0,
            _ if shares.is_some_and(|marks| marks[b as usize] != a) => 0.0,
            _ => self.similarity(a, b),
        };
        JudgedPair { a, b, label, same_site: self.set.same_site(a, b), whole, similarity, candidate }
    }

    fn similarity(&self, a: u32, b: u32) -> f64 {
        let (a, b) = (&self.sketches[a as usize], &self.sketches[b as usize]);
        let similarity = self.method.similarity(self.method.score(a, b), (a.len(), b.len()));
        // NaN counts as not similar.
        if similarity.is_nan() { 0.0 } else { similarity.clamp(0.0, 1.0) }
    }
}

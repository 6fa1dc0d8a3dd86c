//! All pairs of a set, compared by a method: the slow way on purpose, since what a method misses is to be counted too.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use onecopy_core::{Canonical, Config, Desk, Method, Subject, canonicalise};

use super::labels::{Label, Listed};
use super::set::Set;
use super::shared::Shared;
use super::tally::{Tally, Verdict};
use crate::error::{Error, Result};
use crate::parallel::{for_each, on_each};
use crate::progress::Progress;

/// The pairs that a method's search comes upon, in order, the smaller number first. `None`: all of them.
pub(super) fn candidates(_method: &dyn Method, _sketches: &[Vec<u64>]) -> Option<Vec<(u32, u32)>> {
    None
}

/// The sketches of a set's pages.
pub(super) fn sketches(
    set: &Set,
    method: &dyn Method,
    config: &Config,
    threads: usize,
    progress: &dyn Progress,
) -> Result<Vec<Vec<u64>>> {
    let sketches: Vec<OnceLock<Vec<u64>>> = set.pages.iter().map(|_| OnceLock::new()).collect();
    let buffers = || (Canonical::default(), Desk::default());
    for_each(threads, set.pages.len(), buffers, |(canonical, desk), number| {
        let page = &set.pages[number];
        canonicalise(&page.text, &config.canonical, canonical);
        let subject = Subject { canonical, text: &page.text, links: &page.links };
        let mut sketch = Vec::new();
        method.sketch(&subject, desk, &mut sketch);
        sketch.shrink_to_fit();
        let _ = sketches[number].set(sketch);
        progress.advance(1);
        if progress.stopped() { Err(Error::Stopped) } else { Ok(()) }
    })?;
    Ok(sketches.into_iter().map(|sketch| sketch.into_inner().unwrap_or_default()).collect())
}

/// A method and the pages that it compares.
pub(super) struct Comparison<'a> {
    pub set: &'a Set,
    pub method: &'a dyn Method,
    pub sketches: &'a [Vec<u64>],
    pub candidates: Option<Vec<(u32, u32)>>,
    /// Whether pairs that are not listed are left out, rather than no duplicates.
    pub listed_only: bool,
    /// Mistakes of each kind that are kept.
    pub mistakes: usize,
}

impl Comparison<'_> {
    /// How many pairs are looked at.
    pub(super) fn pairs(&self) -> u64 {
        let pages = self.set.pages.len() as u64;
        if self.listed_only {
            self.set.labels.all().len() as u64
        } else {
            pages * pages.saturating_sub(1) / 2
        }
    }

    /// Compares all pairs.
    pub(super) fn run(&self, threads: usize, progress: &dyn Progress) -> Result<Tally> {
        let pages = self.set.pages.len();
        let next = AtomicUsize::new(0);
        let few = self.listed_only || self.candidates.is_some();
        let shared = if few || !self.method.asks_rarity() { None } else { Shared::new(self.sketches) };
        let total = Mutex::new(Tally::new(pages, self.mistakes));
        on_each(threads, |failed: &AtomicBool| {
            let mut tally = Tally::new(pages, self.mistakes);
            let mut marks = vec![u32::MAX; pages];
            while !failed.load(Ordering::Relaxed) {
                let row = next.fetch_add(1, Ordering::Relaxed);
                if row >= pages {
                    break;
                }
                let row = row as u32;
                let shares = shared.as_ref().map(|shared| {
                    shared.mark(row, &mut marks);
                    &*marks
                });
                progress.advance(self.row(row, shares, &mut tally));
                if progress.stopped() {
                    return Err(Error::Stopped);
                }
            }
            total.lock().expect("no thread panics with this lock").add(tally);
            Ok(())
        })?;
        Ok(total.into_inner().expect("no thread panics with this lock"))
    }

    /// Compares a page with those behind it; says how many that were. Where it is known which pages share a word with it,
    /// they are marked with its number in `shares`.
    fn row(&self, a: u32, shares: Option<&[u32]>, tally: &mut Tally) -> u64 {
        let threshold = self.method.threshold();
        let listed = self.set.labels.row(a);
        if self.listed_only {
            for pair in listed {
                tally.count(&self.verdict(a, pair.b, Some(pair), true), threshold);
            }
            return listed.len() as u64;
        }
        let pages = self.set.pages.len() as u32;
        let mut listed = listed.iter().peekable();
        for b in a + 1..pages {
            let pair = listed.next_if(|pair| pair.b == b);
            let share = shares.is_none_or(|marks| marks[b as usize] == a);
            tally.count(&self.verdict(a, b, pair, share), threshold);
        }
        u64::from(pages - a - 1)
    }

    /// What the method says of a pair, and what is known of it. Pages that share no word of their sketches are not alike.
    fn verdict(&self, a: u32, b: u32, listed: Option<&Listed>, share: bool) -> Verdict {
        let label = listed.map_or(Label::Other, |pair| pair.label);
        let whole = listed.map_or(f32::NAN, |pair| pair.whole);
        let (one, two) = (&self.set.pages[a as usize], &self.set.pages[b as usize]);
        let exact = one.fingerprint == two.fingerprint;
        let found = |pairs: &Vec<(u32, u32)>| exact || pairs.binary_search(&(a, b)).is_ok();
        let candidate = self.candidates.as_ref().is_none_or(found);
        let similarity = match label {
            _ if exact => 1.0,
            // Nobody looks at these: neither do they count, nor are they listed among mistakes.
            Label::Unscored => 0.0,
            Label::Other if !candidate => 0.0,
            _ if !share => 0.0,
            _ => self.similarity(a, b),
        };
        Verdict { a, b, label, same_site: self.set.same_site(a, b), whole, similarity, candidate }
    }

    fn similarity(&self, a: u32, b: u32) -> f64 {
        let (a, b) = (&self.sketches[a as usize], &self.sketches[b as usize]);
        let similarity = self.method.similarity(self.method.score(a, b), (a.len(), b.len()));
        // Not a number is not alike.
        if similarity.is_nan() { 0.0 } else { similarity.clamp(0.0, 1.0) }
    }
}

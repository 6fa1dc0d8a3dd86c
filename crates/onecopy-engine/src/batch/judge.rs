//! Compares contents by their whole sketches, many at a time.

use onecopy_core::{Held, Method};

use super::contents::Contents;
use super::gather::Gathering;
use super::outlines::Outlines;
use super::runs::Holder;
use super::segments::Segments;
use crate::error::{Error, Result};
use crate::parallel::for_each;
use crate::progress::Progress;

/// Knows where sketches are and when two are alike.
#[derive(Clone, Copy)]
pub(crate) struct Judge<'a> {
    /// Where sketches are, unless they were gathered.
    pub segments: &'a Segments,
    pub sketches: Option<Gathering<'a>>,
    pub contents: &'a Contents,
    pub outlines: &'a Outlines,
    pub method: &'a dyn Method,
    pub threads: usize,
    /// Is asked whether to stop, for some methods take long over a few comparisons.
    pub progress: &'a dyn Progress,
}

/// What a thread keeps between comparisons.
#[derive(Default)]
pub(crate) struct Desk {
    /// Room for contents to compare with.
    pub candidates: Vec<u32>,
    first: Vec<u64>,
    second: Vec<u64>,
}

impl Judge<'_> {
    /// A holder of a key as the method wants it.
    pub(crate) fn held(&self, holder: Holder) -> Held {
        self.contents.held(holder)
    }

    /// Whether two contents that share a key may be alike, by their sizes and by what comes behind the key.
    pub(crate) fn may(&self, a: Holder, b: Holder) -> bool {
        self.contents.may(a, b, self.method)
    }

    /// Whether two contents are not alike, as far as that can be told without their sketches.
    pub(crate) fn deny(&self, a: u32, b: u32) -> bool {
        self.outlines.deny(a, b, self.method)
    }

    /// The score of two contents if they are alike.
    pub(crate) fn compare(&self, a: u32, b: u32, desk: &mut Desk) -> Result<Option<u32>> {
        if self.deny(a, b) {
            return Ok(None);
        }
        let first = self.sketch(a, &mut desk.first)?;
        let second = self.sketch(b, &mut desk.second)?;
        Ok(self.method.verify(first, second))
    }

    /// How far two contents are apart, where that is a metric.
    pub(crate) fn distance(&self, a: u32, b: u32, desk: &mut Desk) -> Result<Option<f64>> {
        let first = self.sketch(a, &mut desk.first)?;
        let second = self.sketch(b, &mut desk.second)?;
        let score = self.method.score(first, second);
        Ok(self.method.distance(score, (first.len(), second.len())))
    }

    fn sketch<'a>(&'a self, content: u32, buffer: &'a mut Vec<u64>) -> Result<&'a [u64]> {
        let size = self.contents.sizes[content as usize];
        match &self.sketches {
            Some(sketches) => Ok(sketches.sketch(content, size)),
            None => self.segments.sketch(self.contents.sketch_at[content as usize], size, buffer),
        }
    }

    /// Compares each of `pairs`.
    pub(crate) fn compare_all(&self, pairs: &[(u32, u32)]) -> Result<Vec<Option<u32>>> {
        self.map(pairs, |&(a, b), desk| self.compare(a, b, desk))
    }

    /// Calls `judge` with each of `items`, shared out between threads; the answers are in their order.
    pub(crate) fn map<T: Sync, R: Send + Clone + Default>(
        &self,
        items: &[T],
        judge: impl Fn(&T, &mut Desk) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        /// Enough to be worth a lock, few enough to be shared out evenly.
        const SHARE: usize = 256;
        let mut answers = vec![R::default(); items.len()];
        let shares: Vec<_> =
            items.chunks(SHARE).zip(answers.chunks_mut(SHARE)).map(std::sync::Mutex::new).collect();
        for_each(self.threads, shares.len(), Desk::default, |desk, i| {
            if self.progress.stopped() {
                return Err(Error::Stopped);
            }
            let mut share = shares[i].lock().expect("no thread panics with this lock");
            let (items, answers) = &mut *share;
            for (item, answer) in items.iter().zip(answers.iter_mut()) {
                *answer = judge(item, desk)?;
            }
            Ok(())
        })?;
        drop(shares);
        Ok(answers)
    }
}

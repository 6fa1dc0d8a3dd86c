//! Compares contents in parallel, with sketches from segments or from a gathered section.

use onecopy_core::settle::{Buffers, Comparer};
use onecopy_core::{Elsewhere, Method};

use crate::batch::candidates::contents::Contents;
use crate::batch::candidates::outlines::Outlines;
use crate::batch::read::segments::Segments;
use crate::batch::settle::gather::Gathering;
use crate::error::{Error, Result};
use crate::parallel::for_each;
use crate::progress::Progress;

/// Finds the sketches of contents.
#[derive(Clone, Copy)]
pub(crate) struct SketchComparer<'a> {
    /// The sketches, unless they are gathered.
    pub segments: &'a Segments,
    pub sketches: Option<Gathering<'a>>,
    pub contents: &'a Contents,
    /// How many contents are the base; they come first.
    pub base: u32,
    pub outlines: &'a Outlines,
    /// How many words of each outline may be in memory a second time.
    pub crowd_words: usize,
    pub elsewhere: &'a Elsewhere,
    pub method: &'a dyn Method,
    pub threads: usize,
    pub progress: &'a dyn Progress,
}

impl Comparer for SketchComparer<'_> {
    type Error = Error;

    fn method(&self) -> &dyn Method {
        self.method
    }

    fn sizes(&self) -> &[u32] {
        &self.contents.sizes
    }

    fn base(&self) -> u32 {
        self.base
    }

    fn sketch<'a>(&'a self, content: u32, buffer: &'a mut Vec<u64>) -> Result<&'a [u64]> {
        let size = self.contents.sizes[content as usize];
        match &self.sketches {
            Some(sketches) => Ok(sketches.sketch(content, size)),
            None => self.segments.sketch(self.contents.sketch_at[content as usize], size, buffer),
        }
    }

    fn outline(&self, content: u32) -> Option<&[u64]> {
        self.outlines.of(content)
    }

    fn crowd_words(&self) -> usize {
        self.crowd_words
    }

    fn elsewhere(&self) -> &Elsewhere {
        self.elsewhere
    }

    fn map<T: Sync, R: Send + Clone + Default>(
        &self,
        items: &[T],
        judge: impl Fn(&T, &mut Buffers) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        /// Enough comparisons to be worth a lock.
        const SHARE: usize = 256;
        // Few enough to balance the threads.
        let share = (items.len() / (4 * self.threads)).clamp(1, SHARE);
        let mut answers = vec![R::default(); items.len()];
        let shares: Vec<_> =
            items.chunks(share).zip(answers.chunks_mut(share)).map(std::sync::Mutex::new).collect();
        for_each(self.threads, shares.len(), Buffers::default, |buffers, i| {
            // Some methods take long for a few comparisons.
            self.check()?;
            let mut share = shares[i].lock().expect("no thread panics with this lock");
            let (items, answers) = &mut *share;
            for (item, answer) in items.iter().zip(answers.iter_mut()) {
                *answer = judge(item, buffers)?;
            }
            Ok(())
        })?;
        drop(shares);
        Ok(answers)
    }

    fn check(&self) -> Result<()> {
        if self.progress.stopped() { Err(Error::Stopped) } else { Ok(()) }
    }

    fn settled(&self, contents: u64) {
        self.progress.advance(contents);
    }

    fn connected(&self, lists: u64) {
        self.progress.advance(lists);
    }
}

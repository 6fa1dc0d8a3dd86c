//! The sketches of each section's contents, one behind the other.

use std::path::Path;
use std::sync::{Arc, Mutex};

use super::contents::Contents;
use super::pile::Pile;
use super::sections::{ALONE, Sections};
use super::segments::Segments;
use super::spill::{Aligned, Pace};
use crate::error::{Error, Result};
use crate::parallel::for_each;
use crate::progress::Progress;

/// Sketches by section.
#[derive(Default)]
pub(crate) struct Gathered {
    piles: Vec<Pile<u64>>,
    /// Where the sketch of each content begins among those of its section.
    at: Vec<u32>,
}

/// The sketches of a section, in memory.
#[derive(Clone, Copy)]
pub(crate) struct Gathering<'a> {
    words: &'a [u64],
    at: &'a [u32],
}

impl<'a> Gathering<'a> {
    /// The sketch of a content, which has so many words.
    pub(crate) fn sketch(&self, content: u32, size: u32) -> &'a [u64] {
        &self.words[self.at[content as usize] as usize..][..size as usize]
    }
}

/// Reads all sketches once more, in order, and gathers those of sections.
pub(crate) struct Gatherer<'a> {
    pub segments: &'a Segments,
    pub contents: &'a Contents,
    /// Threads that read segments.
    pub readers: usize,
    /// Bytes in memory.
    pub memory: u64,
    pub folder: &'a Path,
}

impl Gatherer<'_> {
    pub(crate) fn gather(&self, sections: &Sections, progress: &dyn Progress) -> Result<Gathered> {
        // What is looked at in place is to be in the system's cache.
        let (sections, again) = (&sections.apart, sections.in_place.is_some());
        let mut of = vec![ALONE; self.contents.len()];
        for (number, section) in sections.iter().enumerate() {
            section.members.iter().for_each(|&content| of[content as usize] = number as u32);
        }
        let (share, pace) = (self.share(sections.len()), Arc::new(Pace::default()));
        let pile = |number| Pile::new(self.folder.join(format!("sketches-{number}")), share, pace.clone());
        let piles: Vec<Mutex<Pile<u64>>> =
            (0..sections.len()).map(|number| Mutex::new(pile(number))).collect();
        let at = Mutex::new(vec![0; self.contents.len()]);
        let desk = || Desk { dealt: vec![Dealt::default(); sections.len()], ..Desk::default() };
        for_each(self.readers, self.segments.len(), desk, |desk, i| {
            if progress.stopped() {
                return Err(Error::Stopped);
            }
            self.contents.each_sketch(self.segments, i, again, &mut desk.sketches, |content, sketch| {
                if let Some(dealt) = desk.dealt.get_mut(of[content as usize] as usize) {
                    dealt.contents.push((content, dealt.words.len()));
                    dealt.words.extend_from_slice(sketch);
                }
            })?;
            for (dealt, pile) in desk.dealt.iter_mut().zip(&piles) {
                dealt.hand_over(pile, &at, &mut desk.aligned)?;
            }
            Ok(())
        })?;
        let at = at.into_inner().expect("no thread panics with this lock");
        let unlocked = |pile: Mutex<Pile<u64>>| pile.into_inner().expect("no thread panics with this lock");
        let mut piles: Vec<Pile<u64>> = piles.into_iter().map(unlocked).collect();
        if piles.iter().any(Pile::is_spilled) {
            // The section that is settled has the memory for itself.
            let mut buffer = Aligned::default();
            piles.iter_mut().try_for_each(|pile| pile.spill_all(&mut buffer))?;
        }
        Ok(Gathered { piles, at })
    }

    /// Bytes in memory for each of so many sections. One fits; of more, most is on disk in the end, whatever they have.
    fn share(&self, sections: usize) -> u64 {
        if sections == 1 { self.memory } else { self.memory / 4 / sections.max(1) as u64 }
    }
}

impl Gathered {
    /// The sketches of a section. `buffer` is where they are, unless they are in memory already.
    pub(crate) fn section<'a>(&'a self, number: usize, buffer: &'a mut Aligned) -> Result<Gathering<'a>> {
        Ok(Gathering { words: self.piles[number].values(buffer)?, at: &self.at })
    }

    /// Deletes what is on disk.
    pub(crate) fn delete(self) -> Result<()> {
        self.piles.into_iter().try_for_each(Pile::delete)
    }
}

/// What a thread keeps between segments.
#[derive(Default)]
struct Desk {
    sketches: Aligned,
    dealt: Vec<Dealt>,
    aligned: Aligned,
}

/// Sketches of one segment for one section.
#[derive(Clone, Default)]
struct Dealt {
    words: Vec<u64>,
    /// With where their sketches begin in `words`.
    contents: Vec<(u32, usize)>,
}

impl Dealt {
    /// Hands sketches over to the pile of their section, and notes `at` what place they are.
    fn hand_over(
        &mut self,
        pile: &Mutex<Pile<u64>>,
        at: &Mutex<Vec<u32>>,
        buffer: &mut Aligned,
    ) -> Result<()> {
        if self.contents.is_empty() {
            return Ok(());
        }
        let mut pile = pile.lock().expect("no thread panics with this lock");
        let start = pile.len();
        pile.extend(&self.words, buffer)?;
        drop(pile);
        let mut at = at.lock().expect("no thread panics with this lock");
        for &(content, place) in &self.contents {
            at[content as usize] = (start + place) as u32;
        }
        self.words.clear();
        self.contents.clear();
        Ok(())
    }
}

//! Gathers the sketches of each section's contents in sequence.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::batch::candidates::contents::Contents;
use crate::batch::candidates::pile::{Pile, filled};
use crate::batch::read::segments::Segments;
use crate::batch::settle::components::{ALONE, Sections};
use crate::error::{Error, Result};
use crate::io::{Aligned, Pace};
use crate::parallel::for_each;
use crate::progress::Progress;

/// Sketches by section.
#[derive(Default)]
pub(crate) struct Gathered {
    piles: Vec<Pile<u64>>,
    /// The start of each content's sketch in those of its section.
    at: Vec<u32>,
}

/// The sketches of a section, in memory.
#[derive(Clone, Copy)]
pub(crate) struct Gathering<'a> {
    words: &'a [u64],
    at: &'a [u32],
}

impl<'a> Gathering<'a> {
    /// The sketch of a content, which has `size` words.
    pub(crate) fn sketch(&self, content: u32, size: u32) -> &'a [u64] {
        &self.words[self.at[content as usize] as usize..][..size as usize]
    }
}

/// Reads all sketches once, in order, and copies those of sections.
pub(crate) struct Gatherer<'a> {
    pub segments: &'a Segments,
    pub contents: &'a Contents,
    /// Threads that read segments.
    pub readers: usize,
    /// The memory limit in bytes.
    pub memory: u64,
    pub folder: &'a Path,
}

impl Gatherer<'_> {
    pub(crate) fn gather(&self, sections: &Sections, progress: &dyn Progress) -> Result<Gathered> {
        // Sketches that will be read in place should stay in the system's cache.
        let (sections, again) = (&sections.apart, sections.in_place.is_some());
        if sections.is_empty() && !again {
            return Ok(Gathered::default());
        }
        let mut of = vec![ALONE; self.contents.len()];
        for (number, section) in sections.iter().enumerate() {
            section.members.iter().for_each(|&content| of[content as usize] = number as u32);
        }
        let (share, pace) = (self.share(sections.len()), Arc::new(Pace::default()));
        let pile = |number| Pile::new(self.folder.join(format!("sketches-{number}")), share, pace.clone());
        let piles: Vec<Mutex<Pile<u64>>> =
            (0..sections.len()).map(|number| Mutex::new(pile(number))).collect();
        let at = Mutex::new(vec![0; self.contents.len()]);
        for_each(self.readers, self.segments.len(), GatherBuffers::default, |buffers, i| {
            if progress.stopped() {
                return Err(Error::Stopped);
            }
            let segment = self.segments.load(i)?;
            let sketches = self.segments.sketches(i, again, &mut buffers.sketches)?;
            let sketched = self.contents.sketched(&segment, i, self.segments.first_page(i));
            buffers.wanted.clear();
            buffers.wanted.extend(sketched.map(|(content, place)| (of[content as usize], content, place)));
            buffers.wanted.retain(|(section, ..)| *section != ALONE);
            buffers.wanted.sort_unstable_by_key(|(section, content, _)| (*section, *content));
            for wanted in buffers.wanted.chunk_by(|a, b| a.0 == b.0) {
                let mut pile = piles[wanted[0].0 as usize].lock().expect("no thread panics with this lock");
                for (_, content, place) in wanted {
                    buffers.places.push((*content, pile.len() as u32));
                    pile.extend(&sketches[place.clone()], &mut buffers.aligned)?;
                }
            }
            let mut at = at.lock().expect("no thread panics with this lock");
            buffers.places.drain(..).for_each(|(content, place)| at[content as usize] = place);
            progress.advance(segment.rows.len() as u64);
            Ok(())
        })?;
        let at = at.into_inner().expect("no thread panics with this lock");
        // The section being settled may use all of the memory.
        Ok(Gathered { piles: filled(piles)?, at })
    }

    /// The memory for each section, in bytes. One section fits; with more, most of them end up on disk anyway.
    fn share(&self, sections: usize) -> u64 {
        if sections == 1 { self.memory } else { self.memory / 4 / sections.max(1) as u64 }
    }
}

impl Gathered {
    /// The sketches of a section. They are in `buffer` if any was spilled.
    pub(crate) fn section<'a>(&'a self, number: usize, buffer: &'a mut Aligned) -> Result<Gathering<'a>> {
        Ok(Gathering { words: self.piles[number].values(buffer)?, at: &self.at })
    }

    /// Deletes the files.
    pub(crate) fn delete(self) -> Result<()> {
        self.piles.into_iter().try_for_each(Pile::delete)
    }
}

/// Buffers that a thread reuses between segments.
#[derive(Default)]
struct GatherBuffers {
    sketches: Aligned,
    /// The sketches of a segment that sections want: section, content, and range in the segment.
    wanted: Vec<(u32, u32, Range<usize>)>,
    /// The section position of each of them.
    places: Vec<(u32, u32)>,
    aligned: Aligned,
}

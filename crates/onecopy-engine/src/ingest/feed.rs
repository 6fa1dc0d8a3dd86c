//! Gives each thread the next chunk of any source that no other thread is reading.
//!
//! A source has one reader. Any free thread may advance it by one chunk, so one large file keeps all threads busy, even
//! a compressed one. Memory holds at most one chunk per thread.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use super::chunks::{Chunk, Chunks};
use super::inputs::{Lot, Source};
use super::opener::Opener;
use crate::error::{At, Result};
use crate::parallel::Permit;

/// A piece of work.
pub(crate) enum Piece {
    /// Lines or records of a source.
    Chunk { lot: u32, source: u32, chunk: Chunk },
    /// Sources that are one page each. A large page is a piece of its own and holds a permit.
    Documents { lot: u32, sources: Range<u32>, permit: Option<Permit> },
}

impl Piece {
    /// The size of a piece that holds a permit; `None` for others.
    pub(crate) fn large_bytes(&self, sources: &[Source]) -> Option<u64> {
        match self {
            Piece::Chunk { chunk, .. } => {
                let in_memory = chunk.rows.as_ref().map_or(0, |rows| rows.bytes);
                chunk.permit.as_ref().map(|_| chunk.bytes.len() as u64 + in_memory)
            }
            Piece::Documents { sources: range, permit, .. } => {
                permit.as_ref().map(|_| sources[range.start as usize].bytes)
            }
        }
    }

    /// The lot and the chunk number of this piece.
    pub(crate) fn place(&self) -> (u32, u32) {
        match self {
            Piece::Chunk { lot, chunk, .. } => (*lot, chunk.index),
            Piece::Documents { lot, .. } => (*lot, 0),
        }
    }
}

/// The sources of a job, handed out piece by piece.
pub(crate) struct Feed<'a> {
    sources: &'a [Source],
    lots: &'a [Lot],
    opener: &'a Opener,
    readers: Vec<Mutex<Reader>>,
    ended: Vec<AtomicBool>,
    /// The lots of many pages that were read to their end, and how many chunks each had.
    ends: Mutex<Vec<(u32, u32)>>,
}

enum Reader {
    Unopened,
    Open(OpenSource),
    Ended,
}

struct OpenSource {
    chunks: Box<dyn Chunks>,
    /// The number of chunks so far.
    count: u32,
    /// The bytes read from the file, and how many of those were already reported.
    taken: Arc<AtomicU64>,
    reported: u64,
}

impl<'a> Feed<'a> {
    pub(crate) fn new(sources: &'a [Source], lots: &'a [Lot], opener: &'a Opener) -> Feed<'a> {
        Feed {
            sources,
            lots,
            opener,
            readers: lots.iter().map(|_| Mutex::new(Reader::Unopened)).collect(),
            ended: lots.iter().map(|_| AtomicBool::new(false)).collect(),
            ends: Mutex::default(),
        }
    }

    /// The lots of many pages that were read to their end, and how many chunks each had.
    pub(crate) fn ends(self) -> Vec<(u32, u32)> {
        self.ends.into_inner().expect("no thread panics with this lock")
    }

    /// Leaves a lot out. Returns its bytes.
    pub(crate) fn skip(&self, lot: usize) -> u64 {
        self.ended[lot].store(true, Ordering::Relaxed);
        let sources = match &self.lots[lot] {
            &Lot::Stream(source) => source..source + 1,
            Lot::Documents(sources) => sources.clone(),
        };
        self.sources[sources.start as usize..sources.end as usize].iter().map(|source| source.bytes).sum()
    }

    /// The next piece and the input bytes it took, or `None` when nothing is left. `threads` and memory limit how many
    /// sources are open. `spare` is a buffer to reuse.
    pub(crate) fn next(&self, threads: usize, spare: &mut Vec<u8>) -> Result<Option<(Piece, u64)>> {
        let most = threads.min(self.opener.windows.at_once);
        loop {
            let Some(first) = self.unended().next() else { return Ok(None) };
            let free = self.unended().take(most).find_map(|lot| match self.readers[lot].try_lock() {
                Ok(reader) => Some((lot, reader)),
                Err(TryLockError::WouldBlock) => None,
                Err(TryLockError::Poisoned(_)) => panic!("a thread panicked while reading"),
            });
            let (lot, reader) = free.unwrap_or_else(|| (first, self.wait(first)));
            if let Some(piece) = self.take(lot, reader, spare)? {
                return Ok(Some(piece));
            }
        }
    }

    fn unended(&self) -> impl Iterator<Item = usize> {
        (0..self.lots.len()).filter(|&lot| !self.ended[lot].load(Ordering::Relaxed))
    }

    fn wait(&self, lot: usize) -> MutexGuard<'_, Reader> {
        self.readers[lot].lock().expect("no thread panics while reading")
    }

    fn take(
        &self,
        lot: usize,
        mut reader: MutexGuard<Reader>,
        spare: &mut Vec<u8>,
    ) -> Result<Option<(Piece, u64)>> {
        if let (Reader::Unopened, Lot::Stream(source)) = (&*reader, &self.lots[lot]) {
            let source = &self.sources[*source as usize];
            let (chunks, taken) = self.opener.chunks(source).at("read", &source.path)?;
            *reader = Reader::Open(OpenSource { chunks, count: 0, taken, reported: 0 });
        }
        let lot_number = lot as u32;
        match (&mut *reader, &self.lots[lot]) {
            (Reader::Open(open), &Lot::Stream(source)) => {
                let path = &self.sources[source as usize].path;
                let next = open.chunks.next(std::mem::take(spare)).at("read", path);
                let chunk = match next {
                    Ok(chunk) => chunk,
                    // A later call would meet an end here that is none.
                    Err(error) => {
                        *reader = Reader::Ended;
                        self.ended[lot].store(true, Ordering::Relaxed);
                        return Err(error);
                    }
                };
                let taken = open.taken.load(Ordering::Relaxed);
                let bytes = taken - std::mem::replace(&mut open.reported, taken);
                let Some(chunk) = chunk else {
                    let end = (lot_number, open.count);
                    self.ends.lock().expect("no thread panics with this lock").push(end);
                    *reader = Reader::Ended;
                    self.ended[lot].store(true, Ordering::Relaxed);
                    return Ok(None);
                };
                open.count = chunk.index + 1;
                Ok(Some((Piece::Chunk { lot: lot_number, source, chunk }, bytes)))
            }
            (Reader::Unopened, Lot::Documents(sources)) => {
                *reader = Reader::Ended;
                self.ended[lot].store(true, Ordering::Relaxed);
                drop(reader);
                let bytes =
                    self.sources[sources.start as usize..sources.end as usize].iter().map(|s| s.bytes).sum();
                let permit = (bytes > self.opener.chunk_bytes as u64).then(|| self.opener.large.enter());
                let sources = sources.clone();
                Ok(Some((Piece::Documents { lot: lot_number, sources, permit }, bytes)))
            }
            _ => Ok(None),
        }
    }
}

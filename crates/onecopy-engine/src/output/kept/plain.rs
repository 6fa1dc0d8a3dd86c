//! Copies the kept lines of a plain file. It reads only those lines, adjacent ones together.
//!
//! The rows say where each line goes, so threads write different shares of one file at the same time.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::iter::repeat_n;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::{KeptWriter, changed, kept_ranges};
use crate::batch::Segment;
use crate::error::{At, Error, Result};
use crate::ingest::Source;
use crate::io::{Aligned, BLOCK, Spill};
use crate::parallel::for_each;

/// Words per write: one large write is much faster than many small ones.
const PIECE: usize = 1 << 15;
const PIECE_BYTES: u64 = (PIECE * size_of::<u64>()) as u64;
/// The most bytes of the result that one thread writes at once, in a few pieces.
pub(super) const SHARE: u64 = 8 * PIECE_BYTES;

/// A plain file and its copy without the removed lines.
struct Plain<'a> {
    source: &'a Source,
    segments: Range<usize>,
    file: File,
    out: Spill,
    /// Where the lines of each segment begin in the copy, and at the end its length.
    starts: Vec<u64>,
}

impl KeptWriter<'_> {
    /// Writes the kept lines of `source`, a plain local file.
    pub(super) fn plain(
        &self,
        source: &Source,
        segments: Range<usize>,
        aside: &Path,
        threads: usize,
    ) -> Result<()> {
        let file = File::open(&source.path).at("read", &source.path)?;
        let starts = self.starts(source, segments.clone(), threads)?;
        let bytes = starts.last().copied().unwrap_or(0);
        let out = Spill::create(aside, Arc::default())?;
        out.reserve(bytes)?;
        let plain = Plain { source, segments, file, out, starts };
        let shares = shares(bytes, threads);
        let reported =
            |at: u64| (u128::from(source.bytes) * u128::from(at) / u128::from(bytes.max(1))) as u64;
        for_each(threads, shares.len(), Aligned::default, |piece, share| {
            let share = shares[share].clone();
            self.share(&plain, share.clone(), piece)?;
            self.progress.advance(reported(share.end) - reported(share.start));
            Ok(())
        })?;
        self.progress.advance(source.bytes - reported(bytes));
        plain.out.finish(bytes)
    }

    /// Where the kept lines of each segment begin in the copy, and at the end its length.
    fn starts(&self, source: &Source, segments: Range<usize>, threads: usize) -> Result<Vec<u64>> {
        let starts = Mutex::new(vec![0; segments.len() + 1]);
        for_each(
            threads,
            segments.len(),
            || (),
            |(), i| {
                let number = segments.start + i;
                let (segment, first) = (self.segments.load(number)?, self.segments.first_page(number));
                let kept = self.kept_of(source, &segment, first);
                let bytes: u64 = kept.iter().map(|range| range.end - range.start).sum();
                starts.lock().expect("no thread panics with this lock")[i + 1] = bytes;
                Ok(())
            },
        )?;
        let mut starts = starts.into_inner().expect("no thread panics with this lock");
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        Ok(starts)
    }

    /// Writes a share of the copy.
    fn share(&self, plain: &Plain, share: Range<u64>, piece: &mut Aligned) -> Result<()> {
        if piece.words().is_empty() {
            piece.begin(PIECE).extend(repeat_n(0, PIECE));
        }
        let Plain { source, segments, starts, .. } = plain;
        let mut copy = Copy { plain, piece, filled: 0, written: share.start };
        // The last segment that begins there: those before it may have no kept lines.
        let first = starts.partition_point(|&start| start <= share.start) - 1;
        for number in (first..segments.len()).take_while(|&number| starts[number] < share.end) {
            if self.progress.stopped() {
                return Err(Error::Stopped);
            }
            let mut at = starts[number];
            let number = segments.start + number;
            let (segment, first) = (self.segments.load(number)?, self.segments.first_page(number));
            for kept in self.kept_of(source, &segment, first) {
                let from = kept.start + share.start.saturating_sub(at);
                let to = kept.end.min(kept.start + share.end.saturating_sub(at));
                if from < to {
                    copy.take(segment.at + from..segment.at + to)?;
                }
                at += kept.end - kept.start;
            }
        }
        copy.write()
    }

    /// The ranges of a segment's kept lines, from its beginning.
    fn kept_of(&self, source: &Source, segment: &Segment, first: u32) -> Vec<Range<u64>> {
        kept_ranges(segment, first, self.decisions, source.bytes.saturating_sub(segment.at))
    }
}

/// Divides the result into whole pieces. The last shares are small, so that no thread waits long for another.
fn shares(bytes: u64, threads: usize) -> Vec<Range<u64>> {
    let (mut shares, mut at) = (Vec::new(), 0);
    while at < bytes {
        let fair = (bytes - at) / (4 * threads as u64) / PIECE_BYTES * PIECE_BYTES;
        let end = bytes.min(at + fair.clamp(PIECE_BYTES, SHARE));
        shares.push(at..end);
        at = end;
    }
    shares
}

/// Copies parts of a file.
struct Copy<'a> {
    plain: &'a Plain<'a>,
    /// The next piece to write, filled up to `filled`.
    piece: &'a mut Aligned,
    filled: usize,
    /// Where the next piece goes.
    written: u64,
}

impl Copy<'_> {
    fn take(&mut self, range: Range<u64>) -> Result<()> {
        let Plain { source, file, .. } = self.plain;
        let mut start = range.start;
        while start < range.end {
            let room = &mut bytemuck::cast_slice_mut(self.piece.words_mut())[self.filled..];
            let length = room.len().min((range.end - start) as usize);
            file.read_exact_at(&mut room[..length], start).map_err(|error| unread(source, error))?;
            self.filled += length;
            start += length as u64;
            if self.filled == PIECE * size_of::<u64>() {
                self.write()?;
            }
        }
        Ok(())
    }

    /// Writes the piece in whole blocks. The excess of the last block is truncated later.
    fn write(&mut self) -> Result<()> {
        let words = self.filled.div_ceil(size_of::<u64>()).next_multiple_of(BLOCK);
        if words > 0 {
            self.plain.out.write(&self.piece.words()[..words], self.written)?;
        }
        self.written += self.filled as u64;
        self.filled = 0;
        Ok(())
    }
}

/// A file that ends too early has changed.
fn unread(source: &Source, error: io::Error) -> Error {
    match error.kind() {
        ErrorKind::UnexpectedEof => changed(source),
        _ => Error::Io { verb: "read", path: source.path.clone(), source: error },
    }
}

#[cfg(test)]
mod tests {
    use crate::{Job, Silent, dedup};

    #[test]
    fn lines_stay_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let (input, out) = (folder.path().join("pages.jsonl"), folder.path().join("out"));
        // Each page twice, three kinds of line end, and a line that is too long.
        let (mut text, mut expected) = (String::new(), String::new());
        for n in 0..4_000 {
            let end = ["\n", "\r\n", ""][if n == 3_999 { 2 } else { n % 2 }];
            let line = format!("{{\"id\":\"{n}\",\"text\":\"page {n} of many\"}}{end}");
            let copy = format!("{{\"id\":\"{n} again\",\"text\":\"page {n} of many\"}}\n\n");
            let long = if n == 2_000 { "word ".repeat(60_000) + "\n" } else { String::new() };
            text += &[copy, long, line.clone()].concat();
            expected += &line;
        }
        std::fs::write(&input, text).unwrap();
        let mut job = Job::new([input.to_str().unwrap()], &out);
        // Many small chunks.
        (job.threads, job.memory_bytes, job.limits.page_bytes) = (16, 64 << 20, 100_000);
        dedup(&job, &Silent).unwrap();
        let kept = std::fs::read_to_string(out.join("kept/pages.jsonl")).unwrap();
        assert!(kept == expected, "{} bytes of {}", kept.len(), expected.len());
    }

    #[test]
    fn shares_are_whole_pieces_that_get_smaller() {
        for (bytes, threads) in [(0, 2), (1, 1), (super::PIECE_BYTES, 3), (400_000_001, 2), (90_000_000, 16)]
        {
            let shares = super::shares(bytes, threads);
            let lengths: Vec<u64> = shares.iter().map(|share| share.end - share.start).collect();
            assert!(
                lengths.is_sorted_by(|a, b| a >= b) && lengths.iter().sum::<u64>() == bytes,
                "{lengths:?}"
            );
            assert!(shares.iter().all(|share| share.start % super::PIECE_BYTES == 0));
            assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
    }

    #[test]
    fn threads_write_shares_of_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("pages.jsonl");
        // Lines of different lengths and of few words, in long runs of kept and of removed ones, in several shares.
        let (mut text, mut expected) = (String::new(), String::new());
        for n in 0..9_000 {
            let words: String = (0..n % 70).map(|word| format!(" {:0>80}", 9_000 * word + n)).collect();
            let line = |id: &str| format!("{{\"id\":\"{id}\",\"text\":\"page {n}{words}\"}}\n");
            text += &line(&format!("a{n}"));
            expected += &line(&format!("a{n}"));
            if n % 1_000 < 300 {
                text += &line(&format!("b{n}"));
            }
        }
        assert!(expected.len() as u64 > 2 * super::SHARE);
        std::fs::write(&input, text).unwrap();
        for threads in [1, 2, 5] {
            let out = folder.path().join(format!("out-{threads}"));
            let mut job = Job::new([input.to_str().unwrap()], &out);
            job.threads = threads;
            dedup(&job, &Silent).unwrap();
            let kept = std::fs::read_to_string(out.join("kept/pages.jsonl")).unwrap();
            assert!(kept == expected, "{threads}: {} bytes of {}", kept.len(), expected.len());
        }
    }
}

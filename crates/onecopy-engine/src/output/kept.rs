//! Writes kept pages in the files and formats of the input, with records unchanged byte for byte.

mod plain;
mod records;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use self::records::Records;
use super::cdxj::Cdxj;
use super::parquet::write_kept;
use super::treatment::Treatments;
use super::warc::RecordWriter;
use crate::batch::{Decisions, Losses, Segment, Segments, Work};
use crate::error::{At, Error, Result};
use crate::ingest::{
    Chunk, Chunks, Format, Lot, Members, OpenedChunks, Packing, Source, Trouble, copy_kept, write,
};
use crate::parallel::for_each;
use crate::progress::{Leg, Progress};
use crate::report::Archives;

/// Writes the kept pages below `kept/` in the results folder. It skips files that an earlier run finished.
pub(crate) struct KeptWriter<'a> {
    pub work: &'a Work,
    pub segments: &'a Segments,
    pub decisions: &'a Decisions,
    pub losses: &'a Losses,
    pub progress: &'a dyn Progress,
}

/// Scanning an archive takes about one in so many parts of the time for writing it.
const SCAN_SHARE: u64 = 4;

/// A file of many pages.
struct Stream<'a> {
    source: &'a Source,
    /// Its name in `kept/`.
    name: &'a str,
    lot: usize,
    /// How many threads may write it.
    threads: usize,
}

impl KeptWriter<'_> {
    /// Writes all files. Returns how archives hold removed pages, if there are archives.
    pub(crate) fn write(&self, threads: usize) -> Result<Option<Archives>> {
        let (kept, threads) = (self.kept(), threads.min(self.work.opener.windows.at_once));
        fs::create_dir_all(&kept).at("create", &kept)?;
        let ranges = self.segments.ranges(self.work.lots.len());
        let bytes: u64 = self.work.run.inputs.sources.iter().map(|source| source.bytes).sum();
        let (archives, scanned) = Treatments::archives(self);
        let treatments = {
            let leg = Leg::new(self.progress, scanned / SCAN_SHARE, scanned);
            Treatments::settle(&KeptWriter { progress: &leg, ..*self }, &archives, &ranges, threads)?
        };
        let leg = Leg::new(self.progress, bytes - scanned / SCAN_SHARE, bytes);
        KeptWriter { progress: &leg, ..*self }.lots(&ranges, &treatments, threads)?;
        Ok(treatments.counts)
    }

    fn lots(&self, ranges: &[Range<usize>], treatments: &Treatments, threads: usize) -> Result<()> {
        // All threads write a large plain file together.
        let is_large = |lot: &usize| self.is_plain(*lot).is_some_and(|bytes| bytes > 2 * plain::SHARE);
        let (large, small): (Vec<usize>, Vec<usize>) = (0..self.work.lots.len()).partition(is_large);
        // Each of a few archives may use several threads to pack its records.
        let each = threads / small.len().clamp(1, threads);
        for_each(threads, small.len(), || (), |(), i| self.lot(small[i], ranges, treatments, each))?;
        large.into_iter().try_for_each(|lot| self.lot(lot, ranges, treatments, threads))
    }

    /// The bytes of a lot that is a plain local file of lines; `None` for all others.
    fn is_plain(&self, lot: usize) -> Option<u64> {
        let Lot::Stream(number) = self.work.lots[lot] else { return None };
        let source = &self.work.run.inputs.sources[number as usize];
        let is_plain = source.format == Format::Lines(Packing::Plain);
        (is_plain && source.version.is_none() && source.member.is_none()).then_some(source.bytes)
    }

    fn lot(
        &self,
        lot: usize,
        ranges: &[Range<usize>],
        treatments: &Treatments,
        threads: usize,
    ) -> Result<()> {
        let sources = &self.work.run.inputs.sources;
        match &self.work.lots[lot] {
            Lot::Stream(number) => match self.losses.kept_name(*number, &sources[*number as usize].name) {
                Some(name) => {
                    let source = &sources[*number as usize];
                    let stream = Stream { source, name: &name, lot, threads };
                    self.file(&stream, ranges[lot].clone(), treatments)
                }
                None => {
                    self.progress.advance(sources[*number as usize].bytes);
                    Ok(())
                }
            },
            Lot::Documents(numbers) if (numbers.start as usize) < self.work.run.inputs.base => Ok(()),
            Lot::Documents(numbers) => {
                self.documents(&sources[numbers.start as usize..numbers.end as usize], ranges[lot].clone())
            }
        }
    }

    /// Writes the kept lines of all sources to one stream, in input order. All sources are JSON Lines.
    pub(crate) fn stream(&self, out: &mut dyn Write) -> Result<()> {
        let (sources, lots) = (&self.work.run.inputs.sources, &self.work.lots);
        let ranges = self.segments.ranges(lots.len());
        for (source, segments) in sources.iter().zip(ranges).skip(self.work.run.inputs.base) {
            check_unchanged(source)?;
            let mut last = None;
            self.kept_lines(source, segments, |lines| {
                last = lines.last().copied().or(last);
                out.write_all(lines).at("write", Path::new("the kept pages"))
            })?;
            // The last line of a file may lack its line break.
            if last.is_some_and(|byte| byte != b'\n') {
                out.write_all(b"\n").at("write", Path::new("the kept pages"))?;
            }
        }
        out.flush().at("write", Path::new("the kept pages"))
    }

    fn kept(&self) -> PathBuf {
        self.work.results().join("kept")
    }

    /// Writes the kept pages of a file of many pages to a temporary file, then renames it.
    fn file(&self, stream: &Stream, segments: Range<usize>, treatments: &Treatments) -> Result<()> {
        let &Stream { source, name, lot, threads } = stream;
        let target = self.kept().join(name);
        if target.exists() {
            self.progress.advance(source.bytes);
            return Ok(());
        }
        check_unchanged(source)?;
        let aside = self.work.folder().join(format!("kept-{lot}.part"));
        let create = || File::create(&aside).at("create", &aside);
        match source.format {
            Format::Parquet => self.rows(source, segments, create()?, &aside)?,
            Format::Records(packing) => {
                // Members of a local file can be copied.
                let is_local = source.version.is_none() && source.member.is_none();
                let input =
                    is_local.then(|| File::open(&source.path).at("read", &source.path)).transpose()?;
                let members = is_local.then(Members::default);
                let file = BufWriter::with_capacity(1 << 18, create()?);
                let out = RecordWriter::new(file, packing, threads, input);
                let treatments = treatments.of_lot(lot)?;
                let index =
                    self.work.run.cdxj.then(|| Cdxj::new(&target, &aside, 4 * self.work.budget.chunk));
                let records = Records { treatments, aside: &aside, out, members, number: 0, at: 0, index };
                if let Some(index) = self.records(source, segments, records)? {
                    let beside = self.kept().join(format!("{name}.cdxj"));
                    make_parent(&beside)?;
                    fs::rename(&index, &beside).at("create", &beside)?;
                }
            }
            _ if self.is_plain(lot).is_some() => self.plain(source, segments, &aside, threads)?,
            Format::Table(packing) | Format::Array(packing) => {
                self.split(source, segments, create()?, packing, &aside)?
            }
            format => self.lines(source, segments, create()?, format.packing(), &aside)?,
        }
        make_parent(&target)?;
        fs::rename(&aside, &target).at("create", &target)
    }

    fn lines(
        &self,
        source: &Source,
        segments: Range<usize>,
        file: File,
        packing: Packing,
        aside: &Path,
    ) -> Result<()> {
        let mut out = write(file, packing).at("write", aside)?;
        self.kept_lines(source, segments, |lines| out.write_all(lines).at("write", aside))?;
        out.finish().at("write", aside)
    }

    /// Calls `each` with the kept lines of each chunk.
    fn kept_lines(
        &self,
        source: &Source,
        segments: Range<usize>,
        mut each: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut gathered = Vec::new();
        self.chunks(source, segments, |segment, first, chunk, _| {
            // Lines are gathered first: one large write is much faster than many small ones.
            gathered.clear();
            for range in kept_ranges(segment, first, self.decisions, chunk.bytes.len() as u64) {
                let lines = chunk.bytes.get(range.start as usize..range.end as usize);
                gathered.extend_from_slice(lines.ok_or_else(|| changed(source))?);
            }
            each(&gathered)
        })
    }

    /// Writes the records of an archive. Returns the path of their index.
    fn records(
        &self,
        source: &Source,
        segments: Range<usize>,
        mut records: Records,
    ) -> Result<Option<PathBuf>> {
        let opened = self.work.opener.archive(source, records.members.clone()).at("read", &source.path)?;
        self.chunks_of(opened, source, segments, |_, _, chunk, rest| {
            records.write(chunk)?;
            match chunk.trouble {
                Some(Trouble::Overlong) => records.overlong(rest),
                _ => Ok(()),
            }
        })?;
        records.finish()
    }

    /// Reads a source again, chunk by chunk. Calls `each` with the segment of the chunk, its first page, the chunk and
    /// the remaining chunks.
    pub(super) fn chunks(
        &self,
        source: &Source,
        segments: Range<usize>,
        each: impl FnMut(&Segment, u32, &Chunk, &mut dyn Chunks) -> Result<()>,
    ) -> Result<()> {
        let opened = self.work.opener.chunks(source).at("read", &source.path)?;
        self.chunks_of(opened, source, segments, each)
    }

    fn chunks_of(
        &self,
        (mut chunks, taken): OpenedChunks,
        source: &Source,
        segments: Range<usize>,
        mut each: impl FnMut(&Segment, u32, &Chunk, &mut dyn Chunks) -> Result<()>,
    ) -> Result<()> {
        let (mut reported, mut spare) = (0, Vec::new());
        for number in segments {
            if self.progress.stopped() {
                return Err(Error::Stopped);
            }
            let chunk = chunks.next(spare).at("read", &source.path)?.ok_or_else(|| changed(source))?;
            each(&*self.segments.load(number)?, self.segments.first_page(number), &chunk, &mut *chunks)?;
            let taken = taken.load(std::sync::atomic::Ordering::Relaxed);
            self.progress.advance(taken - std::mem::replace(&mut reported, taken));
            spare = if chunk.permit.is_none() { chunk.bytes } else { Vec::new() };
        }
        Ok(())
    }

    /// Copies the kept records of a file whose records are not lines.
    fn split(
        &self,
        source: &Source,
        segments: Range<usize>,
        file: File,
        packing: Packing,
        aside: &Path,
    ) -> Result<()> {
        let kept = self.kept_numbers(segments)?;
        let mut out = write(file, packing).at("write", aside)?;
        let (mut split, reader, _) = self.work.opener.split(source).at("read", &source.path)?;
        copy_kept(reader, &mut *split, |number| kept.contains(&number), &mut out).at("write", aside)?;
        self.progress.advance(source.bytes);
        out.finish().at("write", aside)
    }

    /// The numbers of the kept records of a file, from zero.
    fn kept_numbers(&self, segments: Range<usize>) -> Result<HashSet<u64>> {
        let (mut kept, mut before) = (HashSet::new(), 0);
        for number in segments {
            let (segment, first) = (self.segments.load(number)?, self.segments.first_page(number));
            let stays = (first..).zip(&segment.rows).filter(|(page, _)| self.decisions.is_kept(*page));
            kept.extend(stays.map(|(_, row)| before + u64::from(row.line)));
            before += u64::from(segment.lines);
        }
        Ok(kept)
    }

    /// Writes the kept rows of a Parquet file.
    fn rows(&self, source: &Source, segments: Range<usize>, file: File, aside: &Path) -> Result<()> {
        let kept = self.kept_numbers(segments)?;
        let keep = |row: u64| kept.contains(&row);
        let reach = &self.work.opener.reach;
        let written = match source.remote().filter(|_| source.member.is_none()) {
            Some(remote) => reach.stores.blocks(&remote).and_then(|blocks| write_kept(blocks, file, keep)),
            None => reach.section(source).and_then(|input| write_kept(input, file, keep)),
        };
        self.progress.advance(source.bytes);
        match written {
            // Reading it needed fewer columns. Its pages were compared, so the run cannot finish without it.
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                let reason = format!("a column that only kept/ needs cannot be copied: {error}");
                Err(Error::Input { input: source.path.display().to_string(), reason })
            }
            written => written.map(drop).at("write", aside),
        }
    }

    fn documents(&self, sources: &[Source], segments: Range<usize>) -> Result<()> {
        if self.progress.stopped() {
            return Err(Error::Stopped);
        }
        for number in segments {
            let (segment, first) = (self.segments.load(number)?, self.segments.first_page(number));
            for (page, row) in (first..).zip(&segment.rows) {
                let source = &self.work.run.inputs.sources[row.source as usize];
                if self.decisions.is_kept(page) {
                    check_unchanged(source)?;
                    let target = self.kept().join(&source.name);
                    make_parent(&target)?;
                    let mut from = self.work.opener.bytes(source).at("read", &source.path)?;
                    let mut to = File::create(&target).at("create", &target)?;
                    io::copy(&mut from, &mut to).at("write", &target)?;
                }
            }
        }
        self.progress.advance(sources.iter().map(|source| source.bytes).sum());
        Ok(())
    }
}

/// The byte ranges of kept lines in a chunk, with their newlines; adjacent ranges are merged. `length` is the length of
/// the chunk or of the rest of the file. The last line may lack a newline.
fn kept_ranges(segment: &Segment, first: u32, decisions: &Decisions, length: u64) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for (page, row) in (first..).zip(&segment.rows) {
        if !decisions.is_kept(page) {
            continue;
        }
        let start = u64::from(row.start);
        let end = start + u64::from(row.length);
        let end = if end < length { end + 1 } else { end };
        match ranges.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => ranges.push(start..end),
        }
    }
    ranges
}

fn make_parent(target: &Path) -> Result<()> {
    let parent = target.parent().expect("results are below a folder");
    fs::create_dir_all(parent).at("create", parent)
}

/// Checks that a file has not changed: its records are found by position.
fn check_unchanged(source: &Source) -> Result<()> {
    if source.is_unchanged().at("read", &source.path)? { Ok(()) } else { Err(changed(source)) }
}

fn changed(source: &Source) -> Error {
    let reason = "it changed during the run: run again".into();
    Error::Input { input: source.path.display().to_string(), reason }
}

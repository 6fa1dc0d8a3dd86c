//! Stage 1: reads pages into segments.

pub(crate) mod counters;
pub(crate) mod facts;
pub(crate) mod losses;
pub(crate) mod seen;
pub(crate) mod segment;
pub(crate) mod segments;

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use onecopy_core::Method;

use crate::batch::order::links::Link;
use crate::batch::read::counters::Counters;
use crate::batch::read::seen::Seen;
use crate::batch::work::Work;
use crate::error::{At, Error, Result};
use crate::ingest::{
    Chunk, ChunkRows, Class, Feed, FieldNames, Opener, Piece, Reason, RecordReader, Rejection, RowCells,
    RowColumns, Source, as_json, ends_in_a_record, read_document, walk,
};
use crate::io::Aligned;
use crate::job::Job;
use crate::pagerank::scores::{Popularity, ScoreSource};
use crate::parallel::{for_each, on_each};
use crate::progress::{Note, Progress, Stage};
use crate::report::Unreadable;
use onecopy_core::Appraiser;
use onecopy_core::Record;

pub(crate) use losses::Losses;
pub(crate) use segment::{Row, Segment};
pub(crate) use segments::{Collector, Loaded, Segments};

/// Reads all sources into segments, sketched by `method`, and counts their shingles. Skips chunks that `collector`
/// already has.
pub(crate) fn read(
    job: &Job,
    work: &Work,
    method: &dyn Method,
    collector: Collector,
    progress: &dyn Progress,
) -> Result<(Segments, Counters)> {
    let (sources, budget) = (&work.run.inputs.sources, &work.budget);
    let shared = Shared::new(job, work, method, progress)?;
    let rarity_bits = if method.asks_rarity() { budget.rarity_bits } else { 0 };
    let counters = Counters::new(rarity_bits, budget.rarity_share, budget.rarity_tables);
    let total = sources.iter().map(|source| source.bytes).sum();
    progress.begin(Stage::Read, total);
    let collector =
        recount(collector, &shared, &counters, |found| found.threads(job.threads, budget.limit / 4))?;
    let feed = Feed::new(sources, &work.lots, &work.opener);
    for lot in (0..work.lots.len()).filter(|&lot| collector.has_all(lot as u32)) {
        progress.advance(feed.skip(lot));
    }
    let collector = Mutex::new(collector);
    let read = on_each(job.threads, |failed| {
        let mut reader = SegmentReader::new(&shared);
        let mut spare = Vec::new();
        while let Some((piece, bytes)) = feed.next(job.threads, &mut spare)? {
            if progress.stopped() || failed.load(Ordering::Relaxed) {
                return Err(Error::Stopped);
            }
            let (lot, chunk) = piece.place();
            let known = collector.lock().expect("no thread panics with this lock").has(lot, chunk);
            if !known {
                let large = piece.large_bytes(sources);
                if let Some(bytes) = large {
                    let mut collector = collector.lock().expect("no thread panics with this lock");
                    collector.make_room(bytes * BYTES_A_BYTE)?;
                }
                let segment = reader.read(&piece)?;
                if job.strict {
                    refuse_losses(&segment, sources)?;
                }
                let mut sketches = std::mem::take(&mut reader.sketches);
                if large.is_some() {
                    // Buffers take several times the size of a page. Those of a large page are freed at once.
                    reader = SegmentReader::new(&shared);
                }
                if method.asks_rarity() {
                    counters.add(&segment, &sketches);
                }
                collector.lock().expect("no thread panics with this lock").add(segment, &mut sketches)?;
                if large.is_none() {
                    sketches.clear();
                    reader.sketches = sketches;
                }
            }
            if let Piece::Chunk { chunk: Chunk { bytes, permit: None, .. }, .. } = piece {
                spare = bytes;
            }
            progress.advance(bytes);
        }
        Ok(())
    });
    let mut collector = collector.into_inner().expect("no thread panics with this lock");
    collector.end(feed.ends())?;
    shared.note_scores(progress);
    match read {
        Ok(()) => Ok((collector.finish()?, counters)),
        Err(error) => Err(collector.save_after(job, error, progress)),
    }
}

/// The scores that the job asks for.
fn scores(job: &Job, work: &Work, progress: &dyn Progress) -> Result<Option<Popularity>> {
    let Some(path) = &job.popularity else { return Ok(None) };
    let (rules, folder) = (&job.config.addresses, work.folder().to_owned());
    let source =
        ScoreSource { path, rules, memory_bytes: job.memory_bytes, folder, environment: &job.environment };
    Popularity::read(&source, progress).map(Some)
}

/// Returns an error if the source of a segment breaks off in it, or cannot be read at all.
fn refuse_losses(segment: &Segment, sources: &[Source]) -> Result<()> {
    let Some(last) = segment.rejected.last().filter(|last| last.reason.class.ends_file()) else {
        return Ok(());
    };
    let Unreadable { source: input, reason, .. } =
        Unreadable::of(&sources[last.source as usize].name, &last.reason.text);
    Err(Error::Unreadable { input, reason })
}

/// Counts the shingles and fingerprints of segments that an earlier run left.
fn recount(
    collector: Collector,
    shared: &Shared,
    counters: &Counters,
    threads: impl Fn(&Segments) -> usize,
) -> Result<Collector> {
    let found = collector.finish()?;
    for_each(threads(&found), found.len(), Aligned::default, |buffer, i| {
        let segment = found.load(i)?;
        for row in segment.rows.iter().filter(|row| row.sketch_size > 0) {
            shared.seen.has(row.fingerprint());
        }
        if shared.method.asks_rarity() {
            counters.add(&segment, found.sketches(i, false, buffer)?);
        }
        Ok(())
    })?;
    Ok(found.reopen())
}

/// Bytes of memory per byte of a page: the page itself, its canonical text, tokens, shingles, and its sketch twice.
pub(super) const BYTES_A_BYTE: u64 = 16;

/// The state that all reading threads share.
struct Shared<'a> {
    job: &'a Job,
    method: &'a dyn Method,
    sources: &'a [Source],
    opener: &'a Opener,
    names: FieldNames,
    seen: Seen,
    popularity: Option<Popularity>,
}

impl<'a> Shared<'a> {
    fn new(
        job: &'a Job,
        work: &'a Work,
        method: &'a dyn Method,
        progress: &dyn Progress,
    ) -> Result<Shared<'a>> {
        let (names, seen) = (FieldNames::new(&job.fields), Seen::new(work.budget.seen));
        let (sources, opener, popularity) =
            (&work.run.inputs.sources, &work.opener, scores(job, work, progress)?);
        Ok(Shared { job, method, sources, opener, names, seen, popularity })
    }

    /// Says so if the scores of the job fit no page.
    fn note_scores(&self, progress: &dyn Progress) {
        if let (Some(path), Some(popularity)) = (&self.job.popularity, &self.popularity)
            && popularity.is_useless()
        {
            progress.note(&Note::NoPageScored { path: path.clone() });
        }
    }

    /// Gives a page the score that the job has for it.
    fn rate(&self, record: &mut Record) {
        if let Some(popularity) = &self.popularity {
            popularity.rate(record);
        }
    }

    fn reader(&'a self) -> RecordReader<'a> {
        RecordReader { limits: &self.job.limits, names: &self.names, needs: &self.opener.needs }
    }
}

/// Turns pieces of input into segments. Each thread has one and reuses its buffers.
struct SegmentReader<'a> {
    shared: &'a Shared<'a>,
    appraiser: Appraiser<'a>,
    /// The sketches of the last segment. The caller takes them and returns the buffer empty.
    sketches: Vec<u64>,
}

impl<'a> SegmentReader<'a> {
    fn new(shared: &'a Shared<'a>) -> SegmentReader<'a> {
        let appraiser = Appraiser::new(&shared.job.config, shared.method);
        SegmentReader { shared, appraiser, sketches: Vec::new() }
    }

    fn read(&mut self, piece: &Piece) -> Result<Segment> {
        match piece {
            Piece::Chunk { lot, source, chunk: chunk @ Chunk { rows: Some(rows), .. } } => {
                self.rows(*lot, *source, chunk.index, rows)
            }
            Piece::Chunk { lot, source, chunk } => Ok(self.chunk(*lot, *source, chunk)),
            Piece::Documents { lot, sources, .. } => self.documents(*lot, sources.clone()),
        }
    }

    fn chunk(&mut self, lot: u32, source: u32, chunk: &Chunk) -> Segment {
        let mut segment = Segment { lot, chunk: chunk.index, at: chunk.at, ..Default::default() };
        // One shingle per word, and few words under three bytes. Unwritten memory takes no room; growth would copy.
        self.sketches.reserve(chunk.bytes.len() / 3);
        let reader = self.shared.reader();
        let format = self.shared.sources[source as usize].format;
        for raw in walk(chunk, format) {
            segment.lines = raw.number + 1;
            let (start, length) = (raw.range.start as u32, raw.range.len() as u32);
            let place = Row { source, line: raw.number, start, length, ..Row::default() };
            let judged = match reader.read(&raw) {
                Ok(Some(mut record)) => {
                    self.shared.rate(&mut record);
                    self.page(place, &record, raw.bytes, &mut segment)
                }
                // A blank line, or a record without a page, only counts as a line.
                Ok(None) => Ok(()),
                Err(reason) => Err(reason),
            };
            if let Err(reason) = judged {
                let (line, name) = (raw.number, reader.name(&raw));
                segment.rejected.push(Rejection { source, line, name, reason, lost: None });
            }
        }
        if let Some(last) = segment.rejected.last_mut().filter(|_| ends_in_a_record(chunk, format)) {
            let text = format!("the file ends within this record: {}", last.reason.text);
            last.reason = Reason::new(Class::Damaged, text);
        }
        if let Some(trouble) = &chunk.trouble {
            let reason = reader.reason(trouble);
            let (line, name) = (segment.lines, String::new());
            segment.rejected.push(Rejection { source, line, name, reason, lost: chunk.lost });
            segment.lines += 1;
        }
        segment
    }

    /// Reads rows in memory. Each counts as a line.
    fn rows(&mut self, lot: u32, source: u32, chunk: u32, part: &ChunkRows) -> Result<Segment> {
        let mut segment = Segment { lot, chunk, ..Default::default() };
        self.sketches.reserve(part.bytes as usize / 3);
        let Shared { opener, names, .. } = self.shared;
        let Some(rows) = opener.rows_of(&self.shared.sources[source as usize]) else { return Ok(segment) };
        let columns = RowColumns::choose(&**rows, &opener.fields)?;
        for row in part.range.clone() {
            let cells = RowCells::read(&**rows, &columns, row);
            let place = Row { source, line: segment.lines, ..Row::default() };
            segment.lines += 1;
            let record = cells.record(names, &opener.needs, opener.limits.page_bytes);
            let judged = record.and_then(|mut record| {
                self.shared.rate(&mut record);
                self.page(place, &record, &cells.bytes(), &mut segment)
            });
            if let Err(reason) = judged {
                let (line, name) = (place.line, cells.name());
                segment.rejected.push(Rejection { source, line, name, reason, lost: None });
            }
        }
        Ok(segment)
    }

    fn documents(&mut self, lot: u32, sources: std::ops::Range<u32>) -> Result<Segment> {
        let mut segment = Segment { lot, ..Default::default() };
        let mut bytes = Vec::new();
        for number in sources {
            let source = &self.shared.sources[number as usize];
            let record = read_document(source, self.shared.opener, &mut bytes).at("read", &source.path)?;
            let place = Row { source: number, line: segment.lines, ..Row::default() };
            segment.lines += 1;
            let judged = record.and_then(|mut record| {
                self.shared.rate(&mut record);
                self.page(place, &record, &[], &mut segment)
            });
            if let Err(reason) = judged {
                let (source, name) = (number, as_json(&source.name));
                segment.rejected.push(Rejection { source, line: 0, name, reason, lost: None });
            }
        }
        Ok(segment)
    }

    /// Adds a page to the segment, or returns why it cannot be judged. `bytes` are its record.
    fn page(
        &mut self,
        place: Row,
        record: &Record,
        bytes: &[u8],
        segment: &mut Segment,
    ) -> Result<(), Reason> {
        let (row, start) = (segment.rows.len() as u32, self.sketches.len());
        let seen = &self.shared.seen;
        let page =
            self.appraiser.appraise(record, bytes, |fingerprint| !seen.has(fingerprint), &mut self.sketches);
        if let Some(objection) = page.objection() {
            return Err(Reason::new(Class::NoWords, objection));
        }
        let own = page.address;
        segment.links.extend(page.links.into_iter().map(|link| Link {
            row,
            kind: link.kind,
            from: own.exact,
            address: link.address.exact,
            identity: link.address.identity,
            to: link.to,
        }));
        segment.ranks.extend_from_slice(&row.to_ne_bytes());
        segment.ranks.extend_from_slice(&(page.rank.len() as u32).to_ne_bytes());
        segment.ranks.extend_from_slice(&page.rank);
        segment.names.extend_from_slice(page.name.as_bytes());
        facts::write(record, &mut segment.facts);
        segment.rows.push(Row {
            fingerprint: page.fingerprint.0,
            sketch_start: start as u32,
            sketch_size: (self.sketches.len() - start) as u32,
            name_end: segment.names.len() as u32,
            fact_end: segment.facts.len() as u32,
            identity: own.identity,
            language: page.language,
            silent: page.silent,
            own: page.own,
            markets: page.markets,
            ..place
        });
        Ok(())
    }
}

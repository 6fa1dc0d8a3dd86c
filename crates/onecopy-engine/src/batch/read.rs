//! Stage 1: pages in, segments out.

use std::borrow::Cow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use onecopy_core::{
    Canonical, Contender, Desk, Language, LooksAt, Method, Signals, Subject, digest, identity, in_market,
    language, rank,
};

use super::counters::Counters;
use super::facts;
use super::links::Link;
use super::seen::Seen;
use super::segment::{Row, Segment};
use super::segments::{Collector, Segments};
use super::work::Work;
use crate::error::{At, Error, Result};
use crate::ingest::{
    Chunk, Feed, FieldNames, Format, LinkKind, Opener, Piece, Record, Rejection, Source, TextParts, Trouble,
    lines, read_document, read_line, read_record, records,
};
use crate::job::Job;
use crate::parallel::{for_each, on_each};
use crate::progress::{Progress, Stage};

/// Reads all sources into segments, sketched by `method`, counting their words on the way. Chunks that `collector` has are not read again.
pub(crate) fn read(
    job: &Job,
    work: &Work,
    method: &dyn Method,
    collector: Collector,
    progress: &dyn Progress,
) -> Result<(Segments, Counters)> {
    let (sources, budget) = (&work.run.inputs.sources, &work.budget);
    let (names, seen) = (FieldNames::new(&job.fields), Seen::new(budget.seen));
    let LooksAt { text, links, .. } = method.looks_at();
    let (opener, looks_further) = (&work.opener, text || links);
    let shared = Shared { job, method, sources, opener, names, looks_further, seen };
    let counters = Counters::new(if method.asks_rarity() { budget.rarity_bits } else { 0 });
    let total = sources.iter().map(|source| source.bytes).sum();
    progress.begin(Stage::Read, total);
    let collector =
        recount(collector, &shared, &counters, |found| found.threads(job.threads, budget.limit / 4))?;
    let feed = Feed::new(sources, &work.lots, &work.opener);
    let collector = Mutex::new(collector);
    let turn = AtomicUsize::new(0);
    on_each(job.threads, |failed| {
        let mut reader = PageReader::new(&shared);
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
                let mut sketches = std::mem::take(&mut reader.sketches);
                if large.is_some() {
                    // Buffers are several times a page's size: those of a large one leave nothing behind.
                    reader = PageReader::new(&shared);
                }
                if method.asks_rarity() {
                    counters.add(&segment, &sketches, turn.fetch_add(7, Ordering::Relaxed));
                }
                collector.lock().expect("no thread panics with this lock").add(segment, &sketches)?;
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
    })?;
    let collector = collector.into_inner().expect("no thread panics with this lock");
    Ok((collector.finish()?, counters))
}

/// Counts the shingles and fingerprints of the segments that an earlier run left.
fn recount(
    collector: Collector,
    shared: &Shared,
    counters: &Counters,
    threads: impl Fn(&Segments) -> usize,
) -> Result<Collector> {
    let found = collector.finish()?;
    for_each(threads(&found), found.len(), Vec::new, |buffer, i| {
        let segment = found.load(i)?;
        for row in segment.rows.iter().filter(|row| row.sketch_size > 0) {
            shared.seen.has(row.fingerprint());
        }
        if shared.method.asks_rarity() {
            counters.add(&segment, found.sketches(i, buffer)?, i);
        }
        Ok(())
    })?;
    Ok(found.reopen())
}

/// Bytes of memory for a byte of page: the page itself, its canonical text, tokens, shingles, and its sketch twice.
pub(super) const BYTES_A_BYTE: u64 = 16;

/// What all threads read pages with.
struct Shared<'a> {
    job: &'a Job,
    method: &'a dyn Method,
    sources: &'a [Source],
    opener: &'a Opener,
    names: FieldNames,
    /// Whether sketches are of more than the canonical text, whatever the page.
    looks_further: bool,
    seen: Seen,
}

/// Turns pieces of input into segments. One a thread; its buffers are reused.
struct PageReader<'a> {
    shared: &'a Shared<'a>,
    canonical: Canonical,
    desk: Desk,
    /// The sketches of the last segment that was read, to be taken out and given back empty.
    sketches: Vec<u64>,
    ranks: Vec<(u32, Vec<u8>)>,
    /// What the last address came to.
    identity: String,
}

/// The hashes by which an address is looked up.
#[derive(Clone, Copy, Default)]
struct Address {
    exact: u64,
    /// Of what it comes to by the rules.
    identity: u64,
}

impl<'a> PageReader<'a> {
    fn new(shared: &'a Shared<'a>) -> PageReader<'a> {
        PageReader {
            shared,
            canonical: Canonical::default(),
            desk: Desk::default(),
            sketches: Vec::new(),
            ranks: Vec::new(),
            identity: String::new(),
        }
    }

    fn read(&mut self, piece: &Piece) -> Result<Segment> {
        self.ranks.clear();
        let mut segment = match piece {
            Piece::Chunk { lot, source, chunk } => self.chunk(*lot, *source, chunk),
            Piece::Documents { lot, sources, .. } => self.documents(*lot, sources.clone())?,
        };
        self.ranks.sort_unstable_by(|a, b| a.1.cmp(&b.1));
        for (row, rank) in &self.ranks {
            segment.ranks.extend_from_slice(&row.to_ne_bytes());
            segment.ranks.extend_from_slice(&(rank.len() as u32).to_ne_bytes());
            segment.ranks.extend_from_slice(rank);
        }
        Ok(segment)
    }

    fn chunk(&mut self, lot: u32, source: u32, chunk: &Chunk) -> Segment {
        let mut segment = Segment { lot, chunk: chunk.index, ..Default::default() };
        match self.shared.sources[source as usize].format {
            Format::Records(_) => self.records(source, chunk, &mut segment),
            _ => self.lines(source, chunk, &mut segment),
        }
        if let Some(trouble) = &chunk.trouble {
            let reason = match trouble {
                Trouble::Overlong => self.overlong(),
                Trouble::Corrupt(what) => format!("damaged from here on, the rest is not read: {what}"),
                Trouble::Refused(what) => what.clone(),
            };
            segment.rejected.push(Rejection { source, line: segment.lines, reason });
            segment.lines += 1;
        }
        segment
    }

    /// Adds the pages of an archive's records. Records that hold no page are counted only.
    fn records(&mut self, source: u32, chunk: &Chunk, segment: &mut Segment) {
        for item in records(&chunk.bytes) {
            let number = segment.lines;
            segment.lines += 1;
            let (start, length) = (item.range.start as u32, item.range.len() as u32);
            let place = Row { source, line: number, start, length, ..Row::default() };
            let page = item
                .record
                .and_then(|record| read_record(&record, &self.shared.job.limits, &self.shared.opener.wanted));
            let bytes = &chunk.bytes[item.range];
            let judged = match page {
                Ok(Some(record)) => self.page(place, &record, bytes, segment),
                Ok(None) => Ok(()),
                Err(reason) => Err(reason),
            };
            if let Err(reason) = judged {
                segment.rejected.push(Rejection { source, line: number, reason });
            }
        }
    }

    fn lines(&mut self, source: u32, chunk: &Chunk, segment: &mut Segment) {
        for (start, line) in lines(&chunk.bytes) {
            let number = segment.lines;
            segment.lines += 1;
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let place = Row {
                source,
                line: number,
                start: start as u32,
                length: line.len() as u32,
                ..Row::default()
            };
            let record = if line.len() > self.shared.job.limits.page_bytes {
                Err(self.overlong())
            } else {
                read_line(line, &self.shared.names, &self.shared.opener.wanted)
            };
            let judged = record.and_then(|record| self.page(place, &record, line, segment));
            if let Err(reason) = judged {
                segment.rejected.push(Rejection { source, line: number, reason });
            }
        }
    }

    fn overlong(&self) -> String {
        format!(
            "longer than the limit of {} bytes a page (raise --max-page to take it)",
            self.shared.job.limits.page_bytes
        )
    }

    fn documents(&mut self, lot: u32, sources: std::ops::Range<u32>) -> Result<Segment> {
        let mut segment = Segment { lot, ..Default::default() };
        let mut bytes = Vec::new();
        for number in sources {
            let source = &self.shared.sources[number as usize];
            let record = read_document(source, self.shared.opener, &mut bytes).at("read", &source.path)?;
            let place = Row { source: number, line: segment.lines, ..Row::default() };
            segment.lines += 1;
            let judged = record.and_then(|record| {
                // A file's place in its folder is its address.
                let record = Record { url: Some(source.name.as_str().into()), ..record };
                self.page(place, &record, &[], &mut segment)
            });
            if let Err(reason) = judged {
                segment.rejected.push(Rejection { source: number, line: 0, reason });
            }
        }
        Ok(segment)
    }

    /// Adds a page to the segment, or says why it cannot be judged. `bytes` are its record.
    fn page(
        &mut self,
        place: Row,
        record: &Record,
        bytes: &[u8],
        segment: &mut Segment,
    ) -> Result<(), String> {
        let config = &self.shared.job.config;
        record.text.canonicalise(&config.canonical, &mut self.canonical);
        let silent = self.canonical.token_count() == 0;
        let pointing = record.links.iter().any(|(kind, _)| *kind != LinkKind::Canonical);
        if silent && !pointing {
            return Err("no words to compare".into());
        }
        let (row, start) = (segment.rows.len() as u32, self.sketches.len());
        let fingerprint = self.canonical.fingerprint();
        // A page that turns out to stand for another is not compared, so nobody may count on its sketch.
        // And where a sketch is more than the canonical text says, the best page's own is wanted.
        let of_more = record.parts.is_some() || self.shared.looks_further;
        if !silent && (pointing || of_more || !self.shared.seen.has(fingerprint)) {
            self.sketch(record);
        }
        let own = self.address(record.url.as_deref());
        self.links(row, record, own, silent, segment);
        let name = name(record);
        self.rank(row, record, &name, bytes);
        segment.names.extend_from_slice(name.as_bytes());
        facts::write(record, &mut segment.facts);
        segment.rows.push(Row {
            fingerprint: fingerprint.0,
            sketch_start: start as u32,
            sketch_size: (self.sketches.len() - start) as u32,
            name_end: segment.names.len() as u32,
            fact_end: segment.facts.len() as u32,
            identity: own.identity,
            language: language(&self.canonical).map_or(0, Language::to_u8),
            silent,
            own: of_more,
            markets: markets(record.url.as_deref(), &config.markets),
            ..place
        });
        Ok(())
    }

    /// Appends the sketch of the page that was made canonical.
    fn sketch(&mut self, record: &Record) {
        let method = self.shared.method;
        let text = if method.looks_at().text { record.text.plain() } else { "".into() };
        let parts = record.parts.as_ref().map(TextParts::parts);
        let subject = Subject { canonical: &self.canonical, text: &text, links: &record.out_links, parts };
        method.sketch(&subject, &mut self.desk, &mut self.sketches);
    }

    /// The hashes of an address; zeros for none.
    fn address(&mut self, url: Option<&str>) -> Address {
        let Some(url) = url else { return Address::default() };
        self.identity.clear();
        if !identity(url, &self.shared.job.config.addresses, &mut self.identity) {
            self.identity.push_str(url);
        }
        Address { exact: digest(url.as_bytes()).max(1), identity: digest(self.identity.as_bytes()).max(1) }
    }

    /// Takes down where the page says that it is, unless that is where it was found.
    fn links(&mut self, row: u32, record: &Record, own: Address, silent: bool, segment: &mut Segment) {
        for (kind, to) in &record.links {
            let named = self.address(Some(to));
            if silent || named.identity != own.identity {
                let (address, identity) = (named.exact, named.identity);
                segment.links.push(Link {
                    row,
                    kind: *kind,
                    from: own.exact,
                    address,
                    identity,
                    to: to.clone(),
                });
            }
        }
    }

    fn rank(&mut self, row: u32, record: &Record, name: &str, bytes: &[u8]) {
        let signals =
            Signals { url: record.url.as_deref(), time: record.time, popularity: record.popularity };
        let length = self.canonical.as_bytes().len();
        let (name, digest) = (name.trim_matches('"'), digest(bytes));
        let contender = Contender { name, signals, length, digest };
        let mut out = Vec::new();
        rank(&contender, &self.shared.job.config.winner, &mut out);
        self.ranks.push((row, out));
    }
}

/// A bit for each of `markets` that the address is in.
fn markets(url: Option<&str>, markets: &[String]) -> u16 {
    let Some(url) = url else { return 0 };
    let bits = markets.iter().enumerate().filter(|(_, market)| in_market(url, market));
    bits.fold(0, |set, (bit, _)| set | 1 << bit)
}

/// A page's name as JSON: its id as given, else its URL, else nothing.
fn name<'a>(record: &Record<'a>) -> Cow<'a, str> {
    match &record.url {
        _ if !record.id.is_empty() => record.id.into(),
        Some(url) => serde_json::to_string(url).expect("a string is JSON").into(),
        None => "".into(),
    }
}

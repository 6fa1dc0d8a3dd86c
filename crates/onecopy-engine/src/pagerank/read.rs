//! Reads the links of pages, and edge lists.

mod edges;
mod linking;

use std::fs::{self, File};
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use onecopy_core::{AddressRules, Content, Needs};

use self::edges::EdgeReader;
use self::linking::LinkingPage;
use super::merged::Merged;
use super::pages::{Batch, Pages};
use super::scratch::Scratch;
use super::{LinkCounts, LinkInput, PageRankJob};
use crate::error::{At, Error, Result};
use crate::ingest::{
    Chunk, Feed, FieldNames, Format, Inputs, Links, Opener, Piece, Planning, Reach, RecordReader, Source,
    Spools, Stores, Window, Windows, check_fields, lots, plan, read_document, read_linked, sniff, walk,
};
use crate::io::spool;
use crate::job::Fields;
use crate::lock::Lock;
use crate::parallel::{Gate, on_each};
use crate::progress::{Progress, Stage};
use crate::report::Unreadable;

/// The size of a chunk of input.
const CHUNK_BYTES: usize = 2 << 20;
/// The least and the most bytes of names and links in a batch.
const BATCH_BYTES: [u64; 2] = [2 << 20, 16 << 20];
/// All batches together take about this part of the memory.
const BATCHES_PART: u64 = 32;
/// Pages larger than a chunk that are worked on at once.
const LARGE_PAGES: usize = 2;
/// The usual name of the field with links.
const LINKS_FIELD: &str = "links";

/// What is needed to read links.
pub(super) struct Reading<'a> {
    pub job: &'a PageRankJob,
    pub addresses: &'a AddressRules,
    pub merged: &'a Merged,
    pub scratch: &'a Scratch,
}

impl Reading<'_> {
    /// Reads all inputs into `pages`.
    pub(super) fn read(&self, pages: &Pages, progress: &dyn Progress) -> Result<LinkCounts> {
        let job = self.job;
        let stdin = job.inputs.iter().any(|input| input == "-");
        let stdin = if stdin { Some(spool(self.scratch.path(), progress)?) } else { None };
        let inputs = match job.kind {
            LinkInput::Pages => self.plan(stdin.as_deref(), progress)?,
            LinkInput::Links => Inputs { sources: self.edge_lists(stdin.as_deref())?, ..Inputs::default() },
        };
        let (sources, opener) = (&inputs.sources, self.opener());
        check_fields(
            sources,
            &Opener { fields: job.fields.clone(), ..self.opener() },
            job.threads,
            progress,
        )?;
        let total: u64 = sources.iter().map(|source| source.bytes).sum();
        progress.begin(Stage::Read, total);
        let lots = lots(sources, CHUNK_BYTES as u64);
        let feed = Feed::new(sources, &lots, &opener);
        let (all, done) = (Lock::new(Vec::new()), AtomicU64::new(0));
        on_each(job.threads, |failed| {
            let names = FieldNames::new(&opener.fields);
            let mut reader = LinkReader {
                reading: self,
                opener: &opener,
                names: &names,
                sources,
                pages,
                batch: Batch::default(),
                batch_bytes: self.batch_bytes(),
                done: 0.0,
                counts: LinkCounts::default(),
                name: String::new(),
            };
            let mut spare = Vec::new();
            while let Some((piece, bytes)) = feed.next(job.threads, &mut spare)? {
                if progress.stopped() || failed.load(Ordering::Relaxed) {
                    return Err(Error::Stopped);
                }
                let read = done.fetch_add(bytes, Ordering::Relaxed) + bytes;
                reader.done = read as f64 / total.max(1) as f64;
                let counts = reader.read(&piece)?;
                all.lock().push((piece.place(), counts));
                if let Piece::Chunk { chunk: Chunk { bytes, permit: None, .. }, .. } = piece {
                    spare = bytes;
                }
                progress.advance(bytes);
            }
            reader.flush()?;
            all.lock().push(((u32::MAX, u32::MAX), reader.counts));
            Ok(())
        })?;
        Ok(added(all.into_inner(), &inputs))
    }

    fn batch_bytes(&self) -> usize {
        let part = self.job.memory_bytes / BATCHES_PART / self.job.threads.max(1) as u64;
        part.clamp(BATCH_BYTES[0], BATCH_BYTES[1]) as usize
    }

    fn plan(&self, stdin: Option<&Path>, progress: &dyn Progress) -> Result<Inputs> {
        let (inputs, reach) = (&self.job.inputs, self.reach());
        let out = self.scratch.path();
        let found = plan(inputs, &Planning { stdin, out, links: Links::Follow, reach: &reach, progress })?;
        if found.is_empty() {
            return Err(Error::Input { input: inputs.join(" "), reason: "there is nothing to read".into() });
        }
        Ok(found)
    }

    /// The files of links. Their names tell nothing about their format, so all are lines.
    fn edge_lists(&self, stdin: Option<&Path>) -> Result<Vec<Source>> {
        let mut sources = Vec::new();
        for input in &self.job.inputs {
            let path = match (input.as_str(), stdin) {
                ("-", Some(spooled)) => spooled.to_owned(),
                _ => PathBuf::from(input),
            };
            let refused = |reason: &str| Error::Input { input: input.clone(), reason: reason.into() };
            if path.is_dir() {
                return Err(refused("a folder, and links are read from files: give their names"));
            }
            if !path.exists() {
                return Err(refused("no such file"));
            }
            let mut head = Vec::new();
            File::open(&path).and_then(|file| file.take(16).read_to_end(&mut head)).at("read", &path)?;
            let bytes = fs::metadata(&path).at("read", &path)?.len();
            let (name, format) = (input.clone(), Format::Lines(sniff(&head)));
            sources.push(Source { path, name, format, bytes, modified_ns: 0, version: None, member: None });
        }
        Ok(sources)
    }

    fn reach(&self) -> Reach {
        let window = Window::of_half(self.job.memory_bytes);
        let spools = Spools::new(self.scratch.path(), self.job.limits.expansion, window);
        Reach { stores: Stores::new(self.job.environment.iter().cloned()), spools }
    }

    fn opener(&self) -> Opener {
        let links = self.job.fields.links.clone().or_else(|| Some(LINKS_FIELD.into()));
        Opener {
            reach: self.reach(),
            rows: None,
            base_rows: None,
            fields: Fields { links, ..self.job.fields.clone() },
            limits: self.job.limits.clone(),
            needs: Needs { whole: true, content: Content::All, ..Needs::default() },
            chunk_bytes: CHUNK_BYTES,
            large: Gate::new(LARGE_PAGES),
            windows: Windows::default(),
        }
    }
}

/// The counts of all pieces, whatever the order in which they were read.
fn added(mut pieces: Vec<((u32, u32), LinkCounts)>, inputs: &Inputs) -> LinkCounts {
    pieces.sort_by_key(|piece| piece.0);
    let mut counts = LinkCounts::default();
    counts.unreadable.extend(inputs.unreadable.iter().map(|(name, reason)| Unreadable::of(name, reason)));
    pieces.into_iter().for_each(|(_, piece)| counts.add(piece));
    counts
}

/// Turns pieces of input into pages and links. Each thread has one.
struct LinkReader<'a> {
    reading: &'a Reading<'a>,
    opener: &'a Opener,
    names: &'a FieldNames,
    sources: &'a [Source],
    pages: &'a Pages,
    batch: Batch,
    /// A larger batch is handed over.
    batch_bytes: usize,
    /// The part of the input that was read.
    done: f64,
    counts: LinkCounts,
    name: String,
}

impl LinkReader<'_> {
    fn read(&mut self, piece: &Piece) -> Result<LinkCounts> {
        match piece {
            Piece::Chunk { source, chunk, .. } => {
                let source = &self.sources[*source as usize];
                match self.reading.job.kind {
                    LinkInput::Links => self.edges(source, chunk),
                    LinkInput::Pages => self.chunk(source, chunk)?,
                }
                if let Some(trouble) = &chunk.trouble {
                    let reason = self.records().reason(trouble).text;
                    self.counts.unreadable.push(Unreadable::of(&source.name, &reason));
                }
            }
            Piece::Documents { sources, .. } => self.documents(sources.clone())?,
        }
        self.flush_if_full()?;
        Ok(std::mem::take(&mut self.counts))
    }

    fn records(&self) -> RecordReader<'_> {
        RecordReader { limits: &self.opener.limits, names: self.names, needs: &self.opener.needs }
    }

    fn edges(&mut self, source: &Source, chunk: &Chunk) {
        let Reading { addresses, merged, .. } = self.reading;
        let mut reader = EdgeReader::new(addresses, merged, &mut self.batch, &mut self.counts);
        reader.read(&source.name, chunk);
    }

    fn chunk(&mut self, source: &Source, chunk: &Chunk) -> Result<()> {
        for raw in walk(chunk, source.format) {
            let place = || format!("{}, record {} of its part", source.name, raw.number + 1);
            if self.records().is_page_line(&raw) {
                match read_linked(raw.bytes, self.names) {
                    Ok(line) => self.page(&LinkingPage::of_line(&line))?,
                    Err(reason) => self.reject(&place(), &reason.text),
                }
                continue;
            }
            match self.records().read(&raw) {
                Ok(Some(record)) => self.page(&LinkingPage::of_record(&record))?,
                Ok(None) => {}
                Err(reason) => self.reject(&place(), &reason.text),
            }
        }
        Ok(())
    }

    fn documents(&mut self, range: Range<u32>) -> Result<()> {
        let mut bytes = Vec::new();
        for source in &self.sources[range.start as usize..range.end as usize] {
            match read_document(source, self.opener, &mut bytes).at("read", &source.path)? {
                Ok(record) => self.page(&LinkingPage::of_record(&record))?,
                Err(reason) => self.reject(&source.name, &reason.text),
            }
        }
        Ok(())
    }

    fn reject(&mut self, place: &str, reason: &str) {
        self.counts.rejected += 1;
        self.counts.first_rejected.get_or_insert_with(|| format!("{place}: {reason}"));
    }

    /// Adds a page and its links.
    fn page(&mut self, page: &LinkingPage) -> Result<()> {
        let Reading { job, addresses, merged, .. } = self.reading;
        if page.name(addresses, &mut self.name).is_none() {
            self.reject("a page", "it has neither an address nor an id");
            return Ok(());
        }
        self.counts.read += 1;
        let from = self.batch.page(merged.winner(&self.name));
        self.counts.nofollow += page.each_target(job.nofollow, |target| {
            super::named::name(target, addresses, &mut self.name);
            let to = self.batch.mention(merged.winner(&self.name));
            self.batch.add_link(from, to);
        });
        self.flush_if_full()
    }

    /// A large batch looks up many pages of a stripe while its table is in the cache.
    fn flush_if_full(&mut self) -> Result<()> {
        if self.batch.bytes() > self.batch_bytes { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let links = self.batch.links();
        let own = self.pages.add(&mut self.batch, self.done)?;
        self.counts.links += links - own;
        self.counts.own_links += own;
        Ok(())
    }
}

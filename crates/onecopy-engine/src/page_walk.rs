//! Walks over the pages of any input, one after the other, in their order. Memory holds one chunk.

use onecopy_core::{Canonical, CanonicalRules, Needs, Record};

use crate::error::{At, Error, Result};
use crate::ingest::{
    Chunk, Feed, FieldNames, Opener, Piece, RecordReader, Source, ends_in_a_record, lots, read_document, walk,
};
use crate::progress::{Progress, Stage};
use crate::report::Unreadable;
use crate::service::{ImportPlan, ImportReading, ImportRejection, OnRejection, reach};

/// Receives the canonical text of a page with words.
pub(crate) type OnPage<'a> = dyn FnMut(&Canonical) + 'a;

/// What was read.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// All records, those with words, and those that were rejected.
    pub read: u64,
    pub pages: u64,
    pub rejected: u64,
    pub unreadable: Vec<Unreadable>,
}

/// Calls `page` for all pages of a plan that have words.
pub(crate) fn walk_pages(
    plan: &ImportPlan,
    progress: &dyn Progress,
    rejected: &mut OnRejection,
    page: &mut OnPage,
) -> Result<Walked> {
    progress.begin(Stage::Read, plan.bytes());
    let mut walked = Walked::default();
    for sources in &plan.readings {
        Walk { plan, sources, progress, rejected, page, walked: &mut walked }.read()?;
    }
    Ok(walked)
}

/// Sources that are read in the same way, and what becomes of their pages.
struct Walk<'a, 'r, 'p> {
    plan: &'a ImportPlan,
    sources: &'a ImportReading,
    progress: &'a dyn Progress,
    rejected: &'a mut OnRejection<'r>,
    page: &'a mut OnPage<'p>,
    walked: &'a mut Walked,
}

/// The source that is read.
#[derive(Default)]
struct Current {
    source: u32,
    /// Records before the chunk.
    before: u64,
    read: u64,
    unread: u64,
    /// The reason of the first record that could not be read.
    first: String,
    ending: Option<Unreadable>,
}

impl Walk<'_, '_, '_> {
    /// Reads all sources in their order.
    fn read(&mut self) -> Result<()> {
        let (plan, sources) = (self.plan, self.sources);
        let lots = lots(&sources.inputs.sources, sources.chunk_bytes as u64);
        let opener = sources.opener(reach(&plan.environment, &plan.spool, &sources.limits), Needs::default());
        let feed = Feed::new(&sources.inputs.sources, &lots, &opener);
        for (source, reason) in sources.inputs.unread() {
            self.walked.read += 1;
            self.reject(source, None, reason.text)?;
        }
        let lost = sources.inputs.unreadable.iter().map(|(name, reason)| Unreadable::of(name, reason));
        self.walked.unreadable.extend(lost);
        let (mut current, mut spare) = (Current::default(), Vec::new());
        while let Some((piece, bytes)) = feed.next(1, &mut spare)? {
            spare = self.piece(piece, &opener, &mut current)?;
            self.progress.advance(bytes);
            if self.progress.stopped() {
                return Err(Error::Stopped);
            }
        }
        self.end(current);
        Ok(())
    }

    /// Reads the pages of a piece. Returns its buffer for reuse.
    fn piece(&mut self, piece: Piece, opener: &Opener, current: &mut Current) -> Result<Vec<u8>> {
        let sources = &self.sources.inputs.sources;
        match piece {
            Piece::Chunk { source, chunk, .. } => {
                if current.source != source {
                    self.end(std::mem::replace(current, Current { source, ..Current::default() }));
                }
                self.chunk(&chunk, &sources[source as usize], current)?;
                Ok(chunk.bytes)
            }
            Piece::Documents { sources: range, .. } => {
                let mut bytes = Vec::new();
                for source in &sources[range.start as usize..range.end as usize] {
                    let record = read_document(source, opener, &mut bytes).at("read", &source.path)?;
                    self.walked.read += 1;
                    match record {
                        Ok(record) => self.record(&record, &source.name, None)?,
                        Err(reason) => self.reject(&source.name, None, reason.text)?,
                    }
                }
                Ok(bytes)
            }
        }
    }

    fn chunk(&mut self, chunk: &Chunk, source: &Source, current: &mut Current) -> Result<()> {
        let (names, needs) = (FieldNames::new(&self.sources.fields), Needs::default());
        let reader = RecordReader { limits: &self.sources.limits, names: &names, needs: &needs };
        let first = current.before + 1;
        for raw in walk(chunk, source.format) {
            current.before += 1;
            let line = Some(first + u64::from(raw.number));
            match reader.read(&raw) {
                Ok(None) => current.read += u64::from(source.format.is_archive()),
                Ok(Some(record)) => {
                    (current.read, self.walked.read) = (current.read + 1, self.walked.read + 1);
                    self.record(&record, &source.name, line)?;
                }
                Err(reason) => {
                    self.walked.read += 1;
                    current.miss(&reason.text);
                    self.reject(&source.name, line, reason.text)?;
                }
            }
        }
        if ends_in_a_record(chunk, source.format) {
            current.ending = Some(Unreadable::of(&source.name, "the file ends within a record"));
        }
        if let Some(trouble) = &chunk.trouble {
            let reason = reader.reason(trouble).text;
            if trouble.ends_file() {
                let ending = Unreadable::of(&source.name, &reason);
                current.ending = Some(Unreadable { lost: chunk.lost, ..ending });
            }
            current.before += 1;
            self.walked.read += 1;
            current.miss(&reason);
            self.reject(&source.name, Some(current.before), reason)?;
        }
        Ok(())
    }

    fn record(&mut self, record: &Record, source: &str, line: Option<u64>) -> Result<()> {
        let mut canonical = Canonical::default();
        record.text.canonicalise(&CanonicalRules::default(), &mut canonical);
        if canonical.token_count() > 0 {
            self.walked.pages += 1;
            (self.page)(&canonical);
            return Ok(());
        }
        match record.points_elsewhere() {
            true => Ok(()),
            false => self.reject(source, line, "no words to compare".into()),
        }
    }

    fn reject(&mut self, source: &str, line: Option<u64>, reason: String) -> Result<()> {
        self.walked.rejected += 1;
        (self.rejected)(&ImportRejection { source: source.into(), line, reason })
    }

    /// Ends a source: one without a readable record, or that breaks off, is named.
    fn end(&mut self, source: Current) {
        let Current { source, read, unread, first, ending, .. } = source;
        let lost = match ending {
            Some(ending) => Some(Unreadable { pages: read, ..ending }),
            None if read > 0 || unread == 0 => None,
            None => {
                let name = &self.sources.inputs.sources[source as usize].name;
                Some(Unreadable { lost: Some(unread), ..Unreadable::of(name, &first) })
            }
        };
        self.walked.unreadable.extend(lost);
    }
}

impl Current {
    fn miss(&mut self, reason: &str) {
        if self.unread == 0 {
            self.first = reason.to_owned();
        }
        self.unread += 1;
    }
}

//! Reads records of any format and tags them.

use onecopy_core::{Canonical, CanonicalRules, FilterRules, Needs, Record, Tag, canonical_id};

use super::Tagged;
use super::file::TagFile;
use crate::error::{At, Error, Result};
use crate::ingest::{
    Chunk, Feed, FieldNames, Opener, Piece, RecordReader, Source, as_json, ends_in_a_record, lots,
    read_document, walk,
};
use crate::progress::Progress;
use crate::report::Unreadable;
use crate::service::{ImportPlan, ImportReading, ImportRejection, OnRejection, reach};

/// Sources that are read in the same way, and what becomes of their pages.
pub(super) struct Reading<'a, 'r> {
    pub plan: &'a ImportPlan,
    pub sources: &'a ImportReading,
    pub rules: &'a FilterRules,
    pub progress: &'a dyn Progress,
    pub rejected: &'a mut OnRejection<'r>,
    pub tagged: &'a mut Tagged,
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

impl Reading<'_, '_> {
    /// Reads all sources in their order.
    pub(super) fn read(&mut self, file: &mut TagFile) -> Result<()> {
        let (plan, sources) = (self.plan, self.sources);
        let lots = lots(&sources.inputs.sources, sources.chunk_bytes as u64);
        let opener = sources.opener(reach(&plan.environment, &plan.spool, &sources.limits), Needs::default());
        let feed = Feed::new(&sources.inputs.sources, &lots, &opener);
        for (source, reason) in sources.inputs.unread() {
            self.tagged.read += 1;
            self.reject(source, None, reason.text)?;
        }
        let lost = sources.inputs.unreadable.iter().map(|(name, reason)| Unreadable::of(name, reason));
        self.tagged.unreadable.extend(lost);
        let (mut current, mut spare) = (Current::default(), Vec::new());
        while let Some((piece, bytes)) = feed.next(1, &mut spare)? {
            spare = self.piece(piece, &opener, &mut current, file)?;
            self.progress.advance(bytes);
            if self.progress.stopped() {
                return Err(Error::Stopped);
            }
        }
        self.end(current);
        Ok(())
    }

    /// Tags the pages of a piece. Returns its buffer for reuse.
    fn piece(
        &mut self,
        piece: Piece,
        opener: &Opener,
        current: &mut Current,
        file: &mut TagFile,
    ) -> Result<Vec<u8>> {
        let sources = &self.sources.inputs.sources;
        match piece {
            Piece::Chunk { source, chunk, .. } => {
                if current.source != source {
                    self.end(std::mem::replace(current, Current { source, ..Current::default() }));
                }
                self.chunk(&chunk, &sources[source as usize], current, file)?;
                Ok(chunk.bytes)
            }
            Piece::Documents { sources: range, .. } => {
                let mut bytes = Vec::new();
                for source in &sources[range.start as usize..range.end as usize] {
                    let record = read_document(source, opener, &mut bytes).at("read", &source.path)?;
                    self.tagged.read += 1;
                    match record {
                        Ok(record) => self.record(&record, &source.name, None, file)?,
                        Err(reason) => self.reject(&source.name, None, reason.text)?,
                    }
                }
                Ok(bytes)
            }
        }
    }

    fn chunk(
        &mut self,
        chunk: &Chunk,
        source: &Source,
        current: &mut Current,
        file: &mut TagFile,
    ) -> Result<()> {
        let (names, needs) = (FieldNames::new(&self.sources.fields), Needs::default());
        let reader = RecordReader { limits: &self.sources.limits, names: &names, needs: &needs };
        let first = current.before + 1;
        for raw in walk(chunk, source.format) {
            current.before += 1;
            let line = Some(first + u64::from(raw.number));
            match reader.read(&raw) {
                Ok(None) => current.read += u64::from(source.format.is_archive()),
                Ok(Some(record)) => {
                    (current.read, self.tagged.read) = (current.read + 1, self.tagged.read + 1);
                    self.record(&record, &source.name, line, file)?;
                }
                Err(reason) => {
                    self.tagged.read += 1;
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
            self.tagged.read += 1;
            current.miss(&reason);
            self.reject(&source.name, Some(current.before), reason)?;
        }
        Ok(())
    }

    fn record(&mut self, record: &Record, source: &str, line: Option<u64>, file: &mut TagFile) -> Result<()> {
        let mut canonical = Canonical::default();
        record.text.canonicalise(&CanonicalRules::default(), &mut canonical);
        if canonical.token_count() > 0 {
            self.tagged.tagged += 1;
            return file.write(&name(record, source, line), &Tag::of_canonical(&canonical, self.rules));
        }
        match record.points_elsewhere() {
            true => Ok(()),
            false => self.reject(source, line, "no words to compare".into()),
        }
    }

    fn reject(&mut self, source: &str, line: Option<u64>, reason: String) -> Result<()> {
        self.tagged.rejected += 1;
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
        self.tagged.unreadable.extend(lost);
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

/// A page's name as JSON: its id, else its address, else its place.
fn name(record: &Record, source: &str, line: Option<u64>) -> String {
    match (&record.url, line) {
        _ if !record.id.is_empty() => canonical_id(record.id).into_owned(),
        (Some(url), _) => as_json(url),
        (None, Some(line)) => as_json(&format!("{source}:{line}")),
        (None, None) => as_json(source),
    }
}

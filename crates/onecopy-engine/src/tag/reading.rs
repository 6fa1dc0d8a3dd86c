//! Reads a piece of input of any format, and makes the tags of its pages. Any thread does that.

use onecopy_core::{Canonical, CanonicalRules, FilterRules, Needs, Record, Tag, canonical_id};

use crate::error::{At, Result};
use crate::ingest::{
    Chunk, FieldNames, Opener, Piece, RecordReader, Source, as_json, ends_in_a_record, read_document, walk,
};
use crate::report::Unreadable;
use crate::service::ImportReading;

/// Sources that are read in the same way.
pub(super) struct Reading<'a> {
    pub sources: &'a ImportReading,
    pub opener: &'a Opener,
    pub rules: &'a FilterRules,
}

/// A piece of input with its tags.
#[derive(Default)]
pub(super) struct TaggedPiece {
    /// The source of a chunk. Files that are one page each have their own names.
    pub chunk_of: Option<u32>,
    pub name: String,
    pub records: Vec<TaggedRecord>,
    /// Whether records that are no pages still count as read, as in archives.
    pub is_archive: bool,
    /// If its source breaks off here.
    pub ending: Option<Unreadable>,
}

/// A record of a piece. A file that is one page has its own name.
pub(super) struct TaggedRecord {
    pub own_name: Option<String>,
    pub made: Made,
}

/// What became of a record.
pub(super) enum Made {
    /// The tag of a page, and its name as JSON. A page without a name is named by its place.
    Tag(Option<String>, Tag),
    /// A page without words that leads elsewhere.
    Pointing,
    /// A page without words.
    Silent,
    /// Not a page.
    Other,
    /// Not readable, and why.
    Unread(String),
}

impl Reading<'_> {
    /// Tags the pages of a piece.
    pub(super) fn piece(&self, piece: &Piece) -> Result<TaggedPiece> {
        let sources = &self.sources.inputs.sources;
        match piece {
            Piece::Chunk { source, chunk, .. } => {
                let from = &sources[*source as usize];
                Ok(TaggedPiece { chunk_of: Some(*source), ..self.chunk(chunk, from) })
            }
            Piece::Documents { sources: range, .. } => {
                let (mut bytes, mut canonical) = (Vec::new(), Canonical::default());
                let mut document = |source: &Source| {
                    let record = read_document(source, self.opener, &mut bytes).at("read", &source.path)?;
                    let made = match record {
                        Ok(record) => self.record(&record, &mut canonical),
                        Err(reason) => Made::Unread(reason.text),
                    };
                    Ok(TaggedRecord { own_name: Some(source.name.clone()), made })
                };
                let sources = sources[range.start as usize..range.end as usize].iter();
                let records = sources.map(&mut document).collect::<Result<_>>()?;
                Ok(TaggedPiece { records, ..TaggedPiece::default() })
            }
        }
    }

    fn chunk(&self, chunk: &Chunk, source: &Source) -> TaggedPiece {
        let (names, needs) = (FieldNames::new(&self.sources.fields), Needs::default());
        let reader = RecordReader { limits: &self.sources.limits, names: &names, needs: &needs };
        let (name, is_archive) = (source.name.clone(), source.format.is_archive());
        let mut piece = TaggedPiece { name, is_archive, ..TaggedPiece::default() };
        let mut canonical = Canonical::default();
        for raw in walk(chunk, source.format) {
            piece.push(match reader.read(&raw) {
                Ok(None) => Made::Other,
                Ok(Some(record)) => self.record(&record, &mut canonical),
                Err(reason) => Made::Unread(reason.text),
            });
        }
        if ends_in_a_record(chunk, source.format) {
            piece.ending = Some(Unreadable::of(&source.name, "the file ends within a record"));
        }
        if let Some(trouble) = &chunk.trouble {
            let reason = reader.reason(trouble).text;
            if trouble.ends_file() {
                let ending = Unreadable::of(&source.name, &reason);
                piece.ending = Some(Unreadable { lost: chunk.lost, ..ending });
            }
            piece.push(Made::Unread(reason));
        }
        piece
    }

    fn record(&self, record: &Record, canonical: &mut Canonical) -> Made {
        record.text.canonicalise(&CanonicalRules::default(), canonical);
        match canonical.token_count() {
            0 if record.points_elsewhere() => Made::Pointing,
            0 => Made::Silent,
            _ => Made::Tag(name(record), Tag::of_canonical(canonical, self.rules)),
        }
    }
}

impl TaggedPiece {
    fn push(&mut self, made: Made) {
        self.records.push(TaggedRecord { own_name: None, made });
    }
}

/// A page's name as JSON: its id, else its address.
fn name(record: &Record) -> Option<String> {
    match &record.url {
        _ if !record.id.is_empty() => Some(canonical_id(record.id).into_owned()),
        url => url.as_deref().map(as_json),
    }
}

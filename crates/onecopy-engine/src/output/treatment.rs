//! How the kept archives treat each record: it stays whole, becomes a `revisit` record, or is left out.
//!
//! All of this is settled before the first archive is written, because an original may be in another file, and a request
//! may precede its response. The steps:
//!
//! ```text
//! scan        records → entries     reads the archives again; hashes payloads that may be stored once
//! originals   entries → rows        of the records with one payload, one stays whole and the others refer to it
//! companions  entries → dropped     requests and metadata of a record that is left out are left out too
//! ```
//!
//! Entries and rows are in files of the working folder, so memory does not limit the number of records.

mod companions;
mod entry;
mod files;
mod originals;
mod scan;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Mutex;

use onecopy_core::Decision;

pub(crate) use self::files::Original;
use self::files::{Files, LEFT_OUT, Settled};
use self::scan::{Found, Scan, in_lot};
use super::kept::KeptWriter;
use crate::error::Result;
use crate::ingest::{Format, Lot, RecordKind, Source, WarcRecord, names};
use crate::job::{Payloads, RemovedRecords};
use crate::parallel::for_each;
use crate::report::Archives;

/// How one record is treated.
pub(crate) enum Treatment {
    Whole,
    LeaveOut,
    /// A `revisit` record takes its place. Its payload is that of this record, which stays whole.
    Revisit(Original),
}

/// How the records of all archives are treated.
pub(crate) struct Treatments {
    files: Files,
    /// Hashes of the ids of records that are left out, in their archives.
    dropped: HashSet<u64>,
    /// `None` if the input has no archive.
    pub counts: Option<Archives>,
}

impl Treatments {
    /// The lots that are archives, with their sources, and the bytes of all.
    pub(super) fn archives<'a>(kept: &KeptWriter<'a>) -> (Vec<(usize, &'a Source)>, u64) {
        let sources = &kept.work.run.inputs.sources;
        let archive = |(lot, of): (usize, &Lot)| match of {
            // An archive that could not be read is not written.
            Lot::Stream(number) => Some((lot, &sources[*number as usize])).filter(|(_, source)| {
                matches!(source.format, Format::Records(_))
                    && kept.losses.kept_name(*number, &source.name).is_some()
            }),
            Lot::Documents(_) => None,
        };
        let archives: Vec<_> = kept.work.lots.iter().enumerate().filter_map(archive).collect();
        let bytes = archives.iter().map(|(_, source)| source.bytes).sum();
        (archives, bytes)
    }

    /// Settles the treatment of every record. `segments` has the segments of each lot.
    pub(super) fn settle(
        kept: &KeptWriter,
        lots: &[(usize, &Source)],
        segments: &[Range<usize>],
        threads: usize,
    ) -> Result<Treatments> {
        let files = Files::new(kept.work.folder());
        if lots.is_empty() {
            return Ok(Treatments { files, dropped: HashSet::new(), counts: None });
        }
        let mut found = Found::default();
        if changes_any(kept, lots, segments) {
            let scan = Scan::new(kept, &files);
            let all = Mutex::new(&mut found);
            for_each(
                threads,
                lots.len(),
                || (),
                |(), n| {
                    let (lot, source) = lots[n];
                    let of_lot = scan.lot(lot, source, segments[lot].clone())?;
                    let mut all = all.lock().expect("no thread panics with this lock");
                    all.add(of_lot);
                    kept.work.budget.check_references(all.reference_bytes())
                },
            )?;
        }
        let numbers: Vec<usize> = lots.iter().map(|&(lot, _)| lot).collect();
        originals::find(&files, &numbers, &mut found, kept.work.budget.names)?;
        let dropped = companions::find(&files, &numbers, &mut found)?;
        Ok(Treatments { files, dropped, counts: Some(found.counts) })
    }

    /// The treatment of the records of one lot.
    pub(super) fn of_lot(&self, lot: usize) -> Result<LotTreatments<'_>> {
        Ok(LotTreatments { all: self, lot, rows: self.files.rows(lot)? })
    }
}

/// How the records of one archive are treated.
pub(super) struct LotTreatments<'a> {
    all: &'a Treatments,
    lot: usize,
    rows: Vec<Settled>,
}

impl LotTreatments<'_> {
    /// The treatment of a record, by its number in the archive.
    pub(super) fn of(&self, number: u32, record: &WarcRecord) -> Result<Treatment> {
        if self.is_dropped(record) || self.row(number).is_some_and(|row| row.lot == LEFT_OUT) {
            return Ok(Treatment::LeaveOut);
        }
        Ok(self.original_of(number)?.map_or(Treatment::Whole, Treatment::Revisit))
    }

    /// The original of a record that becomes a revisit, by its number in the archive.
    pub(super) fn original_of(&self, number: u32) -> Result<Option<Original>> {
        match self.row(number) {
            Some(&Settled { lot, facts, .. }) if lot != LEFT_OUT => {
                self.all.files.original(lot, facts).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn row(&self, number: u32) -> Option<&Settled> {
        self.rows.binary_search_by_key(&number, |row| row.number).ok().map(|at| &self.rows[at])
    }

    /// Whether it belongs to a record that is left out.
    fn is_dropped(&self, record: &WarcRecord) -> bool {
        let dropped = &self.all.dropped;
        let belongs = matches!(record.kind, RecordKind::Request | RecordKind::Metadata | RecordKind::Revisit);
        !dropped.is_empty() && belongs && dropped.contains(&in_lot(names(record)[0], self.lot))
    }
}

/// Whether any record may change. Without a removed page, all archives are copied.
fn changes_any(kept: &KeptWriter, lots: &[(usize, &Source)], segments: &[Range<usize>]) -> bool {
    let first = |segment: usize| match segment < kept.segments.len() {
        true => kept.segments.first_page(segment),
        false => kept.segments.pages() as u32,
    };
    let mut pages = lots.iter().flat_map(|&(lot, _)| first(segments[lot].start)..first(segments[lot].end));
    kept.work.run.payloads == Some(Payloads::All)
        || pages.any(|page| matches!(kept.decisions.of(page), Decision::Removed { .. }))
}

/// Whether a removed page stays in its archive if no revisit takes its place. Nothing replays a conversion, and a
/// collection of texts must not keep its duplicates.
fn stays(mode: RemovedRecords, kind: RecordKind) -> bool {
    mode == RemovedRecords::Revisit && kind != RecordKind::Conversion
}

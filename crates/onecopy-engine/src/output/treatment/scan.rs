//! Reads an archive again: finds the captures whose payload may be stored once, and how records refer to each other.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use onecopy_core::{Decision, Kind, PageId};

use super::entry::{Entry, Role};
use super::files::{Facts, Files};
use super::stays;
use crate::batch::Segment;
use crate::error::Result;
use crate::ingest::{
    Chunk, RecordKind, Source, WarcRecord, capture, id_hash, names, names_of_original, records,
};
use crate::job::{Payloads, RemovedRecords};
use crate::output::kept::KeptWriter;
use crate::report::Archives;

/// A record that is left out if the other one is. Both are hashes of ids or of other names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Companion {
    pub record: u64,
    pub of: u64,
    /// Whether it is a revisit, which counts as a removed page.
    pub revisit: bool,
}

/// What the scan found in all archives, except entries.
#[derive(Default)]
pub(super) struct Found {
    pub counts: Archives,
    /// The number of entries that have a key.
    pub keys: u64,
    /// The number of entries that may be left out.
    pub gone: u64,
    /// The names of records that revisits of the input refer to. They cannot become revisits themselves.
    pub pinned: HashSet<u64>,
    pub companions: Vec<Companion>,
}

impl Found {
    pub(super) fn add(&mut self, other: Found) {
        self.counts.whole += other.counts.whole;
        self.counts.left_out += other.counts.left_out;
        self.keys += other.keys;
        self.gone += other.gone;
        self.pinned.extend(other.pinned);
        self.companions.extend(other.companions);
    }

    /// About how much memory the references take, with the sets that are made from them.
    pub(super) fn reference_bytes(&self) -> u64 {
        let (pinned, companions) = (self.pinned.len() as u64, self.companions.len() as u64);
        20 * pinned + (size_of::<Companion>() as u64 + 20) * companions + 40 * self.gone
    }
}

/// Scans the archives of a run.
pub(super) struct Scan<'a> {
    kept: &'a KeptWriter<'a>,
    files: &'a Files,
    /// A bit for each page: whether another page was removed in favour of it.
    winners: Vec<u64>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(kept: &'a KeptWriter<'a>, files: &'a Files) -> Scan<'a> {
        let pages = kept.segments.pages();
        let mut winners = vec![0; pages.div_ceil(64)];
        for page in 0..pages as PageId {
            if let Decision::Removed { winner, .. } = kept.decisions.of(page) {
                winners[winner as usize / 64] |= 1 << (winner % 64);
            }
        }
        Scan { kept, files, winners }
    }

    /// Scans one archive.
    pub(super) fn lot(&self, lot: usize, source: &Source, segments: Range<usize>) -> Result<Found> {
        let mut of_lot = LotScan {
            mode: self.kept.work.run.removed_records,
            all: self.kept.work.run.payloads == Some(Payloads::All),
            out: self.files.begin(lot)?,
            found: Found::default(),
            number: 0,
        };
        self.kept.chunks(source, segments, |segment, first, chunk, _| {
            self.chunk(&mut of_lot, segment, first, chunk)
        })?;
        of_lot.out.finish()?;
        Ok(of_lot.found)
    }

    fn chunk(&self, of_lot: &mut LotScan, segment: &Segment, first: PageId, chunk: &Chunk) -> Result<()> {
        let mut pages = HashMap::new();
        for (page, row) in (first..).zip(&segment.rows) {
            let decision = self.kept.decisions.of(page);
            if !row.silent {
                pages.insert(row.line, (decision, self.is_winner(page)));
            } else if matches!(decision, Decision::Removed { .. }) {
                of_lot.found.counts.whole += 1;
            }
        }
        for (line, item) in (0..).zip(records(&chunk.bytes)) {
            if let Ok(record) = &item.record {
                of_lot.record(record, pages.get(&line).copied())?;
            }
            of_lot.number += 1;
        }
        Ok(())
    }

    fn is_winner(&self, page: PageId) -> bool {
        self.winners[page as usize / 64] >> (page % 64) & 1 == 1
    }
}

/// The scan of one archive.
struct LotScan {
    mode: RemovedRecords,
    /// Whether all payloads are stored once.
    all: bool,
    out: Facts,
    found: Found,
    /// The number of the next record.
    number: u32,
}

impl LotScan {
    /// Notes a record. `page` has the decision about it, and whether it is a winner, if it is a page.
    fn record(&mut self, record: &WarcRecord, page: Option<(Decision, bool)>) -> Result<()> {
        self.references(record);
        match page {
            Some((Decision::Removed { kind, .. }, _)) => self.removed(record, kind),
            Some((Decision::Kept, winner)) if winner || self.all => self.entry(record, Role::Kept, false),
            Some((Decision::Kept, _)) => Ok(()),
            _ if self.all => self.entry(record, Role::Whole, false),
            _ => Ok(()),
        }
    }

    fn removed(&mut self, record: &WarcRecord, kind: Kind) -> Result<()> {
        let stays = stays(self.mode, record.kind);
        let count = if stays { &mut self.found.counts.whole } else { &mut self.found.counts.left_out };
        *count += 1;
        let role = if stays { Role::Whole } else { Role::Gone };
        // A page that redirects is not a copy of its target.
        if kind != Kind::Redirect && self.mode != RemovedRecords::LeaveOut && capture(record).is_some() {
            return self.entry(record, role, true);
        }
        if role == Role::Gone { self.gone(record) } else { Ok(()) }
    }

    /// An entry of a capture. Other records stay whole.
    fn entry(&mut self, record: &WarcRecord, role: Role, removed: bool) -> Result<()> {
        let Some(capture) = capture(record) else { return Ok(()) };
        let (key, facts) = (Some(capture.key()), self.out.capture(&capture)?);
        let (time, number, names) = (capture.time, self.number, names(record));
        self.found.keys += 1;
        self.found.gone += u64::from(role == Role::Gone);
        self.out.entry(Entry { key, role, removed, time, number, facts, names })
    }

    /// An entry of a removed page that no revisit can replace.
    fn gone(&mut self, record: &WarcRecord) -> Result<()> {
        let (number, names) = (self.number, names(record));
        self.found.gone += 1;
        self.out.entry(Entry { key: None, role: Role::Gone, removed: true, time: 0, number, facts: 0, names })
    }

    /// Notes how the record refers to others.
    fn references(&mut self, record: &WarcRecord) {
        if record.kind == RecordKind::Revisit && self.mode != RemovedRecords::LeaveOut {
            self.found.pinned.extend(names_of_original(record).into_iter().filter(|&name| name != 0));
        }
        if self.mode == RemovedRecords::Revisit || record.is_arc() {
            return;
        }
        let [own, ..] = names(record);
        let concurrent = record.values("warc-concurrent-to").map(|id| id_hash(&id));
        let refers = record.values("warc-refers-to").map(|id| id_hash(&id));
        let companions = &mut self.found.companions;
        let of = |record, of| Companion { record, of, revisit: false };
        if matches!(record.kind, RecordKind::Request | RecordKind::Metadata) {
            companions.extend(concurrent.chain(refers).map(|other| of(own, other)));
            return;
        }
        companions.extend(concurrent.map(|other| of(other, own)));
        if record.kind == RecordKind::Revisit {
            let [id, visit, _] = names_of_original(record);
            companions.extend([id, visit].map(|of| Companion { record: own, of, revisit: true }));
        }
    }
}

//! Reads an archive again: finds the captures whose payload may be stored once, and how records refer to each other.

use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::Range;

use onecopy_core::{Decision, Kind, PageId};

use super::entry::{Entry, Role};
use super::files::{Facts, Files};
use super::stays;
use crate::batch::Segment;
use crate::error::{At, Result};
use crate::ingest::{
    Capture, Chunk, Chunks, Overlong, PayloadKey, Purpose, RecordKind, Source, Trouble, WarcRecord, capture,
    id_hash, key_of, names, names_of_original, records, start_of_capture, started,
};
use crate::job::{Payloads, RemovedRecords};
use crate::output::kept::KeptWriter;
use crate::report::Archives;

/// A record that is left out if the other one is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Companion {
    /// The id of the record, [in its archive](in_lot).
    pub record: u64,
    /// The id of the other one in the same archive, or a name that the original of a revisit has in any archive.
    pub of: u64,
    /// Whether it is a revisit, which counts as a removed page.
    pub revisit: bool,
}

/// The hash of an id in one archive. An input may hold an archive twice, and only one of the two is left out.
pub(super) fn in_lot(id: u64, lot: usize) -> u64 {
    id.wrapping_add((lot as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The findings in all archives, except entries.
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
            lot,
            number: 0,
        };
        self.kept.chunks(source, segments, |segment, first, chunk, rest| {
            self.chunk(&mut of_lot, segment, first, chunk)?;
            match chunk.trouble {
                Some(Trouble::Overlong) => of_lot.overlong(rest).at("read", &source.path)?,
                _ => Ok(()),
            }
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
    lot: usize,
    /// The number of the next record.
    number: u32,
}

impl LotScan {
    /// Notes a record. `page` has the decision about it, and whether it is a winner, if it is a page.
    fn record(&mut self, record: &WarcRecord, page: Option<(Decision, bool)>) -> Result<()> {
        self.references(record);
        match page {
            Some((Decision::Removed { kind, .. }, _)) => self.removed(record, kind),
            Some((Decision::Kept, winner)) if winner || self.all => {
                self.entry(record, Entry { role: Role::Kept, ..Entry::default() })
            }
            Some((Decision::Kept, _)) => Ok(()),
            _ if self.all => self.entry(record, Entry::default()),
            _ => Ok(()),
        }
    }

    fn removed(&mut self, record: &WarcRecord, kind: Kind) -> Result<()> {
        let stays = stays(self.mode, record.kind);
        let count = if stays { &mut self.found.counts.whole } else { &mut self.found.counts.left_out };
        *count += 1;
        let role = if stays { Role::Whole } else { Role::Gone };
        let entry = Entry { role, removed: true, ..Entry::default() };
        // A page that redirects is not a copy of its target.
        let may_be_revisit = kind != Kind::Redirect && self.mode != RemovedRecords::LeaveOut;
        if may_be_revisit && capture(record).is_some() {
            return self.entry(record, entry);
        }
        if role == Role::Gone { self.put(Entry { names: names(record), ..entry }) } else { Ok(()) }
    }

    /// Adds the entry of a capture. Other records stay whole.
    fn entry(&mut self, record: &WarcRecord, entry: Entry) -> Result<()> {
        match capture(record) {
            Some(capture) => self.keyed(record, &capture, Entry { key: Some(capture.key()), ..entry }),
            None => Ok(()),
        }
    }

    fn keyed(&mut self, record: &WarcRecord, capture: &Capture, entry: Entry) -> Result<()> {
        let facts = self.out.capture(capture)?;
        self.found.keys += 1;
        self.put(Entry { time: capture.time, facts, names: names(record), ..entry })
    }

    fn put(&mut self, entry: Entry) -> Result<()> {
        self.found.gone += u64::from(entry.role == Role::Gone);
        self.out.entry(Entry { number: self.number, ..entry })
    }

    /// Notes the record that was too long for the last chunk. It has a number too.
    fn overlong(&mut self, chunks: &mut dyn Chunks) -> io::Result<Result<()>> {
        let mut noted = Ok(());
        if self.all {
            let mut overlong = Overlong::new(Purpose::Key);
            chunks.overlong(&mut overlong)?;
            if let Some((start, hash)) = overlong.finish() {
                noted = self.long(&start, key_of(hash));
            }
        }
        self.number += 1;
        Ok(noted)
    }

    /// Notes a record by its start and the key of its payload.
    fn long(&mut self, start: &[u8], key: PayloadKey) -> Result<()> {
        let Some(record) = started(start) else { return Ok(()) };
        let Some(capture) = start_of_capture(&record) else { return Ok(()) };
        self.keyed(&record, &capture, Entry { key: Some(key), ..Entry::default() })
    }

    /// Notes how the record refers to others.
    fn references(&mut self, record: &WarcRecord) {
        if record.kind == RecordKind::Revisit {
            self.found.pinned.extend(names_of_original(record).into_iter().filter(|&name| name != 0));
        }
        if self.mode == RemovedRecords::Revisit || record.is_arc() {
            return;
        }
        let own = in_lot(names(record)[0], self.lot);
        let ids = |name| record.values(name).map(|id| in_lot(id_hash(&id), self.lot));
        let (concurrent, refers) = (ids("warc-concurrent-to"), ids("warc-refers-to"));
        let companions = &mut self.found.companions;
        let of = |record, of| Companion { record, of, revisit: false };
        if matches!(record.kind, RecordKind::Request | RecordKind::Metadata) {
            companions.extend(concurrent.chain(refers).map(|other| of(own, other)));
            return;
        }
        companions.extend(concurrent.map(|other| of(other, own)));
        if record.kind == RecordKind::Revisit {
            let names = names_of_original(record);
            companions.extend(names.map(|of| Companion { record: own, of, revisit: true }));
        }
    }
}

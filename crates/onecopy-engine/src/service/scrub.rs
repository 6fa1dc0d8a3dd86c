//! Reads all files of a collection again and again, a piece at a time, and verifies their checksums.
//!
//! Damage in the tables stops the service: its answers may be wrong. Any other damage is counted, and costs only what is
//! damaged. A pass takes at most half a day.

use std::sync::{Arc, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use onecopy_store::{Backend, Folder, Open, Overlay, Position, Tables};

use super::collection::Collection;
use super::contents::{is_damage, order_files};
use crate::error::{Error, Result};
use crate::lock::Lock;

/// The longest time of a pass.
const PASS: Duration = Duration::from_secs(12 * 3600);
/// Memory for a second look at the tables.
const CACHE_BYTES: usize = 8 << 20;

/// What the passes found.
#[derive(Debug, Default)]
pub(super) struct Scrubbing(Lock<Findings>);

/// The state of the passes.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    /// Complete passes since the start.
    pub passes: u64,
    /// When the last one was complete, in seconds since 1970; zero if none was.
    pub ended: u64,
    /// Damaged pieces that the last complete pass found.
    pub damaged: u64,
    /// The damage of this pass.
    current: u64,
}

impl Scrubbing {
    fn lock(&self) -> MutexGuard<'_, Findings> {
        self.0.lock()
    }

    pub(super) fn findings(&self) -> Findings {
        self.lock().clone()
    }

    fn end_pass(&self) {
        let mut found = self.lock();
        found.passes += 1;
        found.ended = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        found.damaged = std::mem::take(&mut found.current);
    }
}

/// A piece of a collection that is verified at once.
enum Piece {
    Tables,
    Postings,
    Order(String),
    /// A segment of the log, and its length.
    Segment(u32, u32),
}

/// Verifies piece after piece until the collection is closed.
pub(super) fn work(collection: &Collection) {
    loop {
        let pieces = pieces(collection);
        let pause = collection.tuning.scrub_pause.min(PASS / pieces.len() as u32);
        for piece in pieces {
            if collection.queue.stops_within(pause) {
                return;
            }
            if let Err(error) = verify(collection, &piece)
                && is_damage(&error)
            {
                collection.scrubbing.lock().current += 1;
                if matches!(piece, Piece::Tables) {
                    collection.queue.damage(error.to_string());
                }
            }
        }
        collection.scrubbing.end_pass();
    }
}

fn pieces(collection: &Collection) -> Vec<Piece> {
    let mut pieces = vec![Piece::Tables, Piece::Postings];
    pieces.extend(order_files(&*collection.folder).into_iter().map(Piece::Order));
    let segments = collection.log.lock().segments();
    pieces.extend(segments.into_iter().map(|(segment, bytes)| Piece::Segment(segment, bytes as u32)));
    pieces
}

fn verify(collection: &Collection, piece: &Piece) -> Result<()> {
    match piece {
        Piece::Tables => tables(&collection.folder),
        Piece::Postings => {
            let parts = collection.contents.read().posting_parts();
            let mut first = Ok(());
            parts.check(&mut |error| first = Err(error.into()))?;
            first
        }
        Piece::Order(name) => Ok(onecopy_store::read_whole(&*collection.folder, name).map(drop)?),
        Piece::Segment(segment, bytes) => {
            let from = Position { segment: *segment, offset: 0 };
            let read = collection.reader.records(from, *bytes, &mut |_, _| Ok(()));
            // It may have been rewritten and removed meanwhile.
            let log = collection.log.lock();
            let is_there = log.segments().iter().any(|(other, _)| other == segment);
            if is_there { Ok(read?) } else { Ok(()) }
        }
    }
}

/// How often the tables are looked at before they count as damaged. A commit may change the file during a look; damage
/// stays.
const LOOKS: usize = 8;

/// Verifies the tables as of now, beside those that are in use.
fn tables(folder: &Arc<dyn Folder>) -> Result<()> {
    (1..LOOKS).map(|_| look(folder)).find(Result::is_ok).unwrap_or_else(|| look(folder))
}

fn look(folder: &Arc<dyn Folder>) -> Result<()> {
    let _lock = folder.lock_to_read().map_err(unreadable)?;
    let file = Overlay::new(folder.clone()).open("tables.redb", Open::Create).map_err(unreadable)?;
    Ok(Tables::open(Backend::new(file), CACHE_BYTES, true).map(drop)?)
}

fn unreadable(source: std::io::Error) -> Error {
    onecopy_store::Error::Io { verb: "read", file: "tables.redb".into(), source }.into()
}

//! Copies the statuses of a collection, or of a finished run, into a search index or a database.
//!
//! A `Source` gives pages that changed after a cursor, with their present statuses. A `Target` writes them and keeps the
//! cursor. Pages that it refuses go into the list of failed pages before the cursor moves, and the next sync tries them
//! again. So a crash at any moment repeats work, and loses none.

mod failures;
mod patience;
mod source;
mod targets;
mod trust;
mod web;

use std::time::{Duration, Instant};

use anyhow::Result;
use onecopy_engine::{Error, FeedCursor, Progress, Stage, Status, StatusKind};
use serde::Serialize;
use serde_json::value::RawValue;

pub use failures::Failures;
pub use patience::Patience;
pub use source::Source;
pub use source::collection::CollectionSource;
pub use source::finished_run::RunSource;
pub use source::remote::RemoteSource;
use source::{Answer, Changes};
pub use targets::address::Address;
pub use targets::{Settings, Target, open};
pub use web::Web;

use crate::commands::WrongCall;
use crate::commands::collection::word;
use crate::terminal::Terminal;

/// How often failed pages are tried again by a sync that follows.
const RETRY_FAILED: Duration = Duration::from_secs(60);

/// What is written of each page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Group, winner and status.
    Status,
    /// Its tag, too.
    StatusAndTag,
}

/// A page as it is in the index.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name as JSON.
    pub name: Box<RawValue>,
    /// Its name as text, which identifies the document.
    pub id: String,
    pub group: Option<u64>,
    /// The page to show for it: the winner of a loser, and every other page itself. Dead pages have none.
    pub winner: Option<String>,
    pub status: StatusKind,
    /// Its tag, if tags are written and it has one.
    pub tag: Option<String>,
    /// The number of the change that named it.
    pub number: u64,
}

impl Row {
    pub fn new(status: Status, number: u64) -> Row {
        let id = text(&status.page);
        let winner = match (status.status, &status.winner) {
            (StatusKind::Dead, _) => None,
            (_, Some(winner)) => Some(text(winner)),
            (_, None) => Some(id.clone()),
        };
        Row { id, winner, group: status.group, status: status.status, tag: None, name: status.page, number }
    }

    /// The word for its status.
    pub fn word(&self) -> &'static str {
        word(self.status)
    }
}

/// A name as text: a string without quotes, or the digits of a number.
fn text(name: &RawValue) -> String {
    serde_json::from_str(name.get()).unwrap_or_else(|_| name.get().to_owned())
}

/// Where a sync is: in the feed of a collection, or in the list of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The name of the collection or run.
    pub collection: String,
    pub at: FeedCursor,
}

impl Cursor {
    fn begin(collection: &str) -> Cursor {
        Cursor { collection: collection.to_owned(), at: FeedCursor::default() }
    }

    /// Whether all pages are being read, not only changed ones.
    pub fn is_full_pass(&self) -> bool {
        self.at.after == 0 || self.at.begun > 0
    }
}

/// The choices of the caller of a sync.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Begin again with all pages, whatever the cursor says.
    pub restart: bool,
    /// Continue with changes as they come, and look for them this often.
    pub follow: Option<Duration>,
    /// Changes that are read at a time.
    pub batch: usize,
}

/// What a sync did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// The name of the collection or run.
    pub collection: String,
    /// The numbers of the feed, or of the list of a run, before and after.
    pub from: u64,
    pub to: u64,
    /// Rows sent, including repeated ones.
    pub sent: u64,
    /// Rows among them that the target refused.
    pub refused: u64,
    /// Pages that are in the list of failed pages now.
    pub failed: u64,
    /// Why all pages were read again, if they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restarted: Option<String>,
    pub seconds: f64,
}

/// A sync in progress.
pub struct Sync<'a> {
    pub source: &'a mut dyn Source,
    pub target: &'a mut dyn Target,
    pub failures: &'a mut Failures,
    pub terminal: &'a Terminal,
    pub plan: Plan,
    pub summary: Summary,
}

impl Sync<'_> {
    /// Copies all changes up to now. With `follow`, continues until it is stopped.
    pub fn run(&mut self) -> Result<()> {
        let begun = Instant::now();
        let done = self.rounds();
        self.failures.compact()?;
        self.summary.failed = self.failures.len() as u64;
        self.summary.seconds = begun.elapsed().as_secs_f64();
        done
    }

    fn rounds(&mut self) -> Result<()> {
        self.source.renew()?;
        self.target.prepare()?;
        let mut cursor = self.first_cursor()?;
        self.summary.collection.clone_from(&cursor.collection);
        (self.summary.from, self.summary.to) = (cursor.at.after, cursor.at.after);
        let mut retried: Option<Instant> = None;
        loop {
            let renewed = Instant::now();
            self.source.renew()?;
            let opening = renewed.elapsed();
            if self.source.id() != cursor.collection {
                return Err(other_collection(self.target.name(), &cursor.collection, self.source.id()));
            }
            if retried.is_none_or(|when| when.elapsed() >= RETRY_FAILED) {
                self.retry_failed(&cursor)?;
                retried = Some(Instant::now());
            }
            cursor = self.round(cursor)?;
            self.source.release();
            self.terminal.pause();
            let Some(pause) = self.plan.follow else { return Ok(()) };
            // Opening a large collection takes a while, and most of the time should be left to its owner.
            self.pause(pause.max(10 * opening))?;
        }
    }

    /// Continues at the target's cursor, or begins.
    fn first_cursor(&mut self) -> Result<Cursor> {
        let id = self.source.id().to_owned();
        let known = self.target.cursor()?;
        let (is_new, is_other) =
            (known.is_none(), known.as_ref().is_some_and(|known| known.collection != id));
        let both_runs = known.as_ref().is_some_and(|known| is_run(&known.collection) && is_run(&id));
        match known {
            Some(known) if !is_other && !self.plan.restart => return Ok(known),
            Some(known) if is_other && !both_runs && !self.plan.restart => {
                return Err(other_collection(self.target.name(), &known.collection, &id));
            }
            _ => {}
        }
        if !is_new {
            self.failures.clear()?;
        }
        let cursor = Cursor::begin(&id);
        self.target.restart(&cursor)?;
        Ok(cursor)
    }

    /// Copies all changes up to the number that the source has now.
    fn round(&mut self, mut cursor: Cursor) -> Result<Cursor> {
        let mut goal = None;
        loop {
            if self.terminal.stopped() {
                return Err(Error::Stopped.into());
            }
            let changes = match self.source.read(cursor.at, self.plan.batch)? {
                Answer::Changes(changes) => changes,
                Answer::Gone(why) => {
                    cursor = self.begin_again(why)?;
                    goal = None;
                    continue;
                }
            };
            let goal = *goal.get_or_insert_with(|| {
                if changes.last > cursor.at.after {
                    self.terminal.begin(Stage::Sync, changes.last - cursor.at.after);
                }
                changes.last
            });
            let done = changes.next.after.saturating_sub(cursor.at.after);
            let is_end = changes.next.after >= goal;
            if changes.next != cursor.at || !changes.rows.is_empty() {
                cursor = self.write(cursor, changes)?;
            }
            self.terminal.advance(done);
            if is_end {
                return Ok(cursor);
            }
        }
    }

    fn write(&mut self, from: Cursor, changes: Changes) -> Result<Cursor> {
        let to = Cursor { at: changes.next, ..from.clone() };
        self.deliver(&changes.rows, &from, &to)?;
        self.summary.to = to.at.after;
        Ok(to)
    }

    fn deliver(&mut self, rows: &[Row], from: &Cursor, to: &Cursor) -> Result<()> {
        let refused = self.target.write(rows, from, to, self.failures)?;
        self.summary.sent += rows.len() as u64;
        self.summary.refused += refused;
        Ok(())
    }

    /// Begins with all pages again, because changes since the cursor are no longer known.
    fn begin_again(&mut self, why: String) -> Result<Cursor> {
        let cursor = Cursor::begin(self.source.id());
        self.target.restart(&cursor)?;
        self.summary.restarted = Some(why);
        Ok(cursor)
    }

    /// Sends the present statuses of pages that the target refused before.
    fn retry_failed(&mut self, cursor: &Cursor) -> Result<()> {
        let names = self.failures.names();
        for names in names.chunks(self.plan.batch) {
            let mut rows = self.source.lookup(names)?;
            rows.iter_mut().for_each(|row| row.number = cursor.at.after.max(1));
            self.deliver(&rows, cursor, cursor)?;
        }
        Ok(())
    }

    fn pause(&self, time: Duration) -> Result<()> {
        let until = Instant::now() + time;
        while Instant::now() < until {
            if self.terminal.stopped() {
                return Err(Error::Stopped.into());
            }
            std::thread::sleep(patience::TICK.min(until.saturating_duration_since(Instant::now())));
        }
        Ok(())
    }
}

fn is_run(collection: &str) -> bool {
    collection.starts_with("run-")
}

fn other_collection(target: &str, known: &str, id: &str) -> anyhow::Error {
    let kind = |id| if is_run(id) { "run" } else { "collection" };
    WrongCall(format!(
        "{target} has the statuses of the {} {known}, and this is the {} {id}: give another target, or --restart to \
         replace them",
        kind(known),
        kind(id)
    ))
    .into()
}

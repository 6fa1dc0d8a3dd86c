//! Passes pages to the service in the order of the input, from any thread, and waits while the queue is full.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use onecopy_store::Version;

use super::prepare::{Made, PreparedPiece, broken, with_name};
use super::tally::Tallies;
use super::{ImportRejection, Imported, OnRejection, PATIENCE};
use crate::error::{Error, Result};
use crate::ingest::Inputs;
use crate::parallel::InTurn;
use crate::progress::Progress;
use crate::report::{RejectionKind, Unreadable};
use crate::service::accept::accept_versions;
use crate::service::{Accepted, Refusal, Service, StatusKind};

/// The number of pages per call, with one sync for all.
const GROUP: usize = 256;

/// Hands out turns. Each turn that is taken must be handed over, or the import fails.
pub(super) struct Turns<'a>(InTurn<Clerk<'a>>);

/// Accepts pages and counts the outcomes.
struct Clerk<'a> {
    service: &'a Service,
    progress: &'a dyn Progress,
    rejected: &'a mut OnRejection<'a>,
    /// The records before this piece, by source. The line number of a record is known only at its turn.
    before: HashMap<u32, u64>,
    tallies: Tallies,
    imported: Imported,
}

impl<'a> Turns<'a> {
    pub(super) fn new(
        service: &'a Service,
        progress: &'a dyn Progress,
        rejected: &'a mut OnRejection<'a>,
    ) -> Turns<'a> {
        let (before, tallies, imported) = (HashMap::new(), Tallies::default(), Imported::default());
        Turns(InTurn::new(Clerk { service, progress, rejected, before, tallies, imported }))
    }

    /// Begins new sources. Some inputs are not read, with a reason.
    pub(super) fn begin(&self, inputs: &Inputs) -> Result<()> {
        self.0.now(|clerk| {
            clerk.before.clear();
            clerk.end_sources();
            let lost = inputs.unreadable.iter().map(|(name, reason)| Unreadable::of(name, reason));
            clerk.imported.unreadable.extend(lost);
            for (source, reason) in inputs.unread() {
                clerk.imported.read += 1;
                clerk.reject(ImportRejection { source: source.into(), line: None, reason: reason.text })?;
            }
            Ok(())
        })
    }

    /// Takes the next turn.
    pub(super) fn take(&self) -> u64 {
        self.0.take()
    }

    /// Waits for a turn, passes its pages on, and ends the turn.
    pub(super) fn hand_over(&self, turn: u64, prepared: PreparedPiece, failed: &AtomicBool) -> Result<()> {
        self.0.wait(turn, failed, |clerk| clerk.hand_over(prepared))
    }

    /// The counts of the import.
    pub(super) fn finish(self) -> Imported {
        let mut clerk = self.0.into_inner();
        clerk.end_sources();
        clerk.imported
    }
}

impl Clerk<'_> {
    fn end_sources(&mut self) {
        self.imported.unreadable.extend(self.tallies.end());
    }

    fn hand_over(&mut self, prepared: PreparedPiece) -> Result<()> {
        self.tallies.count(&prepared);
        let PreparedPiece { source, name, records, items, .. } = prepared;
        let before = self.before.entry(source).or_default();
        let first = *before + 1;
        *before += u64::from(records);
        self.imported.read += items.len() as u64;
        let (mut places, mut changes, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
        for (number, item) in items.into_iter().enumerate() {
            let (source, line) = match item.place {
                Ok(line) => (name.clone(), Some(first + u64::from(line))),
                Err(name) => (name, None),
            };
            match item.made {
                Made::Change(version) => changes.push((number, Ok(*version))),
                Made::Nameless(text) => changes.push((number, self.named(&text, &source, line))),
                Made::Unchanged => self.imported.unchanged += 1,
                Made::Rejected(reason) => {
                    self.imported.over_limit += u64::from(reason.class.kind() == RejectionKind::Limit);
                    reasons.push((number, reason.text));
                }
                Made::Refused(refusal) => {
                    self.imported.over_limit += u64::from(matches!(refusal, Refusal::TooLarge(_)));
                    changes.push((number, Err(refusal)));
                }
            }
            places.push((source, line));
        }
        self.accept(changes, &mut reasons)?;
        reasons.sort_by_key(|(number, _)| *number);
        for (number, reason) in reasons {
            let (source, line) = std::mem::take(&mut places[number]);
            self.reject(ImportRejection { source, line, reason })?;
        }
        Ok(())
    }

    /// Names a page by its position, if it has no name.
    fn named(&self, text: &[u8], source: &str, line: Option<u64>) -> Result<Version, Refusal> {
        let name = line.map_or(source.to_owned(), |line| format!("{source}:{line}"));
        let preparation = &self.service.collection.preparation;
        preparation.put(&with_name(text, &name), &mut preparation.buffers()?)
    }

    /// Accepts changes in groups, and records the refused ones with the reason.
    fn accept(
        &mut self,
        changes: Vec<(usize, Result<Version, Refusal>)>,
        reasons: &mut Vec<(usize, String)>,
    ) -> Result<()> {
        let mut rest = changes.into_iter().peekable();
        while rest.peek().is_some() {
            wait_for_room(self.service, self.progress)?;
            let (numbers, versions): (Vec<usize>, Vec<_>) = rest.by_ref().take(GROUP).unzip();
            for (number, answer) in
                numbers.into_iter().zip(accept_versions(&self.service.collection, versions))
            {
                match judged(answer)? {
                    None => self.imported.accepted += 1,
                    Some(reason) => reasons.push((number, reason)),
                }
            }
        }
        Ok(())
    }

    fn reject(&mut self, rejection: ImportRejection) -> Result<()> {
        self.imported.rejected += 1;
        (self.rejected)(&rejection)
    }
}

/// Waits while the queue is full.
pub(in crate::service) fn wait_for_room(service: &Service, progress: &dyn Progress) -> Result<()> {
    loop {
        if progress.stopped() {
            return Err(Error::Stopped);
        }
        match service.collection.queue.refusal() {
            None => return Ok(()),
            Some(Refusal::Full(_)) => service.drain(PATIENCE),
            Some(refusal) => return judged(Err(refusal)).map(drop),
        };
    }
}

/// Why a page was refused or cannot be judged; `None` if it was accepted. Fails if the collection cannot be written.
fn judged(answer: Result<Accepted, Refusal>) -> Result<Option<String>> {
    Ok(match answer {
        Ok(Accepted { status, .. }) if status.status == StatusKind::Rejected => {
            Some(status.reason.unwrap_or_else(|| "it cannot be judged".into()))
        }
        Ok(_) => None,
        Err(refusal @ Refusal::Broken(_)) => return Err(broken(refusal)),
        Err(refusal) => Some(refusal.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::prepare::PreparedRecord;
    use super::*;
    use crate::ingest::{Class, Reason};
    use crate::progress::Silent;
    use crate::service::ServiceOptions;

    fn prepared(service: &Service, lines: &[&str]) -> PreparedPiece {
        let preparation = &service.collection.preparation;
        let mut buffers = preparation.buffers().unwrap();
        let mut made =
            |line: &&str| Made::Change(Box::new(preparation.put(line.as_bytes(), &mut buffers).unwrap()));
        let items =
            (0..).zip(lines).map(|(place, line)| PreparedRecord { place: Ok(place), made: made(line) });
        PreparedPiece {
            name: "in".into(),
            records: lines.len() as u32,
            items: items.collect(),
            ..PreparedPiece::default()
        }
    }

    #[test]
    fn whoever_comes_first_pieces_are_handed_over_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let service = Service::open(ServiceOptions::new(folder.path().join("pages"))).unwrap();
        let (first, second) = (r#"{"id":"a","text":"one two"}"#, r#"{"id":"a","text":"three four"}"#);
        let refused = PreparedRecord { place: Ok(1), made: Made::Rejected(Reason::new(Class::NotJson, "x")) };
        let mut rejected = Vec::new();
        let mut take = |rejection: &ImportRejection| {
            rejected.push((rejection.source.clone(), rejection.line));
            Ok(())
        };
        let (turns, failed) = (Turns::new(&service, &Silent, &mut take), AtomicBool::new(false));
        let (early, late) = (turns.take(), turns.take());
        std::thread::scope(|scope| {
            let mut last = prepared(&service, &[second]);
            last.items.push(refused);
            scope.spawn(|| turns.hand_over(late, last, &failed).unwrap());
            std::thread::sleep(Duration::from_millis(30));
            turns.hand_over(early, prepared(&service, &[first, first, first]), &failed).unwrap();
        });
        let imported = turns.finish();
        assert_eq!((imported.read, imported.accepted, imported.rejected), (5, 4, 1));
        assert_eq!(rejected, [("in".to_owned(), Some(5))]);
        assert!(service.drain(Duration::from_secs(60)));
        let mut records = Vec::new();
        let each = &mut |page: crate::service::PageView| {
            records.push(page.record.get().to_owned());
            Ok(())
        };
        service.pages(each).unwrap();
        assert_eq!(records, [second]);
    }

    #[test]
    fn nobody_waits_for_a_turn_that_failed() {
        let folder = tempfile::tempdir().unwrap();
        let service = Service::open(ServiceOptions::new(folder.path().join("pages"))).unwrap();
        let mut take = |_: &ImportRejection| Ok(());
        let turns = Turns::new(&service, &Silent, &mut take);
        let (_lost, next) = (turns.take(), turns.take());
        let waited = turns.hand_over(next, PreparedPiece::default(), &AtomicBool::new(true));
        assert!(matches!(waited, Err(Error::Stopped)));
    }
}

//! Finds the sources of an import that could not be read, wholly or from some point on.

use std::collections::BTreeMap;

use super::prepare::{Made, PreparedPiece};
use crate::report::{RejectionKind, Unreadable};
use crate::service::Refusal;

/// The records of each source so far.
#[derive(Default)]
pub(super) struct Tallies {
    of_source: BTreeMap<u32, Tally>,
}

#[derive(Default)]
struct Tally {
    name: String,
    read: u64,
    unread: u64,
    /// The reason of the first record that could not be read.
    first: String,
    /// If the source breaks off.
    ending: Option<Unreadable>,
}

impl Tallies {
    /// Counts the records of a piece. Files that are one page each are always read.
    pub(super) fn count(&mut self, piece: &PreparedPiece) {
        if piece.name.is_empty() {
            return;
        }
        let tally = self.of_source.entry(piece.source).or_default();
        tally.name.clone_from(&piece.name);
        tally.read += u64::from(piece.others);
        tally.ending = tally.ending.take().or_else(|| piece.unreadable.clone());
        for item in &piece.items {
            let reason = match &item.made {
                Made::Rejected(reason) if reason.class.kind() == RejectionKind::Unreadable => &reason.text,
                Made::Refused(Refusal::Bad(reason)) => reason,
                _ => {
                    tally.read += 1;
                    continue;
                }
            };
            if tally.unread == 0 {
                tally.first.clone_from(reason);
            }
            tally.unread += 1;
        }
    }

    /// Ends all sources. Returns those that could not be read.
    pub(super) fn end(&mut self) -> impl Iterator<Item = Unreadable> {
        std::mem::take(&mut self.of_source).into_values().filter_map(Tally::loss)
    }
}

impl Tally {
    fn loss(self) -> Option<Unreadable> {
        match self.ending {
            Some(ending) => Some(Unreadable { pages: self.read, ..ending }),
            None if self.read > 0 || self.unread == 0 => None,
            None => Some(Unreadable { lost: Some(self.unread), ..Unreadable::of(&self.name, &self.first) }),
        }
    }
}

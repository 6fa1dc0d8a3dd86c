//! Counts rejected records by reason.

use std::collections::BTreeMap;

use crate::ingest::{Class, Format};
use crate::report::ReasonCount;

/// Rejected records by class, and by whether `kept/` has them.
#[derive(Default)]
pub(super) struct ReasonTally {
    records: BTreeMap<(Class, bool), u64>,
}

impl ReasonTally {
    /// Counts a record of a source of this format; `None` for a file that is not read. Records of archives are copied to `kept/`, as far as they are records.
    pub(super) fn add(&mut self, class: Class, format: Option<Format>) {
        let copied = class.is_copied() && format.is_some_and(Format::is_archive);
        *self.records.entry((class, copied)).or_default() += 1;
    }

    /// The number of all records, and that of each reason, the most frequent first.
    pub(super) fn finish(self) -> (u64, Vec<ReasonCount>) {
        let mut counts: Vec<ReasonCount> = Vec::new();
        for ((class, copied), records) in self.records {
            let (reason, kind) = (class.label(), class.kind());
            match counts.iter_mut().find(|it| it.reason == reason && it.copied == copied) {
                Some(same) => same.records += records,
                None => counts.push(ReasonCount { reason, kind, copied, records }),
            }
        }
        counts.sort_by(|a, b| b.records.cmp(&a.records).then_with(|| a.reason.cmp(&b.reason)));
        (counts.iter().map(|count| count.records).sum(), counts)
    }
}

//! The inputs that could not be read, wholly or from some point on. Their pages are missing from the results.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::Segments;
use crate::error::Result;
use crate::ingest::{Class, Inputs, Lot, Rejection, Source};
use crate::report::{RejectionKind, Unreadable};

/// The ending of a file in `kept/` whose source breaks off.
const INCOMPLETE: &str = ".incomplete";

/// The inputs of a run that could not be read.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    of_source: HashMap<u32, Loss>,
    /// For the report, in the order of the input.
    pub unreadable: Vec<Unreadable>,
    /// How many sources are the base; they come first.
    base: usize,
}

/// How much of a source could be read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Loss {
    Part,
    All,
}

impl Losses {
    /// Finds the losses in the segments of a run.
    pub(crate) fn find(inputs: &Inputs, lots: &[Lot], segments: &Segments) -> Result<Losses> {
        let mut losses = Losses { base: inputs.base, ..Losses::default() };
        for (name, reason) in &inputs.unreadable {
            losses.unreadable.push(Unreadable::of(name, reason));
        }
        for (lot, range) in lots.iter().zip(segments.ranges(lots.len())) {
            let Lot::Stream(number) = *lot else { continue };
            let source = &inputs.sources[number as usize];
            if let Some((loss, unreadable)) = loss(source, range, segments)? {
                losses.of_source.insert(number, loss);
                losses.unreadable.push(unreadable);
            }
        }
        Ok(losses)
    }

    /// The name in `kept/` of a source that is called `name`; `None` if it is the base or could not be read at all.
    pub(crate) fn kept_name<'a>(&self, source: u32, name: &'a str) -> Option<Cow<'a, str>> {
        if (source as usize) < self.base {
            return None;
        }
        match self.of_source.get(&source) {
            None => Some(name.into()),
            Some(Loss::Part) => Some(incomplete(name).into()),
            Some(Loss::All) => None,
        }
    }
}

fn incomplete(name: &str) -> String {
    format!("{name}{INCOMPLETE}")
}

/// The loss of a source, if there is one.
fn loss(source: &Source, range: Range<usize>, segments: &Segments) -> Result<Option<(Loss, Unreadable)>> {
    let Some(last) = range.clone().next_back() else { return Ok(None) };
    let pages = u64::from(segments.first_page(range.end) - segments.first_page(range.start));
    // Nothing follows the damage, so it is the last rejection of the source.
    let ending = segments.load(last)?.rejected.last().filter(|last| last.reason.class.ends_file()).cloned();
    let nothing = if pages == 0 { read_nothing(source, range, segments)? } else { None };
    let is_archive = source.format.is_archive();
    let (loss, cause) = match (ending, nothing) {
        (None, None) => return Ok(None),
        (Some(ending), Some(_)) => (Loss::All, ending),
        (Some(ending), None) if pages == 0 && !is_archive => (Loss::All, ending),
        (Some(ending), None) => (Loss::Part, ending),
        (None, Some(first)) => (Loss::All, first),
    };
    let kept = (loss == Loss::Part).then(|| incomplete(&source.name));
    let Rejection { reason, lost, .. } = cause;
    Ok(Some((loss, Unreadable { pages, lost, kept, ..Unreadable::of(&source.name, &reason.text) })))
}

/// Why no record of a source without pages could be read: its first rejection. `None` if some could.
fn read_nothing(source: &Source, range: Range<usize>, segments: &Segments) -> Result<Option<Rejection>> {
    let is_archive = source.format.is_archive();
    let is_unread = |class: Class| match is_archive {
        true => !class.is_copied(),
        false => class.kind() == RejectionKind::Unreadable,
    };
    let (mut first, mut rejected, mut records) = (None, 0, 0);
    for number in range {
        let segment = segments.load(number)?;
        if !segment.rejected.iter().all(|it| is_unread(it.reason.class)) {
            return Ok(None);
        }
        rejected += segment.rejected.len() as u64;
        records += u64::from(segment.lines);
        first = first.or_else(|| segment.rejected.first().cloned());
    }
    // An archive also has records that are not meant to be pages; lines that are blank are no records.
    let first = first.filter(|_| !is_archive || records == rejected);
    let lost = (!is_archive).then_some(rejected);
    Ok(first.map(|first| Rejection { lost, ..first }))
}

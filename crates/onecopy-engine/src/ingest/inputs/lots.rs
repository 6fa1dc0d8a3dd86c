//! Groups sources into units of work.

use super::{Inputs, Source};

/// A unit of work: one file of many pages, or several files of one page each.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lot {
    Stream(u32),
    Documents(std::ops::Range<u32>),
}

/// The most documents in a lot.
const DOCUMENTS: u32 = 256;

/// Groups sources into lots of about `bytes`.
pub(crate) fn lots(sources: &[Source], bytes: u64) -> Vec<Lot> {
    let mut lots = Vec::new();
    let mut at = 0;
    while at < sources.len() {
        if !sources[at].format.is_document() {
            lots.push(Lot::Stream(at as u32));
            at += 1;
            continue;
        }
        let start = at;
        let mut sum = 0;
        while at < sources.len() && sources[at].format.is_document() {
            sum += sources[at].bytes;
            if at > start && (sum > bytes || (at - start) as u32 == DOCUMENTS) {
                break;
            }
            at += 1;
        }
        lots.push(Lot::Documents(start as u32..at as u32));
    }
    lots
}

/// Groups the sources of a run into lots. No lot has sources of the base and others. Lots of sketched sources are the
/// same as when they were read.
pub(crate) fn lots_of(inputs: &Inputs, bytes: u64) -> Vec<Lot> {
    let sketched = inputs.sketched.iter().map(|folder| (folder.sources, folder.chunk_bytes as u64));
    let rest = inputs.base - (inputs.sources.len() - inputs.unsketched().len());
    let others = [(rest, bytes), (inputs.sources.len() - inputs.base, bytes)];
    let (mut all, mut first) = (Vec::new(), 0);
    for (count, bytes) in sketched.chain(others) {
        let part = lots(&inputs.sources[first..first + count], bytes);
        all.extend(part.into_iter().map(|lot| lot.after(first as u32)));
        first += count;
    }
    all
}

impl Lot {
    /// This lot, of sources that come after so many others.
    fn after(self, sources: u32) -> Lot {
        match self {
            Lot::Stream(source) => Lot::Stream(source + sources),
            Lot::Documents(range) => Lot::Documents(range.start + sources..range.end + sources),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{Format, Packing};

    fn source(path: &str, format: Format) -> Source {
        let name = path.rsplit('/').next().expect("a part").to_owned();
        Source { path: path.into(), name, format, bytes: 10, modified_ns: 0, version: None, member: None }
    }

    #[test]
    fn documents_travel_together() {
        let lines = Format::Lines(Packing::Plain);
        let sources = [
            source("a.txt", Format::Text(Packing::Plain)),
            source("b.html", Format::Html(Packing::Plain)),
            source("c.jsonl", lines),
            source("d.txt", Format::Text(Packing::Plain)),
        ];
        assert_eq!(lots(&sources, 100), [Lot::Documents(0..2), Lot::Stream(2), Lot::Documents(3..4)]);
        assert_eq!(
            lots(&sources, 10),
            [Lot::Documents(0..1), Lot::Documents(1..2), Lot::Stream(2), Lot::Documents(3..4)]
        );
    }
}

//! Reads pages of a finished run again from its inputs.
//!
//! A run keeps no texts. Later questions about its pages are answered from the inputs, which must still exist unchanged.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use onecopy_core::{Needs, Record};

use crate::environment::Environment;
use crate::error::{At, Error, Result};
use crate::ingest::{
    Chunk, Feed, FieldNames, Opener, Piece, Reach, RecordReader, Source, Spools, Stores, Window, Windows,
    lots, read_document, walk,
};
use crate::listed::PageKey;
use crate::parallel::Gate;
use crate::run::Run;

/// A finished run, its output folder, and the settings of object stores, as in
/// [`Job::environment`](crate::Job::environment). Containers that cannot be read in place are unpacked in the folder.
pub(crate) struct FinishedRun<'a> {
    pub run: &'a Run,
    pub out: &'a Path,
    pub environment: &'a Environment,
}

/// Reads the sources of these pages again and converts the pages.
pub(crate) fn reread<T>(
    finished: &FinishedRun,
    pages: &[PageKey],
    wanted: &Needs,
    make: impl Fn(&Record) -> T,
) -> Result<HashMap<PageKey, T>> {
    let FinishedRun { run, out, environment } = *finished;
    let mut numbers: HashMap<&str, HashSet<u64>> = HashMap::new();
    for PageKey { source, number } in pages {
        numbers.entry(source).or_default().insert(*number);
    }
    let is_needed = |source: &&Source| numbers.contains_key(source.name.as_str());
    let sources: Vec<Source> = run.inputs.sources.iter().filter(is_needed).cloned().collect();
    sources.iter().try_for_each(check)?;
    let lots = lots(&sources, run.chunk_bytes as u64);
    let spools = Spools::new(out, run.limits.expansion, Window::default());
    let reach = Reach { stores: Stores::new(environment.iter().cloned()), spools };
    let opener = run.opener(reach, Gate::new(1), wanted.clone(), Windows::default());
    let feed = Feed::new(&sources, &lots, &opener);
    let names = FieldNames::new(&run.fields);
    let all: usize = numbers.values().map(HashSet::len).sum();
    let mut finder = PageFinder { run, opener: &opener, numbers, names, make, found: HashMap::new() };
    let mut records_before: HashMap<u32, u64> = HashMap::new();
    while let Some((piece, _)) = feed.next(1, &mut Vec::new())? {
        match piece {
            Piece::Chunk { source: number, chunk, .. } => {
                let (source, before) = (&sources[number as usize], records_before.entry(number).or_default());
                finder.chunk(source, &chunk, before);
            }
            Piece::Documents { sources: numbers, .. } => {
                finder.documents(&sources[numbers.start as usize..numbers.end as usize])?;
            }
        }
        if finder.found.len() == all {
            break;
        }
    }
    Ok(finder.found)
}

/// Fails if a source is gone or changed: its pages are found by position.
fn check(source: &Source) -> Result<()> {
    let input = || source.name.clone();
    if source.version.is_none() && !source.path.exists() {
        return Err(Error::InputGone { input: input() });
    }
    if source.is_unchanged().at("read", &source.path)? {
        Ok(())
    } else {
        Err(Error::InputChanged { input: input() })
    }
}

struct PageFinder<'a, T, M: Fn(&Record) -> T> {
    run: &'a Run,
    opener: &'a Opener,
    /// The wanted pages of each source.
    numbers: HashMap<&'a str, HashSet<u64>>,
    names: FieldNames,
    make: M,
    found: HashMap<PageKey, T>,
}

impl<T, M: Fn(&Record) -> T> PageFinder<'_, T, M> {
    /// `before` counts the records of the source in earlier chunks.
    fn chunk(&mut self, source: &Source, chunk: &Chunk, before: &mut u64) {
        let PageFinder { run, opener, names, numbers, make, found } = self;
        let reader = RecordReader { limits: &run.limits, names, needs: &opener.needs };
        let mut count = 0;
        for raw in walk(chunk, source.format) {
            count = u64::from(raw.number) + 1;
            let number = *before + count;
            if numbers.get(source.name.as_str()).is_some_and(|wanted| wanted.contains(&number))
                && let Ok(Some(record)) = reader.read(&raw)
            {
                found.insert(PageKey { source: source.name.clone(), number }, make(&record));
            }
        }
        *before += count + u64::from(chunk.trouble.is_some());
    }

    fn documents(&mut self, sources: &[Source]) -> Result<()> {
        let mut bytes = Vec::new();
        for source in sources {
            let read = read_document(source, self.opener, &mut bytes).at("read", &source.path)?;
            if let Ok(record) = read {
                let made = (self.make)(&record);
                self.found.insert(PageKey { source: source.name.clone(), number: 0 }, made);
            }
        }
        Ok(())
    }
}

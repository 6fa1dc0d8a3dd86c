//! Reads pages of a finished run again from its inputs.
//!
//! A run keeps no texts. Later questions about its pages are answered from the inputs, which must still exist.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;

use crate::environment::Environment;
use crate::error::{At, Error, Result};
use crate::ingest::{
    Chunk, Feed, FieldNames, Opener, Piece, RecordReader, Source, Stores, Windows, lots, read_document, walk,
};
use crate::parallel::Gate;
use crate::run::Run;
use onecopy_core::{Needs, Record};

/// A name from an output, where it is a string or a number.
pub(crate) fn plain(name: &serde_json::Value) -> String {
    name.as_str().map_or_else(|| name.to_string(), str::to_owned)
}

/// Calls `each` with the lines of a list until it returns false.
pub(crate) fn each_line<T: for<'a> Deserialize<'a>>(
    path: &Path,
    mut each: impl FnMut(T) -> bool,
) -> Result<()> {
    let file = File::open(path).at("read", path)?;
    for (line, number) in BufReader::new(file).lines().zip(1..) {
        let line = line.at("read", path)?;
        let parsed = serde_json::from_str(&line).map_err(|error| Error::DamagedResult {
            path: path.to_owned(),
            line: number,
            reason: error.to_string(),
        })?;
        if !each(parsed) {
            break;
        }
    }
    Ok(())
}

/// The names that belong to no compared page of the run in `out`.
pub(crate) fn not_judged<'a>(out: &Path, names: &[&'a str]) -> Result<Vec<&'a str>> {
    #[derive(Deserialize)]
    struct Page {
        page: serde_json::Value,
    }
    let mut missing = names.to_vec();
    each_line(&out.join("pages.jsonl"), |line: Page| {
        let name = plain(&line.page);
        missing.retain(|wanted| *wanted != name);
        !missing.is_empty()
    })?;
    Ok(missing)
}

/// Returns an error if the run does not know a page or rejected it.
pub(crate) fn check_judged(out: &Path, names: &[&str]) -> Result<()> {
    match not_judged(out, names)?.first() {
        Some(name) => Err(unknown(name)),
        None => Ok(()),
    }
}

/// The error for a page that the run does not know.
pub(crate) fn unknown(name: &str) -> Error {
    Error::PageNotJudged { page: name.into() }
}

/// Reads the inputs of a run again, in order, and converts the pages with these names. If several pages have one name,
/// the first counts. See [`Job::environment`](crate::Job::environment) for `environment`.
pub(crate) fn reread<T>(
    run: &Run,
    pages: &[String],
    wanted: &Needs,
    environment: &Environment,
    make: impl Fn(&Record) -> T,
) -> Result<HashMap<String, T>> {
    let sources = &run.inputs.sources;
    if let Some(gone) = sources.iter().find(|source| source.version.is_none() && !source.path.exists()) {
        return Err(Error::InputGone { input: gone.name.clone() });
    }
    let lots = lots(sources, run.chunk_bytes as u64);
    let stores = Stores::new(environment.iter().cloned());
    let opener = run.opener(stores, Gate::new(1), wanted.clone(), Windows::default());
    let feed = Feed::new(sources, &lots, &opener);
    let names = FieldNames::new(&run.fields);
    let mut finder = PageFinder { run, opener: &opener, wanted: pages, names, make, found: HashMap::new() };
    // Pages without a name are identified by their line.
    let mut lines_before: HashMap<u32, u64> = HashMap::new();
    while let Some((piece, _)) = feed.next(1, &mut Vec::new())? {
        match piece {
            Piece::Chunk { source: number, chunk, .. } => {
                let (source, before) = (&sources[number as usize], lines_before.entry(number).or_default());
                finder.chunk(source, &chunk, before);
            }
            Piece::Documents { sources: numbers, .. } => {
                finder.documents(&sources[numbers.start as usize..numbers.end as usize])?;
            }
        }
    }
    Ok(finder.found)
}

struct PageFinder<'a, T, M: Fn(&Record) -> T> {
    run: &'a Run,
    opener: &'a Opener,
    wanted: &'a [String],
    names: FieldNames,
    make: M,
    found: HashMap<String, T>,
}

impl<T, M: Fn(&Record) -> T> PageFinder<'_, T, M> {
    /// `before` counts the records of the source in earlier chunks.
    fn chunk(&mut self, source: &Source, chunk: &Chunk, before: &mut u64) {
        let PageFinder { run, opener, .. } = *self;
        let mut count = 0;
        for raw in walk(chunk, source.format) {
            count = u64::from(raw.number) + 1;
            let reader = RecordReader { limits: &run.limits, names: &self.names, needs: &opener.needs };
            if let Ok(Some(record)) = reader.read(&raw) {
                let place = || format!("{}:{}", source.name, *before + count);
                let name = crate::ingest::plain_name(&record).unwrap_or_else(place);
                self.take(name, &record);
            }
        }
        *before += count + u64::from(chunk.trouble.is_some());
    }

    fn documents(&mut self, sources: &[Source]) -> Result<()> {
        let mut bytes = Vec::new();
        for source in sources {
            let read = read_document(source, self.opener, &mut bytes).at("read", &source.path)?;
            if let Ok(record) = read {
                self.take(source.name.clone(), &record);
            }
        }
        Ok(())
    }

    fn take(&mut self, name: String, page: &Record) {
        if self.wanted.contains(&name) && !self.found.contains_key(&name) {
            let made = (self.make)(page);
            self.found.insert(name, made);
        }
    }
}

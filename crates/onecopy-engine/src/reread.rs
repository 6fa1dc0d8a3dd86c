//! Pages of a finished run, read again from its inputs.
//!
//! A run keeps no texts: whatever is asked about its pages later is answered from the inputs, which must still be there.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;

use crate::error::{At, Error, Result};
use crate::ingest::{
    Chunk, Feed, FieldNames, Format, Opener, Piece, Source, Stores, Windows, lines, lots, read_document,
    read_line, read_record, records,
};
use crate::parallel::Gate;
use crate::run::Run;
use onecopy_core::{Needs, Record};

/// A name in an output, which is a string or a number.
pub(crate) fn plain(name: &serde_json::Value) -> String {
    name.as_str().map_or_else(|| name.to_string(), str::to_owned)
}

/// Hands on the lines of a list until `each` has enough.
pub(crate) fn each_line<T: for<'a> Deserialize<'a>>(
    path: &Path,
    mut each: impl FnMut(T) -> bool,
) -> Result<()> {
    let file = File::open(path).at("read", path)?;
    for line in BufReader::new(file).lines() {
        let line = line.at("read", path)?;
        let parsed = serde_json::from_str(&line)
            .map_err(|error| Error::NotFound(format!("{} is damaged: {error}", path.display())))?;
        if !each(parsed) {
            break;
        }
    }
    Ok(())
}

/// Which of these names are of no page that the run in `out` judged.
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

/// Refuses pages that the run does not know, or that it rejected.
pub(crate) fn check_judged(out: &Path, names: &[&str]) -> Result<()> {
    match not_judged(out, names)?.first() {
        Some(name) => Err(unknown(name)),
        None => Ok(()),
    }
}

/// What is said of a page that the run does not know.
pub(crate) fn unknown(name: &str) -> Error {
    let remedy =
        "see pages.jsonl for those that were, and rejected.jsonl for the reasons why others were not";
    Error::NotFound(format!("page `{name}` is not among the pages that were judged: {remedy}"))
}

/// Reads the inputs of a run again, in order, for pages with these names, and makes of each what is needed.
/// Of pages with one name the first counts. `environment` is as in [`Job::environment`](crate::Job::environment).
pub(crate) fn reread<T>(
    run: &Run,
    pages: &[String],
    wanted: &Needs,
    environment: &[(String, String)],
    make: impl Fn(&Record) -> T,
) -> Result<HashMap<String, T>> {
    let sources = &run.inputs.sources;
    if let Some(gone) = sources.iter().find(|source| source.version.is_none() && !source.path.exists()) {
        let reason = "the input is no longer there, and it is read again (standard input is not kept)";
        return Err(Error::NotFound(format!("{}: {reason}", gone.name)));
    }
    let lots = lots(sources, run.chunk_bytes as u64);
    let stores = Stores::new(environment.iter().cloned());
    let opener = run.opener(stores, Gate::new(1), wanted.clone(), Windows::default());
    let feed = Feed::new(sources, &lots, &opener);
    let names = FieldNames::new(&run.fields);
    let mut finder = Finder { run, opener: &opener, wanted: pages, names, make, found: HashMap::new() };
    // Pages without a name are known by their line.
    let mut lines_before: HashMap<u32, u64> = HashMap::new();
    while let Some((piece, _)) = feed.next(1, &mut Vec::new())? {
        match piece {
            Piece::Chunk { source: number, chunk, .. } => {
                let (source, before) = (&sources[number as usize], lines_before.entry(number).or_default());
                match source.format {
                    Format::Records(_) => finder.records(&source.name, &chunk, before),
                    _ => finder.lines(&source.name, &chunk, before),
                }
            }
            Piece::Documents { sources: numbers, .. } => {
                finder.documents(&sources[numbers.start as usize..numbers.end as usize])?;
            }
        }
    }
    Ok(finder.found)
}

struct Finder<'a, T, M: Fn(&Record) -> T> {
    run: &'a Run,
    opener: &'a Opener,
    wanted: &'a [String],
    names: FieldNames,
    make: M,
    found: HashMap<String, T>,
}

impl<T, M: Fn(&Record) -> T> Finder<'_, T, M> {
    fn lines(&mut self, source: &str, chunk: &Chunk, number: &mut u64) {
        for (_, line) in lines(&chunk.bytes) {
            *number += 1;
            if let Ok(record) = read_line(line, &self.names, &self.opener.needs) {
                let name = crate::ingest::plain_name(&record).unwrap_or_else(|| format!("{source}:{number}"));
                self.take(name, &record);
            }
        }
        *number += u64::from(chunk.trouble.is_some());
    }

    fn records(&mut self, source: &str, chunk: &Chunk, number: &mut u64) {
        for item in records(&chunk.bytes) {
            *number += 1;
            let page =
                item.record.and_then(|record| read_record(&record, &self.run.limits, &self.opener.needs));
            if let Ok(Some(record)) = page {
                let name = crate::ingest::plain_name(&record).unwrap_or_else(|| format!("{source}:{number}"));
                self.take(name, &record);
            }
        }
        *number += u64::from(chunk.trouble.is_some());
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

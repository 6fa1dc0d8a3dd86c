//! Reads the pages to compare: a file, standard input, or a page of a finished run.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::Comparing;
use crate::error::{At, Error, Result};
use crate::ingest::{NotOnePage, Packing, document, is_no_damage, of_page, unpack};
use crate::job::Limits;
use crate::listed::{PageKey, find, unknown};
use crate::reread::{FinishedRun, reread};
use crate::run::Run;
use onecopy_core::{Needs, Record, TextParts, Whole};

/// A page that was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    /// The text that a reader sees.
    pub text: String,
    /// Hashes of the addresses that it links to.
    pub links: Vec<u64>,
    /// All of its text, split into parts, if it is HTML.
    pub parts: Option<TextParts>,
    /// The page as it was found.
    pub whole: Option<Whole>,
}

impl Reading {
    fn of(record: &Record) -> Reading {
        Reading {
            whole: record.whole.clone(),
            text: record.text.plain().into_owned(),
            links: record.out_links.clone(),
            parts: record.parts.clone(),
        }
    }
}

/// Reads both pages. A name refers to a page of the run if there is one, else to a file.
pub(super) fn read(job: &Comparing, run: Option<&Run>, needs: &Needs) -> Result<[Reading; 2]> {
    let names = [job.a.as_str(), job.b.as_str()];
    if names == ["-", "-"] {
        return Err(Error::StandardInputTwice);
    }
    let [a, b] = of_run(job, run, names, needs)?;
    let one = |name: &str, of_run: Option<Reading>| match (of_run, &job.run) {
        (Some(reading), _) => Ok(reading),
        (None, Some(_)) if name != "-" && !Path::new(name).exists() => Err(unknown(name)),
        (None, _) => file(name, &job.limits, needs),
    };
    Ok([one(names[0], a)?, one(names[1], b)?])
}

/// Reads those of the pages that are pages of the run.
fn of_run(
    job: &Comparing,
    run: Option<&Run>,
    names: [&str; 2],
    needs: &Needs,
) -> Result<[Option<Reading>; 2]> {
    let (Some(run), Some(out)) = (run, &job.run) else { return Ok([None, None]) };
    let listed = find(out, &names)?;
    let keys: Vec<PageKey> = listed.iter().flatten().map(|page| page.key.clone()).collect();
    let finished = FinishedRun { run, out, environment: &job.environment };
    let read = reread(&finished, &keys, needs, Reading::of)?;
    let reading = |page: usize| read.get(&listed[page].as_ref()?.key).cloned();
    Ok([reading(0), reading(1)])
}

/// Reads a file that is one page.
fn file(name: &str, limits: &Limits, needs: &Needs) -> Result<Reading> {
    let path = Path::new(name);
    let refused = |reason: &str| Error::Input { input: name.into(), reason: reason.into() };
    let reader: Box<dyn Read> = match name {
        "-" => Box::new(io::stdin().lock()),
        _ if path.is_dir() => return Err(refused("a folder, and one page is wanted")),
        _ => match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::NoSuchPage { page: name.into() });
            }
            opened => Box::new(opened.at("read", path)?),
        },
    };
    let mut bytes = Vec::new();
    reader.take(limits.page_bytes as u64 + 1).read_to_end(&mut bytes).at("read", path)?;
    if bytes.len() > limits.page_bytes {
        return Err(Error::PageTooLong { page: name.into(), limit: limits.page_bytes });
    }
    let format = of_page(name, &bytes).map_err(|why| match why {
        NotOnePage::Many => Error::ManyPages { page: name.into() },
        NotOnePage::Unreadable(reason) => refused(reason),
    })?;
    if format.packing() != Packing::Plain {
        bytes =
            unpacked(bytes, format.packing(), limits).at("read", path)?.map_err(|reason| refused(&reason))?;
    }
    if bytes.len() > limits.page_bytes {
        return Err(Error::PageTooLong { page: name.into(), limit: limits.page_bytes });
    }
    Ok(Reading::of(&document(&bytes, format, None, needs)))
}

/// A page without its compression, up to one byte over the limit; or why it cannot be unpacked.
fn unpacked(
    bytes: Vec<u8>,
    packing: Packing,
    limits: &Limits,
) -> io::Result<std::result::Result<Vec<u8>, String>> {
    let (reader, _) = unpack(Box::new(io::Cursor::new(bytes)), packing, limits.expansion)?;
    let mut page = Vec::new();
    match reader.take(limits.page_bytes as u64 + 1).read_to_end(&mut page) {
        Err(error) if is_no_damage(&error) => Err(error),
        Err(error) => Ok(Err(format!("it is damaged: {error}"))),
        Ok(_) => Ok(Ok(page)),
    }
}

//! Reads `docs.jsonl` of a labelled set into pages that any method can sketch.
//!
//! A run over a crawl rejects broken records, but here a broken line is an error. If a page were missing, the scores
//! would cover other pairs than the set's authors intended.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use onecopy_core::{
    Canonical, CanonicalRules, Config, Content, Fingerprint, ShingleRules, Sketch, canonicalise, host,
    html_to_text, links, sketch, unescape,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::{At, Error, Result};
use crate::ingest::{open, sniff};
use crate::job::Limits;
use crate::parallel::on_each;
use crate::progress::{Progress, Stage};
use onecopy_core::TextParts;

/// The accepted file names.
const NAMES: [&str; 3] = ["docs.jsonl", "docs.jsonl.zst", "docs.jsonl.gz"];
/// The longest accepted line.
const LINE_BYTES: u64 = 64 << 20;
/// The most pages in a set, since all pairs are compared.
pub(super) const PAGES_LIMIT: usize = 100_000;

/// A page of a set.
#[derive(Debug)]
pub(super) struct EvalPage {
    pub id: String,
    pub url: Option<String>,
    /// The number of its site. `None` if the site is unknown.
    pub site: Option<u32>,
    /// The text to compare, before canonicalisation.
    pub text: String,
    /// Hashes of the addresses that the page links to.
    pub links: Vec<u64>,
    /// All text of an HTML page, split into parts.
    pub parts: Option<TextParts>,
    pub fingerprint: Fingerprint,
    /// The shingles of the whole visible text, whatever part of it is compared.
    pub whole: Vec<u64>,
}

/// The pages of a set, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Docs {
    pub pages: Vec<EvalPage>,
    /// The number of each page by its id. `None` if the page has no words and cannot be compared.
    pub numbers: HashMap<String, Option<u32>>,
}

impl Docs {
    /// The number of pages without words.
    pub(super) fn empty(&self) -> usize {
        self.numbers.len() - self.pages.len()
    }
}

/// The fields of a line. Values stay raw, since half a surrogate pair in a text must not make the set unreadable.
#[derive(Deserialize)]
struct DocsLine<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    html: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    url: Option<&'a RawValue>,
    #[serde(borrow)]
    service: Option<&'a RawValue>,
    #[serde(borrow)]
    site: Option<&'a RawValue>,
}

/// A parsed line.
struct ReadLine {
    id: String,
    url: Option<String>,
    site: Option<String>,
    /// `None` if the page has no words.
    text: Option<(String, Fingerprint)>,
    links: Vec<u64>,
    parts: Option<TextParts>,
    whole: Vec<u64>,
}

/// Reads the pages of the set in `folder`.
pub(super) fn read(folder: &Path, config: &Config, threads: usize, progress: &dyn Progress) -> Result<Docs> {
    let path = find(folder)?;
    let lines = Mutex::new(LineReader::open(&path, progress)?);
    let found = Mutex::new(Vec::new());
    let broken = AtomicBool::new(false);
    on_each(threads, |_| {
        let (mut buffers, mut line) = (EvalBuffers::default(), Vec::new());
        // Lines are handed out in order and each is fully parsed. So the first broken line is always among those found,
        // whatever the thread timing.
        while !broken.load(Ordering::Relaxed) {
            let taken = lines.lock().expect("no thread panics with this lock").next(&mut line, progress);
            let Some(number) = taken.at("read", &path)? else { break };
            if progress.stopped() {
                return Err(Error::Stopped);
            }
            let page = buffers.page(&line, config);
            broken.fetch_or(page.is_err(), Ordering::Relaxed);
            let mut found = found.lock().expect("no thread panics with this lock");
            found.push((number, page));
            if found.len() > PAGES_LIMIT {
                let reason = format!("more than {PAGES_LIMIT} pages: all pairs are compared, so give fewer");
                return Err(Error::Input { input: path.display().to_string(), reason });
            }
        }
        Ok(())
    })?;
    gather(found.into_inner().expect("no thread panics with this lock"), &path)
}

/// Finds the file with the pages.
fn find(folder: &Path) -> Result<PathBuf> {
    let found = NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file());
    found.ok_or_else(|| {
        let reason = "no docs.jsonl, docs.jsonl.zst or docs.jsonl.gz is in it: give a folder with one line per \
                      page, with `id` and `html` or `text`";
        Error::Input { input: folder.display().to_string(), reason: reason.into() }
    })
}

/// Numbers the pages in the order of their lines.
fn gather(mut found: Vec<(u64, Result<ReadLine, String>)>, path: &Path) -> Result<Docs> {
    found.sort_unstable_by_key(|(number, _)| *number);
    let mut docs = Docs::default();
    let mut sites: HashMap<String, u32> = HashMap::new();
    for (number, page) in found {
        let page = page.map_err(|reason| in_line(path, number, &reason))?;
        let place = page.text.is_some().then_some(docs.pages.len() as u32);
        if docs.numbers.insert(page.id.clone(), place).is_some() {
            let reason = format!("the id {:?} is also in an earlier line: give each page its own", page.id);
            return Err(in_line(path, number, &reason));
        }
        let Some((text, fingerprint)) = page.text else { continue };
        let next = sites.len() as u32;
        let site = page.site.map(|site| *sites.entry(site).or_insert(next));
        docs.pages.push(EvalPage {
            id: page.id,
            url: page.url,
            site,
            text,
            links: page.links,
            parts: page.parts,
            fingerprint,
            whole: page.whole,
        });
    }
    if docs.pages.is_empty() {
        let reason = "no page has words: a line needs `id` and `html` or `text`";
        return Err(Error::Input { input: path.display().to_string(), reason: reason.into() });
    }
    Ok(docs)
}

/// An error at a line of a file.
pub(super) fn in_line(path: &Path, number: u64, reason: &str) -> Error {
    Error::Input { input: format!("{}, line {number}", path.display()), reason: reason.into() }
}

/// The lines of a file, in order.
struct LineReader {
    reader: BufReader<Box<dyn Read + Send>>,
    number: u64,
    /// Bytes read from the file, and how many of them were reported as progress.
    taken: Arc<AtomicU64>,
    told: u64,
}

impl LineReader {
    fn open(path: &Path, progress: &dyn Progress) -> Result<LineReader> {
        let mut head = Vec::new();
        let file = File::open(path).at("read", path)?;
        progress.begin(Stage::Read, file.metadata().at("read", path)?.len());
        file.take(16).read_to_end(&mut head).at("read", path)?;
        let (reader, taken) = open(path, sniff(&head), Limits::default().expansion).at("read", path)?;
        Ok(LineReader { reader: BufReader::with_capacity(1 << 18, reader), number: 0, taken, told: 0 })
    }

    /// Reads the next non-blank line into `line`. Returns its number.
    fn next(&mut self, line: &mut Vec<u8>, progress: &dyn Progress) -> io::Result<Option<u64>> {
        loop {
            line.clear();
            self.number += 1;
            let read = self.reader.by_ref().take(LINE_BYTES + 1).read_until(b'\n', line);
            let read = read.map_err(|error| io::Error::new(error.kind(), self.said(&error)))?;
            let taken = self.taken.load(Ordering::Relaxed);
            progress.advance(taken - self.told);
            self.told = taken;
            if read as u64 > LINE_BYTES {
                return Err(io::Error::other(format!(
                    "line {} is longer than {LINE_BYTES} bytes",
                    self.number
                )));
            }
            if read == 0 {
                return Ok(None);
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(self.number));
            }
        }
    }

    fn said(&self, error: &io::Error) -> String {
        format!("{error} in line {}", self.number)
    }
}

/// Buffers that a thread reuses between pages.
#[derive(Default)]
struct EvalBuffers {
    canonical: Canonical,
    sketch: Sketch,
}

impl EvalBuffers {
    fn page(&mut self, line: &[u8], config: &Config) -> Result<ReadLine, String> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let line: DocsLine = serde_json::from_slice(line)
            .map_err(|error| error.to_string().replace(" at line 1 column", " at column"))?;
        let id = line.id.and_then(name).filter(|id| !id.is_empty());
        let id = id.ok_or("the page has no `id` that is a string or a number")?;
        let url = line.url.and_then(string);
        let site = url.as_deref().and_then(host).map(str::to_ascii_lowercase);
        let site = site.or_else(|| line.site.or(line.service).and_then(name));
        let (mut out_links, mut parts) = (Vec::new(), None);
        let html = line.html.map(|raw| string(raw).ok_or("`html` is not a string"));
        let (text, whole) = match (html, line.text) {
            (Some(html), _) => {
                let html = html?;
                links(&html, url.as_deref(), &config.addresses, &mut out_links);
                parts = (config.content == Content::Auto).then(|| TextParts::of(&html));
                (text_of(&html, config.content), text_of(&html, Content::All))
            }
            (None, Some(raw)) => {
                let text = string(raw).ok_or("`text` is not a string")?;
                (text.clone(), text)
            }
            (None, None) => return Err("the page has neither `html` nor `text`".into()),
        };
        canonicalise(&whole, &CanonicalRules::default(), &mut self.canonical);
        sketch(&self.canonical, &ShingleRules::default(), &mut self.sketch);
        canonicalise(&text, &config.canonical, &mut self.canonical);
        let has_words = self.canonical.token_count() > 0;
        let text = has_words.then(|| (text, self.canonical.fingerprint()));
        Ok(ReadLine { id, url, site, text, links: out_links, parts, whole: self.sketch.shingles().to_vec() })
    }
}

fn text_of(html: &str, content: Content) -> String {
    let mut text = String::new();
    html_to_text(html, content, &mut text);
    text
}

/// A string or a number, as it would appear in a table.
fn name(raw: &RawValue) -> Option<String> {
    let is_number = raw.get().starts_with(|c: char| c == '-' || c.is_ascii_digit());
    if is_number { Some(raw.get().to_owned()) } else { string(raw) }
}

fn string(raw: &RawValue) -> Option<String> {
    raw.get().strip_prefix('"')?.strip_suffix('"').map(unescape)
}

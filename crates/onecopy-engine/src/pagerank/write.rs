//! Writes the scores, best first: each stripe is sorted in memory, and the sorted stripes are merged.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::graph::{Graph, PackedStripe};
use super::scratch::Scratch;
use super::{PageRankJob, RankedPage};
use crate::error::{At, Error, Result};
use crate::output::ScoreFile;
use crate::parallel::for_each;
use crate::progress::{Progress, Stage};

/// How many of the best pages a report has.
const BEST: usize = 10;

/// The format of the scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScoreFormat {
    Lines,
    Tabs,
    Parquet,
}

impl ScoreFormat {
    /// The format that the ending of a file asks for.
    pub(super) fn of(out: &Path) -> Result<ScoreFormat> {
        match out.extension().and_then(|ending| ending.to_str()) {
            Some("jsonl" | "ndjson") => Ok(ScoreFormat::Lines),
            Some("tsv" | "tab") => Ok(ScoreFormat::Tabs),
            Some("parquet") => Ok(ScoreFormat::Parquet),
            _ => Err(Error::ScoreFormat { path: out.to_owned() }),
        }
    }
}

/// Where scores go.
pub(super) struct Target<'a> {
    pub job: &'a PageRankJob,
    pub format: ScoreFormat,
    pub scratch: &'a Scratch,
}

/// Writes all scores, best first. Returns the best.
pub(super) fn write(
    graph: &Graph,
    scores: &[f64],
    target: &Target,
    progress: &dyn Progress,
) -> Result<Vec<RankedPage>> {
    let mut links_out = vec![0u32; graph.pages()];
    graph.voters.iter().zip(&graph.voter_links).for_each(|(&page, &links)| links_out[page as usize] = links);
    let bytes = scores.len() as u64;
    progress.begin(Stage::Write, 2 * bytes);
    let path = |number: usize| target.scratch.path().join(format!("sorted-{number}"));
    for_each(target.job.threads, graph.stripes().len(), Vec::new, |buffer, number| {
        let stripe = &graph.stripes()[number];
        let facts =
            StripeScores { scores: &scores[stripe.pages.clone()], out: &links_out[stripe.pages.clone()] };
        sort(stripe, &facts, buffer, &path(number))?;
        progress.advance(stripe.pages.len() as u64);
        Ok(())
    })?;
    let paths: Vec<PathBuf> = (0..graph.stripes().len()).map(path).collect();
    let part = target.scratch.path().join("scores");
    let best = merge(&paths, ScoreFile::create(part.clone(), target.format)?, progress)?;
    fs::rename(&part, &target.job.out).at("create", &target.job.out)?;
    Ok(best)
}

struct StripeScores<'a> {
    scores: &'a [f64],
    out: &'a [u32],
}

/// Writes the pages of a stripe, best first, to a file.
fn sort(stripe: &PackedStripe, facts: &StripeScores, buffer: &mut Vec<u32>, path: &Path) -> Result<()> {
    let text = stripe.names.read()?;
    let names = stripe.names(&text);
    let links_in: Vec<u32> = stripe.links(buffer)?.counts().collect();
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_unstable_by(|&a, &b| {
        facts.scores[b].total_cmp(&facts.scores[a]).then_with(|| names[a].0.cmp(names[b].0))
    });
    let mut out = BufWriter::with_capacity(1 << 18, File::create(path).at("create", path)?);
    let mut put = |bytes: &[u8]| out.write_all(bytes).at("write", path);
    for page in order {
        let (name, unknown) = names[page];
        put(&facts.scores[page].to_ne_bytes())?;
        put(&links_in[page].to_ne_bytes())?;
        put(&facts.out[page].to_ne_bytes())?;
        put(&[u8::from(unknown)])?;
        put(&(name.len() as u32).to_ne_bytes())?;
        put(name.as_bytes())?;
    }
    out.flush().at("write", path)
}

/// A sorted file, and its first page that was not written yet.
struct Sorted {
    first: RankedPage,
    rest: BufReader<File>,
}

impl Sorted {
    fn open(path: &Path) -> Result<Option<Sorted>> {
        let rest = BufReader::with_capacity(1 << 16, File::open(path).at("read", path)?);
        let first =
            RankedPage { page: String::new(), pagerank: 0.0, links_in: 0, links_out: 0, unknown: false };
        let mut sorted = Sorted { first, rest };
        Ok(sorted.next(path)?.then_some(sorted))
    }

    /// Continues with the next page. Returns whether there is one.
    fn next(&mut self, path: &Path) -> Result<bool> {
        let mut head = [0; 21];
        if self.rest.read(&mut head[..1]).at("read", path)? == 0 {
            return Ok(false);
        }
        self.rest.read_exact(&mut head[1..]).at("read", path)?;
        let number = |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (score, _) = head.split_first_chunk::<8>().expect("a head is longer");
        self.first.pagerank = f64::from_ne_bytes(*score);
        (self.first.links_in, self.first.links_out, self.first.unknown) =
            (number(8), number(12), head[16] == 1);
        let mut name = std::mem::take(&mut self.first.page).into_bytes();
        name.resize(number(17) as usize, 0);
        self.rest.read_exact(&mut name).at("read", path)?;
        self.first.page = String::from_utf8(name).unwrap_or_default();
        Ok(true)
    }
}

impl Ord for Sorted {
    fn cmp(&self, other: &Sorted) -> Ordering {
        let (own, others) = (&self.first, &other.first);
        own.pagerank.total_cmp(&others.pagerank).then_with(|| others.page.cmp(&own.page))
    }
}

impl PartialOrd for Sorted {
    fn partial_cmp(&self, other: &Sorted) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Sorted {
    fn eq(&self, other: &Sorted) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Sorted {}

fn merge(paths: &[PathBuf], mut out: ScoreFile, progress: &dyn Progress) -> Result<Vec<RankedPage>> {
    let mut best = Vec::new();
    let mut heap = BinaryHeap::new();
    for path in paths {
        heap.extend(Sorted::open(path)?);
    }
    let mut written = 0u64;
    // The next page of a file mostly stays near the top, so it replaces the last one there.
    while let Some(mut sorted) = heap.peek_mut() {
        out.row(&sorted.first)?;
        if best.len() < BEST {
            best.push(sorted.first.clone());
        }
        if !sorted.next(&paths[0])? {
            PeekMut::pop(sorted);
        }
        written += 1;
        if written.is_multiple_of(1 << 16) {
            progress.advance(1 << 16);
            if progress.stopped() {
                return Err(Error::Stopped);
            }
        }
    }
    progress.advance(written % (1 << 16));
    out.finish()?;
    Ok(best)
}

//! Scores from a file, for the winner rule `popularity`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use onecopy_core::{AddressRules, Needs, Record, digest};

use super::named::{name, name_of};
use crate::environment::Environment;
use crate::error::{At, Error, Result};
use crate::ingest::{
    FieldNames, Links, Opener, Planning, Reach, RecordReader, Spools, Stores, Window, Windows, check_fields,
    plan, read_linked, walk,
};
use crate::job::{Fields, Limits};
use crate::parallel::Gate;
use crate::progress::Progress;

/// The field with the name of a page, as in the results of a ranking.
const PAGE_FIELD: &str = "page";
/// Bytes of memory per score.
const BYTES_A_SCORE: u64 = 40;
const CHUNK_BYTES: usize = 2 << 20;

/// The scores of pages, by the hash of their names.
pub(crate) struct Popularity {
    scores: HashMap<u64, f64>,
    rules: AddressRules,
    /// Pages that were asked for, and those that have a score.
    asked: AtomicU64,
    found: AtomicU64,
}

/// Where scores are, and how to read them.
pub(crate) struct ScoreSource<'a> {
    pub path: &'a Path,
    pub rules: &'a AddressRules,
    pub memory_bytes: u64,
    /// A folder for unpacked containers.
    pub folder: PathBuf,
    pub environment: &'a Environment,
}

impl Popularity {
    /// Reads the scores of a file. If a page has several, the highest counts.
    pub(crate) fn read(from: &ScoreSource, progress: &dyn Progress) -> Result<Popularity> {
        let limits = Limits::default();
        let spools = Spools::new(&from.folder, limits.expansion, Window::default());
        let reach = Reach { stores: Stores::new(from.environment.iter().cloned()), spools };
        let planning =
            Planning { stdin: None, out: &from.folder, links: Links::Refuse, reach: &reach, progress };
        let inputs = plan(&[from.path.display().to_string()], &planning)?;
        let named = Fields { url: Some(PAGE_FIELD.into()), ..Fields::default() };
        // A record that may have links needs no text.
        let fields = Fields { links: Some("links".into()), ..named.clone() };
        let names = FieldNames::new(&fields);
        let (large, windows) = (Gate::new(1), Windows::default());
        let (needs, chunk_bytes) = (Needs::default(), CHUNK_BYTES);
        let mut opener = Opener {
            reach,
            rows: None,
            base_rows: None,
            fields: named,
            limits,
            needs,
            chunk_bytes,
            large,
            windows,
        };
        check_fields(&inputs.sources, &opener, 1, progress)?;
        opener.fields = fields;
        let mut scores = HashMap::new();
        let (reader, mut page) =
            (RecordReader { limits: &opener.limits, names: &names, needs: &opener.needs }, String::new());
        for source in &inputs.sources {
            let (mut chunks, _) = opener.chunks(source).at("read", &source.path)?;
            let mut spare = Vec::new();
            while let Some(chunk) = chunks.next(spare).at("read", &source.path)? {
                for raw in walk(&chunk, source.format).filter(|raw| reader.is_page_line(raw)) {
                    let Ok(line) = read_linked(raw.bytes, &names) else { continue };
                    let (Some(url), Some(score)) = (&line.url, line.popularity) else { continue };
                    name(url, from.rules, &mut page);
                    let known = scores.entry(digest(page.as_bytes())).or_insert(score);
                    *known = score.max(*known);
                }
                from.check_memory(scores.len() as u64)?;
                spare = chunk.bytes;
            }
        }
        if scores.is_empty() {
            return Err(Error::NoScores { path: from.path.to_owned() });
        }
        let (rules, asked, found) = (from.rules.clone(), AtomicU64::new(0), AtomicU64::new(0));
        Ok(Popularity { scores, rules, asked, found })
    }

    /// Gives a page its score, if there is one.
    pub(crate) fn rate(&self, record: &mut Record) {
        let mut page = String::new();
        let _ = name_of(record.url.as_deref(), record.id, &self.rules, &mut page);
        // A page may be known by its id although it has an address.
        let mut by_id = String::new();
        let _ = name_of(None, record.id, &self.rules, &mut by_id);
        let score = [page, by_id].iter().find_map(|name| self.scores.get(&digest(name.as_bytes())));
        self.asked.fetch_add(1, Ordering::Relaxed);
        if let Some(&score) = score {
            self.found.fetch_add(1, Ordering::Relaxed);
            record.popularity = Some(score);
        }
    }

    /// Whether pages were asked for, and none has a score.
    pub(crate) fn is_useless(&self) -> bool {
        self.asked.load(Ordering::Relaxed) > 0 && self.found.load(Ordering::Relaxed) == 0
    }
}

impl ScoreSource<'_> {
    fn check_memory(&self, scores: u64) -> Result<()> {
        let (needed, limit) = (2 * BYTES_A_SCORE * scores, self.memory_bytes);
        let purpose = "for the scores of pages".into();
        if needed > limit { Err(Error::Memory { needed, limit, purpose }) } else { Ok(()) }
    }
}

//! Evaluates methods on labelled sets: precision, recall and related scores over all pairs of pages.
//!
//! It compares all pairs exactly and uses only the methods of the batch engine, not its search. So it also counts
//! duplicates that a search would miss. Memory holds the pages and sketches of one set at a time, and counts, but never
//! pairs.

mod docs;
mod labels;
mod pairs;
mod rand_index;
mod score;
mod set;
mod shared;
pub(crate) mod table;
mod tally;

use std::path::PathBuf;
use std::time::Instant;

use onecopy_core::{Config, METHODS, method};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::job::{Setting, check_threads};
use crate::parallel::cores;
use crate::progress::{Note, Progress};
use pairs::Trial;
pub use score::{Band, Point, Reached, Score};
use score::{bands, best_f1, curve, reached, score};
use set::Set;
use tally::{Tally, Worst, Wrong};

/// The settings of an evaluation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EvalJob {
    /// Folders of labelled sets.
    pub sets: Vec<PathBuf>,
    /// The methods, as in [`Config::method`].
    pub methods: Vec<String>,
    /// The other settings: text, shingles, threshold.
    pub config: Config,
    /// Whether to skip unlisted pairs instead of counting them as non-duplicates.
    pub listed_only: bool,
    /// How many of the worst mistakes of each kind to report.
    pub mistakes: usize,
    /// The number of threads.
    pub threads: usize,
}

impl EvalJob {
    /// Evaluates all methods on `sets`.
    pub fn new(sets: impl IntoIterator<Item = impl Into<PathBuf>>) -> EvalJob {
        EvalJob {
            sets: sets.into_iter().map(Into::into).collect(),
            methods: METHODS.iter().map(|method| method.name.to_owned()).collect(),
            config: Config::default(),
            listed_only: false,
            mistakes: DEFAULT_MISTAKES,
            threads: cores(),
        }
    }

    /// Checks the job before anything is read. Returns the configuration of each method.
    fn check(&self) -> Result<Vec<Config>> {
        check_threads(self.threads)?;
        if self.mistakes > MISTAKES_LIMIT {
            let setting = Setting::Mistakes { limit: MISTAKES_LIMIT };
            return Err(Error::Setting { setting, value: self.mistakes as u64 });
        }
        self.sets.iter().try_for_each(|folder| set::check(folder))?;
        let config = |name: &String| Config { method: name.clone(), ..self.config.clone() };
        let configs: Vec<Config> = self.methods.iter().map(config).collect();
        configs.iter().try_for_each(Config::check)?;
        Ok(configs)
    }
}

/// The default number of reported mistakes of each kind.
pub const DEFAULT_MISTAKES: usize = 5;
/// The largest number of reported mistakes of each kind.
const MISTAKES_LIMIT: usize = 10_000;

/// The scores of a method on a set.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Evaluation {
    /// The name of the set, which is its folder's name.
    pub set: String,
    /// The method, with its parameters.
    pub method: String,
    /// Pairs at least this similar are called duplicates.
    pub threshold: f64,
    /// The number of compared pages.
    pub pages: usize,
    /// Pages without words, which were left out.
    pub empty_pages: usize,
    /// Listed pairs with such a page, which were left out.
    pub empty_pairs: usize,
    /// Pairs labelled as undecided.
    pub unscored: u64,
    /// Whether only listed pairs were compared.
    pub listed_only: bool,
    /// The score over all pairs.
    #[serde(flatten)]
    pub score: Score,
    /// The score over pairs within one site.
    pub same_site: Score,
    /// The score over pairs across two sites.
    pub cross_site: Score,
    /// Recall by the similarity of the whole texts.
    pub bands: Vec<Band>,
    /// The threshold with the best F1.
    pub best_f1: Option<Point>,
    /// The best recall at certain precisions.
    pub reached: Vec<Reached>,
    /// Precision and recall by threshold.
    pub curve: Vec<Point>,
    /// The worst mistakes of each kind, worst first. Only one mistake per page is listed, as long as other pages have
    /// mistakes that are nearly as bad.
    pub mistakes: Vec<Mistake>,
    /// Seconds spent sketching all pages, with all threads.
    pub sketch_seconds: f64,
    /// Seconds spent comparing all pairs.
    pub compare_seconds: f64,
    /// Pages canonicalised and sketched per second.
    pub pages_per_second: f64,
}

/// A pair that a method gets wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mistake {
    /// The kind of mistake.
    pub kind: MistakeKind,
    /// The similarity that the method reports.
    pub similarity: f64,
    /// Whether the method's search finds the pair as a candidate.
    pub candidate: bool,
    /// The id of one page.
    pub id1: String,
    /// The id of the other page.
    pub id2: String,
    /// The URL of the first page, if it has one.
    pub url1: Option<String>,
    /// The URL of the other page, if it has one.
    pub url2: Option<String>,
}

/// The kind of a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MistakeKind {
    /// The method calls them duplicates, but they are not.
    FalsePositive,
    /// They are duplicates, but the method misses them.
    FalseNegative,
}

/// Compares all pairs of each set with each method. The results are ordered by set, then by method.
pub fn eval(job: &EvalJob, progress: &dyn Progress) -> Result<Vec<Evaluation>> {
    let configs = job.check()?;
    let mut evaluations = Vec::with_capacity(job.sets.len() * configs.len());
    for folder in &job.sets {
        let set = Set::read(folder, &job.config, job.threads, progress)?;
        if job.listed_only && !set.labels.has_list {
            return Err(Error::NoListedPairs { set: folder.clone() });
        }
        for config in &configs {
            let method = method(config)?;
            evaluations.push(evaluate(&Trial { set: &set, method: &*method, config, job, progress })?);
        }
        for note in notes(&set, job) {
            progress.note(&note);
        }
    }
    Ok(evaluations)
}

/// Warnings about a set.
fn notes(set: &Set, job: &EvalJob) -> Vec<Note> {
    let mut notes = Vec::new();
    if set.empty_pages > 0 {
        notes.push(Note::EmptyPages {
            set: set.name.clone(),
            pages: set.empty_pages,
            pairs: set.empty_pairs,
        });
    }
    if set.labels.lists_others && !job.listed_only {
        notes.push(Note::UnlistedPairs { set: set.name.clone() });
    }
    notes
}

/// Evaluates a method on a set.
fn evaluate(trial: &Trial) -> Result<Evaluation> {
    let begun = Instant::now();
    let sketches = trial.sketches()?;
    let sketch_seconds = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let mut evaluation = report(trial.set, trial.compare(&sketches)?);
    evaluation.method = trial.config.method.clone();
    evaluation.threshold = trial.method.threshold();
    evaluation.listed_only = trial.job.listed_only;
    evaluation.sketch_seconds = sketch_seconds;
    evaluation.compare_seconds = begun.elapsed().as_secs_f64();
    evaluation.pages_per_second = trial.set.pages.len() as f64 / sketch_seconds.max(1e-9);
    Ok(evaluation)
}

/// Computes the scores from the counts.
fn report(set: &Set, tally: Tally) -> Evaluation {
    let [all, same_site, cross_site] = &tally.scopes;
    let mut evaluation = Evaluation {
        set: set.name.clone(),
        method: String::new(),
        threshold: 0.0,
        pages: set.pages.len(),
        empty_pages: set.empty_pages,
        empty_pairs: set.empty_pairs,
        unscored: tally.unscored,
        listed_only: false,
        score: score(all, &set.truth[0]),
        same_site: score(same_site, &set.truth[1]),
        cross_site: score(cross_site, &set.truth[2]),
        bands: bands(&tally.bands),
        best_f1: best_f1(all),
        reached: reached(all),
        curve: curve(all),
        mistakes: Vec::new(),
        sketch_seconds: 0.0,
        compare_seconds: 0.0,
        pages_per_second: 0.0,
    };
    evaluation.mistakes = mistakes(set, tally.wrong, MistakeKind::FalsePositive);
    evaluation.mistakes.extend(mistakes(set, tally.missed, MistakeKind::FalseNegative));
    evaluation
}

fn mistakes(set: &Set, worst: Worst, kind: MistakeKind) -> Vec<Mistake> {
    let named = |wrong: Wrong| {
        let (one, two) = (&set.pages[wrong.a as usize], &set.pages[wrong.b as usize]);
        Mistake {
            kind,
            similarity: wrong.similarity,
            candidate: wrong.candidate,
            id1: one.id.clone(),
            id2: two.id.clone(),
            url1: one.url.clone(),
            url2: two.url.clone(),
        }
    };
    worst.varied().into_iter().map(named).collect()
}

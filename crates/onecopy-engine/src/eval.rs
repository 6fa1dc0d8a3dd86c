//! How right methods are on labelled sets: precision, recall and their kin, over all pairs of pages.
//!
//! Nothing of the batch engine is used but the methods themselves: all pairs are compared, exactly, so that what a search
//! would miss is counted too. Memory holds the pages and sketches of one set at a time, and counts, never pairs.

mod docs;
mod labels;
mod pairs;
mod rand_index;
mod score;
mod set;
mod shared;
mod table;
mod tally;

use std::path::PathBuf;
use std::time::Instant;

use onecopy_core::{Config, METHODS, method};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::job::{Setting, check_threads};
use crate::progress::{Note, Progress};
use pairs::Trial;
pub use score::{Band, Point, Reached, Score};
use score::{bands, best_f1, curve, reached, score};
use set::Set;
use tally::{Tally, Worst, Wrong};

/// What is to be evaluated.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EvalJob {
    /// Folders of labelled sets.
    pub sets: Vec<PathBuf>,
    /// Methods, as [`Config::method`] has them.
    pub methods: Vec<String>,
    /// What else counts: the text, the shingles, the threshold.
    pub config: Config,
    /// Whether pairs that are not listed are left out, rather than no duplicates.
    pub listed_only: bool,
    /// How many of the worst mistakes of each kind are told.
    pub mistakes: usize,
    /// How many threads to use.
    pub threads: usize,
}

impl EvalJob {
    /// All methods on `sets`.
    pub fn new(sets: impl IntoIterator<Item = impl Into<PathBuf>>) -> EvalJob {
        EvalJob {
            sets: sets.into_iter().map(Into::into).collect(),
            methods: METHODS.iter().map(|method| method.name.to_owned()).collect(),
            config: Config::default(),
            listed_only: false,
            mistakes: DEFAULT_MISTAKES,
            threads: std::thread::available_parallelism().map_or(1, |threads| threads.get()),
        }
    }

    /// Says what is wrong before anything is read; gives the configuration of each method.
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

/// The mistakes of each kind that are told unless a number is given.
pub const DEFAULT_MISTAKES: usize = 5;
/// The most mistakes of each kind that are told.
const MISTAKES_LIMIT: usize = 10_000;

/// How right a method is on a set.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Evaluation {
    /// The name of the set: that of its folder.
    pub set: String,
    /// The method, with the parameters that were given.
    pub method: String,
    /// Pairs at least this similar are called duplicates.
    pub threshold: f64,
    /// Pages that were compared.
    pub pages: usize,
    /// Pages that have no words, and were left out.
    pub empty_pages: usize,
    /// Pairs of the list that have such a page, and were left out.
    pub empty_pairs: usize,
    /// Pairs of which nobody could say whether they are duplicates.
    pub unscored: u64,
    /// Whether only listed pairs were looked at.
    pub listed_only: bool,
    /// How right it is on all pairs.
    #[serde(flatten)]
    pub score: Score,
    /// How right it is on pairs of one site.
    pub same_site: Score,
    /// How right it is on pairs of two sites.
    pub cross_site: Score,
    /// Recall by the similarity of whole texts.
    pub bands: Vec<Band>,
    /// The threshold with the best F1.
    pub best_f1: Option<Point>,
    /// The best recall at some precisions.
    pub reached: Vec<Reached>,
    /// Precision and recall over thresholds.
    pub curve: Vec<Point>,
    /// The worst mistakes of each kind, the worst first. Of the mistakes with one page, one stands for the others as long
    /// as there are mistakes with other pages that are nearly as bad.
    pub mistakes: Vec<Mistake>,
    /// Seconds that it took to sketch all pages, on all threads together.
    pub sketch_seconds: f64,
    /// Seconds that it took to compare all pairs.
    pub compare_seconds: f64,
    /// Pages made canonical and sketched in a second.
    pub pages_per_second: f64,
}

/// A pair that a method is wrong about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mistake {
    /// How it is wrong.
    pub kind: MistakeKind,
    /// How alike the method says they are.
    pub similarity: f64,
    /// Whether the method's search comes upon the pair at all.
    pub candidate: bool,
    /// A page.
    pub id1: String,
    /// The other page.
    pub id2: String,
    /// The page's address, if it has one.
    pub url1: Option<String>,
    /// The other page's address.
    pub url2: Option<String>,
}

/// How a method is wrong about a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MistakeKind {
    /// It calls them duplicates, and they are not.
    FalsePositive,
    /// They are duplicates, and it does not say so.
    FalseNegative,
}

/// Compares all pairs of each set by each method. Sets in their order, and in each the methods in theirs.
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

/// What a person should know of a set.
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

/// How right a method is on a set.
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

/// What follows from the counts.
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

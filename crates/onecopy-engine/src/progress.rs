//! Lets a run report its progress and be stopped. The engine itself never uses a terminal.

mod clock;
mod leg;

pub(crate) use clock::StageClock;
pub(crate) use leg::Leg;

/// The stages of a run, in order, followed by the extra stages of an evaluation and of a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Reads and sketches pages. Progress counts input bytes.
    Read,
    /// Sorts pages by the winner rules. Progress counts pages.
    Order,
    /// Finds equal pages, and the keys that other pages share. Progress counts pages.
    Index,
    /// Decides which pages to keep, by comparing pages that share a key. Progress counts pages.
    Compare,
    /// Joins pages into groups. Progress counts shared keys.
    Group,
    /// Writes the results. Progress counts input bytes.
    Write,
    /// Sketches the pages of a labelled set. Progress counts pages.
    Sketch,
    /// Compares all pairs of a labelled set. Progress counts pairs.
    Pairs,
    /// Lets pages vote for the pages that they link to, again and again. Progress counts iterations.
    Vote,
    /// Sends statuses to an index. Progress counts changes, or pages of a finished run.
    Sync,
}

impl Stage {
    /// The stages of a run, in order.
    pub const ALL: [Stage; 6] =
        [Stage::Read, Stage::Order, Stage::Index, Stage::Compare, Stage::Group, Stage::Write];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Read => "read",
            Stage::Order => "order",
            Stage::Index => "index",
            Stage::Compare | Stage::Pairs => "compare",
            Stage::Group => "group",
            Stage::Write => "write",
            Stage::Sketch => "sketch",
            Stage::Vote => "vote",
            Stage::Sync => "sync",
        }
    }

    /// What its progress counts.
    pub fn unit(self) -> &'static str {
        match self {
            Stage::Read | Stage::Write => "bytes",
            Stage::Group => "shared keys",
            Stage::Pairs => "pairs",
            Stage::Vote => "iterations",
            Stage::Sync => "changes",
            Stage::Order | Stage::Index | Stage::Compare | Stage::Sketch => "pages",
        }
    }

    /// Whether progress counts bytes rather than items.
    pub fn counts_bytes(self) -> bool {
        matches!(self, Stage::Read | Stage::Write)
    }
}

/// A message about a run for the user.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Note {
    /// The output folder holds a part of this run, which is not repeated.
    #[error("continuing the run that was stopped here; pages already read: {pages}")]
    Continued {
        /// The pages that need not be read again.
        pages: u64,
    },
    /// Many pages share so much that most pairs of them must be looked at.
    #[error(
        "the pages share much text that does not tell them apart: up to {pairs} pairs are looked at, which may take \
         {seconds} seconds"
    )]
    ManyPairs {
        /// Pairs of pages.
        pairs: u64,
        /// How long that takes, roughly.
        seconds: u64,
    },
    /// The run is about to end early, and writes the pages in memory to disk.
    #[error("saving the pages that were read")]
    Saving,
    /// This run was ended before it could save any page.
    #[error("the run that was stopped here saved no pages: they are read again")]
    NothingSaved,
    /// Some results of the same run are gone, so it is repeated.
    #[error("{names} of this run cannot be found: the run is repeated")]
    Repeated {
        /// The results.
        names: String,
    },
    /// A version with other answers began a run here, so its work is not used.
    #[error("onecopy {version} was stopped here; its answers may differ from ours, so the run starts over")]
    OtherAnswers {
        /// The version of onecopy.
        version: String,
    },
    /// An output folder of another run is in an input folder, and is not read.
    #[error("{}: the results of another run, which are not read", folder.display())]
    OldResults {
        /// The folder.
        folder: std::path::PathBuf,
    },
    /// A collection of an earlier version is about to be upgraded.
    #[error("{}: upgrading the collection from format {from} to format {to}", folder.display())]
    Upgrading {
        /// The collection's folder.
        folder: std::path::PathBuf,
        /// Its format.
        from: u32,
        /// The format of this version.
        to: u32,
    },
    /// A collection was upgraded.
    #[error(
        "{}: the collection is upgraded; {} has its old files, and can be removed",
        folder.display(),
        before.display()
    )]
    Upgraded {
        /// The collection's folder.
        folder: std::path::PathBuf,
        /// The folder with the old files.
        before: std::path::PathBuf,
    },
    /// Some files in folders and containers are no pages.
    #[error("{files} files are no pages (images, style sheets, indexes and the like) and were skipped")]
    NoPages {
        /// How many.
        files: u64,
    },
    /// The method is approximate.
    #[error("an approximate method: it is expected to find {share} (of pairs by {of})")]
    Approximate {
        /// The measure of an exact method.
        of: String,
        /// The expected shares, and their similarities.
        share: String,
    },
    /// Some pages of a labelled set have no words.
    #[error("{set}: {pages} pages have no words and were left out, with {pairs} listed pairs")]
    EmptyPages {
        /// The set's name.
        set: String,
        /// The number of such pages.
        pages: usize,
        /// The number of listed pairs with such a page.
        pairs: usize,
    },
    /// Scores were still changing when the last allowed iteration ended.
    #[error("the scores still changed by {change:.1e} in iteration {iterations}, the last that is allowed")]
    NotConverged {
        /// The allowed number.
        iterations: u32,
        /// The change of the last.
        change: f64,
    },
    /// Some lines of a file of resets name pages that are not in the input.
    #[error("{}: pages that are not in the input do not count: {lines} of its lines", path.display())]
    UnknownResets {
        /// The file.
        path: std::path::PathBuf,
        /// How many.
        lines: u64,
    },
    /// No page of the input has a score.
    #[error("{}: no page of the input has a score there", path.display())]
    NoPageScored {
        /// The file.
        path: std::path::PathBuf,
    },
    /// Unlisted pairs of a labelled set count as different pages.
    #[error("{set}: pairs that are not listed count as different pages")]
    UnlistedPairs {
        /// The set's name.
        set: String,
    },
}

/// Receives the progress of a run. Called from many threads.
pub trait Progress: Sync {
    /// A stage of `total` steps begins.
    fn begin(&self, _stage: Stage, _total: u64) {}
    /// `steps` more steps of the current stage are done.
    fn advance(&self, _steps: u64) {}
    /// A message for the user.
    fn note(&self, _note: &Note) {}
    /// Whether the run should stop. Called often.
    fn stopped(&self) -> bool {
        false
    }
}

/// Ignores all progress.
pub struct Silent;

impl Progress for Silent {}

//! Lets a run report its progress and be stopped. The engine itself never uses a terminal.

/// The stages of a run, in order, followed by the extra stages of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Reads and sketches pages. Progress counts input bytes.
    Read,
    /// Sorts pages by the winner rules. Progress counts pages.
    Rank,
    /// Finds the keys that pages share. Progress counts pages.
    Keys,
    /// Decides which pages to keep. Progress counts pages.
    Settle,
    /// Connects the groups. Progress counts shared keys.
    Connect,
    /// Writes the results. Progress counts input bytes.
    Write,
    /// Sketches the pages of a labelled set. Progress counts pages.
    Sketch,
    /// Compares all pairs of a labelled set. Progress counts pairs.
    Compare,
}

impl Stage {
    /// The stages of a run, in order.
    pub const ALL: [Stage; 6] =
        [Stage::Read, Stage::Rank, Stage::Keys, Stage::Settle, Stage::Connect, Stage::Write];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Read => "read",
            Stage::Rank => "rank",
            Stage::Keys => "keys",
            Stage::Settle => "settle",
            Stage::Connect => "connect",
            Stage::Write => "write",
            Stage::Sketch => "sketch",
            Stage::Compare => "compare",
        }
    }

    /// Whether progress counts bytes rather than items.
    pub fn counts_bytes(self) -> bool {
        matches!(self, Stage::Read | Stage::Write)
    }
}

/// What a person should know of a run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Note {
    /// The output folder had a part of this run, which is not repeated.
    #[error("continuing the run that was stopped here")]
    Continued,
    /// The method is approximate.
    #[error("an approximate method: of pairs by {of}, it is expected to find {share}")]
    Approximate {
        /// What an exact method would find.
        of: String,
        /// The shares that it is expected to find, and at which similarities.
        share: String,
    },
    /// Pages of a labelled set have no words.
    #[error("{set}: {pages} pages have no words and were left out, with {pairs} listed pairs")]
    EmptyPages {
        /// The set's name.
        set: String,
        /// How many pages.
        pages: usize,
        /// How many listed pairs have one of them.
        pairs: usize,
    },
    /// Pairs of a labelled set that are not listed count, too.
    #[error("{set}: pairs that are not listed count as different pages")]
    UnlistedPairs {
        /// The set's name.
        set: String,
    },
}

/// Is told what a run does. Called from many threads.
pub trait Progress: Sync {
    /// A stage of `total` steps begins.
    fn begin(&self, _stage: Stage, _total: u64) {}
    /// `steps` more steps of the current stage are done.
    fn advance(&self, _steps: u64) {}
    /// Something that a person should know.
    fn note(&self, _note: &Note) {}
    /// Whether the run should stop. Asked often.
    fn stopped(&self) -> bool {
        false
    }
}

/// Ignores all progress.
pub struct Silent;

impl Progress for Silent {}

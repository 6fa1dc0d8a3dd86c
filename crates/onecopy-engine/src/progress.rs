//! How a run tells what it is doing, and is told to stop. The engine itself never touches a terminal.

/// The stages of a run, in order; then those of an evaluation that a run has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Reading pages and sketching them. Counted in bytes of input.
    Read,
    /// Putting pages in the order of the winner rules. Counted in pages.
    Rank,
    /// Finding the keys that pages share. Counted in pages.
    Keys,
    /// Deciding which pages stay. Counted in pages.
    Settle,
    /// Connecting the groups. Counted in shared keys.
    Connect,
    /// Writing the results. Counted in bytes of input.
    Write,
    /// Sketching the pages of a labelled set. Counted in pages.
    Sketch,
    /// Comparing all pairs of a labelled set. Counted in pairs.
    Compare,
}

impl Stage {
    /// Those of a run, in order.
    pub const ALL: [Stage; 6] =
        [Stage::Read, Stage::Rank, Stage::Keys, Stage::Settle, Stage::Connect, Stage::Write];

    /// The word for it.
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

    /// Whether progress counts bytes; else it counts things.
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
    /// A stage begins, of `total` steps.
    fn begin(&self, _stage: Stage, _total: u64) {}
    /// `steps` more of the current stage are done.
    fn advance(&self, _steps: u64) {}
    /// Something that a person should know.
    fn note(&self, _note: &Note) {}
    /// Whether the run should stop. Asked often.
    fn stopped(&self) -> bool {
        false
    }
}

/// Tells nobody.
pub struct Silent;

impl Progress for Silent {}

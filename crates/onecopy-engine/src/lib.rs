//! The batch engine of onecopy: files, threads, memory, and the order in which `onecopy_core`'s stages run.
//!
//! ```no_run
//! use onecopy_engine::{Job, Silent, dedup};
//!
//! let job = Job::new(["crawl/*.jsonl.gz"], "deduplicated");
//! let outcome = dedup(&job, &Silent)?;
//! println!("{} of {} pages kept", outcome.report().counts.kept, outcome.report().read);
//! # Ok::<(), onecopy_engine::Error>(())
//! ```

mod appraise;
mod backup;
mod batch;
mod census;
mod clock;
mod compare;
mod compared_text;
mod dedup;
mod environment;
mod error;
mod eval;
mod explain;
mod fuzzed;
mod ingest;
mod io;
mod job;
mod layout;
mod listed;
mod lock;
mod mirrors;
mod output;
mod page_walk;
mod pagerank;
mod parallel;
mod partitions;
mod progress;
mod report;
mod reread;
mod run;
mod service;
mod tag;

pub use appraise::{RowFacts, appraise_rows};
pub use backup::{BackedUp, BackupJob, Depot, RestoreJob, SnapshotLine, backup, list_backups, restore};
#[doc(hidden)]
pub use census::census_of;
pub use census::{Census, census};
pub use clock::utc;
pub use compare::{
    Compared, Comparing, Comparison, Measure, MeasureKind, Passage, PassageKind, Stretch, Verdict, compare,
};
pub use compared_text::ComparedText;
pub use dedup::{Outcome, dedup, dedup_into, dedup_rows, sketch};
pub use environment::Environment;
pub use error::{Error, Result};
pub use eval::{
    Band, DEFAULT_MISTAKES, EvalJob, Evaluation, Mistake, MistakeKind, Point, Reached, Score, eval,
};
pub use explain::{
    Explanation, Fate, GroupFacts, PageExplanation, PageFacts, PageRef, RelatedPage, explain, explain_page,
};
#[doc(hidden)]
pub use fuzzed::{array_lines, parquet_lines, reread_lines, table_lines};
pub use ingest::{RowColumn, RowKind, RowValue, Rows, usual_field_names, usual_naming_fields};
pub use job::{
    DEFAULT_MEMORY_BYTES, Fields, Job, KeptPages, LEAST_MEMORY_BYTES, Limits, Outputs, Payloads,
    RECALL_PAGES, RemovedRecords, Setting,
};
pub use layout::{LayoutPlan, NamedIndexFile, PlannedFile, read_index_files, read_requests};
pub use listed::RunStatuses;
pub use mirrors::{Example, ExampleKind, Mirror, Prefix, mirrors};
pub use onecopy_core::{Config, ConfigError, MirrorRules, PageRankRules};
pub use output::{ListTable, ListTables, ListValues};
pub use pagerank::{
    LinkCounts, LinkInput, Nofollow, PageRankJob, RankedPage, Ranking, UnknownPages, rank_pages,
};
pub use partitions::{
    BoundKind, LengthSample, PartitionsFile, count_generated, sample_lengths, vector as length_vector,
};
pub use progress::{Note, Progress, Silent, Stage};
pub use report::{
    Archives, Counts, Expected, Kinds, Measured, ReasonCount, Recall, RejectionKind, Report, SIMILARITY_BINS,
    StageTime, Unreadable,
};
pub use service::{
    Accepted, Action, Answer, Change, ChangedPages, CheckReport, FeedCursor, FeedEntry, FeedPage, GroupLine,
    GroupView, ImportJob, ImportPlan, ImportRejection, Imported, Likeness, ListedPage, OnRejection, Opening,
    PageCursor, PageFilter, PageList, PageName, PageRecord, PageView, Refusal, Regrouped, Service,
    ServiceOptions, Stats, Status, StatusKind, Stored, StoredPart, Swept, Upgraded, import, plan_import,
    resume_upgrade, settle, upgrade,
};
pub use tag::{Tagged, tag_pages};

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

//! The reasons that stop a run. A variant names the thing that failed and why; its text knows no command line.
//!
//! A bad page is not an error: it goes to `rejected.jsonl`, and the run continues.

mod at;
mod words;

use std::io;
use std::path::PathBuf;

use onecopy_core::{ConfigError, LayoutError};

use crate::job::Setting;
pub(crate) use at::{At, MoreMemory};
use words::{no_field, no_links, other_version, out_of_range};

/// Why a run stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Files of an index cannot be placed on servers.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A setting that changes no answer is out of range.
    #[error("{}", out_of_range(*.setting, *.value))]
    Setting {
        /// The setting.
        setting: Setting,
        /// Its value.
        value: u64,
    },
    /// The longest pages do not fit into the memory limit.
    #[error(
        "pages of up to {page_bytes} bytes need sixteen times as much memory, and the limit is {limit} bytes"
    )]
    PageMemory {
        /// The page limit, in bytes.
        page_bytes: usize,
        /// The memory limit, in bytes.
        limit: u64,
    },
    /// The memory limit is too small for the input.
    #[error(
        "onecopy needs {}M of memory {purpose}, and the limit is {}M",
        .needed.div_ceil(1 << 20), .limit >> 20
    )]
    Memory {
        /// The bytes that the stage needs.
        needed: u64,
        /// The memory limit, in bytes.
        limit: u64,
        /// The purpose of the memory.
        purpose: String,
    },
    /// The method would take too long.
    #[error(
        "method {method} compares most pages with most others, and is for up to {most} pages, not {pages}"
    )]
    SlowMethod {
        /// The method, as it was chosen.
        method: String,
        /// The number of pages.
        pages: usize,
        /// How many it takes.
        most: usize,
    },
    /// Page numbers have 32 bits.
    #[error("{pages} pages are more than one run accepts: split the input")]
    TooManyPages {
        /// The number of pages.
        pages: u64,
    },
    /// An input does not exist or cannot be used.
    #[error("input `{input}`: {reason}")]
    Input {
        /// The input, as it was given.
        input: String,
        /// The reason.
        reason: String,
    },
    /// An input cannot be read, or breaks off, and the job is strict.
    #[error("input `{input}`: it cannot be read: {reason}")]
    Unreadable {
        /// The input, as results name it.
        input: String,
        /// Why.
        reason: String,
    },
    /// No record has the field that the job names.
    #[error("{}", no_field(.name, .known))]
    NoField {
        /// The part of a record that the field would hold: `text`, `id`, `url`.
        part: &'static str,
        /// The name of the field.
        name: String,
        /// Names of fields that records have.
        known: Vec<String>,
    },
    /// Two rows in memory have the same id.
    #[error("the id {id} is in rows {first} and {second}: make ids differ, or drop the column")]
    RepeatedId {
        /// The id.
        id: String,
        /// The first row, from zero.
        first: u64,
        /// The second row.
        second: u64,
    },
    /// No page is in a market.
    #[error("no page of the input is on a host that ends in `{market}`")]
    NoPageInMarket {
        /// The market.
        market: String,
    },
    /// An input of an earlier run no longer exists.
    #[error("{input}: the input no longer exists, and must be read again (standard input is not kept)")]
    InputGone {
        /// The input.
        input: String,
    },
    /// Standard input is given for both pages.
    #[error("standard input can be read only once: give a file for one of the two pages")]
    StandardInputTwice,
    /// A page to be compared is not a file.
    #[error("input `{page}`: no such file")]
    NoSuchPage {
        /// The page, as it was given.
        page: String,
    },
    /// A page to be compared exceeds the limit.
    #[error("input `{page}`: longer than the limit of {limit} bytes per page")]
    PageTooLong {
        /// The page, as it was given.
        page: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// A file to be compared has many pages.
    #[error("input `{page}`: the file has many pages, and one is wanted")]
    ManyPages {
        /// The file, as it was given.
        page: String,
    },
    /// A file cannot be read or written.
    #[error("cannot {verb} {path}: {source}")]
    Io {
        /// The failed action: `read`, `write`, `create`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The output folder has the results of another run.
    #[error("output folder {folder}: it holds the results of another run")]
    OutputHoldsAnotherRun {
        /// The folder.
        folder: PathBuf,
    },
    /// The output folder has files that no run wrote.
    #[error("output folder {folder}: not empty and not made by onecopy; give an empty or a new folder")]
    OutputNotOurs {
        /// The folder.
        folder: PathBuf,
    },
    /// The output folder has a file that no run wrote, where a run would write.
    #[error(
        "output folder {folder}: it has {name}, which onecopy did not make; give an empty or a new folder"
    )]
    OutputForeign {
        /// The folder.
        folder: PathBuf,
        /// The file.
        name: String,
    },
    /// The output folder has the results of a version with other answers.
    #[error(
        "output folder {folder}: onecopy {version} made its results, and its answers may differ from ours"
    )]
    OutputAnswers {
        /// The folder.
        folder: PathBuf,
        /// The version of onecopy.
        version: String,
    },
    /// Somebody changed the results in the output folder.
    #[error("output folder {folder}: {names} changed since this run wrote its results")]
    OutputChanged {
        /// The folder.
        folder: PathBuf,
        /// The changed results.
        names: String,
    },
    /// Another process writes to the output folder.
    #[error("output folder {folder}: another run is writing to it")]
    OutputInUse {
        /// The folder.
        folder: PathBuf,
    },
    /// A folder is not the output of a finished run.
    #[error("{folder} holds no finished run")]
    NotAFinishedRun {
        /// The folder.
        folder: PathBuf,
    },
    /// A finished run has the answers of another version.
    #[error("onecopy {version} made the run in {folder}, and its answers may differ from ours")]
    RunAnswers {
        /// The run's folder.
        folder: PathBuf,
        /// The version of onecopy.
        version: String,
    },
    /// A folder of sketches does not fit the run.
    #[error("sketches in {folder}: {reason}")]
    OtherSketches {
        /// The folder.
        folder: PathBuf,
        /// Why.
        reason: String,
    },
    /// A finished run wrote no list of its pages.
    #[error("the run in {folder} was made by an older version, which wrote no pages.jsonl")]
    NoPageList {
        /// The run's folder.
        folder: PathBuf,
    },
    /// No page of a finished run has an address.
    #[error("no page of the run in {folder} has an address, and mirrors are found by addresses")]
    NoAddresses {
        /// The run's folder.
        folder: PathBuf,
    },
    /// A file of a finished run cannot be read.
    #[error("{path} is damaged in line {line} ({reason})")]
    DamagedResult {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The damage.
        reason: String,
    },
    /// A finished run does not know a page, or rejected it.
    #[error(
        "page `{page}` is not among the pages that were judged: pages.jsonl lists those, and rejected.jsonl says why \
         others were rejected"
    )]
    PageNotJudged {
        /// The page's name.
        page: String,
    },
    /// Only listed pairs of a labelled set should count, but it lists none.
    #[error("labelled set {set}: it has no pairs.csv, so no pair is listed")]
    NoListedPairs {
        /// The folder of the set.
        set: PathBuf,
    },
    /// Finished runs for one collection have different configurations.
    #[error("the finished runs have different configurations: import each into a collection of its own")]
    RunsDiffer,
    /// Another process has the collection open.
    #[error("collection {folder}: it is in use")]
    CollectionInUse {
        /// The collection's folder.
        folder: PathBuf,
    },
    /// The folder has no collection, and none is to be begun.
    #[error("{folder} has no collection")]
    NoCollection {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder has parts of a collection, but not its tables.
    #[error(
        "collection {folder}: tables.redb is missing or empty, and the other files are of no use without it: restore \
         the folder from a backup"
    )]
    CollectionLost {
        /// The collection's folder.
        folder: PathBuf,
    },
    /// A restore into the folder was begun and not finished.
    #[error("{folder}: a restore was not finished, so this is no collection yet")]
    RestoreUnfinished {
        /// The folder.
        folder: PathBuf,
    },
    /// A collection should be restored into a folder that has files.
    #[error("{folder}: it is not empty, and a restore replaces nothing")]
    RestoreNotEmpty {
        /// The folder.
        folder: PathBuf,
    },
    /// A place has no snapshot: it was never one for backups, or its path is wrong.
    #[error("backup {place}: {}", if *.is_there { "it has no snapshot" } else { "there is no such folder" })]
    NoSnapshot {
        /// The place.
        place: String,
        /// Whether there is anything.
        is_there: bool,
    },
    /// A backup cannot be made or used.
    #[error("backup {place}: {reason}")]
    Backup {
        /// Where it is.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// The collection has the format of another version.
    #[error("collection {folder}: it has format {found}, and {}", other_version(*.found, *.expected, "format"))]
    CollectionFormat {
        /// The collection's folder.
        folder: PathBuf,
        /// The number of its format.
        found: u32,
        /// The number of this program's format.
        expected: u32,
    },
    /// Another version made the collection's sketches and decisions.
    #[error(
        "collection {folder}: its pages were compared by answer version {found}, and {}",
        other_version(*.found, *.expected, "answer version")
    )]
    CollectionAnswers {
        /// The collection's folder.
        folder: PathBuf,
        /// The version of its answers.
        found: u32,
        /// The version of this program's answers.
        expected: u32,
    },
    /// The collection would have to be sketched again, and stores no pages.
    #[error(
        "collection {folder}: it cannot be upgraded, because sketches have changed since answer version {found} and \
         page {page} is not stored: import the pages into a new collection from where they came"
    )]
    CollectionWithoutPages {
        /// The collection's folder.
        folder: PathBuf,
        /// The version of its answers.
        found: u32,
        /// A page that is not stored.
        page: String,
    },
    /// The collection has another configuration than the requested one.
    #[error("collection {folder}: it was begun with another configuration, which it keeps")]
    CollectionConfig {
        /// The collection's folder.
        folder: PathBuf,
    },
    /// The collection has other tags than the requested ones, or none.
    #[error("collection {folder}: it was begun {}, and stays so", .found.as_ref().map_or("without tags".into(), |found| format!("with tags {found}")))]
    CollectionTags {
        /// The collection's folder.
        folder: PathBuf,
        /// The rules of its tags, if it has some.
        found: Option<String>,
    },
    /// The collection's configuration cannot be read.
    #[error(
        "collection {folder}: the configuration in tables.redb cannot be read: {reason}; restore it from a backup"
    )]
    CollectionConfigDamaged {
        /// The collection's folder.
        folder: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The method cannot judge pages one at a time.
    #[error(
        "method {method} searches all pages at once, which a collection cannot: choose one that finds pairs by keys, \
         such as auto or jaccard"
    )]
    CollectionMethod {
        /// The method.
        method: String,
    },
    /// A collection has one list of winners, so it accepts one market.
    #[error("a collection has one market, and {count} are given: give one, or none")]
    CollectionMarkets {
        /// The number of given markets.
        count: usize,
    },
    /// A page of the collection has no row in its tables.
    #[error("the collection has no row of page {page}")]
    NoRow {
        /// The page's number.
        page: u32,
    },
    /// The collection cannot be used now, or at all.
    #[error("{reason}")]
    Broken {
        /// The reason and the remedy.
        reason: String,
    },
    /// A file of a collection cannot be read or written.
    #[error("the collection: {0}")]
    Store(#[from] onecopy_store::Error),
    /// The run was asked to stop. All finished work is on disk.
    #[error("stopped")]
    Stopped,
    /// The run was asked to stop, and cannot be continued: its input or its output was a stream.
    #[error("stopped; a run over standard input, or to standard output, starts over")]
    StoppedStream,
    /// An input is in the output folder, or is that folder.
    #[error("input `{input}` is in the output folder {folder}, and results never replace their input")]
    InputInOutput {
        /// The input.
        input: String,
        /// The output folder.
        folder: PathBuf,
    },
    /// Kept pages should be written to a stream, and a source is not JSON Lines.
    #[error(
        "input `{input}`: only the kept pages of JSON Lines can be written to a stream, and it has another format"
    )]
    NotLines {
        /// The source.
        input: String,
    },
    /// Several pages of a finished run fit a description.
    #[error("page `{page}` may be any of {count} pages: {}", .places.join(", "))]
    AmbiguousPage {
        /// The description.
        page: String,
        /// How many pages fit.
        count: usize,
        /// The places of some of them.
        places: Vec<String>,
    },
    /// The file for scores or tags exists.
    #[error("{path} exists, and results never replace a file unasked")]
    FileExists {
        /// The file.
        path: PathBuf,
    },
    /// The name of the file for scores tells no format.
    #[error("{path}: scores are written as .jsonl, .tsv or .parquet, and the name has none of these endings")]
    ScoreFormat {
        /// The file.
        path: PathBuf,
    },
    /// The input has no link from one page to another.
    #[error("{}", no_links(*.read, .rejected.as_deref()))]
    NoLinks {
        /// The pages that were read.
        read: u64,
        /// The first record that could not be read, and why.
        rejected: Option<String>,
    },
    /// A line of a file of resets has no valid weight.
    #[error("{path}, line {line}: `{text}` is not a page and its weight, a number from 0 on")]
    ResetWeight {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// Its text.
        text: String,
    },
    /// No page of a file of resets has a weight above zero and a place in the input.
    #[error(
        "{path}: all weights are zero, so no reader could start anywhere; lines that name unknown pages: {unknown}"
    )]
    NoResets {
        /// The file.
        path: PathBuf,
        /// Lines that name pages that are not in the input.
        unknown: u64,
    },
    /// A file of scores has none.
    #[error("{path} has no scores: each record needs a page and its pagerank")]
    NoScores {
        /// The file.
        path: PathBuf,
    },
    /// An input of a finished run changed, so its pages cannot be read again.
    #[error("{input} changed since the run, so its pages cannot be read again")]
    InputChanged {
        /// The input.
        input: String,
    },
}

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

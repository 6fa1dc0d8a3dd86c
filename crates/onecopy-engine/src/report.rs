//! The numbers of a run: `report.json`.

use onecopy_core::Kind;
use serde::{Deserialize, Serialize};

use crate::ingest::DAMAGED;

/// The numbers of a run. `kept + removed + rejected = read`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// All records read.
    pub read: u64,
    /// The outcomes of those records.
    #[serde(flatten)]
    pub counts: Counts,
    /// The inputs that could not be read, wholly or from some point on. Their pages are missing.
    #[serde(default)]
    pub unreadable: Vec<Unreadable>,
    /// The method.
    pub method: String,
    /// Pages at least this similar are duplicates.
    pub threshold: f64,
    /// The recall of an approximate method; `None` for an exact one, which finds all pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recall: Option<Recall>,
    /// The removed pages of archives; `None` if the input has no archive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archives: Option<Archives>,
    /// Bytes of input, as stored on disk.
    pub input_bytes: u64,
    /// The elapsed time.
    pub seconds: f64,
    /// The CPU time of all threads, user and system.
    pub cpu_seconds: f64,
    /// The time of each stage, in order.
    #[serde(default)]
    pub stages: Vec<StageTime>,
    /// The peak memory.
    pub peak_memory_bytes: u64,
    /// The number of threads.
    pub threads: usize,
    /// The memory limit.
    pub memory_limit_bytes: u64,
    /// Whether sketches were spilled to disk.
    pub out_of_core: bool,
    /// The version of onecopy.
    pub version: String,
}

/// The time of a stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageTime {
    /// The name of the stage; `start` comes before the first.
    pub stage: String,
    /// The elapsed time.
    pub seconds: f64,
    /// The CPU time of all threads, user and system.
    pub cpu_seconds: f64,
}

impl StageTime {
    /// About how long only one of so many threads worked, or none, if all of them work in the rest of the time.
    pub fn alone_seconds(&self, threads: usize) -> f64 {
        let threads = threads as f64;
        if threads < 2.0 {
            return self.seconds;
        }
        ((threads * self.seconds - self.cpu_seconds) / (threads - 1.0)).clamp(0.0, self.seconds)
    }
}

/// An input that could not be read, wholly or from some point on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    /// The input, named as in `rejected.jsonl`.
    pub source: String,
    /// Why.
    pub reason: String,
    /// The number of pages that were read.
    pub pages: u64,
    /// The number of records that were not, if known.
    #[serde(default)]
    pub lost: Option<u64>,
    /// The file in `kept/` with the pages that were read and kept. `None` if nothing was read.
    #[serde(default)]
    pub kept: Option<String>,
}

impl Unreadable {
    /// An input of which nothing was read.
    pub(crate) fn of(source: &str, reason: &str) -> Unreadable {
        let reason = reason.strip_prefix(DAMAGED).unwrap_or(reason);
        Unreadable { source: source.into(), reason: reason.into(), ..Unreadable::default() }
    }
}

/// How the kept archives hold what was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Archives {
    /// Removed pages that are `revisit` records now.
    pub revisits: u64,
    /// Removed pages whose records are unchanged.
    pub whole: u64,
    /// Removed pages that were left out.
    pub left_out: u64,
    /// Other records, such as images, that are `revisit` records now.
    pub payloads: u64,
    /// Requests, metadata and revisits that were left out with the record that they belong to.
    pub companions: u64,
}

/// The recall of an approximate method.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recall {
    /// The measure that defines which pairs should be found.
    pub of: String,
    /// The least similarity of those pairs by that measure.
    pub threshold: f64,
    /// The theoretical recall.
    pub expected: Vec<Expected>,
    /// The recall measured on the pairs of some pages. `None` if it was not measured.
    pub measured: Option<Measured>,
}

/// The probability that a pair is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    /// The similarity of the pair.
    pub similarity: f64,
    /// The probability.
    pub chance: f64,
}

/// The recall measured on the pairs of some pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The number of sampled pages.
    pub pages: u64,
    /// The number of pairs that are duplicates.
    pub pairs: u64,
    /// The number of those in one group.
    pub found: u64,
    /// The share of found pairs; one if there were none to find.
    pub recall: f64,
    /// The 95 % confidence interval of the recall over all pairs, if pairs were independent.
    pub interval: [f64; 2],
}

impl Measured {
    /// The recall of `found` out of `pairs`, and its Wilson interval.
    pub(crate) fn new(pages: u64, pairs: u64, found: u64) -> Measured {
        const Z: f64 = 1.96;
        let n = pairs as f64;
        if pairs == 0 {
            return Measured { pages, recall: 1.0, interval: [0.0, 1.0], ..Measured::default() };
        }
        let recall = found as f64 / n;
        let scale = 1.0 + Z * Z / n;
        let middle = (recall + Z * Z / (2.0 * n)) / scale;
        let half = Z / scale * (recall * (1.0 - recall) / n + Z * Z / (4.0 * n * n)).sqrt();
        let interval = [(middle - half).max(0.0), (middle + half).min(1.0)];
        Measured { pages, pairs, found, recall, interval }
    }
}

/// The number of bins in the histogram of similarities: twentieths.
pub const SIMILARITY_BINS: usize = 20;

/// The outcomes of all records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// The number of kept pages.
    pub kept: u64,
    /// The number of removed pages, each in favour of a named kept page.
    pub removed: u64,
    /// The number of rejected records.
    pub rejected: u64,
    /// Rejected records by reason, the most frequent first.
    #[serde(default)]
    pub reasons: Vec<ReasonCount>,
    /// The number of groups of two or more pages.
    pub groups: u64,
    /// Removed pages by kind.
    pub kinds: Kinds,
    /// Whether some exact duplicates are HTML pages whose main content was compared: their other text may differ.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub main_content: bool,
    /// Pages in the largest group.
    pub largest_group: u64,
    /// Removed pages by similarity to their winner, in twentieths from 0; the last bin holds 0.95 to 1.
    pub similarities: [u64; SIMILARITY_BINS],
    /// Groups by size: of 2 pages, 3 to 4, 5 to 8, and so on, doubling.
    pub group_sizes: Vec<u64>,
}

/// How many records were rejected for a reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReasonCount {
    /// The reason in a few words, such as `HTTP 404`.
    pub reason: String,
    /// The kind of the reason.
    pub kind: RejectionKind,
    /// Whether `kept/` has the records, unchanged.
    pub copied: bool,
    /// The number of records.
    pub records: u64,
}

/// Kinds of reasons for rejecting a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RejectionKind {
    /// It is no page to compare: a failure, an image, a redirect to nowhere, a page without words.
    NotAPage,
    /// It cannot be read.
    Unreadable,
    /// It exceeds a limit.
    Limit,
    /// It is a file that no run reads: of unknown kind, or a link in a folder.
    NotRead,
}

/// Removed pages by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kinds {
    /// Their compared text equals the winner's; see [`Counts::main_content`].
    pub exact: u64,
    /// Their similarity to the winner reaches the threshold.
    pub near: u64,
    /// Near duplicates whose URL is another form of the winner's.
    #[serde(default)]
    pub url: u64,
    /// They redirect to the winner, or to a page that lost to it.
    #[serde(default)]
    pub redirect: u64,
}

impl Counts {
    /// All records read.
    pub(crate) fn read(&self) -> u64 {
        self.kept + self.removed + self.rejected
    }

    pub(crate) fn remove(&mut self, kind: Kind, similarity: f64) {
        self.removed += 1;
        match kind {
            Kind::Exact => self.kinds.exact += 1,
            Kind::Near => self.kinds.near += 1,
            Kind::Url => self.kinds.url += 1,
            Kind::Redirect => self.kinds.redirect += 1,
        }
        let bin = (similarity * SIMILARITY_BINS as f64) as usize;
        self.similarities[bin.min(SIMILARITY_BINS - 1)] += 1;
    }

    /// Adds the kept and removed pages of other counts.
    pub(crate) fn add(&mut self, other: &Counts) {
        self.kept += other.kept;
        self.removed += other.removed;
        self.kinds.exact += other.kinds.exact;
        self.kinds.near += other.kinds.near;
        self.kinds.url += other.kinds.url;
        self.kinds.redirect += other.kinds.redirect;
        self.main_content |= other.main_content;
        self.similarities.iter_mut().zip(other.similarities).for_each(|(own, other)| *own += other);
    }

    pub(crate) fn group(&mut self, size: u64) {
        self.groups += 1;
        self.largest_group = self.largest_group.max(size);
        let bin = (size - 1).ilog2() as usize;
        if self.group_sizes.len() <= bin {
            self.group_sizes.resize(bin + 1, 0);
        }
        self.group_sizes[bin] += 1;
    }
}

/// The start of a run.
#[derive(Clone, Copy)]
pub(crate) struct Begun {
    at: std::time::Instant,
    /// The CPU time the process had used by then: `cargo run` replaces itself with the program it starts.
    cpu_seconds: f64,
}

impl Begun {
    pub(crate) fn now() -> Begun {
        Begun { at: std::time::Instant::now(), cpu_seconds: usage().0 }
    }

    /// Seconds since the start.
    pub(crate) fn seconds(&self) -> f64 {
        self.at.elapsed().as_secs_f64()
    }

    /// Seconds and CPU seconds between two moments.
    pub(crate) fn until(self, end: Begun) -> (f64, f64) {
        (end.at.duration_since(self.at).as_secs_f64(), end.cpu_seconds - self.cpu_seconds)
    }

    /// Seconds and CPU seconds since the start, and the peak memory of the process.
    pub(crate) fn until_now(self) -> (f64, f64, u64) {
        let (cpu_seconds, peak) = usage();
        (self.at.elapsed().as_secs_f64(), cpu_seconds - self.cpu_seconds, peak)
    }
}

/// The CPU seconds and peak memory of this process so far.
fn usage() -> (f64, u64) {
    use nix::sys::resource::{UsageWho, getrusage};
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return (0.0, 0) };
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    // macOS reports bytes, other systems kibibytes.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1_024 };
    let peak = peak_memory().unwrap_or(usage.max_rss() as u64 * unit);
    (seconds(usage.user_time()) + seconds(usage.system_time()), peak)
}

/// The peak memory of this program alone, on Linux. The figure of `getrusage` starts from the peak of the process that
/// started us.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recall_has_its_interval() {
        let measured = Measured::new(10, 20, 18);
        assert_eq!(measured.recall, 0.9);
        // Computed by hand, and equal to tables of the Wilson interval for 18 of 20.
        assert!((measured.interval[0] - 0.699).abs() < 1e-3 && (measured.interval[1] - 0.972).abs() < 1e-3);
        assert_eq!(Measured::new(10, 0, 0).interval, [0.0, 1.0]);
        assert_eq!(Measured::new(10, 5, 5).interval[1], 1.0);
    }

    #[test]
    fn groups_are_binned_by_doubling() {
        let mut counts = Counts::default();
        for size in [2, 3, 4, 5, 8, 9] {
            counts.group(size);
        }
        assert_eq!(counts.group_sizes, [1, 2, 2, 1]);
        assert_eq!((counts.groups, counts.largest_group), (6, 9));
    }

    #[test]
    fn similarities_are_binned_by_twentieths() {
        let mut counts = Counts::default();
        counts.remove(Kind::Exact, 1.0);
        counts.remove(Kind::Near, 0.8);
        assert_eq!((counts.similarities[19], counts.similarities[16]), (1, 1));
        assert_eq!((counts.kinds.exact, counts.kinds.near), (1, 1));
    }
}

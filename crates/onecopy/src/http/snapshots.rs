//! Snapshots of the served collection: one at a time, in the background, to the place that the operator chose.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hyper::StatusCode;
use onecopy_engine::{BackedUp, BackupJob, Silent, backup};
use serde::Serialize;

use super::failure::Failure;
use super::log::Log;

/// The snapshots of a service.
pub struct Snapshots {
    /// How a snapshot is made; `None` if the operator chose no place.
    job: Option<BackupJob>,
    numbers: Mutex<SnapshotNumbers>,
}

/// Counts and times of snapshots since the start.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SnapshotNumbers {
    /// Whether one is being made.
    pub running: bool,
    /// Why the last one failed; absent if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    #[serde(skip)]
    pub made: u64,
    #[serde(skip)]
    pub failures: u64,
    /// When the last one was complete, in seconds since 1970; zero if none was.
    #[serde(skip)]
    pub ended: u64,
    #[serde(skip)]
    pub took: Duration,
    /// The bytes that the last one wrote.
    #[serde(skip)]
    pub bytes: u64,
}

impl Snapshots {
    pub fn new(job: Option<BackupJob>) -> Arc<Snapshots> {
        Arc::new(Snapshots { job, numbers: Mutex::default() })
    }

    /// How a snapshot is made.
    pub fn job(&self) -> Result<&BackupJob, Failure> {
        self.job.as_ref().ok_or_else(|| {
            let remedy =
                "start the service with --snapshots and a folder or an address, or run `onecopy backup`";
            Failure::new(StatusCode::NOT_FOUND, "the service has no place for snapshots", remedy)
        })
    }

    /// Begins a snapshot, unless one is being made.
    pub fn begin(self: &Arc<Self>, log: &Arc<Log>) -> Result<(), Failure> {
        let job = self.job()?.clone();
        if std::mem::replace(&mut self.lock().running, true) {
            let remedy = "wait for its end: GET /snapshots has `running`";
            return Err(Failure::new(StatusCode::CONFLICT, "a snapshot is being made", remedy));
        }
        let (snapshots, log) = (self.clone(), log.clone());
        let make = move || {
            let begun = Instant::now();
            let made = catch_unwind(AssertUnwindSafe(|| backup(&job, &Silent)));
            let made = made
                .map_or_else(|_| Err("it panicked".into()), |made| made.map_err(|error| error.to_string()));
            snapshots.end(made, begun.elapsed(), &log);
        };
        match std::thread::Builder::new().name("snapshot".into()).spawn(make) {
            Ok(_) => Ok(()),
            Err(error) => {
                self.lock().running = false;
                Err(Failure::unavailable(format!("cannot start a thread: {error}"), "try again later"))
            }
        }
    }

    fn end(&self, made: Result<BackedUp, String>, took: Duration, log: &Log) {
        let mut numbers = self.lock();
        numbers.running = false;
        numbers.failure = made.as_ref().err().cloned();
        match made {
            Ok(made) => {
                numbers.made += 1;
                numbers.ended =
                    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
                (numbers.took, numbers.bytes) = (took, made.new_bytes);
                let (name, feed) = (&made.line.snapshot, made.line.feed);
                log.event("snapshot", &format!("{name} is complete, up to feed number {feed}"));
            }
            Err(error) => {
                numbers.failures += 1;
                log.failure("snapshot", &format!("failed: {error}"));
            }
        }
    }

    /// The counts and times so far.
    pub fn numbers(&self) -> SnapshotNumbers {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, SnapshotNumbers> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

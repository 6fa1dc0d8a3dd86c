//! Progress as lines: one when a stage begins, and more every so often, even while nothing moves.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use onecopy_engine::Stage;

use super::pace::{Pace, spoken};
use crate::size::{count, human};
use crate::tell::tell;

/// How often the pace is noted.
const TICK: Duration = Duration::from_secs(1);

/// Writes lines to standard error, from a thread of its own.
pub struct LogWriter {
    shared: Arc<Shared>,
}

struct Shared {
    log: Mutex<Log>,
    /// Tells the thread to end.
    ended: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().expect("no thread panics with this lock")
    }
}

impl LogWriter {
    pub fn start() -> LogWriter {
        let log = Mutex::new(Log { begun: Instant::now(), running: None, ended: false });
        let shared = Arc::new(Shared { log, ended: Condvar::new() });
        let writer = shared.clone();
        thread::spawn(move || {
            let mut log = writer.lock();
            while !log.ended {
                let waited = writer.ended.wait_timeout(log, TICK);
                log = waited.expect("no thread panics with this lock").0;
                let since = log.begun.elapsed();
                if let Some(line) = log.running.as_mut().and_then(|running| running.tick(since)) {
                    tell!("{line}");
                }
            }
        });
        LogWriter { shared }
    }

    pub fn begin(&self, stage: Stage, total: u64) {
        let mut log = self.shared.lock();
        let running = Running::new(stage, total, log.begun.elapsed());
        tell!("{}", running.first_line());
        log.running = Some(running);
    }

    pub fn advance(&self, steps: u64) {
        if let Some(running) = &mut self.shared.lock().running {
            running.done += steps;
        }
    }

    pub fn pause(&self) {
        self.shared.lock().running = None;
    }

    pub fn end(&self) {
        let mut log = self.shared.lock();
        (log.ended, log.running) = (true, None);
        self.shared.ended.notify_all();
    }
}

struct Log {
    begun: Instant,
    running: Option<Running>,
    ended: bool,
}

/// A stage that is running. Times are since the run began.
struct Running {
    stage: Stage,
    total: u64,
    done: u64,
    pace: Pace,
    begun: Duration,
    said: Duration,
}

impl Running {
    fn new(stage: Stage, total: u64, now: Duration) -> Running {
        Running { stage, total, done: 0, pace: Pace::new(total), begun: now, said: now }
    }

    fn first_line(&self) -> String {
        match self.total {
            0 => format!("{}: nothing left to do", self.stage.name()),
            total => format!("{}: {}", self.stage.name(), self.amount(total)),
        }
    }

    /// Notes the pace. Returns a line if it is time for one.
    fn tick(&mut self, now: Duration) -> Option<String> {
        self.pace.note(now.saturating_sub(self.begun), self.done);
        (now.saturating_sub(self.said) >= between_lines(now)).then(|| {
            self.said = now;
            self.line()
        })
    }

    fn line(&self) -> String {
        let so_far = if self.stage.counts_bytes() { human(self.done) } else { count(self.done) };
        let (stage, percent) = (self.stage.name(), self.pace.percent());
        let mut line = format!("{stage}: {percent} %, {so_far} of {}", self.amount(self.total));
        if let Some(rate) = self.pace.rate() {
            line += &format!(", {}/s", self.amount(rate as u64));
        }
        if let Some(left) = self.pace.left() {
            line += &format!(", {} left", spoken(left));
        }
        line
    }

    fn amount(&self, number: u64) -> String {
        match self.stage.counts_bytes() {
            true => human(number),
            false => format!("{} {}", count(number), self.stage.unit()),
        }
    }
}

/// The time between two lines: short in a short run, and few lines in a long one.
fn between_lines(run: Duration) -> Duration {
    Duration::from_secs(match run.as_secs() {
        0..60 => 5,
        60..600 => 20,
        _ => 60,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(stage: Stage, total: u64, done: impl Fn(u64) -> u64, seconds: u64) -> Vec<String> {
        let mut running = Running::new(stage, total, Duration::ZERO);
        let mut lines = vec![running.first_line()];
        for second in 1..=seconds {
            running.done = done(second);
            lines.extend(running.tick(Duration::from_secs(second)));
        }
        lines
    }

    #[test]
    fn lines_have_the_rate_and_the_time_left() {
        let said = lines(Stage::Index, 1_000_000, |second| 10_000 * second, 10);
        assert_eq!(
            said,
            [
                "index: 1,000,000 pages",
                "index: 5 %, 50,000 of 1,000,000 pages, 10,000 pages/s, 1 min 30 s left",
                "index: 10 %, 100,000 of 1,000,000 pages, 10,000 pages/s, 1 min 30 s left",
            ]
        );
        let said = lines(Stage::Read, 5_000_000_000, |second| 100_000_000 * second, 5);
        assert_eq!(said[1], "read: 10 %, 500 MB of 5.0 GB, 100 MB/s, 45 s left");
    }

    #[test]
    fn lines_go_on_while_nothing_moves_and_promise_nothing() {
        let said = lines(Stage::Compare, 10_000_000, |second| 5 * second, 46);
        assert_eq!(said.len(), 10);
        assert!(said.iter().all(|line| !line.contains("left")), "{said:?}");
        assert_eq!(said[9], "compare: 0 %, 225 of 10,000,000 pages, 5 pages/s");
        assert_eq!(lines(Stage::Group, 0, |_| 0, 0), ["group: nothing left to do"]);
    }

    #[test]
    fn a_long_run_has_few_lines() {
        let said = lines(Stage::Read, 36_000, |second| second, 36_000).len();
        assert!((600..700).contains(&said), "{said} lines in ten hours");
    }
}

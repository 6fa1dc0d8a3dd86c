//! How fast a stage goes, over a recent window, and the time that is left once it can be told.

use std::collections::VecDeque;
use std::time::Duration;

/// The rate is taken over at least this long, and over a quarter of the stage.
const WINDOW: Duration = Duration::from_secs(20);
const PART: u32 = 4;
/// There is no rate before this.
const SOON: Duration = Duration::from_secs(2);
/// More than this many times the time of the stage so far is no estimate but a guess.
const GUESS: f64 = 100.0;

/// How far a stage was, at times since it began.
#[derive(Clone, Debug)]
pub struct Pace {
    total: u64,
    samples: VecDeque<(Duration, u64)>,
}

impl Pace {
    pub fn new(total: u64) -> Pace {
        Pace { total, samples: VecDeque::from([(Duration::ZERO, 0)]) }
    }

    /// Notes how many steps are done at a time.
    pub fn note(&mut self, at: Duration, done: u64) {
        let from = at.saturating_sub(WINDOW.max(at / PART));
        while self.samples.len() > 1 && self.samples[1].0 <= from {
            self.samples.pop_front();
        }
        self.samples.push_back((at, done));
    }

    fn last(&self) -> (Duration, u64) {
        self.samples.back().copied().unwrap_or_default()
    }

    /// Steps done.
    pub fn done(&self) -> u64 {
        self.last().1
    }

    /// The share of the steps that is done, in per cent.
    pub fn percent(&self) -> u64 {
        self.done().saturating_mul(100).checked_div(self.total).map_or(100, |percent| percent.min(100))
    }

    /// Steps a second in the window.
    pub fn rate(&self) -> Option<f64> {
        let ((from, before), (to, done)) = (self.samples.front().copied()?, self.last());
        let span = to.saturating_sub(from);
        (span >= SOON && done > before).then(|| (done - before) as f64 / span.as_secs_f64())
    }

    /// The time that is left, if the rate stays and tells enough.
    pub fn left(&self) -> Option<Duration> {
        let (at, done) = self.last();
        let left = self.total.checked_sub(done).filter(|left| *left > 0)? as f64 / self.rate()?;
        (left <= GUESS * at.as_secs_f64()).then(|| Duration::from_secs_f64(left))
    }
}

/// A time in the words of people.
pub fn spoken(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 60, seconds / 3600) {
        (0, _) => format!("{} s", seconds.max(1)),
        (minutes, 0) if minutes < 10 => format!("{minutes} min {} s", seconds % 60 / 10 * 10),
        (minutes, 0) => format!("{minutes} min"),
        (minutes, hours) if hours < 48 => format!("{hours} h {} min", minutes % 60),
        (_, hours) => format!("{} days", hours / 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_slow_start_gives_no_time_left() {
        let mut pace = Pace::new(10_000_000);
        (1..=46).for_each(|second| pace.note(seconds(second), 5 * second));
        assert_eq!((pace.left(), pace.percent()), (None, 0), "23 days are a guess after 46 seconds");
        (47..=60).for_each(|second| pace.note(seconds(second), 200_000 * (second - 46)));
        let left = pace.left().expect("two million pages in the window");
        assert!((50..70).contains(&left.as_secs()), "the slow start has left the window: {left:?}");
    }

    #[test]
    fn the_rate_is_of_the_window() {
        let mut pace = Pace::new(1_000);
        assert_eq!((pace.rate(), pace.left()), (None, None));
        pace.note(seconds(1), 100);
        assert_eq!(pace.rate(), None, "one second is too short");
        pace.note(seconds(10), 100);
        pace.note(seconds(30), 500);
        assert_eq!(pace.rate(), Some(20.0));
        assert_eq!(pace.left(), Some(seconds(25)));
        pace.note(seconds(60), 500);
        assert_eq!((pace.rate(), pace.left()), (None, None), "it stands still");
        pace.note(seconds(61), 1_000);
        assert_eq!((pace.left(), pace.percent()), (None, 100));
        assert_eq!(Pace::new(0).percent(), 100);
    }

    #[test]
    fn few_samples_are_kept() {
        let mut pace = Pace::new(u64::MAX);
        (0..10_000).for_each(|second| pace.note(seconds(second), second));
        assert!(pace.samples.len() < 2_600, "{}", pace.samples.len());
    }

    #[test]
    fn times_are_spoken() {
        let said = [0, 45, 125, 720, 7_800, 500_000].map(|time| spoken(seconds(time)));
        assert_eq!(said, ["1 s", "45 s", "2 min 0 s", "12 min", "2 h 10 min", "5 days"]);
    }
}

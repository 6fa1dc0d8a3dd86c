//! A leg of a stage. It counts steps of its own and reports them as its part of the stage.
//!
//! A stage may sort keys, read sketches and compare pages in turn. Each of these counts something else, and the stage
//! counts only pages. Without legs, progress would stand still in all but one of them.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Note, Progress};

/// How many times a leg reports. More would only take locks.
const REPORTS: u64 = 1_000;

/// A leg of a stage. When it is dropped, it reports all that it has not reported yet.
pub(crate) struct Leg<'a> {
    progress: &'a dyn Progress,
    /// The steps of the stage that it stands for.
    part: u64,
    /// Its own steps.
    total: u64,
    done: AtomicU64,
    reported: AtomicU64,
}

impl<'a> Leg<'a> {
    /// A leg of `total` steps that is `part` steps of the stage.
    pub(crate) fn new(progress: &'a dyn Progress, part: u64, total: u64) -> Leg<'a> {
        Leg { progress, part, total: total.max(1), done: AtomicU64::new(0), reported: AtomicU64::new(0) }
    }

    /// Reports up to a step of the stage.
    fn report(&self, to: u64) {
        let before = self.reported.fetch_max(to, Ordering::Relaxed);
        if to > before {
            self.progress.advance(to - before);
        }
    }
}

impl Progress for Leg<'_> {
    fn advance(&self, steps: u64) {
        let done = (self.done.fetch_add(steps, Ordering::Relaxed) + steps).min(self.total);
        let to = (u128::from(self.part) * u128::from(done) / u128::from(self.total)) as u64;
        if to >= self.reported.load(Ordering::Relaxed) + self.part / REPORTS {
            self.report(to);
        }
    }

    fn note(&self, note: &Note) {
        self.progress.note(note);
    }

    fn stopped(&self) -> bool {
        self.progress.stopped()
    }
}

impl Drop for Leg<'_> {
    fn drop(&mut self) {
        self.report(self.part);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Heard(Mutex<Vec<u64>>);

    impl Progress for Heard {
        fn advance(&self, steps: u64) {
            self.0.lock().unwrap().push(steps);
        }
    }

    #[test]
    fn legs_add_up_to_their_parts() {
        for (part, total, step) in [(10, 4, 1), (1_000_000, 7, 3), (3, 1_000, 1), (5, 0, 1), (0, 9, 1)] {
            let heard = Heard::default();
            let leg = Leg::new(&heard, part, total);
            (0..total.div_ceil(step)).for_each(|_| leg.advance(step));
            drop(leg);
            assert_eq!(heard.0.into_inner().unwrap().iter().sum::<u64>(), part, "{part} {total}");
        }
    }

    #[test]
    fn progress_is_even_and_reported_a_limited_number_of_times() {
        let heard = Heard::default();
        let leg = Leg::new(&heard, 10_000_000, 50_000);
        (0..50_000).for_each(|_| leg.advance(1));
        let reports = heard.0.lock().unwrap().clone();
        assert!((REPORTS / 2..=REPORTS + 1).contains(&(reports.len() as u64)), "{}", reports.len());
        assert!(reports.iter().all(|steps| (10_000..20_000).contains(steps)));
    }

    #[test]
    fn a_leg_that_ends_early_is_reported_whole() {
        let heard = Heard::default();
        drop(Leg::new(&heard, 42, 9));
        assert_eq!(heard.0.into_inner().unwrap(), [42]);
    }
}

//! Measures the stages of a run.

use std::sync::Mutex;

use super::{Note, Progress, Stage};
use crate::report::{Begun, StageTime};

/// Passes progress on, and notes when each stage begins.
pub(crate) struct StageClock<'a> {
    inner: &'a dyn Progress,
    begun: Mutex<Vec<(&'static str, Begun)>>,
}

impl<'a> StageClock<'a> {
    /// The clock of a run that began at some moment.
    pub(crate) fn new(inner: &'a dyn Progress, begun: Begun) -> StageClock<'a> {
        StageClock { inner, begun: Mutex::new(vec![("start", begun)]) }
    }

    /// The times of all stages so far. Those of one name are added up.
    pub(crate) fn times(&self) -> Vec<StageTime> {
        let begun = self.begun.lock().expect("no thread panics with this lock");
        let ends = begun.iter().skip(1).map(|(_, next)| *next).chain([Begun::now()]);
        let mut times: Vec<StageTime> = Vec::new();
        for ((stage, begun), end) in begun.iter().zip(ends) {
            let (seconds, cpu_seconds) = begun.until(end);
            match times.iter_mut().find(|time| time.stage == *stage) {
                Some(time) => {
                    time.seconds += seconds;
                    time.cpu_seconds += cpu_seconds;
                }
                None => times.push(StageTime { stage: (*stage).into(), seconds, cpu_seconds }),
            }
        }
        times
    }
}

impl Progress for StageClock<'_> {
    fn begin(&self, stage: Stage, total: u64) {
        self.begun.lock().expect("no thread panics with this lock").push((stage.name(), Begun::now()));
        self.inner.begin(stage, total);
    }

    fn advance(&self, steps: u64) {
        self.inner.advance(steps);
    }

    fn note(&self, note: &Note) {
        self.inner.note(note);
    }

    fn stopped(&self) -> bool {
        self.inner.stopped()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;

    #[test]
    fn stages_of_one_name_are_added_up_and_none_is_lost() {
        let clock = StageClock::new(&Silent, Begun::now());
        for stage in [Stage::Read, Stage::Index, Stage::Compare, Stage::Index] {
            clock.begin(stage, 1);
        }
        let all = clock.times();
        let names: Vec<&str> = all.iter().map(|time| time.stage.as_str()).collect();
        assert_eq!(names, ["start", "read", "index", "compare"]);
        assert!(all.iter().all(|time| time.seconds >= 0.0 && time.cpu_seconds >= 0.0));
    }
}

//! Progress on standard error: a bar on a terminal, elsewhere lines for a log.

mod bar;
mod log;
mod pace;

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use indicatif::ProgressBar;
use onecopy_engine::{Note, Progress, Stage};

use crate::allocator::return_freed_memory;
use crate::remedy::noted;
use crate::tell::tell;
use log::LogWriter;

/// Shows the progress of a run, and passes on the request to stop.
pub struct Terminal {
    shown: Shown,
    stop: Arc<AtomicBool>,
    /// Whether the run has little memory.
    is_tight: bool,
}

enum Shown {
    Nothing,
    Bar(Mutex<ProgressBar>),
    Log(LogWriter),
}

impl Terminal {
    pub fn new(quiet: bool, stop: Arc<AtomicBool>) -> Terminal {
        let shown = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Shown::Nothing,
            (false, true) => Shown::Bar(Mutex::new(ProgressBar::hidden())),
            (false, false) => Shown::Log(LogWriter::start()),
        };
        Terminal { shown, stop, is_tight: false }
    }

    /// The terminal of a run with this memory limit. If that is low, freed memory is returned before each stage.
    pub fn within(mut self, memory_bytes: u64) -> Terminal {
        /// Memory that a stage leaves behind hardly matters above this limit, and the next stage is faster with it.
        const LITTLE: u64 = 256 << 20;
        self.is_tight = memory_bytes <= LITTLE;
        self
    }

    /// Shows nothing until the next stage begins.
    pub fn pause(&self) {
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => bar.lock().expect("no thread panics with this lock").finish_and_clear(),
            Shown::Log(log) => log.pause(),
        }
    }

    /// Removes the bar, or ends the log.
    pub fn end(&self) {
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => bar.lock().expect("no thread panics with this lock").finish_and_clear(),
            Shown::Log(log) => log.end(),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.end();
    }
}

impl Progress for Terminal {
    fn begin(&self, stage: Stage, total: u64) {
        if self.is_tight {
            return_freed_memory();
        }
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                let mut bar = bar.lock().expect("no thread panics with this lock");
                bar.finish_and_clear();
                *bar = bar::bar(stage, total);
                bar.enable_steady_tick(Duration::from_millis(200));
            }
            Shown::Log(log) => log.begin(stage, total),
        }
    }

    fn advance(&self, steps: u64) {
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => bar.lock().expect("no thread panics with this lock").inc(steps),
            Shown::Log(log) => log.advance(steps),
        }
    }

    fn note(&self, note: &Note) {
        let text = noted(note);
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                bar.lock().expect("no thread panics with this lock").suspend(|| tell!("{text}"))
            }
            Shown::Log(_) => tell!("{text}"),
        }
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

//! Progress as a bar on a terminal, elsewhere as one line per stage.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use onecopy_engine::{Note, Progress, Stage};

use crate::remedy::noted;
use crate::size;

/// Shows the progress of a run, and passes on the request to stop.
pub struct Terminal {
    shown: Shown,
    stop: Arc<AtomicBool>,
}

enum Shown {
    Nothing,
    Bar(Mutex<ProgressBar>),
    Lines(Mutex<Lines>),
}

/// For logs: a line when a stage begins, and every few seconds while it lasts.
struct Lines {
    stage: Option<Stage>,
    total: u64,
    done: u64,
    begun: Instant,
    said: Instant,
}

const BETWEEN_LINES: Duration = Duration::from_secs(5);

impl Terminal {
    pub fn new(quiet: bool, stop: Arc<AtomicBool>) -> Terminal {
        let now = Instant::now();
        let shown = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Shown::Nothing,
            (false, true) => Shown::Bar(Mutex::new(ProgressBar::hidden())),
            (false, false) => {
                Shown::Lines(Mutex::new(Lines { stage: None, total: 0, done: 0, begun: now, said: now }))
            }
        };
        Terminal { shown, stop }
    }

    /// Removes the bar.
    pub fn end(&self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.lock().expect("no thread panics with this lock").finish_and_clear();
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
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                let mut bar = bar.lock().expect("no thread panics with this lock");
                bar.finish_and_clear();
                *bar = ProgressBar::new(total).with_style(style(stage)).with_prefix(stage.name());
                bar.enable_steady_tick(Duration::from_millis(200));
            }
            Shown::Lines(lines) => {
                let mut lines = lines.lock().expect("no thread panics with this lock");
                let now = Instant::now();
                *lines = Lines { stage: Some(stage), total, done: 0, begun: now, said: now };
                eprintln!("{}: {}", stage.name(), amount(stage, total));
            }
        }
    }

    fn advance(&self, steps: u64) {
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => bar.lock().expect("no thread panics with this lock").inc(steps),
            Shown::Lines(lines) => lines.lock().expect("no thread panics with this lock").advance(steps),
        }
    }

    fn note(&self, note: &Note) {
        let text = noted(note);
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                bar.lock().expect("no thread panics with this lock").suspend(|| eprintln!("{text}"))
            }
            Shown::Lines(_) => eprintln!("{text}"),
        }
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl Lines {
    fn advance(&mut self, steps: u64) {
        self.done += steps;
        let Some(stage) = self.stage.filter(|_| self.said.elapsed() >= BETWEEN_LINES) else { return };
        self.said = Instant::now();
        let seconds = self.begun.elapsed().as_secs_f64();
        let rate = self.done as f64 / seconds;
        let left = self.total.saturating_sub(self.done) as f64 / rate.max(1.0);
        eprintln!(
            "{}: {} of {}, {}/s, {left:.0} s left",
            stage.name(),
            amount(stage, self.done),
            amount(stage, self.total),
            amount(stage, rate as u64)
        );
    }
}

fn amount(stage: Stage, number: u64) -> String {
    if stage.counts_bytes() { size::human(number) } else { size::count(number) }
}

fn style(stage: Stage) -> ProgressStyle {
    let numbers = if stage.counts_bytes() {
        "{decimal_bytes:>9} of {decimal_total_bytes}  {decimal_bytes_per_sec}"
    } else {
        "{human_pos:>9} of {human_len}  {rate}"
    };
    let rate = |state: &ProgressState, out: &mut dyn Write| {
        let _ = write!(out, "{}/s", size::count(state.per_sec() as u64));
    };
    ProgressStyle::with_template(&format!(
        "{{prefix:<8}}{{bar:32}} {{percent:>3}} %  {numbers}  {{eta}} left"
    ))
    .expect("the template is right")
    .with_key("rate", rate)
    .progress_chars("━╸ ")
}

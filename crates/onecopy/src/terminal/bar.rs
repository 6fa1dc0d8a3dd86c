//! Progress as a bar that fits the terminal.

use std::fmt::Write;
use std::time::Instant;

use indicatif::style::ProgressTracker;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use onecopy_engine::Stage;

use super::pace::{Pace, spoken};
use crate::size::{human, short};
use crate::width;

/// Columns beside the bar: name, share, numbers, rate and time left.
const BESIDE: usize = 68;
/// Columns beside the bar on a narrow terminal: name, share and time left.
const BESIDE_NARROW: usize = 34;
/// The shortest and the longest bar.
const BAR: [usize; 2] = [5, 40];

/// The bar of a stage.
pub fn bar(stage: Stage, total: u64) -> ProgressBar {
    let columns = width::of_stderr();
    let is_narrow = columns < BESIDE + BAR[0];
    let room = columns.saturating_sub(if is_narrow { BESIDE_NARROW } else { BESIDE });
    let length = room.clamp(BAR[0], BAR[1]);
    let template = format!("{{prefix:<8}} {{bar:{length}}} {{percent:>3}} %{{numbers}}");
    let numbers = Numbers { stage, is_narrow, pace: Pace::new(total), begun: Instant::now() };
    let style = ProgressStyle::with_template(&template)
        .expect("the template is right")
        .with_key("numbers", numbers)
        .progress_chars("━╸ ");
    ProgressBar::new(total).with_style(style).with_prefix(stage.name())
}

/// What is written behind the bar.
#[derive(Clone)]
struct Numbers {
    stage: Stage,
    is_narrow: bool,
    pace: Pace,
    begun: Instant,
}

impl ProgressTracker for Numbers {
    fn clone_box(&self) -> Box<dyn ProgressTracker> {
        Box::new(self.clone())
    }

    fn tick(&mut self, state: &ProgressState, now: Instant) {
        self.pace.note(now.saturating_duration_since(self.begun), state.pos());
    }

    fn reset(&mut self, _: &ProgressState, _: Instant) {}

    fn write(&self, state: &ProgressState, out: &mut dyn Write) {
        let _ = out.write_str(&self.text(state.pos(), state.len().unwrap_or(0)));
    }
}

impl Numbers {
    fn text(&self, done: u64, total: u64) -> String {
        let mut text = String::new();
        let (amount, unit): (fn(u64) -> String, &str) = match self.stage.counts_bytes() {
            true => (human, ""),
            false => (short, self.stage.unit()),
        };
        if !self.is_narrow {
            let _ = write!(text, "  {} of {} {unit}", amount(done), amount(total));
            text.truncate(text.trim_end().len());
            if let Some(rate) = self.pace.rate() {
                let _ = write!(text, "  {}/s", amount(rate as u64));
            }
        }
        if let Some(left) = self.pace.left() {
            let _ = write!(text, "  {} left", spoken(left));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_longest_numbers_fit_beside_the_bar() {
        let begun = Instant::now();
        for (stage, is_narrow, room) in
            [(Stage::Group, false, BESIDE), (Stage::Read, false, BESIDE), (Stage::Group, true, BESIDE_NARROW)]
        {
            let mut pace = Pace::new(888_888_888_888);
            pace.note(Duration::from_secs(100_000), 333_333_333_333);
            let text = Numbers { stage, is_narrow, pace, begun }.text(333_333_333_333, 888_888_888_888);
            // The name, a space, a space, the share.
            let beside = 8 + 1 + 1 + 5 + text.chars().count();
            assert!(beside <= room && text.ends_with(" left"), "{beside} columns: {text}");
        }
    }
}

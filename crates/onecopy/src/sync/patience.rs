//! How long to try again when a server is down or busy.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use onecopy_engine::Error;

/// How often a wait looks for a request to stop.
pub const TICK: Duration = Duration::from_millis(50);
/// The first wait, and the longest that is not asked for.
const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(30);

/// How long to try again, and who may stop that.
#[derive(Clone, Debug)]
pub struct Patience {
    pub retry_for: Duration,
    pub stop: Arc<AtomicBool>,
}

/// The waits between the attempts at one thing. Each is twice as long as the one before.
pub struct Waits<'a> {
    patience: &'a Patience,
    until: Instant,
    next: Duration,
}

impl Patience {
    pub fn waits(&self) -> Waits<'_> {
        Waits { patience: self, until: Instant::now() + self.retry_for, next: FIRST }
    }
}

impl Waits<'_> {
    /// Waits, at least as long as the server asked. Returns false at once if that would take too long.
    pub fn wait(&mut self, asked: Option<Duration>) -> Result<bool> {
        let time = self.next.max(asked.unwrap_or_default());
        self.next = (2 * self.next).min(LONGEST);
        let end = Instant::now() + time;
        if end > self.until {
            return Ok(false);
        }
        while Instant::now() < end {
            if self.patience.stop.load(Ordering::Relaxed) {
                return Err(Error::Stopped.into());
            }
            std::thread::sleep(TICK.min(end.saturating_duration_since(Instant::now())));
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_bounded() {
        let patience = Patience { retry_for: Duration::from_millis(700), stop: Arc::default() };
        let (begun, mut waits) = (Instant::now(), patience.waits());
        assert!(waits.wait(None).unwrap() && waits.wait(None).unwrap(), "0.2 s and 0.4 s");
        assert!(!waits.wait(None).unwrap(), "0.8 s more are too long");
        assert!(begun.elapsed() >= Duration::from_millis(600) && begun.elapsed() < Duration::from_secs(5));
        let asked = Some(Duration::from_secs(3_600));
        assert!(!patience.waits().wait(asked).unwrap(), "a server may not ask for an hour");
        patience.stop.store(true, Ordering::Relaxed);
        assert!(patience.waits().wait(None).is_err());
    }
}

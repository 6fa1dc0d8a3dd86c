//! Watches the engine: says in the log when it fails and when it works again, and tries a failed log again.
//!
//! Changes that were accepted wait while the engine fails, and no request hears of that. So the log must.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use onecopy_engine::{Refusal, Service};
use tokio::sync::watch;

use super::log::Log;

/// The pause between two looks. The engine keeps a failure for longer.
const LOOK: Duration = Duration::from_millis(250);
/// The pause between two attempts to write the log of changes.
const ATTEMPT: Duration = Duration::from_secs(1);
/// A failure that lasts is repeated this often.
const REMINDER: Duration = Duration::from_secs(600);

/// Starts the thread. It ends with the service.
pub fn watch(
    service: Arc<Service>,
    log: Arc<Log>,
    stop: watch::Receiver<bool>,
) -> std::io::Result<JoinHandle<()>> {
    let look = move || {
        let mut last: Option<(String, Instant)> = None;
        let mut attempted = Instant::now();
        while !*stop.borrow() {
            let failure = match service.ready() {
                Err(Refusal::Broken(why)) => Some(why),
                _ => None,
            };
            last = tell(&log, last, failure);
            if last.is_some() && attempted.elapsed() > ATTEMPT {
                service.retry_log();
                attempted = Instant::now();
            }
            std::thread::sleep(LOOK);
        }
    };
    std::thread::Builder::new().name("watch".into()).spawn(look)
}

/// Logs what is new. Returns the failure, and when it was logged.
fn tell(log: &Log, last: Option<(String, Instant)>, failure: Option<String>) -> Option<(String, Instant)> {
    match (last, failure) {
        (Some((before, when)), Some(now)) if before == now && when.elapsed() < REMINDER => {
            Some((before, when))
        }
        (_, Some(now)) => {
            log.failure("failing", &now);
            Some((now, Instant::now()))
        }
        (Some(_), None) => {
            log.failure("recovered", "changes are accepted and compared again");
            None
        }
        (None, None) => None,
    }
}

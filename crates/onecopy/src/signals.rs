//! Signals, by name: which end the service, which make it read its tokens again, and which are only errors.
//!
//! Signals are blocked in every thread, and one thread waits for them. So no code runs inside a signal handler.

use nix::sys::signal::{SigSet, Signal};
use tokio::sync::watch;

/// What the operator asked for.
#[derive(Clone)]
pub struct Signals {
    /// Becomes true on SIGINT or SIGTERM.
    pub stop: watch::Receiver<bool>,
    /// Counts SIGHUPs.
    pub hangups: watch::Receiver<u64>,
}

/// Lets a write fail that exceeds the file size limit of the process (`ulimit -f`). By default it kills the process,
/// which then cannot say why. Call it before any thread starts.
pub fn fail_at_file_size_limit() {
    // The signal stays pending and blocked for ever; the write returns the error.
    let _ = of(&[Signal::SIGXFSZ]).thread_block();
}

/// Waits for signals on a thread of its own. Call it before any other thread starts. A second signal to stop ends the
/// process at once.
pub fn follow() -> std::io::Result<Signals> {
    let wanted = of(&[Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP]);
    wanted.thread_block()?;
    let ((stop, stopped), (hangup, hangups)) = (watch::channel(false), watch::channel(0));
    let wait = move || {
        while let Ok(signal) = wanted.wait() {
            match signal {
                Signal::SIGHUP => hangup.send_modify(|count| *count += 1),
                _ if stop.send_replace(true) => std::process::exit(130),
                _ => {}
            }
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(wait)?;
    Ok(Signals { stop: stopped, hangups })
}

fn of(signals: &[Signal]) -> SigSet {
    signals.iter().copied().collect()
}

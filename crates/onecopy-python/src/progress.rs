//! Runs the engine while Python continues: the interpreter is free, signals are checked, and progress is told.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use onecopy_engine::{Note, Progress, Stage};
use pyo3::prelude::*;

/// How often signals are checked and progress is told.
const TURN: Duration = Duration::from_millis(50);

/// The progress that a run has told so far.
#[derive(Default)]
struct Told {
    stage: Mutex<Option<(Stage, u64)>>,
    done: AtomicU64,
    notes: Mutex<Vec<String>>,
    stop: AtomicBool,
}

impl Progress for Told {
    fn begin(&self, stage: Stage, total: u64) {
        *self.stage.lock().expect("no thread panics with this lock") = Some((stage, total));
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, steps: u64) {
        self.done.fetch_add(steps, Ordering::Relaxed);
    }

    fn note(&self, note: &Note) {
        self.notes.lock().expect("no thread panics with this lock").push(note.to_string());
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Does `work` on another thread. `listener` is called with stage, done and total, and with each note as the only
/// argument. An exception of it, or Ctrl-C, stops the work.
pub fn run<T: Send>(
    py: Python<'_>,
    listener: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&dyn Progress) -> onecopy_engine::Result<T> + Send,
) -> PyResult<T> {
    let told = Told::default();
    let (sender, mut receiver) = sync_channel(1);
    let mut stopped: PyResult<()> = Ok(());
    let result = std::thread::scope(|scope| {
        let told = &told;
        scope.spawn(move || {
            // The receiver waits until this arrives.
            let _ = sender.send(work(told));
        });
        loop {
            let waiting = &mut receiver;
            match py.detach(move || waiting.recv_timeout(TURN)) {
                Ok(result) => return Some(result),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(error) = py.check_signals().and_then(|()| tell(listener, told)) {
                told.stop.store(true, Ordering::Relaxed);
                if stopped.is_ok() {
                    stopped = Err(error);
                }
            }
        }
    });
    stopped?;
    tell(listener, &told)?;
    match result {
        Some(result) => result.map_err(crate::error::failed),
        None => Err(crate::error::refused("onecopy broke off: please report this as a bug")),
    }
}

fn tell(listener: Option<&Bound<'_, PyAny>>, told: &Told) -> PyResult<()> {
    let Some(listener) = listener else { return Ok(()) };
    let notes = std::mem::take(&mut *told.notes.lock().expect("no thread panics with this lock"));
    for note in notes {
        listener.call1((note,))?;
    }
    let stage = *told.stage.lock().expect("no thread panics with this lock");
    if let Some((stage, total)) = stage {
        listener.call1((stage.name(), told.done.load(Ordering::Relaxed), total))?;
    }
    Ok(())
}

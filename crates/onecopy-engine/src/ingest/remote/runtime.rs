//! Asynchronous work behind a synchronous face: one background thread for all of it.

use std::future::Future;
use std::io;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::AbortHandle;

/// Work that was begun. Dropping it ends it.
pub(super) struct Pending<T> {
    answer: Receiver<T>,
    task: AbortHandle,
}

impl<T> Pending<T> {
    /// Waits for the result. Rather a channel than the runtime's own way to wait, which panics when the caller
    /// happens to be a thread of another runtime.
    pub(super) fn wait(&self) -> io::Result<T> {
        self.answer.recv().map_err(|_| io::Error::other("the transfer ended without a result"))
    }
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Begins `work` in the background.
pub(super) fn begin<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> io::Result<Pending<T>> {
    let (sender, answer) = sync_channel(1);
    let task = handle()?.spawn(async move {
        // Nobody waits any more if this fails.
        let _ = sender.send(work.await);
    });
    Ok(Pending { answer, task: task.abort_handle() })
}

/// The one runtime of the process, started when it is first needed.
fn handle() -> io::Result<Handle> {
    static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(runtime) = &*runtime {
        return Ok(runtime.handle().clone());
    }
    // Whoever embeds the engine may have chosen a provider already, and it is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let started =
        Builder::new_multi_thread().worker_threads(1).thread_name("onecopy-remote").enable_all().build()?;
    Ok(runtime.insert(started).handle().clone())
}

//! Runs asynchronous work for synchronous callers, on one background thread.

use std::future::Future;
use std::io;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::AbortHandle;

/// Work in progress. Dropping it cancels the work.
pub(super) struct Pending<T> {
    answer: Receiver<T>,
    task: AbortHandle,
}

impl<T> Pending<T> {
    /// Waits for the result. It uses a channel because blocking on the runtime would panic inside another runtime's
    /// thread.
    pub(super) fn wait(&self) -> io::Result<T> {
        self.answer.recv().map_err(|_| io::Error::other("the transfer ended without a result"))
    }
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Starts `work` in the background.
pub(super) fn begin<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> io::Result<Pending<T>> {
    let (sender, answer) = sync_channel(1);
    let task = handle()?.spawn(async move {
        // Sending fails if nobody waits for the result any more.
        let _ = sender.send(work.await);
    });
    Ok(Pending { answer, task: task.abort_handle() })
}

/// The only runtime of the process, started on first use.
fn handle() -> io::Result<Handle> {
    static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(runtime) = &*runtime {
        return Ok(runtime.handle().clone());
    }
    // This fails if the embedding program already chose a provider, which works as well.
    #[cfg(feature = "stores")]
    let _ = rustls::crypto::ring::default_provider().install_default();
    let started =
        Builder::new_multi_thread().worker_threads(1).thread_name("onecopy-remote").enable_all().build()?;
    Ok(runtime.insert(started).handle().clone())
}

//! Gathers changes of single requests and accepts all waiting ones in one call, so that one sync serves them all.
//!
//! Two threads take turns: while one waits for the disk, the other prepares the next call. This loses no order, because
//! changes that wait at the same time come from clients that do not wait for each other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use onecopy_engine::{Accepted, Action, Refusal, Service};
use tokio::sync::{mpsc, oneshot};

use super::body::Taken;
use super::failure::Failure;
use super::routes::names::Name;

/// The most changes per call.
pub const CHANGES: usize = 256;
/// A call with this many bytes takes no more changes.
pub const BYTES: usize = 1 << 20;
/// The length of the queue to the threads. Further requests wait to enter it.
const WAITING: usize = 1_024;
const THREADS: usize = 2;

/// A change that outlives its request.
pub enum Change {
    /// A page.
    Put(Taken),
    /// The name of a dead page.
    Dead(Name),
    /// The name of a page to delete.
    Delete(Name),
}

impl Change {
    /// The change as an action of the engine.
    fn action(&self) -> Action<'_> {
        match self {
            Change::Put(record) => Action::Put(&record.bytes),
            Change::Dead(name) => Action::Dead(name.get()),
            Change::Delete(name) => Action::Delete(name.get()),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Change::Put(record) => record.bytes.len(),
            Change::Dead(name) | Change::Delete(name) => name.bytes(),
        }
    }
}

struct Waiting {
    change: Change,
    answer: oneshot::Sender<Result<Accepted, Refusal>>,
}

/// The queue of single changes. Its threads end when it is dropped.
pub struct Gather {
    sender: mpsc::Sender<Waiting>,
}

impl Gather {
    /// Starts the threads.
    pub fn start(service: &Arc<Service>) -> std::io::Result<Gather> {
        let (sender, receiver) = mpsc::channel(WAITING);
        let receiver = Arc::new(Mutex::new(receiver));
        for number in 1..=THREADS {
            let (service, receiver) = (service.clone(), receiver.clone());
            let thread = std::thread::Builder::new().name(format!("accept {number}"));
            thread.spawn(move || run(&service, &receiver))?;
        }
        Ok(Gather { sender })
    }

    /// Waits until a change is accepted.
    pub async fn accept(&self, change: Change) -> Result<Accepted, Failure> {
        let gone = || Failure::ours("the change got no answer; it may have been accepted");
        let (answer, answered) = oneshot::channel();
        self.sender.send(Waiting { change, answer }).await.map_err(|_| gone())?;
        let outcome = answered.await.map_err(|_| gone())?;
        Ok(outcome?)
    }
}

fn run(service: &Service, receiver: &Mutex<mpsc::Receiver<Waiting>>) {
    loop {
        let waiting = next(&mut receiver.lock().unwrap_or_else(PoisonError::into_inner));
        if waiting.is_empty() {
            return;
        }
        // A panic inside the engine loses the answers of these changes, but not the thread.
        let _ = catch_unwind(AssertUnwindSafe(|| accept(service, waiting)));
    }
}

/// Waits for a change, and takes all others that wait. Empty at the end.
fn next(receiver: &mut mpsc::Receiver<Waiting>) -> Vec<Waiting> {
    let mut taken: Vec<Waiting> = receiver.blocking_recv().into_iter().collect();
    let mut bytes: usize = taken.iter().map(|waiting| waiting.change.bytes()).sum();
    while !taken.is_empty() && taken.len() < CHANGES && bytes < BYTES {
        let Ok(waiting) = receiver.try_recv() else { break };
        bytes += waiting.change.bytes();
        taken.push(waiting);
    }
    taken
}

fn accept(service: &Service, waiting: Vec<Waiting>) {
    let actions: Vec<Action> = waiting.iter().map(|waiting| waiting.change.action()).collect();
    let outcomes = service.accept(&actions);
    for (waiting, outcome) in waiting.into_iter().zip(outcomes) {
        // A disconnected client needs no answer.
        let _ = waiting.answer.send(outcome);
    }
}

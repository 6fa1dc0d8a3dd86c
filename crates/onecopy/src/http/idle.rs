//! Idle connections, longest idle first: if no place is free, the first makes room for a new connection.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::Notify;

/// Ticket of a connection with a request.
const BUSY: u64 = 0;

/// The idle connections by ticket. A connection gets a new ticket whenever it becomes idle.
#[derive(Default)]
pub struct IdleConnections {
    waiting: Mutex<BTreeMap<u64, Arc<Notify>>>,
    tickets: AtomicU64,
}

/// A connection as the others see it.
pub struct Presence {
    all: Arc<IdleConnections>,
    ticket: AtomicU64,
    /// Notified if the connection should make room.
    pub make_room: Arc<Notify>,
}

/// The time from a request to the end of its answer.
pub struct Busy(Arc<Presence>);

impl IdleConnections {
    /// Asks the longest idle connection to close. Returns whether there is one.
    pub fn make_room(&self) -> bool {
        let first = self.lock().pop_first();
        first.inspect(|(_, connection)| connection.notify_one()).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Notify>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Presence {
    /// A new connection, which is idle.
    pub fn new(all: &Arc<IdleConnections>) -> Arc<Presence> {
        let make_room = Arc::new(Notify::new());
        let presence = Presence { all: all.clone(), ticket: AtomicU64::new(BUSY), make_room };
        presence.wait();
        Arc::new(presence)
    }

    /// Whether it has no request.
    pub fn is_idle(&self) -> bool {
        self.ticket.load(Ordering::Relaxed) != BUSY
    }

    /// A request has come.
    pub fn busy(self: &Arc<Presence>) -> Busy {
        self.leave();
        Busy(self.clone())
    }

    fn wait(&self) {
        let ticket = self.all.tickets.fetch_add(1, Ordering::Relaxed) + 1;
        self.ticket.store(ticket, Ordering::Relaxed);
        self.all.lock().insert(ticket, self.make_room.clone());
    }

    fn leave(&self) {
        let ticket = self.ticket.swap(BUSY, Ordering::Relaxed);
        self.all.lock().remove(&ticket);
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.wait();
    }
}

/// A body during which its connection is busy.
pub struct BusyBody<B> {
    body: B,
    _busy: Busy,
}

impl<B> BusyBody<B> {
    pub fn new(body: B, busy: Busy) -> BusyBody<B> {
        BusyBody { body, _busy: busy }
    }
}

impl<B: Body + Unpin> Body for BusyBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_idle_makes_room() {
        let all = Arc::new(IdleConnections::default());
        let [first, second, third] = [(); 3].map(|()| Presence::new(&all));
        let busy = first.busy();
        assert!(!first.is_idle() && second.is_idle());
        drop(second);
        drop(busy);
        // The first has been idle for a shorter time now.
        assert!(all.make_room());
        assert_eq!(
            all.lock().values().next().map(|notify| Arc::ptr_eq(notify, &first.make_room)),
            Some(true)
        );
        drop(third.busy());
        assert!(all.make_room() && all.make_room() && !all.make_room());
    }
}

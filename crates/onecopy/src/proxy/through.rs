//! Bodies that pass as they come, a piece at a time, in either direction.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until};

/// A body that passes. It breaks off if nothing comes for too long.
pub struct Through {
    /// Pieces that were read before it was clear that the body passes.
    read: Vec<Bytes>,
    rest: Incoming,
    idle: Duration,
    giving_up: Option<Pin<Box<Sleep>>>,
    activity: Arc<Activity>,
    /// Counts bodies that break off.
    broken: Option<Arc<AtomicU64>>,
}

/// When something last came.
pub struct Activity(Mutex<Instant>);

impl Activity {
    /// Something came now.
    pub fn now() -> Arc<Activity> {
        Arc::new(Activity(Mutex::new(Instant::now())))
    }

    /// When something last came.
    pub fn last(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

impl Through {
    /// A body that may pause for as long as `idle`.
    pub fn new(rest: Incoming, idle: Duration) -> Through {
        Through { read: Vec::new(), rest, idle, giving_up: None, activity: Activity::now(), broken: None }
    }

    /// Puts pieces in front that were read before.
    pub fn after(mut self, mut read: Vec<Bytes>) -> Through {
        read.reverse();
        self.read = read;
        self
    }

    /// Counts the body if it breaks off.
    pub fn counted(mut self, broken: &Arc<AtomicU64>) -> Through {
        self.broken = Some(broken.clone());
        self
    }

    /// When something last came.
    pub fn activity(&self) -> Arc<Activity> {
        self.activity.clone()
    }

    fn patience_ended(&mut self, context: &mut Context) -> bool {
        let until = Instant::now() + self.idle;
        let sleep = self.giving_up.get_or_insert_with(|| Box::pin(sleep_until(until)));
        sleep.as_mut().poll(context).is_ready()
    }

    fn broke_off(&mut self, error: io::Error) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(broken) = self.broken.take() {
            broken.fetch_add(1, Ordering::Relaxed);
        }
        Poll::Ready(Some(Err(error)))
    }
}

impl Body for Through {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(piece) = self.read.pop() {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        match Pin::new(&mut self.rest).poll_frame(context) {
            Poll::Pending if self.patience_ended(context) => self.broke_off(io::ErrorKind::TimedOut.into()),
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(Err(error))) => self.broke_off(io::Error::other(error)),
            Poll::Ready(frame) => {
                self.giving_up = None;
                self.activity.touch();
                Poll::Ready(frame.map(|frame| frame.map_err(io::Error::other)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.read.is_empty() && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let read: u64 = self.read.iter().map(|piece| piece.len() as u64).sum();
        let rest = self.rest.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower() + read);
        rest.upper().into_iter().for_each(|upper| hint.set_upper(upper + read));
        hint
    }
}

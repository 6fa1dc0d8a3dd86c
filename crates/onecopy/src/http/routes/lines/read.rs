//! Reads lines until the stream ends or fails, or nobody wants its answers.

use std::sync::Arc;

use bytes::Bytes;
use hyper::StatusCode;
use tokio::sync::mpsc;

use super::cut::{Cutter, Line};
use super::settle::FULL_TIME;
use crate::http::body::{RequestBody, Taking, drain, next_piece};
use crate::http::failure::Failure;
use crate::http::gather::{BYTES, CHANGES};
use crate::http::memory::Held;
use crate::http::server::Server;

/// The lines of one call.
pub struct LineBatch {
    pub lines: Vec<Line>,
    /// A permit, held until the lines are answered.
    pub open: Arc<()>,
    /// Why no group follows, unless the stream ended normally.
    pub broken: Option<Failure>,
    /// The memory of the lines.
    pub held: Held,
}

/// The reader of one request.
pub struct Reader {
    server: Arc<Server>,
    body: RequestBody,
    cutter: Cutter,
    held: Held,
    open: Arc<()>,
    groups: mpsc::Sender<LineBatch>,
}

/// The part of a body that was not read.
pub struct Rest(RequestBody);

impl Rest {
    /// Reads it, within limits, so that the client gets to read the answer.
    pub async fn drain(self) {
        drain(self.0).await;
    }
}

impl Reader {
    pub fn new(server: Arc<Server>, body: RequestBody, groups: mpsc::Sender<LineBatch>) -> Reader {
        let cutter = Cutter::new(server.page_bytes);
        Reader { server, body, cutter, held: Held::default(), open: Arc::new(()), groups }
    }

    /// Sends groups of lines. `first` is the part of the body that was already read.
    pub async fn run(mut self, first: Option<Bytes>) -> Rest {
        first.iter().for_each(|piece| self.cutter.push(piece));
        let (server, mut is_over) = (self.server.clone(), false);
        let mut stop = server.stop.clone();
        let groups = self.groups.clone();
        let broken = loop {
            if self.cutter.is_full(CHANGES, BYTES) || (is_over && self.cutter.has_lines()) {
                if !self.hand_over(None).await {
                    return Rest(self.body);
                }
                continue;
            }
            if is_over {
                return Rest(self.body);
            }
            let piece = tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => break Failure::stopping(),
                piece = next_unless_open(&mut self.body, &self.open, &server.taking) => piece,
                // No more lines are ready, and the other task is idle.
                place = groups.reserve(), if self.cutter.has_lines() => match place {
                    Ok(place) => {
                        place.send(group(&mut self.cutter, &mut self.held, &self.open, None));
                        continue;
                    }
                    Err(_) => return Rest(self.body),
                },
            };
            match piece {
                Ok(Some(piece)) => {
                    if let Err(failure) = self.push(&piece).await {
                        break failure;
                    }
                }
                Ok(None) => {
                    self.cutter.finish();
                    is_over = true;
                }
                Err(failure) => break failure,
            }
        };
        self.hand_over(Some(broken)).await;
        Rest(self.body)
    }

    /// Adds a piece, once there is memory for it.
    async fn push(&mut self, piece: &Bytes) -> Result<(), Failure> {
        let server = self.server.clone();
        let memory = &server.taking.memory;
        if !memory.try_grow(&mut self.held, self.cutter.bytes() + piece.len()) {
            // Complete lines hold memory that others need.
            if self.cutter.has_lines() && !self.hand_over(None).await {
                return Ok(());
            }
            memory.grow(&mut self.held, self.cutter.bytes() + piece.len(), FULL_TIME).await?;
        }
        self.cutter.push(piece);
        Ok(())
    }

    /// Sends the complete lines. Returns whether somebody takes them.
    async fn hand_over(&mut self, broken: Option<Failure>) -> bool {
        let group = group(&mut self.cutter, &mut self.held, &self.open, broken);
        self.groups.send(group).await.is_ok()
    }
}

fn group(cutter: &mut Cutter, held: &mut Held, open: &Arc<()>, broken: Option<Failure>) -> LineBatch {
    let lines = cutter.take(CHANGES, BYTES);
    LineBatch { lines, open: open.clone(), broken, held: held.split_off(cutter.bytes()) }
}

/// The next piece of a body. A client that sends nothing while a group is open may wait for its answers.
async fn next_unless_open(
    body: &mut RequestBody,
    open: &Arc<()>,
    taking: &Taking,
) -> Result<Option<Bytes>, Failure> {
    loop {
        match next_piece(body, taking).await {
            Err(failure) if failure.status == StatusCode::REQUEST_TIMEOUT && Arc::strong_count(open) > 1 => {}
            piece => return piece,
        }
    }
}

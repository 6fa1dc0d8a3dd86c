//! Rewrites every page of a collection several times, as years of crawling would.
//!
//! At the end all pages have their first text again, so only the history tells the collection from a fresh one.

use std::time::Duration;

use anyhow::Result;
use serde::Serialize;

use super::{Bench, Probe};
use crate::service::changes::Changes;
use crate::service::collection::Collection;
use crate::service::server::Server;
use crate::service::stream::Stream;
use crate::service::updates::Way;
use crate::service::{PATIENCE, Program};
use crate::table::count;

/// The most changes that are made before they are sent: half a gigabyte.
const PIECE: u64 = 1 << 17;
/// How they are sent.
const WAY: Way = Way::Streams { in_flight: 64 };
const CONNECTIONS: usize = 4;

/// The rewriting of all pages.
#[derive(Clone, Debug, Serialize)]
pub struct Aging {
    /// Pages rewritten and settled per second, in each round.
    pub settled_a_second: Vec<f64>,
    /// The server's peak memory over all rounds.
    pub peak_bytes: u64,
}

/// Rewrites all pages `rewrites` times, and then gives them their first text.
pub fn age(program: &Program, collection: &Collection, stream: &Stream, rewrites: u64) -> Result<Aging> {
    let server = Server::start(&program.onecopy, &collection.data, &[], &program.log())?;
    let mut settled_a_second = Vec::new();
    for round in (0..=rewrites).rev() {
        eprintln!("rewriting all pages, round {} of {} ...", rewrites - round + 1, rewrites + 1);
        let seconds = rewrite(program, &server, stream, round)?;
        settled_a_second.push(stream.pages() as f64 / seconds.as_secs_f64());
        eprintln!("{} settled a second", count(settled_a_second[settled_a_second.len() - 1] as u64));
    }
    let peak_bytes = server.memory().peak;
    server.stop()?;
    Ok(Aging { settled_a_second, peak_bytes })
}

/// Rewrites all pages once. Returns how long the server took, until all were settled.
fn rewrite(program: &Program, server: &Server, stream: &Stream, round: u64) -> Result<Duration> {
    let (pages, mut seconds) = (stream.pages(), 0.0);
    let bench = Bench { server, stream, pages, connections: CONNECTIONS, seed: 0, rate: None };
    for first in (0..pages).step_by(PIECE as usize) {
        let numbers = first..pages.min(first + PIECE);
        let changes = Changes::make(numbers, &program.work.join("service-changes.jsonl"), |page, line| {
            stream.rewritten(page, round, line)
        })?;
        let nobody = Probe { numbers: 0..0, pause: Duration::ZERO };
        let sent = bench.updates(WAY, &changes, PATIENCE, &nobody)?;
        seconds += sent.seconds + sent.drain_seconds;
    }
    Ok(Duration::from_secs_f64(seconds))
}

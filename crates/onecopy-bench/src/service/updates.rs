//! Sends updates as clients on the same machine: one page per request, or as long streams of lines.

mod streams;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde::Serialize;

use super::changes::{Changes, Pace};
use super::histogram::{Histogram, Latency};
use super::server::{Server, Stats};
use super::speed::{Bench, Probe, joined, merged};
use crate::measure::own_cpu_seconds;
use crate::table::{Table, count};

/// The pause before a refused change is sent again.
const BEFORE_AGAIN: Duration = Duration::from_millis(50);
/// The interval between checks whether all changes are sent.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// How changes are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// One per request, with one request at a time on each connection.
    Requests,
    /// As lines of one long request per connection, with up to `in_flight` lines unanswered.
    Streams { in_flight: usize },
}

impl Way {
    /// Its name in the results.
    pub fn name(self) -> &'static str {
        match self {
            Way::Requests => "one a request",
            Way::Streams { .. } => "as streams",
        }
    }
}

/// The results of sending updates.
#[derive(Clone, Debug, Serialize)]
pub struct Updates {
    /// How they were sent.
    pub way: &'static str,
    /// Seconds.
    pub seconds: f64,
    /// Accepted changes per second.
    pub accepted_a_second: f64,
    /// Settled changes per second over the same time.
    pub settled_a_second: f64,
    /// Requests, or lines and streams, refused because too many changes waited. Each is sent again.
    pub refused: u64,
    /// The time from when a change was due, or sent if there is no rate, to the answer that it is durable. An
    /// overloaded server holds a line back, which counts. It refuses a request, and the time of the next attempt starts
    /// again.
    pub acknowledged: Latency,
    /// Changes waiting to be settled, at the start and the end.
    pub waiting: [u64; 2],
    /// The number of pages put again.
    pub updates: u64,
    /// The share of those that Tier 1 settled.
    pub tier1_share: f64,
    /// CPU time of the server per change until all are settled. It includes the changes that still waited at the end.
    pub cpu_ms_a_change: f64,
    /// CPU time of all clients per accepted change.
    pub client_cpu_ms_a_change: f64,
    /// The time from put to settled for pages put one at a time meanwhile.
    pub settled: Latency,
    /// How long the changes that waited at the end took to settle.
    pub drain_seconds: f64,
}

/// Shared by the threads of a measurement.
struct Shared<'a> {
    server: &'a Server,
    changes: &'a Changes,
    pace: Pace,
    refused: AtomicU64,
    stop: AtomicBool,
}

impl Shared<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn refuse(&self, changes: u64) {
        self.refused.fetch_add(changes, Ordering::Relaxed);
    }
}

impl Bench<'_> {
    /// Sends changes over all connections for the given time, or until there are no more. Meanwhile another connection
    /// puts pages one at a time and follows them until they are settled. Returns when everything is settled.
    pub fn updates(&self, way: Way, changes: &Changes, time: Duration, probe: &Probe) -> Result<Updates> {
        let pace = Pace::start(self.rate);
        let shared = Shared { server: self.server, changes, pace, refused: 0.into(), stop: false.into() };
        let begin = Sample::now(self.server)?;
        let (acknowledged, settled, end) = thread::scope(|scope| {
            let send = || match way {
                Way::Requests => put_until(&shared),
                Way::Streams { in_flight } => streams::put_until(&shared, in_flight),
            };
            let threads: Vec<_> = (0..self.connections).map(|_| scope.spawn(send)).collect();
            let following = scope.spawn(|| probe.follow(self, &shared.stop));
            // A connection that ends early has failed.
            let is_over = || changes.is_over() || threads.iter().any(|thread| thread.is_finished());
            while begin.at.elapsed() < time && !is_over() {
                thread::sleep(BETWEEN_LOOKS.min(time.saturating_sub(begin.at.elapsed())));
            }
            let end = Sample::now(self.server);
            shared.stop.store(true, Ordering::Relaxed);
            let histograms: Vec<Result<Histogram>> = threads.into_iter().map(joined).collect();
            (merged(histograms), joined(following), end)
        });
        let (acknowledged, settled, end) = (acknowledged?, settled?, end?);
        self.server.settle(super::PATIENCE)?;
        let drained = Sample::now(self.server)?;
        let measured = Measured { way, begin, end, drained, refused: shared.refused.into_inner() };
        Ok(measured.updates(&acknowledged, &settled))
    }
}

/// Sends one change per request.
fn put_until(shared: &Shared) -> Result<Histogram> {
    let (mut client, mut took, mut page) = (shared.server.client(), Histogram::default(), Vec::new());
    while !shared.is_stopped() && !shared.changes.is_over() {
        let Some((at, due)) = shared.changes.take(&shared.pace) else {
            thread::sleep(shared.changes.wait(&shared.pace));
            continue;
        };
        page.clear();
        shared.changes.read(at, &mut page)?;
        // A line end in a page makes the server search for further lines.
        page.pop_if(|last| *last == b'\n');
        let mut sent = due;
        loop {
            let reply = client.post("/pages", &page)?;
            match reply.status {
                202 => {
                    took.add(sent.elapsed());
                    break;
                }
                429 if shared.is_stopped() => break,
                429 => {
                    shared.refuse(1);
                    thread::sleep(BEFORE_AGAIN);
                    sent = Instant::now();
                }
                _ => bail!("a page was not accepted: {:?}", reply.json()),
            }
        }
    }
    Ok(took)
}

/// The server's statistics and the CPU times at a moment.
struct Sample {
    at: Instant,
    stats: Stats,
    server_cpu: f64,
    own_cpu: f64,
}

impl Sample {
    fn now(server: &Server) -> Result<Sample> {
        let stats = server.stats()?;
        let (server_cpu, own_cpu) = (server.cpu_seconds(), own_cpu_seconds()?);
        Ok(Sample { at: Instant::now(), stats, server_cpu, own_cpu })
    }
}

/// The samples at the start, at the end, and after everything settled.
struct Measured {
    way: Way,
    begin: Sample,
    end: Sample,
    drained: Sample,
    refused: u64,
}

impl Measured {
    fn updates(&self, acknowledged: &Histogram, settled: &Histogram) -> Updates {
        let Measured { way, begin, end, drained, refused } = self;
        let seconds = (end.at - begin.at).as_secs_f64();
        let (stats, before) = (&end.stats, &begin.stats);
        let updates = stats.updates - before.updates;
        let accepted = stats.accepted - before.accepted;
        let changes = stats.settled.saturating_sub(before.settled);
        let in_all = drained.stats.settled.saturating_sub(before.settled);
        let a_change = |seconds: f64, changes: u64| 1_000.0 * seconds / changes.max(1) as f64;
        Updates {
            way: way.name(),
            seconds,
            accepted_a_second: accepted as f64 / seconds,
            settled_a_second: changes as f64 / seconds,
            refused: *refused,
            acknowledged: acknowledged.latency(),
            waiting: [before.waiting, stats.waiting],
            updates,
            tier1_share: (stats.by_tier1 - before.by_tier1) as f64 / updates.max(1) as f64,
            cpu_ms_a_change: a_change(drained.server_cpu - begin.server_cpu, in_all),
            client_cpu_ms_a_change: a_change(end.own_cpu - begin.own_cpu, accepted),
            settled: settled.latency(),
            drain_seconds: (drained.at - end.at).as_secs_f64(),
        }
    }
}

/// A table that compares the ways of sending to a collection of some age.
pub fn table(found: &[Updates], age: &str) -> Table {
    let names: Vec<String> = found.iter().map(|updates| format!("updates, {}", updates.way)).collect();
    let header: Vec<&str> = [age].into_iter().chain(names.iter().map(String::as_str)).collect();
    let mut table = Table::new(&header);
    let mut row = |what: &str, cell: fn(&Updates) -> String| {
        table.push([what.to_owned()].into_iter().chain(found.iter().map(cell)).collect());
    };
    row("accepted", |updates| format!("{}/s", count(updates.accepted_a_second as u64)));
    row("settled", |updates| format!("{}/s", count(updates.settled_a_second as u64)));
    row("acknowledged, p50 ms", |updates| format!("{:.2}", updates.acknowledged.p50_ms));
    row("acknowledged, p99 ms", |updates| format!("{:.2}", updates.acknowledged.p99_ms));
    row("acknowledged, max ms", |updates| format!("{:.2}", updates.acknowledged.max_ms));
    row("put to settled, p50 ms", |updates| format!("{:.2}", updates.settled.p50_ms));
    row("put to settled, p99 ms", |updates| format!("{:.2}", updates.settled.p99_ms));
    row("refused for a full queue", |updates| count(updates.refused));
    row("waiting at begin, end", |updates| updates.waiting.map(count).join(", "));
    row("waiting settled after", |updates| format!("{:.1} s", updates.drain_seconds));
    row("settled by Tier 1, of pages put again", |updates| format!("{:.1} %", 100.0 * updates.tier1_share));
    row("server's processor time a change", |updates| format!("{:.3} ms", updates.cpu_ms_a_change));
    row("clients' processor time a change", |updates| format!("{:.3} ms", updates.client_cpu_ms_a_change));
    table
}

#[cfg(test)]
mod tests;

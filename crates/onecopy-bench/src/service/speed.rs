//! Updates, look-ups, and the time from a put to a settled status, as clients on the same machine see them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::{Value, json};

use super::histogram::{Histogram, Latency};
use super::http::{Client, escaped};
use super::server::{Server, Stats};
use super::stream::{Kind, Stream};
use crate::generate::random::{Random, derive};

const KIND_LOOKUP: u64 = 41;
/// Names in a request for many.
const NAMES: usize = 100;
/// Between two looks at a page that is not settled.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);
/// A page that takes longer to settle is a failure.
const SETTLE_LIMIT: Duration = Duration::from_secs(120);

/// Updates over some time.
#[derive(Clone, Debug, Serialize)]
pub struct Updates {
    /// Seconds.
    pub seconds: f64,
    /// Changes that were accepted, a second.
    pub accepted_a_second: f64,
    /// Changes that were settled, a second, over the same time.
    pub settled_a_second: f64,
    /// Requests that were refused because too much waited.
    pub refused: u64,
    /// From sending a change to its being durable.
    pub acknowledged: Latency,
    /// Changes that waited to be settled, at begin and end.
    pub waiting: [u64; 2],
    /// Pages put again, and the share of them that Tier 1 settled.
    pub updates: u64,
    /// See `updates`.
    pub tier1_share: f64,
    /// Processor seconds of the server for a settled change.
    pub cpu_ms_a_change: f64,
    /// From put to settled, of pages put one by one at the same time.
    pub settled: Latency,
}

/// Look-ups over some time.
#[derive(Clone, Debug, Serialize)]
pub struct Lookups {
    /// Pages that were looked up, a second.
    pub pages_a_second: f64,
    /// A request.
    pub latency: Latency,
}

/// What is measured, and how.
pub struct Bench<'a> {
    pub server: &'a Server,
    pub stream: &'a Stream,
    pub pages: u64,
    pub connections: usize,
    pub seed: u64,
}

impl Bench<'_> {
    /// Changes for so long over all connections, from change `first` on; says also which change comes next. Meanwhile pages
    /// are put one by one on one more connection, and followed until they are settled.
    pub fn updates(&self, first: u64, time: Duration, probe: &Probe) -> Result<(Updates, u64)> {
        let (begin, cpu) = (self.server.stats()?, self.server.cpu_seconds());
        let (next, refused, stop) = (AtomicU64::new(first), AtomicU64::new(0), AtomicBool::new(false));
        let started = Instant::now();
        let (acknowledged, settled, end, seconds) = thread::scope(|scope| {
            let threads: Vec<_> = (0..self.connections)
                .map(|_| scope.spawn(|| self.put_until(&next, &refused, &stop)))
                .collect();
            let following = scope.spawn(|| probe.follow(self, &stop));
            thread::sleep(time);
            let (end, seconds) = (self.server.stats(), started.elapsed().as_secs_f64());
            stop.store(true, Ordering::Relaxed);
            let histograms: Vec<Result<Histogram>> = threads.into_iter().map(joined).collect();
            (merged(histograms), joined(following), end, seconds)
        });
        let (acknowledged, settled, end) = (acknowledged?, settled?, end?);
        let cpu = self.server.cpu_seconds() - cpu;
        let measured = Measured { begin, end, seconds, cpu };
        let updates = measured.updates(refused.into_inner(), &acknowledged, &settled);
        Ok((updates, next.into_inner()))
    }

    fn put_until(&self, next: &AtomicU64, refused: &AtomicU64, stop: &AtomicBool) -> Result<Histogram> {
        let (mut client, mut took, mut line) = (self.server.client(), Histogram::default(), Vec::new());
        while !stop.load(Ordering::Relaxed) {
            line.clear();
            self.stream.change(next.fetch_add(1, Ordering::Relaxed), &mut line);
            loop {
                let sent = Instant::now();
                let reply = client.post("/pages", &line)?;
                match reply.status {
                    202 => {
                        took.add(sent.elapsed());
                        break;
                    }
                    429 if stop.load(Ordering::Relaxed) => break,
                    429 => {
                        refused.fetch_add(1, Ordering::Relaxed);
                        thread::sleep(Duration::from_millis(50));
                    }
                    _ => bail!("a page was not accepted: {:?}", reply.json()),
                }
            }
        }
        Ok(took)
    }

    /// Looks pages up for so long: one a request, or many.
    pub fn lookups(&self, time: Duration, many: bool) -> Result<Lookups> {
        let stop = AtomicBool::new(false);
        let started = Instant::now();
        let (took, seconds) = thread::scope(|scope| {
            let threads: Vec<_> = (0..self.connections as u64)
                .map(|number| {
                    let stop = &stop;
                    scope.spawn(move || self.look_up_until(number, many, stop))
                })
                .collect();
            thread::sleep(time);
            stop.store(true, Ordering::Relaxed);
            let took: Vec<Result<Histogram>> = threads.into_iter().map(joined).collect();
            (merged(took), started.elapsed().as_secs_f64())
        });
        let latency = took?.latency();
        let pages = latency.count as f64 * if many { NAMES as f64 } else { 1.0 };
        Ok(Lookups { pages_a_second: pages / seconds, latency })
    }

    fn look_up_until(&self, thread: u64, many: bool, stop: &AtomicBool) -> Result<Histogram> {
        let (mut client, mut took) = (self.server.client(), Histogram::default());
        let mut random = Random::new(derive(self.seed, KIND_LOOKUP, thread));
        let mut name = || Stream::name(random.below(self.pages));
        while !stop.load(Ordering::Relaxed) {
            let reply = if many {
                let names: Vec<String> = (0..NAMES).map(|_| name()).collect();
                let body = serde_json::to_vec(&json!({ "pages": names }))?;
                let sent = Instant::now();
                let reply = client.post("/status", &body)?;
                took.add(sent.elapsed());
                reply
            } else {
                let path = format!("/pages?page={}", escaped(&name()));
                let sent = Instant::now();
                let reply = client.get(&path)?;
                took.add(sent.elapsed());
                reply
            };
            if reply.status != 200 {
                bail!("a look-up failed: {:?}", reply.json());
            }
        }
        Ok(took)
    }
}

/// Pages that are put one by one and followed until they are settled: changes from `first` on, `pause` apart.
pub struct Probe {
    pub first: u64,
    pub pause: Duration,
    /// At most so many.
    pub most: u64,
}

impl Probe {
    /// Puts pages until `stop`, or all of them; says how long each took to be settled.
    pub fn follow(&self, bench: &Bench, stop: &AtomicBool) -> Result<Histogram> {
        let (mut client, mut took, mut line) = (bench.server.client(), Histogram::default(), Vec::new());
        for number in self.first..self.first + self.most {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            line.clear();
            let (kind, name) = bench.stream.change(number, &mut line);
            if kind == Kind::Unchanged {
                continue;
            }
            let sent = Instant::now();
            let reply = client.post("/pages", &line)?;
            if reply.status == 429 {
                thread::sleep(Duration::from_millis(50));
                continue;
            }
            let mut status = reply.json()?;
            while !is_settled(&status) {
                if sent.elapsed() > SETTLE_LIMIT {
                    bail!("{name} was not settled within {SETTLE_LIMIT:?}");
                }
                thread::sleep(BETWEEN_LOOKS);
                status = look_up(&mut client, &name)?;
            }
            took.add(sent.elapsed());
            thread::sleep(self.pause);
        }
        Ok(took)
    }
}

fn is_settled(status: &Value) -> bool {
    status["settled"] == true
}

fn look_up(client: &mut Client, name: &str) -> Result<Value> {
    client.get(&format!("/pages?page={}", escaped(name)))?.json()
}

/// What a server's numbers were before and after.
struct Measured {
    begin: Stats,
    end: Stats,
    seconds: f64,
    cpu: f64,
}

impl Measured {
    fn updates(&self, refused: u64, acknowledged: &Histogram, settled: &Histogram) -> Updates {
        let Measured { begin, end, seconds, cpu } = self;
        let updates = end.updates - begin.updates;
        let changes = end.settled.saturating_sub(begin.settled);
        Updates {
            seconds: *seconds,
            accepted_a_second: (end.accepted - begin.accepted) as f64 / seconds,
            settled_a_second: changes as f64 / seconds,
            refused,
            acknowledged: acknowledged.latency(),
            waiting: [begin.waiting, end.waiting],
            updates,
            tier1_share: (end.by_tier1 - begin.by_tier1) as f64 / updates.max(1) as f64,
            cpu_ms_a_change: 1_000.0 * cpu / changes.max(1) as f64,
            settled: settled.latency(),
        }
    }
}

fn joined<T>(thread: thread::ScopedJoinHandle<Result<T>>) -> Result<T> {
    thread.join().map_err(|_| anyhow::anyhow!("a thread panicked"))?
}

fn merged(histograms: Vec<Result<Histogram>>) -> Result<Histogram> {
    let mut all = Histogram::default();
    for histogram in histograms {
        all.merge(&histogram.context("a connection failed")?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests;

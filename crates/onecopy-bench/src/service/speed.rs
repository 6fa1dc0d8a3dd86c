//! Measures look-ups, and the time from a put to a settled status, as clients on the same machine see them.

mod age;
mod report;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::{Value, json};

use super::histogram::{Histogram, Latency};
use super::http::{Client, escaped};
use super::server::Server;
use super::stream::{Kind, Stream};
use crate::generate::random::{Random, derive};

pub use age::age;
pub use report::{Ages, Speeds};

const KIND_LOOKUP: u64 = 41;
/// Names per bulk request.
const NAMES: usize = 100;
/// The first pause between checks of an unsettled page. Pauses grow with the waiting time: it is then known to 1/32,
/// and checking adds little load.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);
const LOOKS: u32 = 32;
/// A page that takes longer to settle counts as a failure.
const SETTLE_LIMIT: Duration = Duration::from_secs(120);

/// The results of look-ups.
#[derive(Clone, Debug, Serialize)]
pub struct Lookups {
    /// Pages looked up per second.
    pub pages_a_second: f64,
    /// The latency of a request.
    pub latency: Latency,
}

/// The settings of a measurement.
pub struct Bench<'a> {
    pub server: &'a Server,
    pub stream: &'a Stream,
    pub pages: u64,
    pub connections: usize,
    /// Changes per second, if limited.
    pub rate: Option<u64>,
    pub seed: u64,
}

impl Bench<'_> {
    /// Looks pages up for the given time: one or many per request.
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

/// Pages that are put one at a time and followed until they are settled.
pub struct Probe {
    /// The numbers of the changes.
    pub numbers: Range<u64>,
    /// The pause between two of them.
    pub pause: Duration,
}

impl Probe {
    /// Puts pages until `stop` or the last one. Returns how long each took to settle.
    pub fn follow(&self, bench: &Bench, stop: &AtomicBool) -> Result<Histogram> {
        let (mut client, mut took, mut line) = (bench.server.client(), Histogram::default(), Vec::new());
        for number in self.numbers.clone() {
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
                thread::sleep(BETWEEN_LOOKS.max(sent.elapsed() / LOOKS));
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

/// The result of a thread.
pub fn joined<T>(thread: thread::ScopedJoinHandle<Result<T>>) -> Result<T> {
    thread.join().map_err(|_| anyhow::anyhow!("a thread panicked"))?
}

/// The measurements of all connections together.
pub fn merged(histograms: Vec<Result<Histogram>>) -> Result<Histogram> {
    let mut all = Histogram::default();
    for histogram in histograms {
        all.merge(&histogram.context("a connection failed")?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests;

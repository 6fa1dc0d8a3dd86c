//! Measures `onecopy proxy`: what it adds to an answer, and how many answers a second it handles.
//!
//! Upstream and clients are in this process and on the same cores, and both ways are measured in turns in one run. So the
//! numbers without the proxy show what the machine itself takes. The processor time of both processes says how many
//! answers the proxy could handle if it had the cores for itself.

mod upstream;

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use self::upstream::Upstream;
use crate::peers;
use crate::service::histogram::{Histogram, Latency};
use crate::service::http::Client;
use crate::table::Table;

/// Requests in one turn.
const TURN: usize = 200;
/// Linux counts processor time in hundredths of a second.
const TICKS: f64 = 100.0;
const PATH: &str = "/pages/_search?q=words&size=100";

/// Measure what `onecopy proxy` adds to the answers of a search engine
#[derive(clap::Args)]
pub struct Args {
    /// The onecopy program; by default this workspace's release build
    #[arg(long, value_name = "FILE")]
    onecopy: Option<PathBuf>,
    /// Hits in an answer
    #[arg(long, default_value_t = 100)]
    hits: usize,
    /// Bytes of text in a hit
    #[arg(long, default_value_t = 4_096)]
    bytes: usize,
    /// One in so many hits repeats another; 0 for none
    #[arg(long, default_value_t = 10)]
    one_in: usize,
    /// Seconds for each number
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Connections for the answers a second
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// Give each hit its tag too, so that no text is compared. The tags are made in this folder
    #[arg(long, value_name = "DIR")]
    tags: Option<PathBuf>,
}

/// The running proxy. Dropping it kills it.
struct Proxy(Child);

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the measurement and prints a table.
pub fn run(args: &Args) -> Result<()> {
    let program = peers::onecopy(args.onecopy.as_deref())?;
    let texts = upstream::texts(args.hits, args.bytes, args.one_in);
    let tags = args.tags.as_deref().map(|folder| upstream::tags(&program, &texts, folder)).transpose()?;
    let upstream = Upstream::start(&texts, tags.as_deref())?;
    let (proxy, address) = start(&program, upstream.address)?;
    let (direct, through) = latencies(args, [upstream.address, address])?;
    let mut table = Table::new(&[
        "answers",
        "p50 ms",
        "p99 ms",
        "answers a second",
        "proxy's CPU ms each",
        "upstream's and clients' CPU ms each",
    ]);
    let mut own_cpu_ms = 0.0;
    for (name, latency, at) in
        [("upstream alone", direct, upstream.address), ("through the proxy", through, address)]
    {
        let processes = [proxy.0.id(), process::id()];
        let begun = cpu_seconds(processes)?;
        let (count, seconds) = answers(args, at)?;
        let used = cpu_seconds(processes)?;
        let [proxy_ms, others_ms] = [0, 1].map(|at| 1e3 * (used[at] - begun[at]) / count as f64);
        own_cpu_ms = proxy_ms;
        table.push(vec![
            name.into(),
            format!("{:.3}", latency.p50_ms),
            format!("{:.3}", latency.p99_ms),
            format!("{:.0}", count as f64 / seconds),
            format!("{proxy_ms:.3}"),
            format!("{others_ms:.3}"),
        ]);
    }
    println!("{}", table.aligned());
    let [p50, p99] = [through.p50_ms - direct.p50_ms, through.p99_ms - direct.p99_ms];
    println!("the proxy adds {p50:.3} ms at p50 and {p99:.3} ms at p99");
    println!("with two cores for itself it has the time for {:.0} answers a second", 2e3 / own_cpu_ms);
    Ok(())
}

/// The processor time that processes have used, as Linux reports it.
fn cpu_seconds(processes: [u32; 2]) -> Result<[f64; 2]> {
    let used = |process: u32| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
        // The name of the program ends with the last bracket.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks =
            |at: usize| fields.get(at).and_then(|ticks| ticks.parse::<f64>().ok()).context("no ticks");
        anyhow::Ok((ticks(11)? + ticks(12)?) / TICKS)
    };
    Ok([used(processes[0])?, used(processes[1])?])
}

fn start(program: &Path, upstream: SocketAddr) -> Result<(Proxy, SocketAddr)> {
    let child = Command::new(program)
        .args(["proxy", "--listen", "127.0.0.1:0", "--preset", "elasticsearch", "--pages", "0"])
        .args(["--upstream", &format!("http://{upstream}")])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = child.with_context(|| format!("cannot start {}", program.display()))?;
    let out = child.stdout.take().context("it has an output")?;
    let proxy = Proxy(child);
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line)?;
    let address = line.rsplit("http://").next().and_then(|rest| rest.split(". ").next());
    let address = address.and_then(|address| address.parse().ok());
    Ok((proxy, address.with_context(|| format!("no address in {line:?}"))?))
}

/// The latencies at two addresses, measured in turns on one connection each.
fn latencies(args: &Args, addresses: [SocketAddr; 2]) -> Result<(Latency, Latency)> {
    let mut clients = addresses.map(Client::new);
    let mut took = [Histogram::default(), Histogram::default()];
    let until = Instant::now() + Duration::from_secs(2 * args.seconds);
    for client in &mut clients {
        for _ in 0..TURN {
            ask(client)?;
        }
    }
    while Instant::now() < until {
        for (client, took) in clients.iter_mut().zip(&mut took) {
            for _ in 0..TURN {
                let begun = Instant::now();
                ask(client)?;
                took.add(begun.elapsed());
            }
        }
    }
    Ok((took[0].latency(), took[1].latency()))
}

/// Asks over several connections. Returns the number of answers, and the seconds that they took.
fn answers(args: &Args, address: SocketAddr) -> Result<(u64, f64)> {
    let stop = AtomicBool::new(false);
    let begun = Instant::now();
    thread::scope(|scope| {
        let ask_until = || {
            let (mut client, mut count) = (Client::new(address), 0_u64);
            while !stop.load(Ordering::Relaxed) {
                ask(&mut client)?;
                count += 1;
            }
            Ok(count)
        };
        let threads: Vec<_> = (0..args.connections).map(|_| scope.spawn(ask_until)).collect();
        thread::sleep(Duration::from_secs(args.seconds));
        stop.store(true, Ordering::Relaxed);
        let joined = |thread: thread::ScopedJoinHandle<Result<u64>>| thread.join().expect("no panic");
        let counts: Result<Vec<u64>> = threads.into_iter().map(joined).collect();
        Ok((counts?.iter().sum(), begun.elapsed().as_secs_f64()))
    })
}

fn ask(client: &mut Client) -> Result<()> {
    let reply = client.get(PATH)?;
    ensure!(reply.status == 200, "the answer has status {}", reply.status);
    Ok(())
}

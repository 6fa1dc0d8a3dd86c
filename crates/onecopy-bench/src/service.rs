//! `onecopy-bench service`: how fast the service takes changes and answers, what a page costs as a collection grows, and
//! how far its groups are from a batch run's.
//!
//! The service is the program, run as a child and asked over HTTP; clients run on the same machine and share its cores.

mod captures;
mod errors;
mod growth;
mod histogram;
mod http;
mod server;
mod speed;
mod stream;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::generate::parse_count;
use crate::measure::{self, Cost};
use crate::peers::{self, Machine};
use crate::table::{Table, count, megabytes};
use histogram::Latency;
use server::{Memory, Server, disk_bytes};
use speed::{Bench, Lookups, Probe, Updates};
use stream::Stream;

/// Measures the incremental service.
///
/// Without more: loads generated pages, then measures updates a second, look-ups a second, the time until a change is
/// settled, disk and memory. A third of the updates are unchanged, a third slightly edited, a third new pages.
/// A million pages take some 10 GB in the work folder.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  onecopy-bench service --pages 100k --seconds 20
  onecopy-bench service --markdown > service.md
  onecopy-bench service --growth --sizes 10k,30k,100k --plot docs/plots/growth.svg
  onecopy-bench service --errors --pages 50k")]
pub struct Args {
    /// Pages of the collection (k and m stand for thousand and million)
    #[arg(long, default_value = "1m", value_parser = parse_count)]
    pages: u64,
    /// How long updates are sent; look-ups a sixth of it each
    #[arg(long, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Connections, each with one request at a time
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    connections: u16,
    /// What a page costs as the collection grows, beside all from scratch, and what Tier 1 settles
    #[arg(long, conflicts_with = "errors")]
    growth: bool,
    /// Sizes for --growth, rising
    #[arg(long, default_value = "10k,30k,100k,300k,1m", value_delimiter = ',', value_parser = parse_count)]
    sizes: Vec<u64>,
    /// Draw the growth into this SVG file
    #[arg(long, value_name = "FILE", requires = "growth")]
    plot: Option<PathBuf>,
    /// How far the groups are from a batch run's, by routing
    #[arg(long)]
    errors: bool,
    /// Seed of the pages
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A folder for pages and collections
    #[arg(long, default_value = "bench-work", value_name = "DIR")]
    work: PathBuf,
    /// The onecopy program; by default this workspace's release build
    #[arg(long, value_name = "FILE")]
    onecopy: Option<PathBuf>,
    /// Print a Markdown table
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The program under test, and where it works.
pub struct Program {
    onecopy: PathBuf,
    work: PathBuf,
}

impl Program {
    fn log(&self) -> PathBuf {
        self.work.join("service.log")
    }

    fn run(&self, command: &mut Command) -> Result<Cost> {
        measure::run(command, &self.log())
    }

    fn import(&self, data: &Path, input: &Path) -> Result<Cost> {
        self.run(Command::new(&self.onecopy).arg("import").arg("--data").arg(data).arg(input).arg("--quiet"))
    }
}

pub fn run(args: &Args) -> Result<()> {
    fs::create_dir_all(&args.work).with_context(|| format!("cannot create {}", args.work.display()))?;
    let program = Program { onecopy: peers::onecopy(args.onecopy.as_deref())?, work: args.work.clone() };
    let machine = Machine::this();
    if args.growth {
        let found = growth::run(&program, args.seed, &args.sizes)?;
        if let Some(path) = &args.plot {
            growth::draw(&found.points, path).with_context(|| format!("cannot write {}", path.display()))?;
        }
        let tables = [growth::cost_table(&found.points), growth::tier1_table(&found.settled)];
        return print(args, &machine, &tables, &found);
    }
    if args.errors {
        let found = errors::run(&program, args.seed, args.pages)?;
        print(args, &machine, &[errors::table(&found)], &found)?;
        return errors::check(&found);
    }
    let found = speeds(&program, args)?;
    print(args, &machine, &[found.table()], &found)
}

/// Prints what was found, as it was asked for.
fn print(args: &Args, machine: &Machine, tables: &[Table], found: &impl Serialize) -> Result<()> {
    if args.json {
        let all = serde_json::json!({"machine": machine, "service": found});
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    println!("{}\n", machine.line());
    for table in tables {
        println!("{}", if args.markdown { table.markdown() } else { table.aligned() });
    }
    Ok(())
}

/// What was measured on one collection.
#[derive(Serialize)]
struct Speeds {
    pages: u64,
    connections: u16,
    /// Loading the collection, with everything settled.
    import: Cost,
    disk_bytes: u64,
    /// Before and after the updates.
    memory: [Memory; 2],
    /// From put to settled, a page at a time on an idle server.
    settled_alone: Latency,
    lookups: Lookups,
    lookups_of_100: Lookups,
    updates: Updates,
    /// How long what waited at the end took to settle.
    drain_seconds: f64,
}

/// Changes of different measurements never meet: each begins at its own number.
const ALONE_FIRST: u64 = 0;
const ALONE: u64 = 300;
const UPDATES_FIRST: u64 = 3_000;
const PROBE_FIRST: u64 = 3_000_000_000;
/// How long what waits may take to settle.
const PATIENCE: Duration = Duration::from_secs(1_800);

fn speeds(program: &Program, args: &Args) -> Result<Speeds> {
    let stream = Stream::new(args.seed, args.pages);
    let (input, data) = (program.work.join("service.jsonl"), emptied(program.work.join("service-data"))?);
    eprintln!("generating {} pages ...", count(args.pages));
    stream.write(0..args.pages, &input)?;
    eprintln!("importing ...");
    let import = program.import(&data, &input)?;
    fs::remove_file(&input)?;
    let disk = disk_bytes(&data)?;
    let server = Server::start(&program.onecopy, &data, &[], &program.log())?;
    let connections = usize::from(args.connections);
    let bench = Bench { server: &server, stream: &stream, pages: args.pages, connections, seed: args.seed };
    let before = server.memory();
    eprintln!("pages put alone ...");
    let alone = Probe { first: ALONE_FIRST, pause: Duration::from_millis(20), most: ALONE };
    let settled_alone = alone.follow(&bench, &AtomicBool::new(false))?.latency();
    let time = Duration::from_secs(args.seconds);
    eprintln!("look-ups ...");
    let (lookups, lookups_of_100) = (bench.lookups(time / 6, false)?, bench.lookups(time / 6, true)?);
    eprintln!("updates ...");
    let probe = Probe { first: PROBE_FIRST, pause: Duration::from_millis(20), most: u64::MAX / 2 };
    let (updates, _) = bench.updates(UPDATES_FIRST, time, &probe)?;
    let memory = [before, server.memory()];
    let ended = std::time::Instant::now();
    server.settle(PATIENCE)?;
    let drain_seconds = ended.elapsed().as_secs_f64();
    server.stop()?;
    fs::remove_dir_all(&data)?;
    let (pages, connections, disk_bytes) = (args.pages, args.connections, disk);
    Ok(Speeds {
        pages,
        connections,
        import,
        disk_bytes,
        memory,
        settled_alone,
        lookups,
        lookups_of_100,
        updates,
        drain_seconds,
    })
}

impl Speeds {
    fn table(&self) -> Table {
        let mut table = Table::new(&["measure", "value", "p50 ms", "p99 ms", "max ms"]);
        let mut row = |what: &str, value: String, latency: Option<&Latency>| {
            let of = |of: fn(&Latency) -> f64| latency.map_or("-".to_owned(), |l| format!("{:.2}", of(l)));
            table.push(vec![what.to_owned(), value, of(|l| l.p50_ms), of(|l| l.p99_ms), of(|l| l.max_ms)]);
        };
        let rate = |rate: f64| format!("{}/s", count(rate as u64));
        let updates = &self.updates;
        row("pages", count(self.pages), None);
        row("import, all settled", rate(self.pages as f64 / self.import.wall_seconds), None);
        row("updates accepted", rate(updates.accepted_a_second), Some(&updates.acknowledged));
        row("updates settled", rate(updates.settled_a_second), Some(&updates.settled));
        row(
            "waiting at begin, end",
            format!("{}, {}", count(updates.waiting[0]), count(updates.waiting[1])),
            None,
        );
        row("refused for a full queue", count(updates.refused), None);
        row("waiting settled after", format!("{:.1} s", self.drain_seconds), None);
        row("settled by Tier 1, of pages put again", format!("{:.1} %", 100.0 * updates.tier1_share), None);
        row("processor time a change", format!("{:.2} ms", updates.cpu_ms_a_change), None);
        row("put to settled, alone", count(self.settled_alone.count), Some(&self.settled_alone));
        row("look-ups", rate(self.lookups.pages_a_second), Some(&self.lookups.latency));
        row(
            "look-ups, 100 a request",
            rate(self.lookups_of_100.pages_a_second),
            Some(&self.lookups_of_100.latency),
        );
        row("disk a page", format!("{} B", count(self.disk_bytes / self.pages.max(1))), None);
        for (when, memory) in [("before updates", &self.memory[0]), ("after updates", &self.memory[1])] {
            let Memory { rss, anonymous, peak } = *memory;
            let parts = [rss, anonymous, peak].map(megabytes).join(", ");
            row(&format!("memory {when}: resident, own, peak"), format!("{parts} MB"), None);
        }
        table
    }
}

/// A folder with nothing in it; what was there is of an earlier measurement.
fn emptied(folder: PathBuf) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    Ok(folder)
}

/// A file of the shared data, if it is there.
fn shared_data(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let path = std::env::var_os("ONECOPY_DATA").map_or_else(beside, PathBuf::from).join(name);
    path.exists().then_some(path)
}

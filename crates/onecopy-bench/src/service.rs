//! `onecopy-bench service`: measures the service's updates, look-ups and growth, and how its groups differ from a batch
//! run's.
//!
//! The program runs as a child and is queried over HTTP. Clients run on the same machine and share its cores.

mod captures;
mod changes;
mod collection;
mod errors;
mod growth;
pub mod histogram;
pub mod http;
mod server;
mod speed;
mod stream;
#[cfg(test)]
mod tests;
mod updates;

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
use crate::table::{Table, count};
use changes::Changes;
use collection::{Collection, Wanted};
use server::{Server, disk_bytes};
use speed::{Ages, Bench, Probe, Speeds};
use stream::Stream;
use updates::{Updates, Way};

/// Measures the incremental service.
///
/// By default it loads generated pages. Then it measures updates per second, look-ups per second, the time until a
/// change is settled, disk and memory. A third of the updates are unchanged pages, a third slightly edited, a third
/// new. They are made before they are sent, so that clients cost little. A million pages take some 10 GB in the work
/// folder.
///
/// Then it rewrites all pages several times and measures again. Last of all, each page gets the text with which it was
/// loaded. The table compares the two: speed, memory and disk, fresh and aged.
///
/// With --keep, the collection stays for the next run with the same pages and seed. Every run changes it and continues
/// the numbers of the changes, so a kept collection is never quite the one that was loaded.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  onecopy-bench service --pages 100k --seconds 20
  onecopy-bench service --markdown > service.md
  onecopy-bench service --rewrites 0
  onecopy-bench service --keep --rewrites 0 --updates streams --in-flight 64
  onecopy-bench service --keep --rewrites 0 --updates requests --rate 3000
  onecopy-bench service --growth --sizes 10k,30k,100k --plot docs/plots/growth.svg
  onecopy-bench service --errors --pages 50k")]
pub struct Args {
    /// Pages of the collection (k and m stand for thousand and million)
    #[arg(long, default_value = "1m", value_parser = parse_count)]
    pages: u64,
    /// How long to send updates, each way; each kind of look-up takes a sixth of it
    #[arg(long, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Connections, each with one request at a time, or with one stream
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    connections: u16,
    /// How to send updates: one per request, as streams of lines, or both in turn
    #[arg(long, value_enum, default_value_t = Ways::Both, value_name = "WAY")]
    updates: Ways,
    /// Unanswered lines per stream (higher: more of them share a sync, and each waits longer)
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    in_flight: u16,
    /// Changes per second; by default as many as the service accepts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    rate: Option<u64>,
    /// How often to rewrite all pages before everything is measured again, on the aged collection; 0 for not at all
    #[arg(long, default_value_t = 3, value_name = "N", conflicts_with_all = ["growth", "errors"])]
    rewrites: u64,
    /// Keep the collection in the work folder, and use the one that an earlier run kept
    #[arg(long, conflicts_with_all = ["growth", "errors"])]
    keep: bool,
    /// Measure the cost per page as the collection grows, compared with a run from scratch, and what Tier 1 settles
    #[arg(long, conflicts_with = "errors")]
    growth: bool,
    /// Sizes for --growth, ascending
    #[arg(long, default_value = "10k,30k,100k,300k,1m", value_delimiter = ',', value_parser = parse_count)]
    sizes: Vec<u64>,
    /// Draw the growth into this SVG file
    #[arg(long, value_name = "FILE", requires = "growth")]
    plot: Option<PathBuf>,
    /// Measure how the groups differ from a batch run's
    #[arg(long)]
    errors: bool,
    /// Seed of the pages
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A folder for pages and collections
    #[arg(long, default_value = crate::measure::WORK, value_name = "DIR")]
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

/// Which ways of sending updates to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Ways {
    Requests,
    Streams,
    Both,
}

impl Ways {
    fn list(self, in_flight: usize) -> Vec<Way> {
        let streams = Way::Streams { in_flight };
        match self {
            Ways::Requests => vec![Way::Requests],
            Ways::Streams => vec![streams],
            Ways::Both => vec![Way::Requests, streams],
        }
    }
}

/// The program under test, and its work folder.
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
    let found = ages(&program, args)?;
    print(args, &machine, &found.tables(), &found)
}

/// Prints the results in the requested format.
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

/// The number of pages put one at a time. One in three is unchanged and skipped.
const ALONE: u64 = 300;
/// The pause between pages put one at a time, and their highest rate.
const PAUSE: Duration = Duration::from_millis(20);
const PROBES_A_SECOND: u64 = 100;
/// Changes prepared for each second of updates: more than the service has been seen to accept.
const CHANGES_A_SECOND: u64 = 8_000;
/// How long waiting changes may take to settle.
const PATIENCE: Duration = Duration::from_secs(1_800);

/// Measures a fresh collection, and again after all of its pages were rewritten.
fn ages(program: &Program, args: &Args) -> Result<Ages> {
    let stream = Stream::new(args.seed, args.pages);
    let wanted = Wanted { pages: args.pages, seed: args.seed, keep: args.keep };
    let mut collection = Collection::open(program, &stream, &wanted)?;
    let fresh = speeds(program, args, &stream, &mut collection)?;
    let mut aged = None;
    if args.rewrites > 0 {
        let aging = speed::age(program, &collection, &stream, args.rewrites)?;
        aged = Some((aging, speeds(program, args, &stream, &mut collection)?));
    }
    let import = collection.import();
    collection.close()?;
    Ok(Ages { import, fresh, aged })
}

fn speeds(program: &Program, args: &Args, stream: &Stream, collection: &mut Collection) -> Result<Speeds> {
    let Args { pages, connections, in_flight, seed, rate, .. } = *args;
    let disk_bytes = disk_bytes(&collection.data)?;
    let server = Server::start(&program.onecopy, &collection.data, &[], &program.log())?;
    // An aborted run may have left changes to settle.
    server.settle(PATIENCE)?;
    let bench = Bench { server: &server, stream, pages, connections: usize::from(connections), seed, rate };
    let before = server.memory();
    eprintln!("pages put alone ...");
    let alone = Probe { numbers: collection.take_numbers(ALONE)?, pause: PAUSE };
    let settled_alone = alone.follow(&bench, &AtomicBool::new(false))?.latency();
    let time = Duration::from_secs(args.seconds);
    eprintln!("look-ups ...");
    let (lookups, lookups_of_100) = (bench.lookups(time / 6, false)?, bench.lookups(time / 6, true)?);
    let mut updates = Vec::new();
    for way in args.updates.list(usize::from(in_flight)) {
        updates.push(send(program, &bench, collection, (way, args.seconds))?);
    }
    let memory = [before, server.memory()];
    server.stop()?;
    Ok(Speeds {
        pages,
        connections,
        in_flight,
        disk_bytes,
        memory,
        settled_alone,
        lookups,
        lookups_of_100,
        updates,
    })
}

/// Sends updates in one way for `seconds` seconds.
fn send(
    program: &Program,
    bench: &Bench,
    collection: &mut Collection,
    (way, seconds): (Way, u64),
) -> Result<Updates> {
    let numbers = collection.take_numbers(CHANGES_A_SECOND.saturating_mul(seconds))?;
    eprintln!("making {} changes ...", count(numbers.end - numbers.start));
    let path = program.work.join("service-changes.jsonl");
    let changes = Changes::make(numbers, &path, |number, out| drop(bench.stream.change(number, out)))?;
    let numbers = collection.take_numbers(PROBES_A_SECOND.saturating_mul(seconds))?;
    eprintln!("updates, {} ...", way.name());
    let updates =
        bench.updates(way, &changes, Duration::from_secs(seconds), &Probe { numbers, pause: PAUSE })?;
    if changes.is_over() {
        eprintln!("all changes were sent after {:.1} seconds, which ended the measurement", updates.seconds);
    }
    Ok(updates)
}

/// An empty folder; the files of an earlier measurement are removed.
fn emptied(folder: PathBuf) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    Ok(folder)
}

/// A file of the shared data, if it exists.
fn shared_data(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let path = std::env::var_os("ONECOPY_DATA").map_or_else(beside, PathBuf::from).join(name);
    path.exists().then_some(path)
}

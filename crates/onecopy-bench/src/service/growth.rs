//! E2: measures the cost of one page as the collection grows, compared with a run from scratch (TIERS, Fig. 7). Also
//! measures how many updates Tier 1 settles (Fig. 8).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde::Serialize;

use super::captures;
use super::histogram::Latency;
use super::server::Server;
use super::speed::{Bench, Probe};
use super::stream::{Kind, Stream};
use super::{Program, emptied};
use crate::measure::Cost;
use crate::scale::plot::{self, Series};
use crate::table::{Table, count};

/// The number of new pages at each size, and how many are put at a time.
const PAGES: u64 = 1_000;
const AT_ONCE: u64 = 100;
/// The number of pages put one at a time. One in three is unchanged and skipped.
const ALONE: u64 = 75;
/// The number of updates of each kind.
const UPDATES: u64 = 2_000;
/// How long changes may take to settle.
const PATIENCE: Duration = Duration::from_secs(600);
/// The last point of the published Fig. 7: pages, and the cost from scratch as a multiple of the incremental cost.
const PUBLISHED: (f64, f64) = (1e8, 24.0);

/// The costs at one size.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// Pages in the collection.
    pub pages: u64,
    /// The cost of a batch run over all of them.
    pub batch: Cost,
    /// CPU time per page to add and settle the pages since the previous size.
    pub import_cpu_ms: f64,
    /// CPU time per page to add and settle a thousand new pages.
    pub cpu_ms: f64,
    /// Wall time per page for the same.
    pub wall_ms: f64,
    /// The time from put to settled of a single page.
    pub alone: Latency,
}

impl Point {
    /// How many new pages cost as much CPU time as a run from scratch.
    pub fn cpu_ratio(&self) -> f64 {
        1_000.0 * self.batch.cpu_seconds / self.cpu_ms.max(1e-6)
    }

    /// The same by wall time.
    pub fn wall_ratio(&self) -> f64 {
        1_000.0 * self.batch.wall_seconds / self.wall_ms.max(1e-6)
    }
}

/// How many updates Tier 1 settled.
#[derive(Clone, Debug, Serialize)]
pub struct Settled {
    /// The stream of updates.
    pub stream: String,
    /// The number of pages put again.
    pub updates: u64,
    /// The number of those that Tier 1 settled.
    pub by_tier1: u64,
}

/// The results.
#[derive(Clone, Debug, Serialize)]
pub struct Growth {
    /// By ascending size.
    pub points: Vec<Point>,
    /// One entry per stream.
    pub settled: Vec<Settled>,
}

/// Grows a collection to each of `sizes`.
pub fn run(program: &Program, seed: u64, sizes: &[u64]) -> Result<Growth> {
    ensure!(sizes.is_sorted(), "--sizes must rise: the collection grows from one to the next");
    let data = emptied(program.work.join("growth-data"))?;
    let (mut points, mut parts, mut before) = (Vec::new(), Vec::new(), 0);
    let mut stream = Stream::new(seed, 2);
    let mut settled = Vec::new();
    for (number, &pages) in sizes.iter().enumerate() {
        eprintln!("{} pages ...", count(pages));
        stream = stream.grown(pages);
        let part = program.work.join(format!("growth-{number}.jsonl"));
        stream.write(before..pages, &part)?;
        let import = program.import(&data, &part)?;
        parts.push(part);
        let batch = batch(program, &parts)?;
        let import_cpu_ms = 1_000.0 * import.cpu_seconds / (pages - before).max(1) as f64;
        let server = Server::start(&program.onecopy, &data, &[], &program.log())?;
        let point =
            Point { pages, batch, import_cpu_ms, cpu_ms: 0.0, wall_ms: 0.0, alone: Latency::default() };
        points.push(increment(&server, &stream, point)?);
        if number + 1 == sizes.len() {
            settled = tier1(&server, &stream)?;
        }
        server.stop()?;
        before = pages;
    }
    fs::remove_dir_all(&data)?;
    for part in parts {
        fs::remove_file(part)?;
    }
    settled.extend(captures::replay(program)?);
    Ok(Growth { points, settled })
}

/// Measures a run from scratch.
fn batch(program: &Program, parts: &[PathBuf]) -> Result<Cost> {
    let out = emptied(program.work.join("growth-out"))?;
    let cost = program
        .run(Command::new(&program.onecopy).arg("dedup").args(parts).arg("--out").arg(&out).arg("--quiet"))?;
    fs::remove_dir_all(&out)?;
    Ok(cost)
}

/// Measures a thousand new pages, and a few single ones.
fn increment(server: &Server, stream: &Stream, mut point: Point) -> Result<Point> {
    let bench = Bench { server, stream, pages: point.pages, connections: 1, seed: 0, rate: None };
    let probe = Probe { numbers: 0..ALONE, pause: Duration::from_millis(20) };
    point.alone = probe.follow(&bench, &AtomicBool::new(false))?.latency();
    server.settle(PATIENCE)?;
    let (cpu, started) = (server.cpu_seconds(), Instant::now());
    put(server, PAGES, |number, out| {
        stream.fresh_page(ALONE + number, out);
    })?;
    point.cpu_ms = 1_000.0 * (server.cpu_seconds() - cpu) / PAGES as f64;
    point.wall_ms = 1_000.0 * started.elapsed().as_secs_f64() / PAGES as f64;
    Ok(point)
}

/// Puts pages in batches, and waits until all are settled.
fn put(server: &Server, pages: u64, make: impl Fn(u64, &mut Vec<u8>)) -> Result<()> {
    let mut client = server.client();
    for first in (0..pages).step_by(AT_ONCE as usize) {
        let mut lines = Vec::new();
        let numbers = first..pages.min(first + AT_ONCE);
        let sent = numbers.end - numbers.start;
        numbers.for_each(|number| make(number, &mut lines));
        let reply = client.post_lines("/pages", &lines)?;
        let text = String::from_utf8_lossy(&reply.body);
        let accepted = text.lines().filter(|line| line.contains("\"accepted\"")).count() as u64;
        ensure!(accepted == sent, "{accepted} of {sent} pages were accepted ({}): {text}", reply.status);
    }
    server.settle(PATIENCE)
}

/// Measures two kinds of updates separately.
fn tier1(server: &Server, stream: &Stream) -> Result<Vec<Settled>> {
    let mut found = Vec::new();
    for (kind, name, offset) in [
        (Kind::Unchanged, "generated, fetched again and unchanged", 0),
        (Kind::Edited, "generated, slightly edited", 1),
    ] {
        let begin = server.stats()?;
        put(server, UPDATES, |number, out| {
            let made = stream.change(3 * number + offset, out);
            debug_assert_eq!(made.0, kind, "changes come in turns");
        })?;
        let end = server.stats()?;
        let (updates, by_tier1) = (end.updates - begin.updates, end.by_tier1 - begin.by_tier1);
        found.push(Settled { stream: name.into(), updates, by_tier1 });
    }
    Ok(found)
}

/// The costs by size.
pub fn cost_table(points: &[Point]) -> Table {
    let mut table = Table::new(&[
        "pages",
        "batch CPU s",
        "batch wall s",
        "import CPU ms/page",
        "new page CPU ms",
        "new page wall ms",
        "alone p50 ms",
        "alone p99 ms",
        "batch / page, CPU",
        "batch / page, wall",
    ]);
    for point in points {
        table.push(vec![
            count(point.pages),
            format!("{:.2}", point.batch.cpu_seconds),
            format!("{:.2}", point.batch.wall_seconds),
            format!("{:.3}", point.import_cpu_ms),
            format!("{:.3}", point.cpu_ms),
            format!("{:.3}", point.wall_ms),
            format!("{:.2}", point.alone.p50_ms),
            format!("{:.2}", point.alone.p99_ms),
            count(point.cpu_ratio() as u64),
            count(point.wall_ratio() as u64),
        ]);
    }
    table
}

/// The share of updates that Tier 1 settled, by stream.
pub fn tier1_table(settled: &[Settled]) -> Table {
    let mut table = Table::new(&["updates", "pages put again", "settled by Tier 1", "share"]);
    for Settled { stream, updates, by_tier1 } in settled {
        let share = 100.0 * *by_tier1 as f64 / (*updates).max(1) as f64;
        table.push(vec![stream.clone(), count(*updates), count(*by_tier1), format!("{share:.1} %")]);
    }
    table.push(
        ["TIERS, Fig. 8: pages crawled a week later", "-", "-", "about 30 %"].map(str::to_owned).to_vec(),
    );
    table
}

/// Draws the costs, and the ratio next to the published one.
pub fn draw(points: &[Point], path: &Path) -> Result<()> {
    let series = |title, of: fn(&Point) -> f64| Series {
        title,
        points: points.iter().map(|point| (point.pages as f64, of(point).max(1e-3))).collect(),
        beside: None,
    };
    let ratio = Series {
        beside: Some((PUBLISHED, "TIERS Fig. 7, at its end")),
        ..series("Batch run over one page, CPU", Point::cpu_ratio)
    };
    let all = [
        series("Batch run, CPU seconds", |point| point.batch.cpu_seconds),
        series("New page, CPU ms", |point| point.cpu_ms),
        ratio,
    ];
    Ok(fs::write(path, plot::svg(&all))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_of_a_batch_run_over_a_page() {
        let batch = Cost { cpu_seconds: 5.0, system_seconds: 0.0, wall_seconds: 2.0, peak_bytes: 1 };
        let point = |pages| Point {
            pages,
            batch,
            import_cpu_ms: 0.4,
            cpu_ms: 0.5,
            wall_ms: 1.0,
            alone: Latency::default(),
        };
        assert_eq!((point(1).cpu_ratio(), point(1).wall_ratio()), (10_000.0, 2_000.0));
        let text = cost_table(&[point(10_000)]).aligned();
        assert!(
            text.lines().nth(1).is_some_and(|line| line.ends_with("10,000               2,000")),
            "{text}"
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("growth.svg");
        draw(&[point(10_000), point(100_000)], &path).unwrap();
        let picture = fs::read_to_string(path).unwrap();
        assert!(picture.contains("TIERS Fig. 7") && !picture.contains("NaN"), "{picture}");
    }
}

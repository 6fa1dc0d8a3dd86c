//! Memory and disk of an aged collection, against those of a new one with the same pages.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::world::{ARGS, World, follow_for};
use crate::client::{Server, serve_in};
use crate::collection::on;
use crate::results::files_below;

/// How long the service may take to tidy up.
const TIDYING: Duration = Duration::from_secs(60);
/// The part that does not depend on the pages: the least that is worth tidying, and the steps in which files grow.
const SLACK: u64 = 8 << 20;
/// Under load, the log may have a segment that is not worth rewriting yet, and its copy.
const LOAD_SLACK: u64 = 128 << 20;
const MEMORY_SLACK: u64 = 64 << 20;

/// The bytes of all files of a collection.
pub fn disk_bytes(data: &Path) -> u64 {
    // A file may be removed meanwhile.
    let length = |name: &String| fs::metadata(data.join(name)).map_or(0, |found| found.len());
    files_below(data).iter().map(length).sum()
}

/// The memory of a server now.
pub fn resident_bytes(server: &Server) -> u64 {
    of_process(server, "VmRSS:")
}

/// The most memory that a server has had.
pub fn peak_bytes(server: &Server) -> u64 {
    of_process(server, "VmHWM:")
}

fn of_process(server: &Server, name: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/status", server.process())).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.map_or(0, |rest| 1024 * rest.trim().trim_end_matches(" kB").parse::<u64>().expect("a number"))
}

/// The length of an idle collection, which shrinks to `wanted` within a minute.
fn idle_bytes(folder: TempDir, wanted: u64) -> (u64, TempDir) {
    let (server, begun) = (serve_in(folder, ARGS), Instant::now());
    server.settle();
    std::thread::sleep(Duration::from_secs(3));
    while disk_bytes(&server.data()) > wanted && begun.elapsed() < TIDYING {
        std::thread::sleep(Duration::from_millis(500));
    }
    let bytes = disk_bytes(&server.data());
    (bytes, server.end().1)
}

/// Asserts that the aged collection takes about as much as a new one.
pub fn assert_bounded(world: &mut World, folder: TempDir) {
    let export = folder.path().join("all.jsonl");
    on("export", folder.path()).args("--status all --quiet --out").arg(&export).succeed();
    let fresh = world.folder();
    on("import", fresh.path()).args("--quiet").arg(&export).succeed();
    let (fresh_disk, fresh) = idle_bytes(fresh, u64::MAX);
    let (aged_disk, _folder) = idle_bytes(folder, 2 * fresh_disk + SLACK);
    let server = serve_in(fresh, ARGS);
    let aged_peak = std::mem::take(&mut world.tally.peak_bytes);

    world.load(&server, |follower, _| follow_for(follower, &server, Duration::from_secs(5)));
    world.finish(server, "TERM");
    let fresh_peak = world.tally.peak_bytes;
    let most = world.tally.most_disk_bytes;
    println!(
        "disk: new {fresh_disk}, aged {aged_disk}, at most {most}; memory: new {fresh_peak}, aged {aged_peak}"
    );
    assert!(aged_disk <= 2 * fresh_disk + SLACK, "{aged_disk} bytes, and a new collection {fresh_disk}");
    assert!(
        most <= 4 * fresh_disk + LOAD_SLACK,
        "{most} bytes under load, and a new collection {fresh_disk}"
    );
    assert!(aged_peak <= 2 * fresh_peak + MEMORY_SLACK, "{aged_peak} bytes, and a new one {fresh_peak}");
}

//! `onecopy-bench limit`: how far onecopy is from the least that any tool must do with the same bytes.
//!
//! A tool must read pages, see that they are text, find their words, hash these and write what it keeps. Plain loops do
//! only that, each over the whole input.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use xxhash_rust::xxh3::xxh3_64;

use crate::generate::{given_or_generated, parse_count};
use crate::measure;
use crate::peers;
use crate::table::{Table, megabytes};

/// Compares onecopy's CPU time with that of plain loops over the same bytes.
///
/// The input must fit into memory. The cheapest of a few runs of each loop, and of `onecopy dedup` with one thread,
/// counts.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  onecopy-bench limit
  onecopy-bench limit --input pages.jsonl --runs 7")]
pub struct Args {
    /// Pages, as plain text or JSON Lines; by default generated ones
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// The number of generated pages
    #[arg(long, default_value = "20k", value_parser = parse_count)]
    pages: u64,
    /// How often each loop is run
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// A folder for corpora and outputs
    #[arg(long, default_value = measure::WORK, value_name = "DIR")]
    work: PathBuf,
    /// The onecopy program; by default this workspace's release build
    #[arg(long, value_name = "FILE")]
    onecopy: Option<PathBuf>,
}

/// How many bytes are read or written at a time.
const PIECE: usize = 1 << 20;

pub fn run(args: &Args) -> Result<()> {
    fs::create_dir_all(&args.work).with_context(|| format!("cannot create {}", args.work.display()))?;
    let program = peers::onecopy(args.onecopy.as_deref())?;
    let input = given_or_generated(args.input.as_deref(), args.pages, &args.work, "limit.jsonl")?;
    let bytes = fs::read(&input).with_context(|| format!("cannot read {}", input.display()))?;
    let copy = args.work.join("limit-copy");
    let loops: [(&str, &dyn Fn() -> Result<u64>); 5] = [
        ("reading", &|| read(&input)),
        ("UTF-8 checking", &|| Ok(checked(&bytes))),
        ("word splitting", &|| Ok(each_word(&bytes, |word| word.len() as u64))),
        ("hashing of words", &|| Ok(each_word(&bytes, xxh3_64))),
        ("writing", &|| write(&copy, &bytes)),
    ];
    let mut costs = vec![];
    for (name, work) in loops {
        costs.push((name, cheapest(args.runs, work)?));
    }
    fs::remove_file(&copy)?;
    let ours = onecopy(args, &program, &input)?;
    print!("{}", table(&costs, ours, bytes.len() as u64).aligned());
    println!("onecopy takes {:.1} times the CPU of the plain loops", ours / least(&costs));
    Ok(())
}

/// The least CPU seconds that some work took.
fn cheapest(runs: u32, work: &dyn Fn() -> Result<u64>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        let before = measure::own_cpu_seconds()?;
        black_box(work()?);
        best = best.min(measure::own_cpu_seconds()? - before);
    }
    Ok(best)
}

/// Hashing goes through the words, so splitting is in it already.
fn least(costs: &[(&str, f64)]) -> f64 {
    costs.iter().filter(|(name, _)| *name != "word splitting").map(|(_, seconds)| seconds).sum()
}

fn read(path: &Path) -> Result<u64> {
    let (mut file, mut piece, mut sum) = (File::open(path)?, vec![0; PIECE], 0);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(sum),
            length => sum += length as u64,
        }
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<u64> {
    let mut file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    bytes.chunks(PIECE).try_for_each(|piece| file.write_all(piece))?;
    Ok(bytes.len() as u64)
}

fn checked(bytes: &[u8]) -> u64 {
    std::str::from_utf8(bytes).map_or(0, |text| text.len() as u64)
}

/// Which bytes are part of a word: letters, digits, and all of other scripts.
const IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte >= 0x80 || (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    table
};

/// The sum of what `each` makes of each word.
fn each_word(bytes: &[u8], each: impl Fn(&[u8]) -> u64) -> u64 {
    let words = bytes.split(|&byte| !IN_WORD[usize::from(byte)]).filter(|word| !word.is_empty());
    words.fold(0, |sum, word| sum.wrapping_add(each(word)))
}

/// The least CPU seconds of `onecopy dedup` with one thread.
fn onecopy(args: &Args, program: &Path, input: &Path) -> Result<f64> {
    let out = args.work.join("limit-out");
    let mut costs = vec![];
    for _ in 0..args.runs {
        if out.exists() {
            fs::remove_dir_all(&out).with_context(|| format!("cannot empty {}", out.display()))?;
        }
        let mut command = Command::new(program);
        command.arg("dedup").arg(input).arg("--out").arg(&out).args(["--threads", "1", "--quiet"]);
        costs.push(measure::run(&command, &args.work.join("limit.log"))?);
    }
    Ok(measure::best(costs).context("there is no run")?.cpu_seconds)
}

fn table(costs: &[(&str, f64)], ours: f64, bytes: u64) -> Table {
    let mut table = Table::new(&["work", "CPU s", "MB/s", "onecopy takes"]);
    let all = least(costs);
    for &(name, seconds) in costs.iter().chain([&("all of it", all), &("onecopy dedup", ours)]) {
        let rate = (bytes as f64 / seconds.max(1e-6)) as u64;
        let times = format!("{:.1} x", ours / seconds.max(1e-6));
        table.push(vec![name.into(), format!("{seconds:.3}"), megabytes(rate), times]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_see_all_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let (path, text) = (folder.path().join("copy"), "One, two; drei-vier é\n");
        assert_eq!(write(&path, text.as_bytes()).unwrap(), text.len() as u64);
        assert_eq!(read(&path).unwrap(), text.len() as u64);
        assert_eq!(checked(text.as_bytes()), text.len() as u64);
        assert_eq!(each_word(text.as_bytes(), |_| 1), 5);
        assert_eq!(each_word(text.as_bytes(), |word| word.len() as u64), 16);
    }

    #[test]
    fn splitting_counts_once() {
        let costs = [("reading", 1.0), ("word splitting", 2.0), ("hashing of words", 3.0)];
        assert_eq!(least(&costs), 4.0);
        let text = table(&costs, 8.0, 4_000_000).aligned();
        assert!(text.contains("all of it         4.000     1          2.0 x"), "{text}");
    }
}

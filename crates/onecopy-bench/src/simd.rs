//! `onecopy-bench simd`: measures onecopy's cost at each SIMD level, and checks that its answers stay the same.
//!
//! `ONECOPY_SIMD` lowers the level of the program, which refuses a level that the machine lacks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use xxhash_rust::xxh3::Xxh3;

use crate::measure::{self, Cost};
use crate::peers;
use crate::peers::machine::Machine;
use crate::table::{Table, count};

/// Measures onecopy with the instructions of newer and of older processors.
///
/// Runs `onecopy dedup` at each level of this machine, in turns, and shows the cheapest run of each. The libraries that
/// onecopy uses choose their instructions themselves, at every level.
#[derive(clap::Args)]
#[command(after_help = "Example:
  onecopy-bench simd --input bench-20k.jsonl --runs 7 --markdown")]
pub struct Args {
    /// Pages, in any format that onecopy reads
    #[arg(long, value_name = "FILE")]
    input: PathBuf,
    /// How often each level is run
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// A folder for outputs
    #[arg(long, default_value = measure::WORK, value_name = "DIR")]
    work: PathBuf,
    /// The onecopy program; by default this workspace's release build
    #[arg(long, value_name = "FILE")]
    onecopy: Option<PathBuf>,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

const VARIABLE: &str = "ONECOPY_SIMD";
/// All levels, the fastest first.
const LEVELS: [&str; 3] = ["avx512", "avx2", "scalar"];

/// A level of this machine, the cost of each run, and the answers of all runs.
struct Measured {
    level: &'static str,
    costs: Vec<Cost>,
    answers: Vec<u64>,
}

pub fn run(args: &Args) -> Result<()> {
    fs::create_dir_all(&args.work).with_context(|| format!("cannot create {}", args.work.display()))?;
    let program = peers::onecopy(args.onecopy.as_deref())?;
    ensure!(!takes(&program, "none")?, "{} does not obey {VARIABLE}; build it again", program.display());
    let mut measured = vec![];
    for level in LEVELS {
        if takes(&program, level)? {
            measured.push(Measured { level, costs: vec![], answers: vec![] });
        } else {
            eprintln!("skipped: {level}, which this machine does not have");
        }
    }
    for round in 1..=args.runs {
        eprintln!("round {round} of {} ...", args.runs);
        for level in &mut measured {
            let (cost, answer) = dedup(args, &program, level.level)?;
            level.costs.push(cost);
            level.answers.push(answer);
        }
    }
    let table = table(&measured).context("there is no run")?;
    println!("{}\nleast CPU of {} runs\n", Machine::this().line(), count(u64::from(args.runs)));
    print!("{}", if args.markdown { table.markdown() } else { table.aligned() });
    if !same(&measured) {
        bail!("levels give different answers");
    }
    Ok(())
}

/// Whether the program supports this level here.
fn takes(program: &Path, level: &str) -> Result<bool> {
    let output = Command::new(program).arg("methods").env(VARIABLE, level).output();
    Ok(output.with_context(|| format!("cannot start {}", program.display()))?.status.success())
}

/// Runs onecopy once into an empty folder. Returns the cost and a hash of its answer.
fn dedup(args: &Args, program: &Path, level: &str) -> Result<(Cost, u64)> {
    let out = args.work.join("simd-out");
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot empty {}", out.display()))?;
    }
    let mut command = Command::new(program);
    command.arg("dedup").arg(&args.input).arg("--out").arg(&out).arg("--quiet").env(VARIABLE, level);
    let cost = measure::run(&command, &args.work.join("simd.log"))?;
    let mut hash = Xxh3::new();
    for name in ["removed.jsonl", "groups.jsonl", "pages.jsonl", "rejected.jsonl", "kept"] {
        add(&out.join(name), &mut hash)?;
    }
    fs::remove_dir_all(&out)?;
    Ok((cost, hash.digest()))
}

/// Adds the name and bytes of a file, or of all files below a folder, to the hash.
fn add(path: &Path, hash: &mut Xxh3) -> Result<()> {
    hash.update(path.as_os_str().as_encoded_bytes());
    if !path.is_dir() {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        hash.update(&bytes);
        return Ok(());
    }
    let entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>();
    let mut entries = entries.with_context(|| format!("cannot read {}", path.display()))?;
    entries.sort();
    entries.iter().try_for_each(|entry| add(entry, hash))
}

/// Whether all runs gave the same answer.
fn same(measured: &[Measured]) -> bool {
    let mut answers = measured.iter().flat_map(|level| &level.answers);
    let first = answers.next();
    answers.all(|answer| Some(answer) == first)
}

/// One row per level. Answers are compared with those of the last level, the scalar one.
fn table(measured: &[Measured]) -> Option<Table> {
    let costs: Vec<Cost> =
        measured.iter().map(|level| measure::best(level.costs.iter().copied())).collect::<Option<_>>()?;
    let best = measure::best(costs.iter().copied())?.cpu_seconds;
    let expected = measured.last()?.answers.first()?;
    let mut table = Table::new(&["level", "CPU s", "of the best", "answers identical"]);
    for (level, cost) in measured.iter().zip(costs) {
        table.push(vec![
            level.level.to_owned(),
            format!("{:.2}", cost.cpu_seconds),
            format!("{:.2} x", cost.cpu_seconds / best),
            if level.answers.iter().all(|answer| answer == expected) { "yes" } else { "no" }.to_owned(),
        ]);
    }
    Some(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(level: &'static str, cpu: &[f64], answers: &[u64]) -> Measured {
        let cost = |&cpu_seconds| Cost { cpu_seconds, system_seconds: 0.0, wall_seconds: 1.0, peak_bytes: 1 };
        Measured { level, costs: cpu.iter().map(cost).collect(), answers: answers.to_vec() }
    }

    #[test]
    fn the_table_has_the_least_of_each_level_and_says_who_differs() {
        let alike = [measured("avx2", &[2.5, 2.0], &[7, 7]), measured("scalar", &[3.0, 4.0], &[7, 7])];
        let lines = table(&alike).unwrap().aligned();
        let words = |row: usize| lines.lines().nth(row).unwrap().split_whitespace().collect::<Vec<_>>();
        assert_eq!(words(1), ["avx2", "2.00", "1.00", "x", "yes"]);
        assert_eq!(words(2), ["scalar", "3.00", "1.50", "x", "yes"]);
        assert!(same(&alike));
        let other = [measured("avx2", &[2.0], &[8]), measured("scalar", &[3.0], &[7])];
        assert!(!same(&other));
        assert!(table(&other).unwrap().aligned().contains("no\n"));
        assert!(table(&[measured("scalar", &[], &[])]).is_none());
    }

    #[test]
    fn an_answer_is_all_its_files_with_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let hashed = || {
            let mut hash = Xxh3::new();
            add(folder.path(), &mut hash).map(|()| hash.digest()).unwrap()
        };
        let empty = hashed();
        fs::write(folder.path().join("a"), "1").unwrap();
        let one = hashed();
        fs::rename(folder.path().join("a"), folder.path().join("b")).unwrap();
        let renamed = hashed();
        fs::write(folder.path().join("b"), "2").unwrap();
        assert!(empty != one && one != renamed && renamed != hashed());
        assert_eq!(hashed(), hashed());
    }
}

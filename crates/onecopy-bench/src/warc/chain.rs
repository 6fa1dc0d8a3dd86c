//! Deduplicates WARC files with onecopy and with chains of libraries, as their users would.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{Args, records_read};
use crate::measure::{self, Cost};
use crate::peers::{Kind, Machine, Peer, Workshop, onecopy};
use crate::table::{Table, count, megabytes};

/// The chains. They differ in the last step.
const CHAINS: [(&str, Peer); 2] = [
    ("rensa", chain("FastWARC + resiliparse + rensa", &["FastWARC", "resiliparse", "orjson", "rensa"])),
    ("gaoya", chain("FastWARC + resiliparse + gaoya", &["FastWARC", "resiliparse", "orjson", "gaoya"])),
];

const fn chain(name: &'static str, packages: &'static [&'static str]) -> Peer {
    Peer { key: "chain", name, kind: Kind::Python { script: "warc_chain.py", packages } }
}

/// The command of a tool over a file, with the folder for its results.
type MakeCommand = dyn Fn(&Path, &Path) -> Command;

struct Tool {
    name: &'static str,
    command: Box<MakeCommand>,
}

/// Measures every tool on every file, in turns.
pub(super) fn run(args: &Args, work: &Path, files: &[PathBuf]) -> Result<()> {
    let tools = tools(work)?;
    let mut table =
        Table::new(&["file", "tool", "pages", "kept", "CPU s", "of onecopy", "wall s", "peak MB"]);
    for file in files {
        let mut runs: Vec<Vec<Cost>> = vec![vec![]; tools.len()];
        let mut answers = vec![(0, 0); tools.len()];
        for _ in 0..args.runs {
            for ((tool, runs), answer) in tools.iter().zip(&mut runs).zip(&mut answers) {
                let (out, log) = (work.join("chain-out"), work.join("chain.log"));
                if out.exists() {
                    fs::remove_dir_all(&out).with_context(|| format!("cannot empty {}", out.display()))?;
                }
                fs::create_dir_all(&out)?;
                runs.push(measure::run(&(tool.command)(file, &out), &log)?);
                *answer = counted(&out, &fs::read_to_string(&log)?).context("it did not say what it kept")?;
            }
        }
        let best: Vec<Cost> = runs.into_iter().filter_map(measure::best).collect();
        for ((tool, cost), (kept, read)) in tools.iter().zip(&best).zip(answers) {
            table.push(vec![
                file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                tool.name.to_owned(),
                count(read),
                count(kept),
                format!("{:.2}", cost.cpu_seconds),
                format!("{:.1} x", cost.cpu_seconds / best[0].cpu_seconds),
                format!("{:.2}", cost.wall_seconds),
                megabytes(cost.peak_bytes),
            ]);
        }
    }
    let head = format!("{}\nleast CPU of {} runs\n", Machine::this().line(), args.runs);
    match args.markdown {
        true => print!("{}\n{}", head.replace('\n', "  \n"), table.markdown()),
        false => print!("{head}\n{}", table.aligned()),
    }
    Ok(())
}

fn tools(work: &Path) -> Result<Vec<Tool>> {
    let program = onecopy(None)?;
    let ours = move |file: &Path, out: &Path| {
        let mut command = Command::new(&program);
        command.arg("dedup").arg(file).arg("--out").arg(out).arg("--quiet");
        command
    };
    let mut tools = vec![Tool { name: "onecopy", command: Box::new(ours) }];
    let workshop = Workshop { work: work.to_owned(), onecopy: None };
    for (index, peer) in &CHAINS {
        eprintln!("preparing {} ...", peer.name);
        let ready = workshop.ready(peer)?;
        let theirs = move |file: &Path, out: &Path| {
            let mut command = Command::new(&ready.program);
            command.args(&ready.script).arg(file).arg("--kept").arg(out.join("kept.jsonl"));
            command.args(["--index", index]).env("PYTHONDONTWRITEBYTECODE", "1");
            command
        };
        tools.push(Tool { name: peer.name, command: Box::new(theirs) });
    }
    Ok(tools)
}

/// How many pages a tool kept, and how many it compared.
fn counted(out: &Path, log: &str) -> Option<(u64, u64)> {
    if let Ok(report) = fs::read_to_string(out.join("report.json")) {
        let report: serde_json::Value = serde_json::from_str(&report).ok()?;
        let number = |name: &str| report[name].as_u64();
        return Some((number("kept")?, number("kept")? + number("removed")?));
    }
    let kept = log.split(" kept of ").next()?.rsplit(' ').next()?.parse().ok()?;
    Some((kept, records_read(log)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_kept_is_read_from_what_they_leave() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(counted(folder.path(), "/x/a.warc: 7 kept of 9 records\n"), Some((7, 9)));
        fs::write(folder.path().join("report.json"), r#"{"kept":3,"removed":2}"#).unwrap();
        assert_eq!(counted(folder.path(), ""), Some((3, 5)));
    }
}

//! `onecopy-bench warc`: measures how fast onecopy and other common readers read WARC files.
//!
//! Every tool reads all records with their HTTP headers and bodies, on one thread. Their counts must agree.

mod chain;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::generate::{Corpus, parse_count, warc};
use crate::measure::{self, Cost};
use crate::peers::{Kind, Machine, Peer, Workshop, warc_census};
use crate::table::{Table, count};

/// Measures how fast WARC files are read.
///
/// Without files, it generates pages and writes them as plain and gzip files. Runs take turns; the cheapest is shown.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  onecopy-bench warc --pages 20k
  onecopy-bench warc crawl.warc.gz --runs 5 --markdown
  onecopy-bench warc --dedup crawl.warc.gz crawl.warc.zst")]
pub struct Args {
    /// Files to read
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How many pages to generate, if there are no files
    #[arg(long, default_value = "20k", value_parser = parse_count)]
    pages: u64,
    /// How often each tool reads each file
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// A folder for environments and files; kept, so that the next run starts sooner
    #[arg(long, default_value = crate::measure::WORK, value_name = "DIR")]
    work: PathBuf,
    /// Deduplicate the files with onecopy, and with chains of libraries
    #[arg(long)]
    dedup: bool,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

const READERS: [Peer; 2] = [
    Peer {
        key: "fastwarc",
        name: "FastWARC",
        kind: Kind::Python { script: "fastwarc_read.py", packages: &["FastWARC"] },
    },
    Peer {
        key: "warcio",
        name: "warcio",
        kind: Kind::Python { script: "warcio_read.py", packages: &["warcio"] },
    },
];

/// A tool ready to read a file.
struct Reader {
    name: &'static str,
    program: PathBuf,
    script: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<()> {
    fs::create_dir_all(&args.work).with_context(|| format!("cannot create {}", args.work.display()))?;
    let work = args.work.canonicalize()?;
    let files = if args.files.is_empty() { generated(&work, args.pages)? } else { args.files.clone() };
    if args.dedup {
        return chain::run(args, &work, &files);
    }
    let readers = readers(&work)?;
    let mut table = Table::new(&["file", "tool", "records", "CPU s", "MB/s", "of onecopy", "wall s"]);
    for file in &files {
        measure_file(args, &work, &readers, file, &mut table)?;
    }
    let head =
        format!("{}\nleast CPU of {} runs; MB are of the file as it is\n", Machine::this().line(), args.runs);
    match args.markdown {
        true => print!("{}\n{}", head.replace('\n', "  \n"), table.markdown()),
        false => print!("{head}\n{}", table.aligned()),
    }
    Ok(())
}

fn generated(work: &Path, pages: u64) -> Result<Vec<PathBuf>> {
    let names = [format!("pages-{pages}.warc"), format!("pages-{pages}.warc.gz")];
    let files: Vec<PathBuf> = names.iter().map(|name| work.join(name)).collect();
    for file in files.iter().filter(|file| !file.exists()) {
        eprintln!("making {} ...", file.display());
        warc::write_file(Corpus::of(pages), file)?;
    }
    Ok(files)
}

fn readers(work: &Path) -> Result<Vec<Reader>> {
    let mut readers = vec![Reader { name: "onecopy", program: warc_census()?, script: None }];
    let workshop = Workshop { work: work.to_owned(), onecopy: None };
    for peer in &READERS {
        eprintln!("preparing {} ...", peer.name);
        let ready = workshop.ready(peer)?;
        readers.push(Reader { name: peer.name, program: ready.program, script: ready.script });
    }
    Ok(readers)
}

fn measure_file(args: &Args, work: &Path, readers: &[Reader], file: &Path, table: &mut Table) -> Result<()> {
    let megabytes =
        fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?.len() as f64 / 1e6;
    let mut costs: Vec<Vec<Cost>> = vec![vec![]; readers.len()];
    let mut records = vec![];
    for round in 0..args.runs {
        for (reader, costs) in readers.iter().zip(&mut costs) {
            let log = work.join(format!("{}-warc.log", reader.name));
            let mut command = Command::new(&reader.program);
            command.args(&reader.script).arg(file);
            costs.push(measure::run(&command, &log)?);
            if round == 0 {
                records
                    .push(records_read(&fs::read_to_string(&log)?).context("it did not say what it read")?);
            }
        }
    }
    ensure!(
        records.iter().all(|n| *n == records[0]),
        "{}: the tools read {records:?} records",
        file.display()
    );
    let best: Vec<Cost> = costs.into_iter().filter_map(measure::best).collect();
    for (reader, cost) in readers.iter().zip(&best) {
        table.push(vec![
            file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            reader.name.to_owned(),
            count(records[0]),
            format!("{:.2}", cost.cpu_seconds),
            format!("{:.0}", megabytes / cost.cpu_seconds),
            format!("{:.1} x", cost.cpu_seconds / best[0].cpu_seconds),
            format!("{:.2}", cost.wall_seconds),
        ]);
    }
    Ok(())
}

/// The number before the word `records`.
fn records_read(log: &str) -> Option<u64> {
    let before = log.split(" records").next().filter(|before| before.len() < log.len())?;
    before.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_from_what_tools_print() {
        assert_eq!(records_read("a warning\n/x y/z.warc: 48 records, 745259 bytes\n"), Some(48));
        assert_eq!(records_read("nothing"), None);
    }

    #[test]
    fn readers_have_their_scripts_and_pins() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
        let pins = fs::read_to_string(folder.join("requirements.txt")).unwrap();
        for Peer { kind, .. } in &READERS {
            let Kind::Python { script, packages } = kind else { panic!("not a script") };
            assert!(folder.join(script).exists() && pins.contains(&format!("{}==", packages[0])));
        }
    }
}

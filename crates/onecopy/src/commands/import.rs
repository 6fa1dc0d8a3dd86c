//! `onecopy import`: puts the pages of files into a collection.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use onecopy_engine::{
    ImportPlan, ImportRejection, Imported, Service, Stats, import, plan_import, settle, upgrade,
};
use serde_json::json;

use crate::args::ImportArgs;
use crate::columns::shown;
use crate::commands::dedup::stop_on_signal;
use crate::commands::{at, print, report_unreadable};
use crate::remedy::LIMITS;
use crate::size::{count, human};
use crate::tell::tell;
use crate::terminal::Terminal;

/// The most rejections shown, and characters of each.
const SHOWN: usize = 5;
const REASON: usize = 200;

pub fn run(args: &ImportArgs) -> Result<ExitCode> {
    let terminal = Terminal::new(args.quiet, stop_on_signal());
    let spool = Spool::beside(&args.data, &args.inputs)?;
    let plan = plan_import(&args.job(spool.folder.clone()), &terminal)?;
    let options = args.options(plan.config())?;
    upgrade(&options, &terminal)?;
    let service = Service::open(options)?;
    let mut rejected = Rejected::new(args.rejected.as_deref())?;
    let imported = fill(&service, &plan, args, &terminal, &mut rejected);
    terminal.end();
    let stats = service.stats();
    service.close()?;
    let imported = imported?;
    rejected.finish()?;
    if args.json {
        let first: Vec<&ImportRejection> = rejected.first.iter().collect();
        let summary = json!({"imported": imported, "stats": stats, "first_rejected": first});
        print(&(serde_json::to_string_pretty(&summary)? + "\n"))?;
    } else if !args.quiet {
        print(&for_people(&imported, &stats, &rejected, args))?;
    }
    let code = report_unreadable(&imported.unreadable, "--json");
    if imported.accepted == 0 && imported.rejected > 0 {
        tell!("onecopy: none of the {} records could be imported", count(imported.read));
        return Ok(ExitCode::FAILURE);
    }
    Ok(code)
}

fn fill(
    service: &Service,
    plan: &ImportPlan,
    args: &ImportArgs,
    terminal: &Terminal,
    rejected: &mut Rejected,
) -> Result<Imported> {
    let imported = import(service, plan, terminal, &mut |rejection| rejected.take(rejection))?;
    if !args.no_wait {
        settle(service, terminal)?;
    }
    Ok(imported)
}

/// A folder for standard input and unpacked containers, deleted at the end. It is beside the collection, where there is room for pages.
pub struct Spool {
    pub folder: PathBuf,
    is_used: bool,
}

impl Spool {
    pub fn beside(data: &Path, inputs: &[String]) -> Result<Spool> {
        let mut folder = data.to_owned().into_os_string();
        folder.push(".import");
        let spool = Spool { folder: folder.into(), is_used: inputs.iter().any(|input| input == "-") };
        if spool.is_used {
            std::fs::create_dir_all(&spool.folder).map_err(at("create", &spool.folder))?;
        }
        Ok(spool)
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // Unpacked containers have no names, so their folder is empty.
        let _ = match self.is_used {
            true => std::fs::remove_dir_all(&self.folder),
            false => std::fs::remove_dir(&self.folder),
        };
    }
}

/// Rejected records: the first few to show, and all in a file if requested.
pub struct Rejected {
    pub first: Vec<ImportRejection>,
    list: Option<(PathBuf, BufWriter<File>)>,
}

impl Rejected {
    pub fn new(list: Option<&Path>) -> Result<Rejected> {
        let create = |path: &Path| {
            let file = File::create(path).map_err(at("create", path))?;
            anyhow::Ok((path.to_owned(), BufWriter::new(file)))
        };
        Ok(Rejected { first: Vec::new(), list: list.map(create).transpose()? })
    }

    pub fn take(&mut self, rejection: &ImportRejection) -> onecopy_engine::Result<()> {
        if self.first.len() < SHOWN {
            self.first.push(rejection.clone());
        }
        let Some((path, list)) = &mut self.list else { return Ok(()) };
        let line = serde_json::to_string(rejection).expect("our own types are JSON");
        writeln!(list, "{line}").map_err(at("write", path))
    }

    pub fn finish(&mut self) -> Result<()> {
        let Some((path, list)) = &mut self.list else { return Ok(()) };
        Ok(list.flush().map_err(at("write", path))?)
    }

    /// Appends the first few of `all` rejections, and where the others are.
    pub fn show(&self, all: u64, list: Option<&Path>, text: &mut String) {
        for rejection in &self.first {
            let line = rejection.line.map(|line| format!(":{line}")).unwrap_or_default();
            let source = shown(&rejection.source, REASON);
            let _ = writeln!(text, "            {source}{line}: {}", shown(&rejection.reason, REASON));
        }
        let more = all.saturating_sub(self.first.len() as u64);
        if more > 0 {
            let all = match list {
                Some(list) => format!("all are in {}", list.display()),
                None => "--rejected FILE lists all".into(),
            };
            let _ = writeln!(text, "            and {} more; {all}", count(more));
        }
    }
}

fn for_people(imported: &Imported, stats: &Stats, rejected: &Rejected, args: &ImportArgs) -> String {
    let mut text = String::new();
    let row = |text: &mut String, label: &str, number: u64, rest: String| {
        let _ = writeln!(text, "{}", format!("{label:>10}  {:>12}  {rest}", count(number)).trim_end());
    };
    row(&mut text, "read", imported.read, String::new());
    row(&mut text, "accepted", imported.accepted, String::new());
    if imported.unchanged > 0 {
        row(&mut text, "unchanged", imported.unchanged, "revisit records".into());
    }
    row(&mut text, "rejected", imported.rejected, String::new());
    rejected.show(imported.rejected, args.rejected.as_deref(), &mut text);
    if imported.over_limit > 0 {
        let _ = writeln!(text, "            {LIMITS}");
    }
    let _ = writeln!(
        text,
        "\nThe collection in {} has {} pages: {} kept, {} losers, in {} groups; {} on disk.",
        args.data.display(),
        count(stats.pages),
        count(stats.kept),
        count(stats.losers),
        count(stats.groups),
        human(stats.disk_bytes)
    );
    if stats.waiting > 0 {
        let _ = writeln!(
            text,
            "{} changes wait to be compared; that continues when the collection is next opened.",
            count(stats.waiting)
        );
    }
    text
}

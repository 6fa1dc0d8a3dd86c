//! `onecopy export`: writes the pages of a collection, or their status, as JSON Lines.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use onecopy_engine::{Error, PageView, Service, StatusKind, settle};

use crate::args::{ExportArgs, ExportStatus};
use crate::commands::{NotPrinted, at, collection};
use crate::size::counted;
use crate::tell::tell;
use crate::terminal::Terminal;

/// How many pages were written, and how many were left out because they are damaged.
#[derive(Default)]
struct Written {
    written: u64,
    damaged: u64,
}

pub fn run(args: &ExportArgs) -> Result<ExitCode> {
    let service = collection::open(&args.collection.data)?;
    if args.tags && service.tags().is_none() {
        return Err(collection::without_tags(&args.collection.data));
    }
    // Waiting changes are on disk, so Ctrl-C simply ends the process.
    let terminal = Terminal::new(args.quiet, Arc::new(AtomicBool::new(false)));
    if service.stats().waiting > 0 && !service.is_read_only() {
        settle(&service, &terminal)?;
    }
    terminal.end();
    let done = match &args.out {
        Some(out) => {
            let done = to_file(&service, args, out)?;
            if !args.quiet {
                let lines = if args.tags { "tag" } else { "page" };
                tell!("{} written to {}", counted(done.written, lines), out.display());
            }
            done
        }
        None => to_stdout(&service, args)?,
    };
    service.close()?;
    Ok(if done.damaged == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Writes to another name and renames, so that no reader sees half a file.
fn to_file(service: &Service, args: &ExportArgs, out: &Path) -> Result<Written> {
    let mut aside = out.to_owned().into_os_string();
    aside.push(".part");
    let aside = PathBuf::from(aside);
    let file = File::create(&aside).map_err(at("create", &aside))?;
    let mut writer = BufWriter::with_capacity(1 << 20, file);
    let written = write(service, args, &mut writer).and_then(|written| {
        writer.flush().and_then(|()| writer.get_ref().sync_all()).map_err(at("write", &aside))?;
        std::fs::rename(&aside, out).map_err(at("create", out))?;
        Ok(written)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&aside);
    }
    Ok(written?)
}

/// A reader that stops early, such as head, has not read the export, and the exit code says so.
fn to_stdout(service: &Service, args: &ExportArgs) -> Result<Written> {
    let mut writer = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let written = write(service, args, &mut writer);
    match written.and_then(|done| writer.flush().map(|()| done).map_err(at("write", Path::new(EXPORT)))) {
        Err(Error::Io { source, path, .. }) if path == Path::new(EXPORT) => Err(NotPrinted(source).into()),
        written => Ok(written?),
    }
}

/// Where lines are written, in errors.
const EXPORT: &str = "the export";

fn write(service: &Service, args: &ExportArgs, out: &mut dyn Write) -> onecopy_engine::Result<Written> {
    let (mut written, mut damaged) = (0, 0);
    service.pages(&mut |page: PageView| {
        if !wanted(page.status.status, args.status) {
            return Ok(());
        }
        if let Some(why) = page.damaged.filter(|_| !args.statuses) {
            tell!("page {} is left out: {why}", collection::name(&page.status.page));
            damaged += 1;
            return Ok(());
        }
        let line = match (args.statuses, args.tags, page.tag) {
            (true, ..) => serde_json::to_string(&page.status).expect("our own types are JSON"),
            (_, true, Some(tag)) => format!(r#"{{"id":{},"tag":"{tag}"}}"#, page.status.page),
            // Dead pages and pages without words have no tag.
            (_, true, None) => return Ok(()),
            (_, false, _) => page.record.get().to_owned(),
        };
        written += 1;
        writeln!(out, "{line}").map_err(at("write", Path::new(EXPORT)))
    })?;
    Ok(Written { written, damaged })
}

fn wanted(status: StatusKind, asked: ExportStatus) -> bool {
    match asked {
        ExportStatus::Kept => matches!(status, StatusKind::Unique | StatusKind::Winner),
        ExportStatus::Losers => status == StatusKind::Loser,
        ExportStatus::All => true,
    }
}

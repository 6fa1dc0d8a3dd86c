//! `onecopy sync`: writes group, winner and status of pages to a search index or a database.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use onecopy_engine::{Error, Service, ServiceOptions, settle};
use reqwest::header::AUTHORIZATION;
use serde_json::json;
use url::Url;

use crate::args::SyncArgs;
use crate::columns::shown;
use crate::commands::dedup::stop_on_signal;
use crate::commands::{UNREADABLE_INPUT, WrongCall, at, collection, print};
use crate::http::tokens::secret;
use crate::size::{count, counted};
use crate::sync::{
    CollectionSource, Failures, Patience, Plan, RemoteSource, RunSource, Settings, Source, Summary, Sync,
    Web, open,
};
use crate::tell::tell;
use crate::terminal::Terminal;

/// The most failed pages shown, and characters of each reason.
const SHOWN: usize = 5;
const REASON: usize = 200;
/// The exit code if the target refused some pages.
const FAILED: u8 = UNREADABLE_INPUT;

pub fn run(args: &SyncArgs) -> Result<ExitCode> {
    let stop = stop_on_signal();
    let terminal = Terminal::new(args.quiet, stop.clone());
    let patience = Patience { retry_for: args.retry_for.0, stop };
    let mut source = source(args, &patience, &terminal)?;
    let state = args.state();
    fs::create_dir_all(&state).map_err(at("create", &state))?;
    let name = args.to.file_name();
    let mut failures = Failures::open(state.join(format!("{name}.failed.jsonl")))?;
    let mut target = open(
        &args.to,
        Settings {
            prefix: args.prefix.clone(),
            parts: args.parts(),
            id_field: args.id_field.clone(),
            key: args.key_file.as_deref().map(secret).transpose()?,
            password: std::env::var("PGPASSWORD").ok().filter(|password| !password.is_empty()),
            batch: args.batch as usize,
            cursor: state.join(format!("{name}.cursor.json")),
            patience,
        },
    )?;
    let mut sync = Sync {
        source: &mut *source,
        target: &mut *target,
        failures: &mut failures,
        terminal: &terminal,
        plan: Plan {
            restart: args.restart,
            follow: args.follow.then_some(args.poll.0),
            batch: args.batch as usize,
        },
        summary: Summary::default(),
    };
    let done = sync.run();
    let summary = sync.summary;
    terminal.end();
    // Who follows is stopped some day, and that is its usual end.
    let is_stopped = done.as_ref().is_err_and(|error| matches!(error.downcast_ref(), Some(Error::Stopped)));
    if !(args.follow && is_stopped) {
        done?;
    }
    report(args, &summary, &failures)?;
    // An empty folder is of no use.
    let _ = fs::remove_dir(&state);
    Ok(if summary.failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn source(args: &SyncArgs, patience: &Patience, terminal: &Terminal) -> Result<Box<dyn Source>> {
    if let Some(run) = &args.run {
        let source = RunSource::open(run.clone())?;
        if source.repeated() > 0 && !args.quiet {
            let (pages, verb) = match source.repeated() {
                1 => ("1 page".to_owned(), "shares its"),
                many => (counted(many, "page"), "share their"),
            };
            tell!("{pages} {verb} name with another page: the kept page counts, or else the first");
        }
        return Ok(Box::new(source));
    }
    if let Some(data) = &args.data {
        if !args.follow {
            settle_waiting(data, terminal)?;
        }
        return Ok(Box::new(CollectionSource::new(data.clone(), args.parts())));
    }
    let from = args.from.as_deref().unwrap_or_default();
    let wrong = |why: String| WrongCall(format!("--from {from}: {why}: write it as http://HOST:7171"));
    let url = Url::parse(from).map_err(|error| wrong(error.to_string()))?;
    if !["http", "https"].contains(&url.scheme()) {
        return Err(wrong("no address of a service".into()).into());
    }
    let mut web = Web::new(url, patience.clone())?;
    if let Some(file) = &args.token_file {
        web = web.with_secret(AUTHORIZATION, &format!("Bearer {}", secret(file)?))?;
    }
    Ok(Box::new(RemoteSource::new(web, args.parts())))
}

/// Settles changes that wait, unless a server does that.
fn settle_waiting(data: &Path, terminal: &Terminal) -> Result<()> {
    let service: Service = collection::open_with(ServiceOptions::new(data))?;
    if service.stats().waiting > 0 && !service.is_read_only() {
        settle(&service, terminal)?;
    }
    Ok(service.close()?)
}

fn report(args: &SyncArgs, summary: &Summary, failures: &Failures) -> Result<()> {
    if args.json {
        let first: Vec<_> = failures.iter().take(SHOWN).collect();
        let path = (summary.failed > 0).then(|| failures.path());
        let mut value = serde_json::to_value(summary)?;
        value["target"] = json!(args.to.to_string());
        value["first_failed"] = json!(first);
        value["failed_list"] = json!(path);
        print(&(serde_json::to_string_pretty(&value)? + "\n"))?;
    } else if !args.quiet {
        print(&for_people(args, summary, failures))?;
    }
    if summary.failed > 0 {
        tell!(
            "onecopy: {} refuses {}: {} has the reasons, and the next sync tries again",
            args.to,
            counted(summary.failed, "page"),
            failures.path().display()
        );
    }
    Ok(())
}

fn for_people(args: &SyncArgs, summary: &Summary, failures: &Failures) -> String {
    let mut text = String::new();
    if let Some(why) = &summary.restarted {
        let _ = writeln!(text, "All pages were sent again: {}.", shown(why, REASON));
    }
    let rate = summary.sent as f64 / summary.seconds.max(0.001);
    let _ = writeln!(
        text,
        "{:>10}  {:>12}  to {}, in {:.1} s, {}/s",
        "sent",
        count(summary.sent),
        args.to,
        summary.seconds,
        count(rate as u64)
    );
    let what = if args.run.is_some() { "page of the run" } else { "feed number" };
    let _ =
        writeln!(text, "{:>10}  {:>12}  {what}; it was {}", "up to", count(summary.to), count(summary.from));
    if summary.failed > 0 {
        let _ = writeln!(text, "{:>10}  {:>12}", "failed", count(summary.failed));
    }
    for failure in failures.iter().take(SHOWN) {
        let reason = failure.reason.as_deref().unwrap_or_default();
        let _ = writeln!(text, "            {}: {}", collection::name(&failure.page), shown(reason, REASON));
    }
    text
}

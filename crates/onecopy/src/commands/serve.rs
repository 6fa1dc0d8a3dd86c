//! `onecopy serve`: serves a collection over HTTP until a signal ends it.

use std::net::{SocketAddr, TcpListener};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use onecopy_engine::{Note, Progress, Service, Stage, upgrade};
use tokio::sync::watch;

use crate::allocator;
use crate::args::ServeArgs;
use crate::commands::print;
use crate::http::{Log, Style, serve};
use crate::signals;

pub fn run(args: &ServeArgs) -> Result<ExitCode> {
    allocator::share_heaps();
    let signals = signals::follow().context("cannot wait for signals")?;
    let (http, options, address) = (args.http()?, args.options()?, args.address()?);
    // Bind first: an address in use should fail before a large collection is opened.
    let listener = bind(address, "--listen")?;
    let monitor = args.monitor()?.map(|address| bind(address, "--monitor-listen")).transpose()?;
    let log = Arc::new(Log::start(args.style(), args.quiet)?);
    if args.style() == Style::Json && !args.quiet {
        log_panics(&log);
    }
    let progress = UpgradeLog { log: &log, stop: signals.stop.clone() };
    if let Err(error) = upgrade(&options, &progress) {
        log.end();
        return Err(error.into());
    }
    let service = Service::open(options)?;
    let greet = |address: SocketAddr| {
        if !args.quiet {
            // The service works without a reader of its greeting.
            let _ = print(&greeting(args, address));
        }
    };
    let served = serve(service, &http, (listener, monitor), &log, signals, greet);
    log.end();
    served?;
    Ok(ExitCode::SUCCESS)
}

/// Reports an upgrade in the log, and ends it when the service should stop.
struct UpgradeLog<'a> {
    log: &'a Log,
    stop: watch::Receiver<bool>,
}

impl Progress for UpgradeLog<'_> {
    fn begin(&self, stage: Stage, total: u64) {
        self.log.event("upgrade", &format!("{}: {total} {}", stage.name(), stage.unit()));
    }

    fn note(&self, note: &Note) {
        self.log.event("upgrade", &note.to_string());
    }

    fn stopped(&self) -> bool {
        *self.stop.borrow()
    }
}

/// The program prints one line of an error, so the cause must be in it.
pub fn bind(address: SocketAddr, flag: &str) -> Result<TcpListener> {
    TcpListener::bind(address).map_err(|error| {
        anyhow::anyhow!(
            "cannot listen on {address}: {error}: if the address is in use, choose another with {flag}"
        )
    })
}

/// Writes panics to the log as JSON, where programs read them.
pub fn log_panics(log: &Arc<Log>) {
    let log = log.clone();
    std::panic::set_hook(Box::new(move |panic| log.event("panic", &panic.to_string())));
}

/// The address of the service, and commands to try.
fn greeting(args: &ServeArgs, address: SocketAddr) -> String {
    let at = format!("http://{address}");
    let token = match &args.token_file {
        Some(path) => format!(" -H \"Authorization: Bearer $(cat '{}')\"", path.display()),
        None => String::new(),
    };
    format!(
        "\
Serving {data} at {at}. Press Ctrl-C to stop.

  curl{token} {at}/pages -H 'Content-Type: application/json' -d '{{\"id\": \"a\", \"text\": \"some words\"}}'
  curl{token} '{at}/pages?page=a'
  curl{token} -N '{at}/feed?after=0' -H 'Accept: text/event-stream'

{at}/ lists all routes.

",
        data = args.data.display()
    )
}

//! `onecopy serve`: serves a collection over HTTP until a signal ends it.

use std::net::{SocketAddr, TcpListener};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use onecopy_engine::Service;
use tokio::sync::watch;

use crate::allocator;
use crate::args::ServeArgs;
use crate::commands::print;
use crate::http::{Log, Style, serve};

pub fn run(args: &ServeArgs) -> Result<ExitCode> {
    allocator::share_heaps();
    let (http, options, address) = (args.http()?, args.options()?, args.address()?);
    // Bind first: an address in use should fail before a large collection is opened.
    let listener = TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"));
    let listener = listener.map_err(with_cause)?;
    let log = Arc::new(Log::start(args.style(), args.quiet)?);
    if args.style() == Style::Json && !args.quiet {
        log_panics(&log);
    }
    let stop = stop_on_signal();
    let service = Service::open(options)?;
    let greet = |address: SocketAddr| {
        if !args.quiet {
            // The service works without a reader of its greeting.
            let _ = print(&greeting(args, address));
        }
    };
    let served = serve(service, &http, listener, &log, stop, greet);
    log.end();
    served?;
    Ok(ExitCode::SUCCESS)
}

/// The program prints one line of an error, so the cause must be in it.
fn with_cause(error: anyhow::Error) -> anyhow::Error {
    anyhow::anyhow!("{error:#}: if the address is in use, choose another with --listen")
}

/// Writes panics to the log as JSON, where programs read them.
fn log_panics(log: &Arc<Log>) {
    let log = log.clone();
    std::panic::set_hook(Box::new(move |panic| log.event("panic", &panic.to_string())));
}

/// Becomes true on Ctrl-C or a termination signal. A second signal ends the process at once.
fn stop_on_signal() -> watch::Receiver<bool> {
    let (sender, receiver) = watch::channel(false);
    let handler = move || {
        if sender.send_replace(true) {
            std::process::exit(130);
        }
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        eprintln!("onecopy: cannot handle Ctrl-C, which will end the service at once: {error}");
    }
    receiver
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

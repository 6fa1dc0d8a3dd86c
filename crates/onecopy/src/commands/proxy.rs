//! `onecopy proxy`: serves a search engine without repeats until a signal ends it.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};

use super::serve::{bind, log_panics};
use crate::allocator;
use crate::args::ProxyArgs;
use crate::commands::print;
use crate::http::{Log, Style};
use crate::{proxy, signals};

pub fn run(args: &ProxyArgs) -> Result<ExitCode> {
    allocator::share_heaps();
    allocator::keep_freed_memory();
    let signals = signals::follow().context("cannot wait for signals")?;
    let options = args.options()?;
    let listener = bind(args.address()?, "--listen")?;
    let monitor = args.monitor()?.map(|address| bind(address, "--monitor-listen")).transpose()?;
    let log = Arc::new(Log::start(args.style(), args.quiet)?);
    if args.style() == Style::Json && !args.quiet {
        log_panics(&log);
    }
    let greet = |address: SocketAddr| {
        if !args.quiet {
            // The proxy works without a reader of its greeting.
            let _ = print(&format!(
                "Serving {} without repeats at http://{address}. Press Ctrl-C to stop.\n\n",
                args.upstream
            ));
        }
    };
    let served = proxy::run(options, (listener, monitor), &log, signals, greet);
    log.end();
    served?;
    Ok(ExitCode::SUCCESS)
}

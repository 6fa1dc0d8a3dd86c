//! The `onecopy` program as a library: one match over its commands. The binary and the Python package both run it.

#![deny(clippy::print_stderr)]

mod allocator;
mod args;
mod columns;
mod commands;
pub mod embed;
mod http;
mod paint;
mod picture;
mod plot;
mod proxy;
mod remedy;
mod results;
mod selection;
mod signals;
mod simd;
mod size;
mod summary;
mod sync;
mod tell;
mod terminal;
mod width;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command};
use crate::tell::tell;

/// Runs the program with these arguments, of which the first is its name. Returns its exit status.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    allocator::give_back_large_blocks();
    signals::fail_at_file_size_limit();
    if let Err(why) = simd::obey_variable() {
        tell!("onecopy: {why}");
        return ExitCode::from(2);
    }
    let args = match Args::try_parse_from(arguments) {
        Ok(args) => args,
        Err(said) => return commands::print_parsed(said),
    };
    let result = match args.command {
        Command::Dedup(args) => commands::dedup::run(&args),
        Command::Sketch(args) => commands::sketch::run(&args),
        Command::Explain(args) => commands::explain::run(&args),
        Command::Methods(args) => commands::methods::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Rules => commands::rules::run(),
        Command::Mirrors(args) => commands::mirrors::run(&args),
        Command::Rank(args) => commands::rank::run(&args),
        Command::Eval(args) => commands::eval::run(&args),
        Command::Cost(args) => commands::cost::run(&args),
        Command::Layout(args) => commands::layout::run(&args),
        Command::Partitions(args) => commands::partitions::run(&args),
        Command::Refine(args) => commands::refine::run(&args),
        Command::Tag(args) => commands::tag::run(&args),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Proxy(args) => commands::proxy::run(&args),
        Command::Import(args) => commands::import::run(&args),
        Command::Export(args) => commands::export::run(&args),
        Command::Status(args) => commands::status::run(&args),
        Command::Groups(args) => commands::groups::run(&args),
        Command::Pages(args) => commands::pages::run(&args),
        Command::Sync(args) => commands::sync::run(&args),
        Command::Check(args) => commands::check::run(&args),
        Command::Backup(args) => commands::backup::run(&args),
        Command::Restore(args) => commands::backup::run_restore(&args),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::man::run(&args),
    };
    result.unwrap_or_else(|error| commands::failure(&error))
}

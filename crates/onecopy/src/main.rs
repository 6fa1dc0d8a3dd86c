//! The `onecopy` program: one match over its commands.

mod args;
mod commands;
mod size;
mod summary;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command};

fn main() -> ExitCode {
    let args = Args::parse();
    let result = match args.command {
        Command::Dedup(args) => commands::dedup::run(&args),
        Command::Explain(args) => commands::explain::run(&args),
        Command::Mirrors(args) => commands::mirrors::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("onecopy: {error}");
            commands::exit_code(&error)
        }
    }
}

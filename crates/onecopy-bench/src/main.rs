//! onecopy-bench: generates corpora, audits what a tool removed, and measures onecopy next to its peers.
//!
//! It shares no code with onecopy, so that it cannot repeat a mistake made there. It runs the program only as a child
//! process and checks the answers with a separate exact join.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "in a test, a panic is the report"))]

mod audit;
mod experiment;
mod extract;
mod generate;
mod hamming;
mod hostile;
mod jsonl;
mod limit;
mod measure;
mod mirrors;
mod parallel;
mod peers;
mod proxy;
mod scale;
mod service;
mod simd;
mod table;
mod train;
mod warc;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Measures onecopy and its peers: speed, memory, and the pages removed or kept in error.
#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Generate(generate::Args),
    Audit(audit::Args),
    Experiment(experiment::Args),
    Extract(extract::Args),
    Hamming(hamming::Args),
    Hostile(hostile::Args),
    Limit(limit::Args),
    Parallel(parallel::Args),
    Peers(peers::Args),
    Proxy(proxy::Args),
    Scale(scale::Args),
    Service(service::Args),
    Simd(simd::Args),
    Mirrors(mirrors::Args),
    Warc(warc::Args),
    Train(train::Args),
    #[command(hide = true)]
    Child(measure::child::Args),
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Generate(args) => generate::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Experiment(args) => experiment::run(&args),
        Command::Extract(args) => extract::run(&args),
        Command::Hamming(args) => hamming::run(&args),
        Command::Hostile(args) => hostile::run(&args),
        Command::Limit(args) => limit::run(&args),
        Command::Parallel(args) => parallel::run(&args),
        Command::Peers(args) => peers::run(&args),
        Command::Proxy(args) => proxy::run(&args),
        Command::Scale(args) => scale::run(&args),
        Command::Service(args) => service::run(&args),
        Command::Simd(args) => simd::run(&args),
        Command::Mirrors(args) => mirrors::run(&args),
        Command::Warc(args) => warc::run(&args),
        Command::Train(args) => train::run(&args),
        Command::Child(args) => measure::child::run(&args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn measurements_write_to_an_ignored_folder() {
        let cli = Cli::command();
        let work = cli.get_subcommands().filter_map(|command| {
            let argument = command.get_arguments().find(|argument| argument.get_id() == "work")?;
            Some((command.get_name(), argument.get_default_values()))
        });
        let commands: Vec<_> = work.collect();
        assert!(commands.len() > 5, "only {commands:?} have --work");
        for (name, default) in commands {
            assert!(default.iter().all(|path| path.to_string_lossy().starts_with("target/")), "{name}");
        }
    }
}

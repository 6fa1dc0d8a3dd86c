//! `onecopy-bench experiment`: repeats the experiments of the papers behind onecopy on our data.

mod layout;
mod methods;
mod partitions;
mod rank;
mod results;
mod votes;

use anyhow::Result;
use clap::Subcommand;

/// Repeats the experiments of the papers on our data, next to their figures.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Subcommand)]
enum Experiment {
    Layout(layout::Args),
    Methods(methods::Args),
    Partitions(partitions::Args),
    Rank(rank::Args),
    Results(results::Args),
    Votes(votes::Args),
}

pub fn run(args: &Args) -> Result<()> {
    match &args.experiment {
        Experiment::Layout(args) => layout::run(args),
        Experiment::Methods(args) => methods::run(args),
        Experiment::Partitions(args) => partitions::run(args),
        Experiment::Rank(args) => rank::run(args),
        Experiment::Results(args) => results::run(args),
        Experiment::Votes(args) => votes::run(args),
    }
}

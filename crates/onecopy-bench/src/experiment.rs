//! `onecopy-bench experiment`: the experiments of the papers that onecopy builds on, on our data, beside their figures.

mod methods;

use anyhow::Result;
use clap::Subcommand;

/// Repeats the experiments of the papers on our data, beside their figures.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Subcommand)]
enum Experiment {
    Methods(methods::Args),
}

pub fn run(args: &Args) -> Result<()> {
    match &args.experiment {
        Experiment::Methods(args) => methods::run(args),
    }
}

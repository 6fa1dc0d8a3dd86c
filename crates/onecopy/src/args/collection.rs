//! The arguments of every command on a collection.

use std::path::PathBuf;

use clap::Args as ClapArgs;

#[derive(ClapArgs)]
pub struct DataArgs {
    /// The folder of the collection. No server may be using it
    #[arg(long, short, value_name = "DIR")]
    pub data: PathBuf,
}

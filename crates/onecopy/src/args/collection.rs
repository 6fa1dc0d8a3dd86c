//! The arguments of every command on a collection.

use std::path::PathBuf;

use clap::Args as ClapArgs;

#[derive(ClapArgs)]
pub struct DataArgs {
    /// The folder of the collection. If a server uses it, it is read as of this moment
    #[arg(long, short, value_name = "DIR")]
    pub data: PathBuf,
}

//! What may be typed behind every command on a collection.

use std::path::PathBuf;

use clap::Args as ClapArgs;

#[derive(ClapArgs)]
pub struct DataArgs {
    /// The collection's folder, which no server may be using
    #[arg(long, short, value_name = "DIR")]
    pub data: PathBuf,
}

//! The arguments of `onecopy backup` and `onecopy restore`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use onecopy_engine::{BackupJob, Depot, RestoreJob};

use super::environment;

pub const BACKUP_EXAMPLES: &str = "\
Examples:
  onecopy backup --data pages --to /backups
  onecopy backup --data pages --to s3://bucket/onecopy --keep 14
  onecopy backup --list --to /backups

The snapshot is the collection as of one moment, also while a server uses it: it has every change that
was acknowledged before the command began. Only what the place does not have yet is copied. Snapshots
of many collections can be in one place. Make one backup at a time there. If this command is killed,
older snapshots stay usable. Object stores take their settings from the usual variables (AWS_..., and
so on), as in dedup.";

pub const RESTORE_EXAMPLES: &str = "\
Examples:
  onecopy restore --from /backups --data pages
  onecopy restore --from s3://bucket/onecopy --snapshot 20261117T151400.123Z-0123456789abcdef --data pages

The folder must be new or empty. Every byte is verified. If the command is killed, run it again: until
it ends, no command takes the folder for a collection. The collection gets a new name, so readers of
its feed are told to begin again, because they may know changes that the snapshot does not have.";

#[derive(ClapArgs)]
pub struct BackupArgs {
    /// The folder of the collection. A server may use it meanwhile
    #[arg(long, short, value_name = "DIR", required_unless_present = "list")]
    pub data: Option<PathBuf>,
    /// Where the snapshots are: a folder, or an address such as s3://bucket/onecopy
    #[arg(long, value_name = "PLACE")]
    pub to: String,
    /// Keep this many snapshots of the collection, and remove older ones [default: all]
    #[arg(long, value_name = "N", conflicts_with = "list", value_parser = clap::value_parser!(u32).range(1..))]
    pub keep: Option<u32>,
    /// List the snapshots, and copy nothing
    #[arg(long, conflicts_with = "data")]
    pub list: bool,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct RestoreArgs {
    /// Where the snapshots are: a folder, or an address such as s3://bucket/onecopy
    #[arg(long, value_name = "PLACE")]
    pub from: String,
    /// The folder for the collection: a new or an empty one
    #[arg(long, short, value_name = "DIR")]
    pub data: PathBuf,
    /// The snapshot to restore; `onecopy backup --list` shows them [default: the newest]
    #[arg(long, value_name = "NAME")]
    pub snapshot: Option<String>,
    /// Keep the collection's name, so that readers of its feed continue. Only for a move: the original must be stopped,
    /// and must not have changed since the snapshot
    #[arg(long)]
    pub keep_name: bool,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

impl BackupArgs {
    /// Where the snapshots are.
    pub fn depot(&self) -> Depot {
        Depot { place: self.to.clone(), environment: environment() }
    }

    /// The backup of a folder.
    pub fn job(&self, data: PathBuf) -> BackupJob {
        BackupJob { data, to: self.depot(), keep: self.keep.map(|keep| keep as usize) }
    }
}

impl RestoreArgs {
    /// The restore from the command line.
    pub fn job(&self) -> RestoreJob {
        RestoreJob {
            from: Depot { place: self.from.clone(), environment: environment() },
            snapshot: self.snapshot.clone(),
            data: self.data.clone(),
            keep_id: self.keep_name,
        }
    }
}

//! Finds the inputs of an import before any is opened: files as in a batch run, and finished runs by their folder.

use std::path::{Path, PathBuf};

use onecopy_core::{Config, Needs};

use super::ImportJob;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::ingest::{
    Inputs, Links, Opener, Planning, Reach, Spools, Stores, Window, Windows, check_fields, plan,
};
use crate::io::spool;
use crate::job::{Fields, Limits, check_threads};
use crate::parallel::Gate;
use crate::progress::Progress;
use crate::run::Run;

/// The size of a chunk of input: enough pages to accept a few hundred at once.
const CHUNK_BYTES: usize = 2 << 20;

/// The inputs of an import, found but not read yet.
#[derive(Clone, Debug)]
pub struct ImportPlan {
    pub(crate) spool: PathBuf,
    pub(crate) readings: Vec<ImportReading>,
    pub(crate) environment: Environment,
    pub(super) threads: usize,
}

/// Sources that are read in the same way.
#[derive(Clone, Debug)]
pub(crate) struct ImportReading {
    pub inputs: Inputs,
    pub fields: Fields,
    pub limits: Limits,
    pub chunk_bytes: usize,
    /// The configuration of a finished run.
    config: Option<Config>,
}

/// Pages larger than a chunk that are worked on at once.
const LARGE_PAGES: usize = 2;

impl ImportReading {
    /// What opens its sources.
    pub(crate) fn opener(&self, reach: Reach, needs: Needs) -> Opener {
        Opener {
            rows: None,
            base_rows: None,
            reach,
            fields: self.fields.clone(),
            limits: self.limits.clone(),
            needs,
            chunk_bytes: self.chunk_bytes,
            large: Gate::new(LARGE_PAGES),
            windows: Windows::default(),
        }
    }
}

impl ImportPlan {
    /// The configuration of the finished runs among the inputs, which a new collection should share. `None` without
    /// such runs.
    pub fn config(&self) -> Option<&Config> {
        self.readings.iter().find_map(|reading| reading.config.as_ref())
    }

    /// The size of all inputs.
    pub fn bytes(&self) -> u64 {
        let sources = self.readings.iter().flat_map(|reading| &reading.inputs.sources);
        sources.map(|source| source.bytes).sum()
    }
}

/// Finds the inputs of an import, in their order.
pub fn plan_import(job: &ImportJob, progress: &dyn Progress) -> Result<ImportPlan> {
    job.limits.check()?;
    check_threads(job.threads)?;
    let stdin = job.inputs.iter().any(|input| input == "-");
    let spooled = if stdin { Some(spool(&job.spool, progress)?) } else { None };
    let mut readings: Vec<ImportReading> = Vec::new();
    for inputs in job.inputs.chunk_by(|a, b| !is_run(a) && !is_run(b)) {
        readings.push(match inputs {
            [folder] if is_run(folder) => of_run(Path::new(folder))?,
            _ => of_files(job, inputs, spooled.as_deref(), progress)?,
        });
    }
    let mut configs = readings.iter().filter_map(|reading| reading.config.as_ref());
    if let Some(first) = configs.next()
        && configs.any(|config| config != first)
    {
        return Err(Error::RunsDiffer);
    }
    Ok(ImportPlan {
        spool: job.spool.clone(),
        readings,
        environment: job.environment.clone(),
        threads: job.threads,
    })
}

/// What opens the inputs. It unpacks containers in `spool`.
pub(crate) fn reach(environment: &Environment, spool: &Path, limits: &Limits) -> Reach {
    let spools = Spools::new(spool, limits.expansion, Window::default());
    Reach { stores: Stores::new(environment.iter().cloned()), spools }
}

/// Whether an input is the output folder of a finished run.
fn is_run(input: &str) -> bool {
    let folder = Path::new(input);
    ["run.json", "report.json"].iter().all(|name| folder.join(name).is_file())
}

fn of_run(folder: &Path) -> Result<ImportReading> {
    let Run { config, fields, limits, inputs, chunk_bytes, .. } = Run::finished(folder)?;
    let gone = inputs.sources.iter().find(|source| source.version.is_none() && !source.path.exists());
    if let Some(gone) = gone {
        return Err(Error::InputGone { input: gone.name.clone() });
    }
    Ok(ImportReading { inputs, fields, limits, chunk_bytes, config: Some(config) })
}

fn of_files(
    job: &ImportJob,
    inputs: &[String],
    stdin: Option<&Path>,
    progress: &dyn Progress,
) -> Result<ImportReading> {
    let reach = reach(&job.environment, &job.spool, &job.limits);
    // A collection may be fed by others than its owner: links do not lead an import out of a folder.
    let (out, links) = (job.data.as_path(), Links::Refuse);
    let found = plan(inputs, &Planning { stdin, out, links, reach: &reach, progress })?;
    if found.is_empty() {
        let (input, reason) = (inputs.join(" "), "there is nothing to read".into());
        return Err(Error::Input { input, reason });
    }
    let (fields, limits) = (job.fields.clone(), job.limits.clone());
    let reading = ImportReading { inputs: found, fields, limits, chunk_bytes: CHUNK_BYTES, config: None };
    check_fields(&reading.inputs.sources, &reading.opener(reach, Needs::default()), job.threads, progress)?;
    Ok(reading)
}

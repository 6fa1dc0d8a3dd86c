//! A plan: the part of a job that every machine needs, as JSON. No machine needs the files that options named.

use std::ffi::OsString;

use onecopy::embed::dedup_job;
use onecopy_core::{Method, Search, method};
use onecopy_engine::{Config, Fields, Job, Limits};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::refused;

/// What every machine needs.
#[derive(Serialize, Deserialize)]
pub struct Plan {
    pub config: Config,
    pub fields: Fields,
    pub limits: Limits,
}

/// The plan of a call with these options of `onecopy dedup`, as JSON. Its method must find candidates by keys alone.
#[pyfunction]
pub fn make_plan(options: Vec<OsString>) -> PyResult<String> {
    let call = ["--out".into(), "out".into()].into_iter().chain(options).chain(["--".into(), "data".into()]);
    let job = dedup_job(call).map_err(refused)?;
    job.config.check().map_err(|error| refused(error.to_string()))?;
    let plan = Plan { config: job.config, fields: job.fields, limits: job.limits };
    if plan.method()?.search() != Search::Keys {
        return Err(refused(format!(
            "the method {} looks at all pages in one order, which a cluster does not have: choose another method, such as auto",
            plan.config.method
        )));
    }
    serde_json::to_string(&plan).map_err(|error| refused(error.to_string()))
}

impl Plan {
    pub fn read(json: &str) -> PyResult<Plan> {
        serde_json::from_str(json).map_err(|error| refused(format!("the plan cannot be read: {error}")))
    }

    pub fn method(&self) -> PyResult<Box<dyn Method>> {
        method(&self.config).map_err(|error| refused(error.to_string()))
    }

    /// A job that appraises rows by this plan.
    pub fn job(self) -> Job {
        let mut job = Job::new(["data"], "out");
        (job.config, job.fields, job.limits) = (self.config, self.fields, self.limits);
        job
    }
}

/// The usual names of the columns that name a page, best first: those of ids, and those of addresses.
#[pyfunction]
pub fn naming_fields() -> [Vec<&'static str>; 2] {
    onecopy_engine::usual_naming_fields().map(<[_]>::to_vec)
}

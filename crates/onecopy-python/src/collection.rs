//! The embedded collection: pages that change, and their groups. Python sees JSON and wraps it.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use onecopy::embed::dedup_job;
use onecopy_engine::{Action, FeedCursor, Opening, PageName, Service, ServiceOptions};
use pyo3::prelude::*;
use serde::Serialize;

use crate::error::{failed, refused};

/// How long a wait lasts before signals are checked.
const TURN: Duration = Duration::from_millis(100);

/// A collection on disk. `onecopy.Collection` wraps it.
#[pyclass(module = "onecopy._onecopy")]
pub struct RawCollection {
    service: Mutex<Option<Service>>,
}

#[pymethods]
impl RawCollection {
    /// Opens the collection in `folder`. `options` of `onecopy dedup` decide about duplicates in a new one.
    #[new]
    fn new(
        py: Python<'_>,
        folder: PathBuf,
        options: Vec<std::ffi::OsString>,
        existing: bool,
    ) -> PyResult<RawCollection> {
        let chosen = !options.is_empty();
        let call = ["--out".into(), "out".into()].into_iter().chain(options);
        let job = dedup_job(call.chain(["--".into(), "data".into()])).map_err(refused)?;
        let mut settings = ServiceOptions::new(folder);
        settings.opening = if existing { Opening::Existing } else { Opening::Begin };
        settings.config = chosen.then_some(job.config);
        (settings.fields, settings.limits) = (job.fields, job.limits);
        (settings.memory_bytes, settings.threads) = (job.memory_bytes, job.threads);
        let service = py.detach(|| Service::open(settings)).map_err(failed)?;
        Ok(RawCollection { service: Mutex::new(Some(service)) })
    }

    /// Puts pages, each a JSON object. Returns a status or an error for each, as JSON.
    fn put(&self, py: Python<'_>, records: Vec<String>) -> PyResult<Vec<(bool, String)>> {
        let actions: Vec<Action> = records.iter().map(|record| Action::Put(record.as_bytes())).collect();
        self.change(py, &actions)
    }

    /// Forgets the pages with these names, as JSON.
    fn delete(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Vec<(bool, String)>> {
        let actions: Vec<Action> = names.iter().map(|name| Action::Delete(PageName::Json(name))).collect();
        self.change(py, &actions)
    }

    /// Marks the pages with these names, as JSON, as dead.
    fn dead(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Vec<(bool, String)>> {
        let actions: Vec<Action> = names.iter().map(|name| Action::Dead(PageName::Json(name))).collect();
        self.change(py, &actions)
    }

    /// The status of pages, by their names as JSON.
    fn status(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Vec<Option<String>>> {
        let names: Vec<PageName> = names.iter().map(|name| PageName::Json(name)).collect();
        let found = self.with(py, |service| service.status(&names, false).map_err(failed))?;
        found.into_iter().map(|status| status.map(|status| json(&status)).transpose()).collect()
    }

    /// Groups with a number above `after`.
    fn groups(&self, py: Python<'_>, after: u64, limit: usize, least: u64) -> PyResult<Vec<String>> {
        let found = self.with(py, |service| service.groups(after, limit, least, None).map_err(failed))?;
        found.iter().map(json).collect()
    }

    /// A group by its number.
    fn group(&self, py: Python<'_>, number: u64) -> PyResult<Option<String>> {
        self.with(py, |service| service.group(number).map_err(failed))?.map(|group| json(&group)).transpose()
    }

    /// Changes after a cursor of two numbers, and the next cursor.
    fn feed(&self, py: Python<'_>, after: (u64, u64), limit: usize) -> PyResult<(Vec<String>, (u64, u64))> {
        let cursor = FeedCursor { after: after.0, begun: after.1 };
        let found = self.with(py, |service| {
            service.feed(cursor, limit).map_err(|refusal| refused(refusal.to_string()))
        })?;
        let changes = found.changes.iter().map(json).collect::<PyResult<_>>()?;
        Ok((changes, (found.next.after, found.next.begun)))
    }

    /// Waits until all changes are settled.
    fn settle(&self, py: Python<'_>) -> PyResult<()> {
        while !self.with(py, |service| Ok(service.drain(TURN)))? {
            py.check_signals()?;
        }
        Ok(())
    }

    /// The numbers of the collection, as JSON.
    fn stats(&self, py: Python<'_>) -> PyResult<String> {
        json(&self.with(py, |service| Ok(service.stats()))?)
    }

    /// Closes the collection. Later calls fail, except this one.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let service = py.detach(|| self.service().take());
        match service {
            Some(service) => py.detach(|| service.close()).map_err(failed),
            None => Ok(()),
        }
    }
}

impl RawCollection {
    /// Python may catch a panic and continue, so the lock survives one. The service does, too.
    fn service(&self) -> MutexGuard<'_, Option<Service>> {
        self.service.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the open collection, while Python continues.
    fn with<T: Send>(&self, py: Python<'_>, ask: impl FnOnce(&Service) -> PyResult<T> + Send) -> PyResult<T> {
        py.detach(|| match &*self.service() {
            Some(service) => ask(service),
            None => Err(refused("the collection is closed: open it again")),
        })
    }

    fn change(&self, py: Python<'_>, actions: &[Action]) -> PyResult<Vec<(bool, String)>> {
        let answers = self.with(py, |service| Ok(service.accept(actions)))?;
        let answer = |answer: Result<onecopy_engine::Accepted, onecopy_engine::Refusal>| match answer {
            Ok(accepted) => Ok((true, json(&accepted)?)),
            Err(refusal) => Ok((false, refusal.to_string())),
        };
        answers.into_iter().map(answer).collect()
    }
}

fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| refused(error.to_string()))
}

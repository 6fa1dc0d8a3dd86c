//! A collection on disk, which another process may serve.
//!
//! It is opened to read only, and again for each look at the present. So a server can start and stop meanwhile.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use onecopy_engine::{FeedCursor, Opening, PageName, Refusal, Service, ServiceOptions};
use serde_json::value::RawValue;

use super::{Answer, Changes, Source};
use crate::sync::Row;

pub struct CollectionSource {
    data: PathBuf,
    id: String,
    service: Option<Service>,
}

impl CollectionSource {
    pub fn new(data: PathBuf) -> CollectionSource {
        CollectionSource { data, id: String::new(), service: None }
    }

    fn service(&self) -> Result<&Service> {
        self.service.as_ref().ok_or_else(|| anyhow!("{} is not open", self.data.display()))
    }
}

impl Source for CollectionSource {
    fn id(&self) -> &str {
        &self.id
    }

    fn renew(&mut self) -> Result<()> {
        self.release();
        let mut options = ServiceOptions::new(&self.data);
        options.opening = Opening::Read;
        let service = Service::open(options)?;
        self.id = service.id().to_owned();
        self.service = Some(service);
        Ok(())
    }

    fn release(&mut self) {
        self.service = None;
    }

    fn read(&mut self, after: FeedCursor, limit: usize) -> Result<Answer> {
        let found = match self.service()?.changed_pages(after, limit) {
            Err(Refusal::Gone(why)) => return Ok(Answer::Gone(why)),
            found => found?,
        };
        let rows = found.pages.into_iter().map(|(number, status)| Row::new(status, number)).collect();
        Ok(Answer::Changes(Changes { rows, next: found.next, last: found.last }))
    }

    fn lookup(&mut self, names: &[Box<RawValue>]) -> Result<Vec<Row>> {
        let names: Vec<PageName> = names.iter().map(|name| PageName::Json(name.get())).collect();
        let statuses = self.service()?.settled_status(&names)?;
        Ok(statuses.into_iter().map(|status| Row::new(status, 0)).collect())
    }
}

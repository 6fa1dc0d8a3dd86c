//! A collection on disk, which another process may serve.
//!
//! It is opened to read only, and again for each look at the present. So a server can start and stop meanwhile.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use onecopy_engine::{FeedCursor, Opening, PageName, Refusal, Service, ServiceOptions, Stored, StoredPart};
use serde_json::value::RawValue;

use super::{Answer, Changes, Source};
use crate::commands::collection::without_tags;
use crate::sync::{Parts, Row};

pub struct CollectionSource {
    data: PathBuf,
    parts: Parts,
    id: String,
    service: Option<Service>,
}

impl CollectionSource {
    pub fn new(data: PathBuf, parts: Parts) -> CollectionSource {
        CollectionSource { data, parts, id: String::new(), service: None }
    }

    fn service(&self) -> Result<&Service> {
        self.service.as_ref().ok_or_else(|| anyhow!("{} is not open", self.data.display()))
    }

    /// Rows with the tags of their pages, if tags are written.
    fn tagged(&self, mut rows: Vec<Row>) -> Result<Vec<Row>> {
        if self.parts == Parts::StatusAndTag {
            let names: Vec<PageName> = rows.iter().map(|row| PageName::Json(row.name.get())).collect();
            let stored = self.service()?.stored(&names, StoredPart::Tag)?;
            for (row, stored) in rows.iter_mut().zip(stored) {
                let Some(Stored::Tag(tag)) = stored else { continue };
                row.tag = tag.map(|tag| tag.to_string());
            }
        }
        Ok(rows)
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
        if self.parts == Parts::StatusAndTag && service.tags().is_none() {
            return Err(without_tags(&self.data));
        }
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
        let rows = self.tagged(rows)?;
        Ok(Answer::Changes(Changes { rows, next: found.next, last: found.last }))
    }

    fn lookup(&mut self, names: &[Box<RawValue>]) -> Result<Vec<Row>> {
        let names: Vec<PageName> = names.iter().map(|name| PageName::Json(name.get())).collect();
        let statuses = self.service()?.settled_status(&names)?;
        self.tagged(statuses.into_iter().map(|status| Row::new(status, 0)).collect())
    }
}

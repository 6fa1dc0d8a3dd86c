//! Opens collections without a server, and shows names and statuses.

use std::path::Path;

use anyhow::Result;
use onecopy_engine::{Error, Opening, Service, ServiceOptions, Status, StatusKind, resume_upgrade};
use serde_json::value::RawValue;

use crate::columns::shown;
use crate::commands::WrongCall;

/// The most characters shown of a name.
const NAME: usize = 100;

/// Opens an existing collection. If another process serves it, it is read as of this moment.
pub fn open(data: &Path) -> Result<Service> {
    open_with(ServiceOptions::new(data))
}

/// The same, with options.
pub fn open_with(mut options: ServiceOptions) -> Result<Service> {
    options.opening = Opening::Existing;
    resume_upgrade(&options.data)?;
    match Service::open(options.clone()) {
        Err(Error::CollectionInUse { .. }) => {
            options.opening = Opening::Read;
            Ok(Service::open(options)?)
        }
        opened => Ok(opened?),
    }
}

/// Opens an existing collection that nobody else uses.
pub fn open_alone(data: &Path) -> Result<Service> {
    let mut options = ServiceOptions::new(data);
    options.opening = Opening::Existing;
    resume_upgrade(&options.data)?;
    Ok(Service::open(options)?)
}

/// Tags were asked for, and the collection has none.
pub fn without_tags(data: &Path) -> anyhow::Error {
    let remedy = "begin a collection with `onecopy import --tags`, or with `onecopy serve --tags`";
    WrongCall(format!("collection {}: it has no tags: {remedy}", data.display())).into()
}

/// A page's name as a person would type it, safe for a terminal.
pub fn name(name: &RawValue) -> String {
    let plain = serde_json::from_str::<String>(name.get()).unwrap_or_else(|_| name.get().to_owned());
    shown(&plain, NAME)
}

/// A status on one line, without the page's name.
pub fn line(status: &Status) -> String {
    let mut text = word(status.status).to_owned();
    if let Some(winner) = &status.winner {
        text += &format!(" of {}", name(winner));
    }
    let kind = status.kind.map(str::to_owned);
    let alike = status.similarity.map(|similarity| format!("{similarity:.5}"));
    let verified = status.verified.map(|held| if held { "verified" } else { "no longer alike" }.to_owned());
    let waits =
        (!status.settled && status.status != StatusKind::Pending).then(|| "not settled yet".to_owned());
    let details: Vec<String> = [kind, alike, verified, waits].into_iter().flatten().collect();
    if !details.is_empty() {
        text += &format!(" ({})", details.join(", "));
    }
    if let Some(reason) = &status.reason {
        text += &format!(": {}", shown(reason, NAME));
    }
    text
}

/// The word for a status.
pub fn word(status: StatusKind) -> &'static str {
    match status {
        StatusKind::Unique => "unique",
        StatusKind::Winner => "winner",
        StatusKind::Loser => "loser",
        StatusKind::Pending => "pending",
        StatusKind::Dead => "dead",
        StatusKind::Rejected => "rejected",
    }
}

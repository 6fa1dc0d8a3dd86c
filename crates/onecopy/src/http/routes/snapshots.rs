//! Routes about snapshots: make one, list them. The operator chose their place; no request names one.

use std::sync::Arc;

use hyper::{Request, StatusCode};
use onecopy_engine::{Error, SnapshotLine, list_backups};
use serde::Serialize;

use crate::http::failure::Failure;
use crate::http::params::Params;
use crate::http::reply::{Outcome, json};
use crate::http::server::Server;
use crate::http::snapshots::SnapshotNumbers;

#[derive(Serialize)]
struct List {
    #[serde(flatten)]
    numbers: SnapshotNumbers,
    snapshots: Vec<SnapshotLine>,
}

/// `POST /snapshots`. It may take long, so the answer does not wait for it.
pub fn make<B>(server: &Arc<Server>, request: &Request<B>) -> Outcome {
    Params::parse(request.uri().query(), &[])?;
    if server.is_stopping() {
        return Err(Failure::stopping());
    }
    server.snapshots.begin(&server.log)?;
    json(StatusCode::ACCEPTED, &SnapshotNumbers { running: true, ..SnapshotNumbers::default() })
}

/// `GET /snapshots`.
pub async fn list<B>(server: &Arc<Server>, request: &Request<B>) -> Outcome {
    Params::parse(request.uri().query(), &[])?;
    let depot = server.snapshots.job()?.to.clone();
    // First the numbers: a snapshot that is complete then is in the list.
    let numbers = server.snapshots.numbers();
    let snapshots = match server.call(move |_| list_backups(&depot)).await? {
        Err(Error::NoSnapshot { .. }) => Vec::new(),
        snapshots => snapshots?,
    };
    json(StatusCode::OK, &List { numbers, snapshots })
}

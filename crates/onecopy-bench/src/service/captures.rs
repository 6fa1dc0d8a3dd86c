//! Puts real captures of the same pages at several times, in chronological order.

use std::time::Duration;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::growth::Settled;
use super::server::Server;
use super::{Program, emptied, shared_data};
use crate::jsonl;

/// The captures, in the shared data folder.
const CAPTURES: &str = "labelled/ota-pages-dev/docs.jsonl.zst";
/// How long one capture may take to settle.
const PATIENCE: Duration = Duration::from_secs(60);

/// A capture, identified by its URL, so that the next one replaces it.
#[derive(Deserialize, Serialize)]
struct Capture {
    url: String,
    time: String,
    html: String,
}

/// Puts all captures, each after the previous one is settled. Returns how many updates Tier 1 settled; `None` if the
/// captures are missing.
pub fn replay(program: &Program) -> Result<Option<Settled>> {
    let Some(path) = shared_data(CAPTURES) else {
        eprintln!("skipped: neither $ONECOPY_DATA nor ../shared/data has {CAPTURES}");
        return Ok(None);
    };
    eprintln!("captures in time order ...");
    let mut captures = Vec::new();
    let (mut reader, mut line) = (jsonl::open(&path)?, String::new());
    while reader.read_line(&mut line)? > 0 {
        captures.push(serde_json::from_str::<Capture>(&line).context("a capture is not as expected")?);
        line.clear();
    }
    // Without a URL, the page of a capture is unknown.
    captures.retain(|capture| !capture.url.is_empty());
    captures.sort_by(|a, b| (&a.time, &a.url).cmp(&(&b.time, &b.url)));
    let data = emptied(program.work.join("captures-data"))?;
    let server = Server::start(&program.onecopy, &data, &[], &program.log())?;
    let mut client = server.client();
    for capture in &captures {
        client.post("/pages", &serde_json::to_vec(capture)?)?.json()?;
        server.settle(PATIENCE)?;
    }
    let stats = server.stats()?;
    server.stop()?;
    std::fs::remove_dir_all(&data)?;
    let stream = format!("{} captures of real pages over nine months", captures.len());
    Ok(Some(Settled { stream, updates: stats.updates, by_tier1: stats.by_tier1 }))
}

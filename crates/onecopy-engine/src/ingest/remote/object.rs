//! Fetches parts of an object, retries failures, and never mixes two versions of it.

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{Error, GetOptions, ObjectMeta, ObjectStore};

use super::address::Scheme;
use super::remedy::{CHANGED, reason};
use super::runtime::begin;

/// How many times a part is requested. Each request is also retried by itself while the server is unreachable.
const ATTEMPTS: u32 = 4;

/// An object being read.
pub(super) struct Object {
    pub scheme: Scheme,
    pub store: Arc<dyn ObjectStore>,
    pub path: Path,
    pub bytes: u64,
    /// The version at the time of listing.
    pub version: String,
    /// The tag of the first response; all later requests require it. A listing may format the tag differently.
    pub tag: OnceLock<Option<String>>,
}

impl Object {
    /// The bytes of a range, which must be inside the object.
    pub(super) fn fetch(self: &Arc<Self>, range: Range<u64>) -> io::Result<Bytes> {
        let object = self.clone();
        begin(async move { object.part(range).await })?.wait()?
    }

    /// Like [`Object::fetch`], but asynchronous.
    pub(super) async fn part(&self, range: Range<u64>) -> io::Result<Bytes> {
        let mut attempt = 1;
        loop {
            match self.attempt(range.clone()).await {
                Ok(bytes) => return Ok(bytes),
                Err(Failure::Lasting(reason)) => return Err(failed(reason)),
                Err(Failure::Passing(reason)) if attempt == ATTEMPTS => return Err(failed(reason)),
                Err(Failure::Passing(_)) => {
                    tokio::time::sleep(Duration::from_millis(100 << attempt)).await;
                    attempt += 1;
                }
            }
        }
    }

    async fn attempt(&self, range: Range<u64>) -> Result<Bytes, Failure> {
        let wanted = range.end - range.start;
        // `If-Match` never matches a weak tag.
        let tag = self.tag.get().cloned().flatten().filter(|tag| !tag.starts_with("W/"));
        let options = GetOptions::new().with_range(Some(range)).with_if_match(tag);
        let answer = self.store.get_opts(&self.path, options).await.map_err(|error| self.failure(&error))?;
        if !self.is_same(&answer.meta) {
            return Err(Failure::Lasting(CHANGED.into()));
        }
        let bytes = answer.bytes().await.map_err(|error| self.failure(&error))?;
        if bytes.len() as u64 != wanted {
            return Err(Failure::Passing(format!("the server sent {} of {wanted} bytes", bytes.len())));
        }
        Ok(bytes)
    }

    /// Whether a response is from the listed object and the same version as all earlier responses. Not every server
    /// supports `If-Match`.
    fn is_same(&self, meta: &ObjectMeta) -> bool {
        let listed = self.version == version(meta) || self.version == age(meta);
        meta.size == self.bytes && listed && *self.tag.get_or_init(|| meta.e_tag.clone()) == meta.e_tag
    }

    fn failure(&self, error: &Error) -> Failure {
        let reason = reason(self.scheme, error);
        match error {
            Error::Generic { .. } | Error::JoinError { .. } => Failure::Passing(reason),
            _ => Failure::Lasting(reason),
        }
    }
}

fn failed(reason: String) -> io::Error {
    io::Error::other(Transport(reason))
}

/// Why a fetch failed, and whether a retry may help.
enum Failure {
    Passing(String),
    Lasting(String),
}

/// Says why the bytes did not arrive. It says nothing about the file itself. The reader adds the address, as it does
/// for files.
#[derive(Debug)]
struct Transport(String);

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Transport {}

/// Whether an error is from the transfer rather than the file. The run must then stop: the file is not damaged, and the
/// same command can resume.
pub(crate) fn is_transport(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Transport>())
}

/// Identifies a version: the tag, else the modification time. Some servers give the tag only with the bytes.
pub(super) fn version(meta: &ObjectMeta) -> String {
    match &meta.e_tag {
        Some(tag) => tag.trim_start_matches("W/").trim_matches('"').to_owned(),
        None => age(meta),
    }
}

/// In whole seconds: a listing may have a finer resolution than a response.
fn age(meta: &ObjectMeta) -> String {
    format!("modified {}", meta.last_modified.timestamp())
}

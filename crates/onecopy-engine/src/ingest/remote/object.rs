//! One object: fetching a part of it, again if that fails, and never from two versions of it.

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

/// How often a part is asked for. Below this, each request is repeated by itself while the server cannot be reached.
const ATTEMPTS: u32 = 4;

/// An object that is being read.
pub(super) struct Object {
    pub scheme: Scheme,
    pub store: Arc<dyn ObjectStore>,
    pub path: Path,
    pub bytes: u64,
    /// As it was when it was listed.
    pub version: String,
    /// The tag that the first answer gave, on which all later requests insist. A list may write it in other ways.
    pub tag: OnceLock<Option<String>>,
}

impl Object {
    /// The bytes of a range, which must lie within the object.
    pub(super) fn fetch(self: &Arc<Self>, range: Range<u64>) -> io::Result<Bytes> {
        let object = self.clone();
        begin(async move { object.part(range).await })?.wait()?
    }

    /// As [`Object::fetch`], in the background.
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
        // A weak tag is never equal to itself for `If-Match`.
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

    /// Whether an answer comes from the object that was listed, and from the same one as all answers before. Not
    /// every server minds `If-Match`.
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

/// Why a part was not fetched: may another attempt help?
enum Failure {
    Passing(String),
    Lasting(String),
}

/// The bytes did not come, for this reason. Says nothing about what they would have been. Whoever reads names the
/// address, as with files.
#[derive(Debug)]
struct Transport(String);

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Transport {}

/// Whether an error of a reader comes from the way rather than from the file: then the run must stop, since the file
/// is not damaged, and the same command can go on.
pub(crate) fn is_transport(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Transport>())
}

/// What changes when an object does: its tag, else its age. Some servers give the tag only with the bytes.
pub(super) fn version(meta: &ObjectMeta) -> String {
    match &meta.e_tag {
        Some(tag) => tag.trim_start_matches("W/").trim_matches('"').to_owned(),
        None => age(meta),
    }
}

/// In whole seconds: a list may be finer than an answer.
fn age(meta: &ObjectMeta) -> String {
    format!("modified {}", meta.last_modified.timestamp())
}

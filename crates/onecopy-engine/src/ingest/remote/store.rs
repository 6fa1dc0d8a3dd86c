//! The stores of a job: listing files and opening them.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{Error as StoreError, GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt};

use super::address::{StoreAddress, Wanted, parse};
use super::blocks::RemoteBlocks;
use super::connect::connect;
use super::object::{Object, version};
use super::reader::RemoteReader;
use super::remedy::{reason, setting};
use super::runtime::begin;
use crate::error::{Error, Result};

/// The most objects below one address.
const MOST_OBJECTS: usize = 1_000_000;

/// A file in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RemoteFile {
    pub address: String,
    pub bytes: u64,
    /// Changes when the file does.
    pub version: String,
}

/// The stores of a job, with one client each.
pub(crate) struct Stores {
    settings: Vec<(String, String)>,
    known: Mutex<HashMap<String, Arc<dyn ObjectStore>>>,
}

impl Stores {
    /// `settings` are credentials and similar values, named like the usual environment variables (`AWS_ACCESS_KEY_ID`,
    /// `AWS_ENDPOINT_URL`, ...). The engine does not read the environment; its caller may.
    pub(crate) fn new(settings: impl IntoIterator<Item = (String, String)>) -> Stores {
        Stores { settings: settings.into_iter().collect(), known: Mutex::default() }
    }

    /// The files behind an address, sorted by address: one object, all below a `/`, or those that match a pattern.
    pub(crate) fn list(&self, input: &str) -> Result<Vec<RemoteFile>> {
        let wrong = |reason: String| Error::Input { input: input.into(), reason };
        let address = parse(input).map_err(wrong)?;
        let store = self.store(&address).map_err(|error| wrong(setting(address.scheme, &error)))?;
        let asked = address.clone();
        let work = async move {
            match &asked.wanted {
                Wanted::Object(key) => one(&*store, &asked, key).await.map(|file| vec![file]),
                Wanted::Below(prefix) | Wanted::Matching(prefix, _) => below(&*store, &asked, prefix).await,
            }
        };
        let found =
            begin(work).and_then(|pending| pending.wait()).map_err(|error| wrong(error.to_string()))?;
        let mut files = found.map_err(wrong)?;
        files.sort_by(|a, b| a.address.cmp(&b.address));
        Ok(files)
    }

    /// A reader of a file from front to back.
    pub(crate) fn read(&self, file: &RemoteFile) -> io::Result<RemoteReader> {
        RemoteReader::new(self.object(file)?)
    }

    /// A reader with random access to a file.
    pub(crate) fn blocks(&self, file: &RemoteFile) -> io::Result<RemoteBlocks> {
        Ok(RemoteBlocks::new(self.object(file)?))
    }

    fn object(&self, file: &RemoteFile) -> io::Result<Arc<Object>> {
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
        let (address, key) = self.exact(&file.address).map_err(invalid)?;
        let store = self.store(&address).map_err(|error| invalid(setting(address.scheme, &error)))?;
        Ok(Arc::new(Object {
            scheme: address.scheme,
            store,
            path: Path::parse(key).map_err(|error| invalid(error.to_string()))?,
            bytes: file.bytes,
            version: file.version.clone(),
            tag: OnceLock::new(),
        }))
    }

    /// Parses the address of a listed file. Its key may look like a pattern.
    fn exact(&self, address: &str) -> Result<(StoreAddress, String), String> {
        let parts = address.splitn(4, '/').collect::<Vec<_>>();
        match parts.as_slice() {
            [scheme, "", bucket, key] if !scheme.starts_with("http") => {
                Ok((parse(&format!("{scheme}//{bucket}/"))?, (*key).to_owned()))
            }
            _ => Ok((parse(address)?, String::new())),
        }
    }

    pub(super) fn store(&self, address: &StoreAddress) -> object_store::Result<Arc<dyn ObjectStore>> {
        let name = format!("{:?} {}", address.scheme, address.bucket);
        if let Some(store) = self.known().get(&name) {
            return Ok(store.clone());
        }
        let store = connect(address, &self.settings)?;
        self.known().insert(name, store.clone());
        Ok(store)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<dyn ObjectStore>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn one(store: &dyn ObjectStore, address: &StoreAddress, key: &str) -> Result<RemoteFile, String> {
    let path = Path::parse(key).map_err(|error| error.to_string())?;
    match store.head(&path).await {
        Ok(meta) => Ok(file(address, key, &meta)),
        Err(StoreError::NotFound { .. }) if !address.scheme.is_web() => {
            Err(missing(store, address, path).await)
        }
        Err(error) if address.scheme.is_web() => {
            // Addresses signed only for reading refuse HEAD, but a GET of one byte returns the same metadata.
            let first = store.get_opts(&path, GetOptions::new().with_range(Some(0..1))).await;
            first.map(|answer| file(address, key, &answer.meta)).map_err(|_| reason(address.scheme, &error))
        }
        Err(error) => Err(reason(address.scheme, &error)),
    }
}

/// Why an object is missing: the response to the request for it does not tell.
async fn missing(store: &dyn ObjectStore, address: &StoreAddress, path: Path) -> String {
    match store.list(Some(&path)).try_next().await {
        Ok(Some(_)) => "it is a folder: end the address with / to take all objects below it".into(),
        Ok(None) => "there is no such object".into(),
        Err(error) => reason(address.scheme, &error),
    }
}

async fn below(
    store: &dyn ObjectStore,
    address: &StoreAddress,
    prefix: &str,
) -> Result<Vec<RemoteFile>, String> {
    let path = Path::parse(prefix).map_err(|error| error.to_string())?;
    let mut found = store.list(Some(&path));
    let mut files: Vec<RemoteFile> = Vec::new();
    while let Some(meta) = found.try_next().await.map_err(|error| reason(address.scheme, &error))? {
        let key = meta.location.as_ref();
        // Consoles and other tools mark a folder with an empty object, listed right before its contents.
        if files.last().is_some_and(|last| last.bytes == 0 && is_below(&address.of(key), &last.address)) {
            files.pop();
        }
        if address.takes(key) {
            files.push(file(address, key, &meta));
        }
        if files.len() > MOST_OBJECTS {
            return Err(format!("more than {MOST_OBJECTS} objects: give a narrower address"));
        }
    }
    if files.is_empty() {
        return Err("nothing matches it".into());
    }
    Ok(files)
}

fn is_below(address: &str, folder: &str) -> bool {
    address.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

fn file(address: &StoreAddress, key: &str, meta: &ObjectMeta) -> RemoteFile {
    RemoteFile { address: address.of(key), bytes: meta.size, version: version(meta) }
}

//! Reads, writes, lists and removes whole objects below one address, for backups.

use std::io;
use std::sync::Arc;

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{Error as StoreError, ObjectStore, ObjectStoreExt, PutPayload};

use super::address::{Scheme, Wanted, parse};
use super::remedy::{reason, setting};
use super::runtime::begin;
use super::store::Stores;

/// A part of an object store, below a prefix.
#[derive(Debug)]
pub(crate) struct Bucket {
    scheme: Scheme,
    store: Arc<dyn ObjectStore>,
    prefix: String,
}

impl Stores {
    /// The part of a store below an address.
    pub(crate) fn bucket(&self, input: &str) -> Result<Bucket, String> {
        let address = parse(input)?;
        let (Wanted::Object(prefix) | Wanted::Below(prefix)) = &address.wanted else {
            return Err("it is a pattern: give one address".into());
        };
        if address.scheme.is_web() {
            return Err(
                "a web server stores nothing: give a folder or an address such as s3://bucket/".into()
            );
        }
        let store = self.store(&address).map_err(|error| setting(address.scheme, &error))?;
        let prefix = prefix.trim_end_matches('/').to_owned();
        Ok(Bucket { scheme: address.scheme, store, prefix })
    }
}

impl Bucket {
    /// The bytes of an object; `None` if there is none.
    pub(crate) fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let (store, path) = (self.store.clone(), self.path(name)?);
        let work = async move { store.get(&path).await?.bytes().await };
        match begin(work)?.wait()? {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Writes an object: all of it, or nothing.
    pub(crate) fn put(&self, name: &str, bytes: Vec<u8>) -> io::Result<()> {
        let (store, path) = (self.store.clone(), self.path(name)?);
        let work = async move { store.put(&path, PutPayload::from(bytes)).await };
        begin(work)?.wait()?.map(drop).map_err(|error| self.failed(&error))
    }

    /// The names and lengths of all objects below a folder, without its name.
    pub(crate) fn list(&self, folder: &str) -> io::Result<Vec<(String, u64)>> {
        let (store, path) = (self.store.clone(), self.path(folder)?);
        let below = path.clone();
        let work = async move { store.list(Some(&below)).try_collect::<Vec<_>>().await };
        let found = begin(work)?.wait()?.map_err(|error| self.failed(&error))?;
        let name = |key: &str| key.strip_prefix(path.as_ref())?.strip_prefix('/').map(str::to_owned);
        Ok(found.iter().filter_map(|meta| Some((name(meta.location.as_ref())?, meta.size))).collect())
    }

    /// Removes an object.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        let (store, path) = (self.store.clone(), self.path(name)?);
        let work = async move { store.delete(&path).await };
        match begin(work)?.wait()? {
            Ok(()) | Err(StoreError::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed(&error)),
        }
    }

    fn path(&self, name: &str) -> io::Result<Path> {
        Path::parse(format!("{}/{name}", self.prefix).trim_start_matches('/')).map_err(io::Error::other)
    }

    fn failed(&self, error: &StoreError) -> io::Error {
        io::Error::other(reason(self.scheme, error))
    }
}

//! The stored form of a page whose last change was rejected.

use onecopy_store::Look;
use serde::{Deserialize, Serialize};

use super::Status;
use crate::error::{Error, Result};

/// A page whose last change could not be settled.
#[derive(Clone, Debug, Serialize)]
pub(in crate::service) struct Quarantined {
    #[serde(flatten)]
    pub status: Status,
    #[serde(flatten)]
    pub traits: RejectedTraits,
}

/// Traits of the rejected change. Collections of earlier programs lack it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::service) struct RejectedTraits {
    /// The address of the page; empty if it has none.
    pub url: String,
    /// The number of its language; zero for none.
    pub language: u8,
    /// The number of the rejection in the feed.
    pub changed: Option<u64>,
}

impl Quarantined {
    /// The rejection of a page's last change, if it was rejected.
    pub(in crate::service) fn of(tables: &impl Look, name: &str) -> Result<Option<Quarantined>> {
        let bytes = tables.quarantined_status(name)?;
        bytes.map(|bytes| Quarantined::from_bytes(name, &bytes)).transpose()
    }

    /// Reads what is stored of a page.
    pub(in crate::service) fn from_bytes(name: &str, bytes: &[u8]) -> Result<Quarantined> {
        let broken =
            |error| Error::Broken { reason: format!("the status of {name} cannot be read: {error}") };
        let status = serde_json::from_slice(bytes).map_err(broken)?;
        Ok(Quarantined { status, traits: serde_json::from_slice(bytes).map_err(broken)? })
    }

    pub(in crate::service) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a status is JSON")
    }
}

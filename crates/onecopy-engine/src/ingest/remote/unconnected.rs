//! In place of `connect.rs` in a build without the feature `stores`.

use std::sync::Arc;

use object_store::{Error, ObjectStore, Result};

use super::address::StoreAddress;

/// Fails, because this build connects to no store.
pub(super) fn connect(address: &StoreAddress, _: &[(String, String)]) -> Result<Arc<dyn ObjectStore>> {
    let source =
        format!("this build cannot read {}: build onecopy-engine with the feature stores", address.bucket);
    Err(Error::NotSupported { source: source.into() })
}

//! Reads inputs from object stores and web servers: `s3://`, `gs://`, `az://`, `http://` and `https://`. Backups are
//! written to object stores.
//!
//! It fetches only addresses that the user typed, never one from a page, and `https` never falls back to `http`. The
//! rest of the engine is synchronous and sees only lists and readers. One background thread, started by the first
//! remote address, transfers the bytes.

mod address;
mod blocks;
mod bucket;
#[cfg(feature = "stores")]
mod connect;
mod object;
mod reader;
mod remedy;
mod runtime;
mod store;
#[cfg(test)]
mod tests;
#[cfg(not(feature = "stores"))]
mod unconnected;

pub(crate) use address::{is_remote, is_web};

pub(crate) use bucket::Bucket;
pub(crate) use object::is_transport;

pub(crate) use store::{RemoteFile, Stores};

#[cfg(not(feature = "stores"))]
use unconnected as connect;

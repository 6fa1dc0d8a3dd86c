//! Inputs in object stores and on web servers: `s3://`, `gs://`, `az://`, `http://` and `https://`.
//!
//! Only addresses that the user typed are fetched, never one that a page names, and `https` never falls back to
//! `http`. The rest of the engine is synchronous: it sees lists and readers, and one background thread, started by
//! the first remote address, moves the bytes.

mod address;
mod blocks;
mod connect;
mod object;
mod reader;
mod remedy;
mod runtime;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use address::{is_remote, is_web};

pub(crate) use object::is_transport;

pub(crate) use store::{RemoteFile, Stores};

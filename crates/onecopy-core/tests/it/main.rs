//! Tests of onecopy-core on data from outside.
//!
//! - `main_content`: F1 on pages whose main content people marked

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod main_content;

//! Tests of onecopy-core from outside.
//!
//! - `golden`: answers change only with `ANSWER_VERSION`
//! - `main_content`: F1 on pages whose main content people marked
//! - `simd`: the level of instructions of a process

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod golden;
mod main_content;
mod simd;

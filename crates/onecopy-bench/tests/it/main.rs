//! The program from outside.
//!
//! - `measure`: the cost of a run, including orphans
//! - `corpus`: generate, then audit

mod corpus;
mod measure;

use std::process::{Command, Output};

/// Runs onecopy-bench.
fn bench(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_onecopy-bench")).args(args).output().expect("the program was built")
}

//! The program from outside.
//!
//! - `measure`: what a run costs, orphans included
//! - `corpus`: generate, then audit

mod corpus;
mod measure;

use std::process::{Command, Output};

/// Runs onecopy-bench.
fn bench(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_onecopy-bench")).args(args).output().expect("the program was built")
}

//! The `onecopy` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    onecopy::run(std::env::args_os())
}

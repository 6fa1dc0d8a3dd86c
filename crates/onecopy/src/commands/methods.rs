//! `onecopy methods`: lists the methods and their parameters.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use onecopy_core::{Config, METHODS, method, usual_parameters};

use crate::commands::print;

pub fn run() -> Result<ExitCode> {
    let mut text = String::new();
    for entry in METHODS {
        let config = Config { method: entry.name.into(), ..Config::default() };
        let made = method(&config).map_err(|error| anyhow!(error))?;
        let kind = if made.stands_for().is_some() { "approximate" } else { "exact" };
        let _ = writeln!(text, "{:<14}{} ({kind})", entry.name, entry.about);
        let parameters = usual_parameters(entry.name);
        let shown: Vec<String> = parameters.iter().map(|(name, usual)| format!("{name}={usual}")).collect();
        let _ = writeln!(text, "{:<14}  {}", "", shown.join("  "));
    }
    text.push_str("\nParameters follow the name: --method simhash:distance=4:search=rotate\n");
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

//! `onecopy rules`: prints the shipped rules for addresses.

use std::process::ExitCode;

use anyhow::Result;
use onecopy_core::AddressRules;

use crate::commands::print;

pub fn run() -> Result<ExitCode> {
    print(AddressRules::SHIPPED)?;
    Ok(ExitCode::SUCCESS)
}

//! `ONECOPY_SIMD`: makes the program use fewer instructions than the machine has, for tests and for measuring.
//!
//! Answers are the same at every level. Libraries read no variables, so the program reads this one for them.

use std::ffi::OsStr;

use onecopy_core::simd::{Instructions, Level, lower};

const VARIABLE: &str = "ONECOPY_SIMD";

/// Lowers the level to the one that the variable names, if it is set.
pub fn obey_variable() -> Result<(), String> {
    match std::env::var_os(VARIABLE) {
        Some(name) if !name.is_empty() => named(&name).map(lower),
        _ => Ok(()),
    }
}

fn named(name: &OsStr) -> Result<Level, String> {
    let name = name.to_string_lossy();
    let names = |some: &[Instructions]| some.iter().map(|set| set.name()).collect::<Vec<_>>().join(", ");
    let Some(instructions) = Instructions::named(&name) else {
        return Err(format!("{VARIABLE}: unknown level {name}; use one of {}", names(&Instructions::ALL)));
    };
    Level::of(instructions).ok_or_else(|| {
        let here: Vec<Instructions> = Level::all().map(Level::instructions).collect();
        format!("{VARIABLE}: this machine has no {name}; use one of {}", names(&here))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_levels_of_this_machine_only() {
        for instructions in Instructions::ALL {
            let found = named(OsStr::new(instructions.name()));
            match Level::of(instructions) {
                Some(level) => assert_eq!(found, Ok(level)),
                None => assert!(found.is_err_and(|why| why.contains("this machine has no"))),
            }
        }
        let unknown = "ONECOPY_SIMD: unknown level sse9; use one of avx512, avx2, scalar";
        assert_eq!(named(OsStr::new("sse9")), Err(unknown.to_owned()));
    }
}

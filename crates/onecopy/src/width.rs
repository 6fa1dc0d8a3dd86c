//! How many columns lines may take: what the reader says, else what the terminal has, else 80.

use std::os::fd::AsFd;

use terminal_size::{Width, terminal_size_of};

/// Columns if nothing says how many there are.
pub const USUAL: usize = 80;
/// Narrower or wider lines than these serve nobody.
const SENSIBLE: std::ops::RangeInclusive<usize> = 20..=1_000;

/// Columns of standard output.
pub fn of_stdout() -> usize {
    columns(std::env::var("COLUMNS").ok().as_deref(), size(std::io::stdout()))
}

/// Columns of standard error.
pub fn of_stderr() -> usize {
    columns(None, size(std::io::stderr()))
}

fn size(of: impl AsFd) -> Option<usize> {
    terminal_size_of(of).map(|(Width(columns), _)| usize::from(columns)).filter(|columns| *columns > 0)
}

/// The columns that are `wished` for, as the variable `COLUMNS` writes them, else those that there are.
fn columns(wished: Option<&str>, there: Option<usize>) -> usize {
    let wished = wished.and_then(|wished| wished.trim().parse().ok()).filter(|columns| *columns > 0);
    wished.or(there).unwrap_or(USUAL).clamp(*SENSIBLE.start(), *SENSIBLE.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_come_first_and_nonsense_is_ignored() {
        let found = [(Some("120"), Some(90)), (Some("x"), Some(90)), (Some("0"), None), (None, Some(3))];
        assert_eq!(found.map(|(wished, there)| columns(wished, there)), [120, 90, 80, 20]);
    }
}

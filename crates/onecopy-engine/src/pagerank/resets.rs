//! Reads where readers start over: a page on each line, with its weight, which is 1 if it is missing.

use std::fs;
use std::path::Path;

use onecopy_core::AddressRules;

use super::merged::Merged;
use super::named::name;
use super::pages::Pages;
use crate::error::{At, Error, Result};

/// The weights of pages, by their numbers in [`Pages`], and a line that names an unknown page.
pub(super) struct ResetWeights {
    pub weights: Vec<(u32, f64)>,
    pub unknown: u64,
    pub path: std::path::PathBuf,
}

/// Reads the file at `path`. Lines that begin with `#` and empty lines do not count.
pub(super) fn read_resets(
    path: &Path,
    rules: &AddressRules,
    merged: &Merged,
    pages: &Pages,
) -> Result<ResetWeights> {
    let text = fs::read_to_string(path).at("read", path)?;
    let mut found = ResetWeights { weights: Vec::new(), unknown: 0, path: path.to_owned() };
    let mut page = String::new();
    for (line, number) in text.lines().zip(1..) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let (address, weight) = parse(line).ok_or_else(|| Error::ResetWeight {
            path: path.to_owned(),
            line: number,
            text: line.trim().into(),
        })?;
        name(address, rules, &mut page);
        match pages.find(merged.winner(&page)) {
            Some(page) => found.weights.push((page, weight)),
            None => found.unknown += 1,
        }
    }
    Ok(found)
}

/// A page and its weight. `None` if the weight is no number from 0 on.
fn parse(line: &str) -> Option<(&str, f64)> {
    let line = line.trim();
    let Some((page, weight)) = line.rsplit_once(['\t', ' ']) else { return Some((line, 1.0)) };
    let weight: f64 = weight.parse().ok()?;
    (weight.is_finite() && weight >= 0.0).then_some((page.trim(), weight))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_is_a_number_from_zero_on() {
        assert_eq!(parse("http://a.example/ 2.5"), Some(("http://a.example/", 2.5)));
        assert_eq!(parse("a\t0"), Some(("a", 0.0)));
        assert_eq!(parse(" a "), Some(("a", 1.0)));
        for line in ["a -1", "a NaN", "a inf", "a b"] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}

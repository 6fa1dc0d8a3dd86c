//! Names of files that are no text: a path may be any bytes, and what is written about it is UTF-8.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The reason to reject a file whose name is not UTF-8. Two such names may look the same in the results.
pub(super) const NO_TEXT: &str = "its name is not UTF-8: rename it to have it read";

/// A path in JSON.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum JsonPath {
    Text(String),
    /// The bytes of a path that is not UTF-8.
    Bytes(Vec<u8>),
}

/// Writes a path: as text if it is UTF-8, else as a list of its bytes.
pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    let json = match path.to_str() {
        Some(text) => JsonPath::Text(text.to_owned()),
        None => JsonPath::Bytes(path.as_os_str().as_bytes().to_owned()),
    };
    json.serialize(serializer)
}

/// Reads what [`serialize`] wrote.
pub(super) fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<PathBuf, D::Error> {
    Ok(match JsonPath::deserialize(deserializer)? {
        JsonPath::Text(text) => text.into(),
        JsonPath::Bytes(bytes) => OsString::from_vec(bytes).into(),
    })
}

/// The paths that would match a pattern if their names were UTF-8. The pattern library skips them.
pub(super) fn passed_over(pattern: &str) -> Vec<PathBuf> {
    let Ok(compiled) = Pattern::new(pattern) else { return Vec::new() };
    // Where no part is a pattern, nothing is to be searched.
    let parts: Vec<&str> = pattern.split('/').collect();
    let is_pattern = |part: &&str| part.contains(['*', '?', '[']);
    let Some(plain) = parts.iter().position(is_pattern) else { return Vec::new() };
    let folder = match parts[..plain].join("/") {
        folder if plain == 1 && folder.is_empty() => "/".into(),
        folder => folder,
    };
    let levels = if parts.contains(&"**") { usize::MAX } else { parts.len() - plain };
    let mut found = Vec::new();
    search(Path::new(&folder), levels, &compiled, &mut found);
    found.sort();
    found
}

/// Searches a folder, so many levels down.
fn search(folder: &Path, levels: usize, pattern: &Pattern, found: &mut Vec<PathBuf>) {
    let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    for entry in fs::read_dir(here).into_iter().flatten().flatten() {
        let path = folder.join(entry.file_name());
        if path.to_str().is_none() && pattern.matches_with(&path.to_string_lossy(), options) {
            found.push(path);
        } else if levels > 1 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            search(&path, levels - 1, pattern, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_as_json() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Kept(#[serde(with = "super")] PathBuf);
        for (bytes, json) in [(b"/a/\xc3\xbc".as_slice(), "\"/a/\u{fc}\""), (b"a\xff", "[97,255]")] {
            let kept = Kept(OsString::from_vec(bytes.to_owned()).into());
            assert_eq!(serde_json::to_string(&kept).unwrap(), json);
            assert_eq!(serde_json::from_str::<Kept>(json).unwrap(), kept);
        }
    }
}

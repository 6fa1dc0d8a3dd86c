//! Gives each source a name of its own.

use std::collections::HashSet;

use super::{Source, refused};
use crate::error::Result;

/// Lengthens clashing names by more parts of their paths, until all names differ.
pub(super) fn part_names(sources: &mut [Source]) -> Result<()> {
    let mut depth = 1;
    loop {
        let Some(clash) = clash(sources) else { return Ok(()) };
        if depth > 64 {
            let reason = "another input has this name too, and one would overwrite the other: give it to a run of its own";
            return Err(refused(clash, reason));
        }
        depth += 1;
        for source in sources.iter_mut() {
            let parts = whole_name(source);
            let own = source.name.split('/').count();
            let from = parts.len().saturating_sub(depth.max(own));
            source.name = parts[from..].join("/");
        }
    }
}

/// A name that two sources have, or that is also a folder of another.
fn clash(sources: &[Source]) -> Option<&str> {
    let mut names = HashSet::new();
    let twice = sources.iter().map(|source| source.name.as_str()).find(|name| !names.insert(*name));
    let folders = |name: &'_ str| name.match_indices('/').map(|(at, _)| at).collect::<Vec<_>>();
    let folder = || {
        let above = |name: &'_ str| folders(name).into_iter().find(|&at| names.contains(&name[..at]));
        sources.iter().find_map(|source| above(&source.name).map(|at| &source.name[..at]))
    };
    twice.or_else(folder)
}

fn is_plain(part: &str) -> bool {
    !matches!(part, "/" | "." | ".." | "")
}

/// The parts of a source's path, and of its path in a container.
fn whole_name(source: &Source) -> Vec<String> {
    let parts = source.path.iter().map(|part| part.to_string_lossy().into_owned());
    let mut parts: Vec<String> = parts.filter(|part| is_plain(part)).collect();
    if let Some(member) = &source.member {
        parts.extend(member.name.split('/').map(str::to_owned));
    }
    parts
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::error::Error;
    use crate::ingest::{Format, Packing};

    fn source(path: &str, format: Format) -> Source {
        let name = path.rsplit('/').next().expect("a part").to_owned();
        Source { path: path.into(), name, format, bytes: 10, modified_ns: 0, version: None, member: None }
    }

    #[test]
    fn equal_names_are_parted_by_their_folders() {
        let lines = Format::Lines(Packing::Plain);
        let mut sources =
            [source("x/a/p.jsonl", lines), source("./x/b/p.jsonl", lines), source("q.jsonl", lines)];
        part_names(&mut sources).unwrap();
        assert_eq!(sources.map(|s| s.name), ["a/p.jsonl", "b/p.jsonl", "q.jsonl"]);
    }

    #[test]
    fn names_that_cannot_be_parted_are_refused() {
        use std::os::unix::ffi::OsStringExt;
        let strange = |byte| PathBuf::from(std::ffi::OsString::from_vec(vec![b'/', byte, b'/', b'p']));
        let mut sources = [0xfe, 0xff]
            .map(|byte| Source { path: strange(byte), ..source("p", Format::Text(Packing::Plain)) });
        assert!(matches!(part_names(&mut sources), Err(Error::Input { .. })));
    }
}

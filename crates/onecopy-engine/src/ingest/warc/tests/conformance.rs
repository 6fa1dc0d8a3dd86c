//! Reads real files from many crawlers and compares the results with those of another reader.
//!
//! The files are not part of the repository. `$ONECOPY_DATA/warc`, or `shared/data/warc` next to it, holds them and a
//! table of their contents.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::census::{Census, census};
use crate::job::Limits;

fn folder() -> Option<PathBuf> {
    let data = std::env::var_os("ONECOPY_DATA").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = data.unwrap_or(beside).join("warc");
    folder.join("SOURCES.md").exists().then_some(folder)
}

/// The rows of the table: the records of each file by type, and whether the other reader reached its end.
fn rows(table: &str) -> BTreeMap<String, (BTreeMap<String, u64>, bool)> {
    let mut rows = BTreeMap::new();
    for line in table.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if cells.len() < 8 || cells[6].starts_with('(') || !cells[5].bytes().all(|b| b.is_ascii_digit()) {
            continue;
        }
        let (counts, error) =
            cells[6].split_once("ERR").map_or((cells[6], false), |(counts, _)| (counts, true));
        let count = |word: &str| word.split_once('=').map(|(kind, n)| (kind.to_owned(), n.parse().unwrap()));
        rows.insert(cells[1].to_owned(), (counts.split_whitespace().filter_map(count).collect(), !error));
    }
    rows
}

/// Whether a file differs from its row. The table counts a record that is cut off, while this reader reports it as
/// lost. If the other reader stopped at an error, this one may find more.
fn differs(found: &Census, wanted: &BTreeMap<String, u64>, to_its_end: bool) -> bool {
    let of = |kind: &str| found.records.get(kind).copied().unwrap_or(0);
    let missing: u64 = wanted.iter().map(|(kind, n)| n.saturating_sub(of(kind))).sum();
    let extra: u64 =
        found.records.iter().map(|(kind, n)| n.saturating_sub(*wanted.get(*kind).unwrap_or(&0))).sum();
    missing > found.lost.values().sum::<u64>() || (to_its_end && extra > 0)
}

#[test]
fn real_files_hold_what_others_find_in_them() {
    let Some(folder) = folder() else { return eprintln!("skipped: no WARC files in ONECOPY_DATA") };
    let rows = rows(&std::fs::read_to_string(folder.join("SOURCES.md")).unwrap());
    assert!(rows.len() > 50, "the table has only {} files", rows.len());
    let mut failures = Vec::new();
    for (name, (wanted, to_its_end)) in &rows {
        // A container is read as its members are, and the other reader does not read LZ4.
        if name.ends_with(".wacz") || name.ends_with(".lz4") {
            continue;
        }
        match census(&folder.join(name), &Limits { page_bytes: 64 << 20, expansion: 1_000 }) {
            Ok(found) if differs(&found, wanted, *to_its_end) => {
                failures.push(format!("{name}: {wanted:?} {found:?}"))
            }
            Ok(found) => eprintln!("{name}: {found:?}"),
            Err(error) => failures.push(format!("{name}: {error}")),
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn packings_make_no_difference() {
    let Some(folder) = folder() else { return eprintln!("skipped: no WARC files in ONECOPY_DATA") };
    let read = |name: &str| census(&folder.join(name), &Limits::default()).unwrap();
    let plain = read("whirlwind-python__whirlwind.warc");
    for name in ["derived/whirlwind.per-record.warc.zst", "derived/whirlwind.single-frame.warc.zst"] {
        assert_eq!(read(name), plain, "{name}");
    }
    for name in ["chatnoir-resiliparse__block-sized-records.warc", "chatnoir-resiliparse__warcfile.warc"] {
        assert_eq!(read(&format!("{name}.lz4")), read(name), "{name}");
    }
    let cut = read("derived/whirlwind.cut-at-60pct.warc.gz");
    assert_eq!((cut.lost.len(), cut.records.get("request")), (1, Some(&1)), "{cut:?}");
}

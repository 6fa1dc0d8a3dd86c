//! Reads an output folder: kept, removed, grouped and rejected pages, and the report.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The files that a finished run leaves, and no others.
pub const RESULTS: [&str; 7] =
    ["groups.jsonl", "kept", "pages.jsonl", "rejected.jsonl", "removed.jsonl", "report.json", "run.json"];

/// The lines of a file as JSON.
pub fn json_lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| json(line, path)).collect()
}

fn json(text: &str, path: &Path) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{}: {error}: {text}", path.display()))
}

/// `report.json`, whose counts must add up.
pub fn report(out: &Path) -> Value {
    let path = out.join("report.json");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let report = json(&text, &path);
    let count = |name: &str| report[name].as_u64().unwrap_or_else(|| panic!("no count `{name}` in {report}"));
    assert_eq!(count("kept") + count("removed") + count("rejected"), count("read"), "{report}");
    report
}

/// Asserts that a run used less memory than this, by its own report.
pub fn assert_memory_within(out: &Path, limit_bytes: u64) {
    let peak = report(out)["peak_memory_bytes"].as_u64().expect("a number");
    assert!(peak < limit_bytes, "{peak} bytes were held, {limit_bytes} were allowed");
}

/// Reads a whole file, unpacked as its name says: all members and frames.
pub fn unpacked(path: &Path) -> Vec<u8> {
    let file = fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    let read = match path.extension().and_then(|ending| ending.to_str()) {
        Some("gz") => flate2::read::MultiGzDecoder::new(file).read_to_end(&mut bytes),
        Some("zst") => zstd::Decoder::new(file)
            .and_then(|mut decoder| decoder.window_log_max(27).map(|()| decoder))
            .and_then(|mut decoder| decoder.read_to_end(&mut bytes)),
        _ => std::io::BufReader::new(file).read_to_end(&mut bytes),
    };
    read.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    bytes
}

/// Unpacks all members of gzipped bytes.
pub fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut plain).expect("the bytes are gzip");
    plain
}

/// The raw ids of kept records in a file below `kept/`, sorted.
pub fn kept_ids(out: &Path, name: &str) -> BTreeSet<String> {
    let path = out.join("kept").join(name);
    let text = String::from_utf8(unpacked(&path)).expect("kept records are UTF-8");
    let ids: Vec<String> = text.lines().map(|line| plain(&json(line, &path)["id"])).collect();
    let set: BTreeSet<String> = ids.iter().cloned().collect();
    assert_eq!(set.len(), ids.len(), "a record is in {} twice", path.display());
    set
}

/// A page's name without the quotes of JSON.
pub fn plain(name: &Value) -> String {
    name.as_str().map_or_else(|| name.to_string(), str::to_owned)
}

/// The lines of a list without the places of pages, which differ if the input is ordered or packed differently.
pub fn without_places(path: &Path) -> Vec<Value> {
    let is_place = |name: &str| {
        let name = name.strip_prefix("winner_").unwrap_or(name);
        ["source", "line", "record", "row", "places"].contains(&name)
    };
    let mut lines = json_lines(path);
    for line in &mut lines {
        line.as_object_mut().expect("an object").retain(|name, _| !is_place(name));
    }
    lines
}

/// The winner, similarity as written, and kind of each removed page.
pub fn removed(out: &Path) -> BTreeMap<String, (String, String, String)> {
    let lines = json_lines(&out.join("removed.jsonl"));
    let fate = |line: &Value| (plain(&line["winner"]), line["similarity"].to_string(), plain(&line["kind"]));
    let fates: BTreeMap<_, _> = lines.iter().map(|line| (plain(&line["page"]), fate(line))).collect();
    assert_eq!(fates.len(), lines.len(), "a page was removed twice");
    fates
}

/// The winner of each removed page.
pub fn winners(out: &Path) -> BTreeMap<String, String> {
    removed(out).into_iter().map(|(page, fate)| (page, fate.0)).collect()
}

/// The members of each group, the winner first.
pub fn groups(out: &Path) -> Vec<Vec<String>> {
    let members =
        |line: &Value| line["members"].as_array().expect("members are a list").iter().map(plain).collect();
    json_lines(&out.join("groups.jsonl")).iter().map(members).collect()
}

/// The entries of a source in `rejected.jsonl`: line and reason. A file that is one page has no line.
pub fn rejected(out: &Path, source: &str) -> Vec<(Option<u64>, String)> {
    let lines = json_lines(&out.join("rejected.jsonl"));
    let of_source = lines.iter().filter(|line| line["source"] == source);
    of_source.map(|line| (line["line"].as_u64(), plain(&line["reason"]))).collect()
}

/// All files below a folder, by relative path, sorted.
pub fn files_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    collect(folder, "", &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<String>) {
    for name in entries(folder) {
        let (path, below) = (folder.join(&name), format!("{prefix}{name}"));
        if path.is_dir() { collect(&path, &format!("{below}/"), found) } else { found.push(below) }
    }
}

/// The names in a folder, sorted.
pub fn entries(folder: &Path) -> Vec<String> {
    let listed = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> =
        listed.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The files that must be equal in two runs over the same input, byte for byte.
fn answer(out: &Path) -> Vec<PathBuf> {
    let lists = ["groups.jsonl", "rejected.jsonl", "removed.jsonl"].map(PathBuf::from);
    let kept = files_below(&out.join("kept")).into_iter().map(|name| Path::new("kept").join(name));
    lists.into_iter().chain(kept).collect()
}

/// Asserts that two finished runs gave the same answer, byte for byte.
pub fn assert_same_answer(out: &Path, expected: &Path, what: &str) {
    assert_eq!(entries(out), RESULTS, "{what}: a finished run leaves its results and nothing else");
    let names = answer(expected);
    assert_eq!(answer(out), names, "{what}: other files");
    for name in names {
        let read = |out: &Path| {
            fs::read(out.join(&name)).unwrap_or_else(|error| panic!("{what}: {name:?}: {error}"))
        };
        assert!(read(out) == read(expected), "{what}: {} differs", name.display());
    }
}

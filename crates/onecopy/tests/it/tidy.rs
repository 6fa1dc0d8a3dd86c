//! The tidy test: the rules of style that a machine can check, checked over the whole repository.
//!
//! It reads the repository as text and knows rustfmt's layout, not Rust's grammar: a function ends at the
//! first `}` that is indented like its `fn`. That is exact for formatted code, and formatting is checked too.
//! Every check is a function from text to offences, so the tests at the end can show that it catches one.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Longest function outside tests, in lines with signature and closing brace.
const FUNCTION_LINES: usize = 70;
/// Longest file, not counting its inline test module.
const FILE_LINES: usize = 500;
/// Longest test file.
const TEST_FILE_LINES: usize = 800;
/// Files that may be longer: path and reason.
const LONG_FILES: &[(&str, &str)] = &[];
/// Files that may contain `unsafe`, each use below a `SAFETY:` comment.
const UNSAFE_FILES: &[&str] = &[
    "crates/onecopy-core/src/candidate/wide.rs",
    "crates/onecopy-core/src/canonical/simd.rs",
    "crates/onecopy-core/src/canonical/wide.rs",
    // Plain code, compiled again for machines that count bits at once.
    "crates/onecopy-core/src/hamming/simd.rs",
    "crates/onecopy-core/src/outline/simd.rs",
    "crates/onecopy-core/src/sketch/wide.rs",
    "crates/onecopy-engine/src/batch/fresh.rs",
    "crates/onecopy-engine/src/ingest/scan/wide.rs",
    "crates/onecopy/src/allocator.rs",
];
/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["utils", "common", "helpers", "manager", "new", "v2", "old"];
/// What is read, besides the files at the root.
const FOLDERS: &[&str] = &["crates", "web", "python", "fuzz", "docs", "examples"];
/// What is not read: made by tools, or input for onecopy.
const SKIPPED: &[&str] = &["target", ".git", "node_modules", "__pycache__", "crawl"];
/// Endings that make a word in backticks a path.
const PATH_ENDINGS: &[&str] = &[".rs", ".md", ".toml", ".py", ".html", ".js", ".css", ".sh", ".yml"];

// The repository, read once by each test.

struct Source {
    /// From the root, with `/` between the parts.
    path: String,
    text: String,
}

impl Source {
    fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }

    fn may_unwrap(&self) -> bool {
        self.is_test() || self.path.contains("/benches/") || self.path.contains("/examples/")
    }

    fn offence(&self, line_index: usize, what: &str) -> String {
        format!("{}:{}: {what}", self.path, line_index + 1)
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file and folder that is looked at, from the root, sorted. Folders end in `/`.
fn paths() -> Vec<String> {
    let mut found = Vec::new();
    for entry in list(&root()) {
        let name = file_name(&entry);
        if FOLDERS.contains(&name.as_str()) {
            walk(&entry, &name, &mut found);
        } else if entry.is_file() {
            found.push(name);
        }
    }
    assert!(found.len() > 10, "the walk found only {found:?}; is the root right?");
    found.sort();
    found
}

fn walk(folder: &Path, path: &str, found: &mut Vec<String>) {
    found.push(format!("{path}/"));
    for entry in list(folder) {
        let name = file_name(&entry);
        let below = format!("{path}/{name}");
        if entry.is_symlink() || SKIPPED.contains(&name.as_str()) {
            continue;
        } else if entry.is_dir() {
            walk(&entry, &below, found);
        } else {
            found.push(below);
        }
    }
}

fn list(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("cannot list {}: {e}", folder.display()));
    entries.filter_map(|entry| entry.ok().map(|e| e.path())).collect()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn sources(endings: &[&str]) -> Vec<Source> {
    let wanted = |path: &String| endings.iter().any(|ending| path.ends_with(ending));
    paths().into_iter().filter(wanted).map(read).collect()
}

fn read(path: String) -> Source {
    let bytes = fs::read(root().join(&path)).unwrap_or_else(|e| panic!("cannot read {path}: {e}"));
    Source { text: String::from_utf8_lossy(&bytes).into_owned(), path }
}

/// The manifests of the workspace's crates, not of what a crate carries along.
fn manifests() -> Vec<Source> {
    let is_crate = |file: &Source| file.path.starts_with("crates/") && file.path.matches('/').count() == 2;
    sources(&["/Cargo.toml"]).into_iter().filter(is_crate).collect()
}

fn report(offences: Vec<String>) {
    assert!(offences.is_empty(), "{} offences\n{}", offences.len(), offences.join("\n"));
}

// Rust as text.

/// The text with comments, strings and characters blanked out, line for line.
fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = blank_end(&chars, at).min(chars.len());
        code.extend(chars[at..end].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
        if end == at {
            code.push(chars[at]);
        }
        at = end.max(at + 1);
    }
    code
}

/// Where the comment or literal that starts at `at` ends; `at` itself if none starts there.
fn blank_end(chars: &[char], at: usize) -> usize {
    let rest = &chars[at..];
    let in_word = at > 0 && is_word(chars[at - 1]);
    match rest {
        ['/', '/', ..] => at + rest.iter().position(|c| *c == '\n').unwrap_or(rest.len()),
        ['/', '*', ..] => at + comment_length(rest),
        ['"', ..] => at + quoted_length(rest, '"'),
        ['\'', '\\', ..] => at + quoted_length(rest, '\''),
        ['\'', _, '\'', ..] => at + 3,
        ['r', '"' | '#', ..] if !in_word => at + raw_length(rest, 1),
        ['b' | 'c', 'r', '"' | '#', ..] if !in_word => at + raw_length(rest, 2),
        _ => at,
    }
}

/// Block comments nest.
fn comment_length(rest: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match &rest[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn quoted_length(rest: &[char], quote: char) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// Zero for `r#name`, which is not a string.
fn raw_length(rest: &[char], prefix: usize) -> usize {
    let hashes = rest[prefix..].iter().take_while(|c| **c == '#').count();
    let start = prefix + hashes;
    if rest.get(start) != Some(&'"') {
        return 0;
    }
    let closes =
        |at: usize| rest[at] == '"' && rest[at + 1..].iter().take_while(|c| **c == '#').count() >= hashes;
    let end = (start + 1..rest.len()).find(|at| closes(*at));
    end.map_or(rest.len(), |at| at + 1 + hashes)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c| !is_word(c)).filter(|word| !word.is_empty())
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The first line after `start` that closes what `start` opened.
fn block_end(lines: &[&str], start: usize) -> usize {
    let closes = |line: &&str| line.trim_start().starts_with('}') && indent(line) == indent(lines[start]);
    lines[start + 1..].iter().position(closes).map_or(lines.len() - 1, |offset| start + 1 + offset)
}

/// Marks the lines of inline `#[cfg(test)] mod` blocks.
fn test_lines(lines: &[&str]) -> Vec<bool> {
    let mut marks = vec![false; lines.len()];
    for (start, line) in lines.iter().enumerate() {
        if line.trim() != "#[cfg(test)]" {
            continue;
        }
        let item = (start + 1..lines.len()).find(|at| !lines[*at].trim_start().starts_with("#["));
        let Some(item) = item else { continue };
        if words(lines[item]).any(|word| word == "mod") && lines[item].trim_end().ends_with('{') {
            marks[start..=block_end(lines, item)].fill(true);
        }
    }
    marks
}

/// The lines of code outside inline test modules, with their index.
fn production_lines<'a>(lines: &[&'a str]) -> Vec<(usize, &'a str)> {
    let marks = test_lines(lines);
    lines.iter().copied().enumerate().filter(|(at, _)| !marks[*at]).collect()
}

fn function_name(line: &str) -> Option<&str> {
    let qualifiers = ["pub", "const", "async", "unsafe", "extern"];
    let mut parts = line.split_whitespace().skip_while(|p| {
        qualifiers.contains(p) || p.starts_with("pub(") || p.ends_with(')') && !p.contains("fn")
    });
    (parts.next() == Some("fn")).then(|| parts.next().and_then(|p| words(p).next())).flatten()
}

/// The last line of the function that starts at `start`; `start` itself if it has no body or is a one-liner.
fn function_end(lines: &[&str], start: usize) -> usize {
    let first = lines[start].trim_end();
    if first.ends_with(';') || first.ends_with('}') {
        return start;
    }
    let header = lines[start..].iter().position(|l| l.trim_end().ends_with(['{', ';']));
    match header.map(|offset| start + offset) {
        Some(at) if lines[at].trim_end().ends_with('{') => block_end(lines, start),
        _ => start,
    }
}

// The checks.

fn long_functions(file: &Source) -> Vec<String> {
    let code = code_only(&file.text);
    let lines: Vec<&str> = code.lines().collect();
    let mut offences = Vec::new();
    for (start, line) in production_lines(&lines) {
        let Some(name) = function_name(line) else { continue };
        let length = function_end(&lines, start) - start + 1;
        if length > FUNCTION_LINES {
            let what = format!("function `{name}` has {length} lines, the limit is {FUNCTION_LINES}");
            offences.push(file.offence(start, &what));
        }
    }
    offences
}

fn long_file(file: &Source, exempt: &[(&str, &str)]) -> Option<String> {
    let code = code_only(&file.text);
    let lines: Vec<&str> = code.lines().collect();
    let (length, limit) = match file.is_test() {
        true => (lines.len(), TEST_FILE_LINES),
        false => (production_lines(&lines).len(), FILE_LINES),
    };
    let is_exempt = exempt.iter().any(|(path, _)| *path == file.path);
    let what = format!("file has {length} lines without its test module, the limit is {limit}");
    (length > limit && !is_exempt).then(|| file.offence(0, &what))
}

fn no_opening(file: &Source) -> Option<String> {
    let what = "file does not open with `//!`: say what it owns, then why it exists or what it refuses";
    (!file.text.starts_with("//!")).then(|| file.offence(0, what))
}

fn unwraps(file: &Source) -> Vec<String> {
    let code = code_only(&file.text);
    let lines: Vec<&str> = code.lines().collect();
    let found = production_lines(&lines).into_iter().filter(|(_, line)| line.contains(".unwrap()"));
    let what = "`unwrap` outside tests: return an error, or `expect` with the reason why it holds";
    found.map(|(at, _)| file.offence(at, what)).collect()
}

fn unsafe_uses(file: &Source, allowed: &[&str]) -> Vec<String> {
    let raw: Vec<&str> = file.text.lines().collect();
    let explained = |at: usize| raw[at.saturating_sub(3)..=at].iter().any(|line| line.contains("SAFETY:"));
    let mut offences = Vec::new();
    for (at, line) in code_only(&file.text).lines().enumerate() {
        if !words(line).any(|word| word == "unsafe") {
            continue;
        } else if !allowed.contains(&file.path.as_str()) {
            offences.push(file.offence(at, "`unsafe` in a file that is not on the list in tidy.rs"));
        } else if !explained(at) {
            offences.push(file.offence(at, "`unsafe` without a SAFETY comment within the 3 lines above"));
        }
    }
    offences
}

/// Marks of unfinished work. In pieces, so that this file does not hold one.
fn open_marks() -> [String; 3] {
    [["TO", "DO"].concat(), ["FIX", "ME"].concat(), ["XX", "X"].concat()]
}

fn unfinished(file: &Source) -> Vec<String> {
    let marks = open_marks();
    let mut offences = Vec::new();
    for (at, line) in file.text.lines().enumerate() {
        for mark in marks.iter().filter(|mark| words(line).any(|word| word == mark.as_str())) {
            let numbered = line.split(&format!("{mark}(#")).nth(1);
            if !numbered.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
                offences
                    .push(file.offence(at, &format!("{mark} without an issue number: write {mark}(#12)")));
            }
        }
    }
    offences
}

fn bad_name(path: &str) -> Option<String> {
    let name = path.trim_end_matches('/').rsplit('/').next()?;
    let stem = name.split('.').next()?;
    let what = match name {
        "mod.rs" => "use `foo.rs` beside `foo/`, not `mod.rs`",
        _ if EMPTY_NAMES.contains(&stem.to_lowercase().as_str()) => {
            "the name says nothing about what is inside"
        }
        _ => return None,
    };
    Some(format!("{path}:1: {what}"))
}

/// What an architecture page may name.
struct Known<'a> {
    /// As `paths()` gives them.
    paths: &'a [String],
    types: HashSet<String>,
    exists: &'a dyn Fn(&str) -> bool,
}

fn type_names(files: &[Source]) -> HashSet<String> {
    let mut names = HashSet::new();
    for file in files {
        let code = code_only(&file.text);
        let all: Vec<&str> = words(&code).collect();
        let defined =
            all.windows(2).filter(|pair| ["struct", "enum", "trait", "type", "union"].contains(&pair[0]));
        names.extend(defined.map(|pair| pair[1].to_string()));
    }
    names
}

/// Words in backticks that do not exist. What is planned stands on a line, or under a heading, that says
/// "later".
fn stale_names(file: &Source, known: &Known) -> Vec<String> {
    let mut offences = Vec::new();
    let (mut fenced, mut planned_level) = (false, None);
    for (at, line) in file.text.lines().enumerate() {
        let is_later = words(&line.to_lowercase()).any(|word| word == "later");
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && line.starts_with('#') {
            let level = line.chars().take_while(|c| *c == '#').count();
            if planned_level.is_none_or(|above| level <= above) {
                planned_level = is_later.then_some(level);
            }
        } else if !fenced && planned_level.is_none() && !is_later {
            let spans = line.split('`').skip(1).step_by(2);
            offences.extend(spans.filter_map(|span| stale(span, known)).map(|what| file.offence(at, &what)));
        }
    }
    offences
}

fn stale(span: &str, known: &Known) -> Option<String> {
    let is_plain = span.chars().all(|c| is_word(c) || "./-:".contains(c));
    if !is_plain || span.is_empty() || span.starts_with('/') || span.contains("://") {
        return None;
    }
    if span.starts_with("onecopy-") && span.chars().all(|c| c.is_ascii_lowercase() || c == '-') {
        let folder = format!("crates/{span}/");
        return (!known.paths.contains(&folder)).then(|| format!("there is no crate `{span}`"));
    }
    if span.contains('/') || PATH_ENDINGS.iter().any(|ending| span.ends_with(ending)) {
        return stale_path(span, known);
    }
    let name = span.split("::").next()?;
    (is_camel_case(name) && !known.types.contains(name))
        .then(|| format!("there is no type `{name}` in crates/"))
}

fn stale_path(span: &str, known: &Known) -> Option<String> {
    let wanted = span.trim_start_matches("./").trim_end_matches('/');
    if (known.exists)(wanted) {
        return None;
    }
    let suffix = format!("/{wanted}");
    let in_sources = |path: &&String| path.starts_with("crates/") && path.contains("/src/");
    let all = known.paths.iter().filter(in_sources).map(|path| path.trim_end_matches('/'));
    let matches: Vec<&str> = all.filter(|path| path.ends_with(&suffix)).collect();
    match matches.len() {
        0 => Some(format!("there is no `{span}` at the root or in a crate's src/")),
        1 => None,
        _ => Some(format!("`{span}` could be any of {}", matches.join(", "))),
    }
}

fn is_camel_case(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric())
        && name.contains(|c: char| c.is_ascii_lowercase())
}

/// Names under `[dependencies]` and its per-target kin, with their line index. Our own crates are left out.
fn dependencies(manifest: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut inside = false;
    for (at, line) in manifest.lines().map(str::trim).enumerate() {
        if let Some(table) = line.strip_prefix('[') {
            let table = table.trim_end_matches(']');
            inside =
                table == "dependencies" || table.starts_with("target.") && table.ends_with(".dependencies");
            found.extend(table.strip_prefix("dependencies.").map(|name| (at, name.to_string())));
        } else if inside && !line.is_empty() && !line.starts_with('#') {
            let name = line.split(['=', '.', ' ']).next().unwrap_or(line);
            found.push((at, name.trim_matches('"').to_string()));
        }
    }
    found.retain(|(_, name)| name != "onecopy" && !name.starts_with("onecopy-"));
    found
}

fn undecided_dependencies(manifest: &Source, decisions: &str) -> Vec<String> {
    let undecided = |(at, name): (usize, String)| {
        let what = format!("no page in docs/decisions/ names the dependency `{name}`");
        (!decisions.contains(&format!("`{name}`"))).then(|| manifest.offence(at, &what))
    };
    dependencies(&manifest.text).into_iter().filter_map(undecided).collect()
}

fn machine_paths(file: &Source) -> Vec<String> {
    let homes = ["work", "root", "home", "farm", "Users"].map(|folder| format!("/{folder}/"));
    let mut offences = Vec::new();
    for (at, line) in file.text.lines().enumerate() {
        for home in &homes {
            let starts =
                line.match_indices(home.as_str()).map(|(start, _)| line[..start].chars().next_back());
            let is_absolute =
                |before: Option<char>| before.is_none_or(|c| !is_word(c) && !"./-*>".contains(c));
            if starts.into_iter().any(is_absolute) {
                offences.push(file.offence(at, &format!("a path of one machine: {home}")));
            }
        }
    }
    offences
}

// The checks over the repository.

#[test]
fn functions_are_short() {
    let files = sources(&[".rs"]).into_iter().filter(|file| !file.is_test());
    report(files.flat_map(|file| long_functions(&file)).collect());
}

#[test]
fn files_are_short() {
    let mut offences: Vec<String> =
        sources(&[".rs"]).iter().filter_map(|file| long_file(file, LONG_FILES)).collect();
    for (path, reason) in LONG_FILES {
        assert!(!reason.is_empty(), "{path} is exempt without a reason");
        let needed = root().join(path).is_file() && long_file(&read(path.to_string()), &[]).is_some();
        offences.extend((!needed).then(|| format!("{path}:1: no longer needs its exemption in tidy.rs")));
    }
    report(offences);
}

#[test]
fn files_say_what_they_own() {
    report(sources(&[".rs"]).iter().filter_map(no_opening).collect());
}

#[test]
fn nothing_unwraps_outside_tests() {
    let files = sources(&[".rs"]).into_iter().filter(|file| !file.may_unwrap());
    report(files.flat_map(|file| unwraps(&file)).collect());
}

#[test]
fn unsafe_is_listed_and_explained() {
    report(sources(&[".rs"]).iter().flat_map(|file| unsafe_uses(file, UNSAFE_FILES)).collect());
}

#[test]
fn crates_inherit_the_lints() {
    let lacking = manifests().into_iter().filter(|file| !file.text.contains("[lints]\nworkspace = true"));
    report(lacking.map(|file| file.offence(0, "lacks `[lints]` with `workspace = true`")).collect());
}

#[test]
fn unfinished_work_has_an_issue() {
    let files = sources(&[".rs", ".py", ".pyi", ".js", ".ts", ".css", ".html", ".toml", ".sh", ".yml"]);
    report(files.iter().flat_map(unfinished).collect());
}

#[test]
fn names_mean_something() {
    report(paths().iter().filter_map(|path| bad_name(path)).collect());
}

#[test]
fn architecture_names_what_exists() {
    let all = paths();
    let rust = sources(&[".rs"]).into_iter().filter(|file| file.path.starts_with("crates/"));
    let exists = |path: &str| root().join(path).exists();
    let known = Known { types: type_names(&rust.collect::<Vec<_>>()), paths: &all, exists: &exists };
    report(stale_names(&read("ARCHITECTURE.md".to_string()), &known));
}

#[test]
fn dependencies_are_decided() {
    let pages = sources(&[".md"]).into_iter().filter(|file| file.path.starts_with("docs/decisions/"));
    let decisions: String = pages.map(|file| file.text).collect();
    report(manifests().iter().flat_map(|file| undecided_dependencies(file, &decisions)).collect());
}

#[test]
fn documents_name_no_machine() {
    report(sources(&[".md", ".toml", ".sh", ".yml"]).iter().flat_map(machine_paths).collect());
}

// Each check catches what it is for.

fn source(path: &str, text: impl Into<String>) -> Source {
    Source { path: path.to_string(), text: text.into() }
}

/// How many offences, and that each says where it is.
fn caught(offences: impl IntoIterator<Item = String>, at: &[&str]) {
    let offences: Vec<String> = offences.into_iter().collect();
    assert_eq!(offences.len(), at.len(), "{offences:?}");
    for (offence, start) in offences.iter().zip(at) {
        assert!(offence.starts_with(start), "{offence} should start with {start}");
    }
}

fn function(signature: &str, body_lines: usize) -> String {
    format!("{signature} {{\n{}}}\n", "    work();\n".repeat(body_lines))
}

#[test]
fn catches_a_long_function() {
    let text = function("fn short()", 68) + &function("pub(crate) async fn long()", 69);
    caught(long_functions(&source("a.rs", &text)), &["a.rs:71: function `long` has 71 lines"]);
    let header = "fn wide<T>(\n    a: T,\n)\nwhere\n    T: Copy,\n";
    let wide = header.to_string() + &function("", 66).replacen(' ', "", 1);
    caught(long_functions(&source("a.rs", &wide)), &["a.rs:1: function `wide` has 73 lines"]);
}

#[test]
fn measures_only_what_is_a_function() {
    let braces = "fn f() {\n    let s = r#\"\n}\n\"#;\n    let c = '}'; // }\n    /* }\n} */\n}\n";
    let lines = code_only(braces);
    assert_eq!(function_end(&lines.lines().collect::<Vec<_>>(), 0), 7);
    let tests = format!(
        "#[cfg(test)]\nmod tests {{\n    fn long() {{\n{}    }}\n}}\n",
        "        work();\n".repeat(90)
    );
    let declared = "trait T {\n    fn a(&self) -> [u8; 4];\n    fn b(\n        &self,\n    ) -> u8;\n}\n";
    let ones = "fn one() { work() }\n".repeat(90) + &declared.repeat(20);
    caught(long_functions(&source("a.rs", ones + &tests)), &[]);
}

#[test]
fn knows_code_from_text() {
    let first = r#"let a = b"x.unwrap()"; // unsafe"#;
    let second = r###"let l: &'static str = "\""; let c = '"'; let r#type = br##""#"##;"###;
    let code = code_only(&[first, second].join("\n"));
    assert_eq!(code.lines().count(), 2);
    assert!(!code.contains("unwrap") && !code.contains("unsafe") && !code.contains('"'), "{code}");
    assert!(code.contains("'static") && code.contains("r#type") && code.ends_with(';'), "{code}");
}

#[test]
fn catches_a_long_file() {
    let long = "work();\n".repeat(501);
    caught(long_file(&source("a/b.rs", &long), &[]), &["a/b.rs:1: file has 501 lines"]);
    caught(long_file(&source("a/b.rs", &long), &[("a/b.rs", "a table")]), &[]);
    caught(long_file(&source("a/tests/it.rs", &long), &[]), &[]);
    caught(long_file(&source("a/tests.rs", long.repeat(2)), &[]), &["a/tests.rs:1: file has 1002 lines"]);
    let tested = "work();\n".repeat(500) + "#[cfg(test)]\nmod tests {\n    work();\n}\n";
    caught(long_file(&source("a/b.rs", tested), &[]), &[]);
}

#[test]
fn catches_a_silent_file() {
    caught(no_opening(&source("a.rs", "use std::fs;\n//! Late.\n")), &["a.rs:1: "]);
    caught(no_opening(&source("a.rs", "//! Owns a.\n")), &[]);
}

#[test]
fn catches_an_unwrap() {
    let text = "/// x.unwrap()\nfn f() {\n    x.unwrap();\n    x.unwrap_or(1);\n}\n";
    let tests =
        "#[cfg(test)]\n#[allow(dead_code)]\nmod tests {\n    fn f() {\n        x.unwrap();\n    }\n}\n";
    caught(unwraps(&source("a.rs", text.to_string() + tests)), &["a.rs:3: "]);
    assert!(source("crates/a/tests/it/b.rs", "").may_unwrap() && source("a/b/tests.rs", "").may_unwrap());
    assert!(!source("crates/a/src/contests.rs", "").may_unwrap());
}

#[test]
fn catches_unsafe() {
    let text = "#![deny(unsafe_code)]\n// unsafe\nfn f() {\n    unsafe { g() }\n}\n";
    caught(unsafe_uses(&source("a.rs", text), &[]), &["a.rs:4: `unsafe` in a file"]);
    caught(unsafe_uses(&source("a.rs", text), &["a.rs"]), &["a.rs:4: `unsafe` without"]);
    let explained = "// SAFETY: g has no\n// conditions.\nunsafe { g() }\n";
    caught(unsafe_uses(&source("a.rs", explained), &["a.rs"]), &[]);
}

#[test]
fn catches_unfinished_work() {
    for mark in open_marks() {
        let text =
            format!("// {mark}(#7): known\n// {mark}: later\n// {mark}(me)\n// {mark}_NAME {mark}(#7)\n");
        caught(unfinished(&source("a.rs", text)), &["a.rs:2: ", "a.rs:3: "]);
    }
}

#[test]
fn catches_an_empty_name() {
    let named = ["a/src/mod.rs", "a/utils/", "a/Helpers.py", "web/common.css", "a/v2/"];
    caught(named.iter().filter_map(|path| bad_name(path)), &named);
    caught(["a/src/model.rs", "a/news.rs", "a/renew/", "old-fork/"].iter().filter_map(|p| bad_name(p)), &[]);
}

#[test]
fn catches_a_rotten_map() {
    let listed =
        ["crates/onecopy-core/", "crates/onecopy-core/src/page.rs", "crates/onecopy-core/src/method/"];
    let twice = ["crates/onecopy-core/src/lib.rs", "crates/onecopy-engine/src/lib.rs"];
    let all: Vec<String> = listed.iter().chain(&twice).map(|path| path.to_string()).collect();
    let types = type_names(&[source("a.rs", "pub struct Page;\n// struct Ghost;\nenum Kind<T> { A(T) }")]);
    let exists = |path: &str| path == "docs/FORMAT.md" || path == "test";
    let known = Known { paths: &all, types, exists: &exists };
    let good = "`Page`, `Kind::A`, `page.rs`, `method/`, `onecopy-core`, `docs/FORMAT.md`\n";
    let free = "`./test`, `cargo test`, `/v1/pages`, `LCS`\n";
    let skipped =
        "`Later` comes later.\n```text\n`Fenced`\n```\n## Later\n### `Planned`\n`Planned`\n## Now\n";
    let bad = "`Ghost`\n`lib.rs`\n`gone.rs`\n`onecopy-gone`\n`docs/GONE.md` and `Kind`\n";
    let offences = stale_names(&source("A.md", [good, free, skipped, bad].concat()), &known);
    let types = ["A.md:11: there is no type"];
    let paths = ["A.md:12: `lib.rs` could be any of", "A.md:13: there is no", "A.md:14: there is no crate"];
    let expected = [&types[..], &paths[..], &["A.md:15: there is no `docs/GONE.md`"]].concat();
    caught(offences, &expected);
}

#[test]
fn catches_a_dependency_without_a_reason() {
    let taken =
        "[dependencies]\nonecopy-core.workspace = true\n# why\nserde = \"1\"\nrayon.workspace = true\n";
    let tests = "[dev-dependencies]\ntempfile = \"3\"\n";
    let other = "[target.'cfg(unix)'.dependencies]\nnix = \"0.30\"\n[dependencies.zstd]\nversion = \"1\"\n";
    let manifest = [taken, tests, other].concat();
    let offences = undecided_dependencies(&source("Cargo.toml", manifest), "We take `serde` and rayon.");
    let expected = ["Cargo.toml:5: no page in docs/decisions/ names", "Cargo.toml:9: ", "Cargo.toml:10: "];
    caught(offences, &expected);
}

#[test]
fn catches_a_machine_path() {
    let [bad, quoted] = ["work", "home"].map(|folder| format!("/{folder}/x"));
    let text =
        format!("see {bad}\nsee `{quoted}`\nsee https://site.example{bad} and a{bad} and ./a/..{bad}\n");
    caught(machine_paths(&source("a.md", text)), &["a.md:1: ", "a.md:2: "]);
}

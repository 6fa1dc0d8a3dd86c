//! Rules on code: short functions and files, `unwrap`, `unsafe`, lints, names, and unfinished work.

use super::rust::{code_only, function_end, function_name, literals_only, production_lines, words};
use super::{Source, caught, paths, read, report, root, source, sources};

/// Longest function outside tests, in lines with signature and closing brace.
const FUNCTION_LINES: usize = 70;
/// Longest file, not counting its inline test module.
const FILE_LINES: usize = 500;
/// Longest test file.
const TEST_FILE_LINES: usize = 800;
/// Files that may be longer: path and reason.
const LONG_FILES: &[(&str, &str)] =
    &[("crates/onecopy-core/src/page/html/main/model/weights.rs", "a table of numbers that training writes")];
/// Files that may contain `unsafe`, each use below a `SAFETY:` comment.
const UNSAFE_FILES: &[&str] = &[
    "crates/onecopy-core/src/decide/candidate/wide.rs",
    "crates/onecopy-core/src/page/html/main/model/wide.rs",
    "crates/onecopy-core/src/text/canonical/simd.rs",
    "crates/onecopy-core/src/text/canonical/wide.rs",
    // Plain code, compiled again for machines with a popcount instruction.
    "crates/onecopy-core/src/refine/tags/simd.rs",
    "crates/onecopy-core/src/similarity/filter/simd.rs",
    "crates/onecopy-core/src/similarity/hamming/simd.rs",
    "crates/onecopy-core/src/similarity/outline/simd.rs",
    "crates/onecopy-core/src/similarity/sketch/wide.rs",
    "crates/onecopy-engine/src/ingest/record/scan/wide.rs",
    // Advice to the system about memory.
    "crates/onecopy-engine/src/io/advice.rs",
    // Streams of other libraries, by the Arrow interface of C.
    "crates/onecopy-python/src/arrow.rs",
    "crates/onecopy/src/allocator.rs",
];
/// Names that say nothing about their contents.
const EMPTY_NAMES: &[&str] = &["utils", "common", "helpers", "manager", "new", "v2", "old"];

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

/// Texts of the libraries that name an option or a command of the program.
fn command_lines(file: &Source) -> Vec<String> {
    let (code, literals) = (code_only(&file.text), literals_only(&file.text));
    let (code, literals): (Vec<&str>, Vec<&str>) = (code.lines().collect(), literals.lines().collect());
    let names_option = |text: &str| {
        text.match_indices("--").any(|(at, dashes)| {
            text[..at].ends_with([' ', '`', '"', '(', '['])
                && text[at + dashes.len()..].starts_with(|c: char| c.is_ascii_lowercase())
        })
    };
    let found = production_lines(&code).into_iter().map(|(at, _)| at);
    let found = found
        .filter(|at| literals.get(*at).is_some_and(|text| names_option(text) || text.contains("`onecopy ")));
    let what = "a library names an option or a command: let the program's remedy.rs do that";
    found.map(|at| file.offence(at, what)).collect()
}

/// Marks of unfinished work, written in pieces so that this file contains none.
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
fn libraries_know_no_command_line() {
    let libraries =
        ["onecopy-core", "onecopy-engine", "onecopy-store"].map(|name| format!("crates/{name}/src/"));
    let is_library = |file: &Source| libraries.iter().any(|folder| file.path.starts_with(folder));
    let files = sources(&[".rs"]).into_iter().filter(|file| is_library(file) && !file.is_test());
    report(files.flat_map(|file| command_lines(&file)).collect());
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
fn unfinished_work_has_an_issue() {
    let files = sources(&[".rs", ".py", ".pyi", ".js", ".ts", ".css", ".html", ".toml", ".sh", ".yml"]);
    report(files.iter().flat_map(unfinished).collect());
}

#[test]
fn names_mean_something() {
    report(paths().iter().filter_map(|path| bad_name(path)).collect());
}

// Each check catches an offence.

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
fn catches_a_command_line_in_a_library() {
    let text = "/// See --memory.\nlet a = \"give --memory 1G\";\nlet b = \"--out\";\nlet c = \"run `onecopy check`\";\n";
    let right = "let d = \"xn--p1ai <!--x a -- b\"; // --memory\nlet e = a - --b;\n";
    let tests = "#[cfg(test)]\nmod tests {\n    let f = \" --out\";\n}\n";
    let file = source("a.rs", [text, right, tests].concat());
    caught(command_lines(&file), &["a.rs:2: a library names", "a.rs:3: ", "a.rs:4: "]);
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

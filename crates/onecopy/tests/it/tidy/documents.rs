//! Rules on documents and manifests. The architecture page names existing things and stays short, every dependency has
//! a reason, and no document contains a path of one machine.

use std::collections::HashSet;

use super::rust::{code_only, is_word, words};
use super::{Source, caught, paths, read, report, root, source, sources};

/// Endings that mark a word in backticks as a path.
const PATH_ENDINGS: &[&str] = &[".rs", ".md", ".toml", ".py", ".html", ".js", ".css", ".sh", ".yml"];
/// Longest architecture page, in lines.
const ARCHITECTURE_LINES: usize = 150;
/// By this line the README shows a command and its output.
const README_LINES: usize = 15;

/// The names that an architecture page may use.
struct Known<'a> {
    /// As returned by `paths()`.
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

/// Words in backticks that do not exist. Planned names must be on a line, or under a heading, that says "later".
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

/// The manifests of the workspace's crates, without nested ones.
fn manifests() -> Vec<Source> {
    let is_crate = |file: &Source| file.path.starts_with("crates/") && file.path.matches('/').count() == 2;
    sources(&["/Cargo.toml"]).into_iter().filter(is_crate).collect()
}

/// Names under `[dependencies]` and its per-target variants, with their line index. Our own crates are left out.
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

fn long_map(file: &Source) -> Option<String> {
    let length = file.text.lines().count();
    let what = format!("{length} lines, the limit is {ARCHITECTURE_LINES}: name folders, not files");
    (length > ARCHITECTURE_LINES).then(|| file.offence(0, &what))
}

fn late_command(file: &Source) -> Option<String> {
    let first: Vec<&str> = file.text.lines().take(README_LINES).collect();
    let command = first.iter().position(|line| line.starts_with("$ "));
    let has_output = command.is_some_and(|at| first.get(at + 1).is_some_and(|line| !line.starts_with("```")));
    let what = format!("no command with its output within the first {README_LINES} lines");
    (!has_output).then(|| file.offence(0, &what))
}

// The checks over the repository.

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

#[test]
fn crates_inherit_the_lints() {
    // The Python package is a workspace of its own, which cannot inherit.
    let own = |text: &str| text.contains("[workspace]\n") && text.contains("unsafe_code = \"deny\"");
    let inherits = |text: &str| text.contains("[lints]\nworkspace = true");
    let lacking = manifests().into_iter().filter(|file| !inherits(&file.text) && !own(&file.text));
    report(lacking.map(|file| file.offence(0, "lacks `[lints]` with `workspace = true`")).collect());
}

#[test]
fn the_architecture_page_is_short() {
    report(long_map(&read("ARCHITECTURE.md".to_string())).into_iter().collect());
}

#[test]
fn the_readme_starts_with_a_command() {
    report(late_command(&read("README.md".to_string())).into_iter().collect());
}

// Each check catches an offence.

#[test]
fn catches_a_rotten_map() {
    let listed = [
        "crates/onecopy-core/",
        "crates/onecopy-core/src/page.rs",
        "crates/onecopy-core/src/similarity/method/",
    ];
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

#[test]
fn catches_a_long_map_and_a_late_command() {
    caught(long_map(&source("A.md", "line\n".repeat(ARCHITECTURE_LINES))), &[]);
    caught(long_map(&source("A.md", "line\n".repeat(ARCHITECTURE_LINES + 1))), &["A.md:1: 151 lines"]);
    let shown =
        |above: usize, output: &str| "text\n".repeat(above) + "```console\n$ onecopy\n" + output + "```\n";
    caught(late_command(&source("R.md", shown(2, "137 pages\n"))), &[]);
    caught(late_command(&source("R.md", shown(2, ""))), &["R.md:1: no command"]);
    caught(late_command(&source("R.md", shown(14, "137 pages\n"))), &["R.md:1: no command"]);
}

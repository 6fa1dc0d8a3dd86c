//! Help names every default, completions exist, wrong calls exit with 2.

use crate::program::{Finished, onecopy};

/// The output with each run of white space as one space, since line breaks do not matter.
fn flat(finished: &Finished) -> String {
    finished.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn help_shows_the_commands_and_examples() {
    let text = flat(&onecopy(["--help"]).succeed());
    const COMMANDS: [&str; 18] = [
        "dedup",
        "explain",
        "compare",
        "mirrors",
        "eval",
        "layout",
        "partitions",
        "import",
        "export",
        "status",
        "groups",
        "pages",
        "check",
        "backup",
        "restore",
        "methods",
        "completions",
        "man",
    ];
    for word in COMMANDS.into_iter().chain(["Examples:", "onecopy dedup", "--version"]) {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
    for command in COMMANDS {
        for flag in ["-h", "--help"] {
            let text = flat(&onecopy([command, flag]).succeed());
            assert!(text.contains(&format!("Examples: onecopy {command}")), "{command} {flag}: {text}");
        }
    }
}

#[test]
fn help_names_every_default() {
    let text = flat(&onecopy(["dedup", "--help"]).succeed());
    let options: Vec<&str> = text.split(" --").collect();
    for (option, default) in [
        ("method", "auto"),
        ("threshold", "the method's own, 0.8 for auto"),
        ("shingle", "5"),
        ("unit", "words"),
        ("winner", "popularity,static,short-url,older,longer"),
        ("memory", "1G"),
        ("threads", "one per core"),
        ("max-page", "4M"),
        ("max-expansion", "1000"),
    ] {
        let described = options.iter().find(|described| described.starts_with(&format!("{option} <")));
        let described = described.unwrap_or_else(|| panic!("--{option} is not in: {text}"));
        let expected = format!("[default: {default}]");
        assert!(described.contains(&expected), "`{expected}` is not in: --{described}");
    }
}

#[test]
fn help_says_where_the_results_are_and_that_a_run_continues() {
    let text = flat(&onecopy(["dedup", "--help"]).succeed());
    let files = ["kept/", "removed.jsonl", "groups.jsonl", "rejected.jsonl", "report.json", "run.json"];
    for word in
        files.into_iter().chain(["Higher: fewer pages removed", "Never changes the answer", "continues"])
    {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
}

#[test]
fn the_defaults_that_help_shows_can_be_typed() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = crate::pages::write_records(folder.path(), "in.jsonl", &[("a", "one two three")]);
    let out = folder.path().join("out");
    crate::program::dedup(&input, &out).succeed();
    let typed = "--method auto --threshold 0.8 -k 5 --unit words --winner popularity,static,short-url,older,longer \
                 --memory 1G --max-page 4M --max-expansion 1000";
    let again = crate::program::dedup(&input, &out).args(typed).succeed();
    assert!(again.stdout.contains("the results of this run"), "the defaults are others: {}", again.stdout);
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let script = onecopy(["completions", shell]).succeed().stdout;
        for word in ["onecopy", "dedup", "explain", "threshold", "overwrite"] {
            assert!(script.contains(word), "{shell}: no `{word}`");
        }
    }
    onecopy(["completions", "abacus"]).fail(2);
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("man1");
    let dir = out.to_str().expect("a path that is UTF-8");
    onecopy(["man", "--out", dir]).succeed();
    let page = |name: &str| std::fs::read_to_string(out.join(name)).expect("a page");
    for (name, words) in [
        ("onecopy.1", ["NAME", "onecopy\\-dedup(1)", "EXAMPLES"]),
        ("onecopy-dedup.1", ["\\-\\-threshold", "EXAMPLES\n.nf\nonecopy dedup", "NOTES"]),
        ("onecopy-layout-plan.1", ["\\-\\-servers", "EXAMPLES", "NOTES"]),
        ("onecopy-serve.1", ["onecopy\\-serve \\- ", "EXIT STATUS", "SEE ALSO"]),
    ] {
        for word in words {
            assert!(page(name).contains(word), "{name}: no `{word}` in {}", page(name));
        }
    }
    assert_eq!(onecopy(["man"]).succeed().stdout, page("onecopy.1"));
    assert_eq!(onecopy(["man", "dedup"]).succeed().stdout, page("onecopy-dedup.1"));
    onecopy(["man", "undo"]).fail(2).says(&["undo", "onecopy --help"]);
}

#[test]
fn the_version_is_that_of_the_crate() {
    let printed = onecopy(["--version"]).succeed().stdout;
    assert_eq!(printed.trim(), concat!("onecopy ", env!("CARGO_PKG_VERSION")));
}

#[test]
fn wrong_calls_end_with_2_and_name_what_is_wrong() {
    for (call, named) in [
        ("dedup in.jsonl --out x --colour", "--colour"),
        ("dedup in.jsonl", "--out"),
        ("dedup --out x", "<INPUT>"),
        ("dedup in.jsonl --out x --winner best", "best"),
        ("dedup in.jsonl --out x --unit sentences", "sentences"),
        ("dedup in.jsonl --out x --memory much", "much"),
        ("dedup in.jsonl --out x --threshold high", "high"),
        ("dedup in.jsonl --out x -k -1", "-1"),
        ("explain out", "<A>"),
        ("compare a", "<B>"),
        ("compare a b --content best", "best"),
        ("mirrors", "<DIR>"),
        ("mirrors out --score high", "high"),
        ("mirrors out --least-paths -1", "-1"),
        ("eval", "<SET>"),
        ("eval set --mistakes many", "many"),
        ("import in.jsonl", "--data"),
        ("import --data x", "<INPUT>"),
        ("export --data x --status best", "best"),
        ("status --data x --verify", "<PAGE>"),
        ("groups --data x 3 --least 5", "--least"),
        ("groups --data x first", "first"),
        ("groups --data x --repair", "<GROUP>"),
        ("pages --data x --status best", "best"),
        ("pages --data x --language xx", "xx"),
        ("check", "--data"),
        ("undo", "undo"),
    ] {
        let failed = onecopy(call.split(' ')).fail(2);
        failed.says(&[named]);
        assert_eq!(failed.stdout, "", "{call}");
    }
    onecopy(["dedup"; 0]).fail(2);
}

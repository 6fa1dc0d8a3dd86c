//! `import`, `export`, `status`, `groups`, `pages` and `check`: a collection on disk, without a server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::pages::{record, topic, window, write_corpus, write_file, write_records};
use crate::program::{Call, Finished, dedup, onecopy};
use crate::results::{groups, json_lines, plain, removed};
use crate::warc;

/// A command on the collection `pages` in a folder.
pub fn on(command: &str, folder: &Path) -> Call {
    onecopy([command.into(), "--data".into(), folder.join("pages").into_os_string()])
}

fn import(folder: &Path, input: &Path) -> Call {
    on("import", folder).arg(input)
}

/// The status of every page by name.
pub fn statuses(folder: &Path) -> BTreeMap<String, Value> {
    let list = folder.join("statuses.jsonl");
    on("export", folder).args("--status all --statuses --quiet --out").arg(&list).succeed();
    json_lines(&list).into_iter().map(|status| (plain(&status["page"]), status)).collect()
}

/// Asserts that a collection and a finished run agree on every page.
pub fn assert_as_batch(folder: &Path, out: &Path) {
    let (found, removed) = (statuses(folder), removed(out));
    for (page, status) in &found {
        let told = (plain(&status["winner"]), status["similarity"].to_string(), plain(&status["kind"]));
        match (status["status"].as_str(), removed.get(page)) {
            (Some("loser"), Some(fate)) => assert_eq!(&told, fate, "{page}"),
            (Some("unique" | "winner" | "rejected" | "dead"), None) => {}
            (_, fate) => panic!("{page}: {status}, but {fate:?} in a batch run"),
        }
    }
    assert!(removed.keys().all(|page| found.contains_key(page)));
    let mut joined: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for (page, status) in &found {
        if let Some(group) = status["group"].as_u64() {
            joined.entry(group).or_default().push(page.clone());
        }
    }
    let mut joined: Vec<Vec<String>> = joined.into_values().collect();
    joined.sort();
    let mut batch = groups(out);
    batch.iter_mut().for_each(|members| members.sort());
    batch.sort();
    assert_eq!(joined, batch);
}

fn json_of(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {}", finished.stdout))
}

/// A chain of three windows, a pair of copies, and a page alone.
fn small() -> (TempDir, PathBuf) {
    let folder = tempdir().expect("a folder");
    let pages = [
        ("w0", window(0)),
        ("w3", window(3)),
        ("w6", window(6)),
        ("a", topic("t")),
        ("copy-of-a", topic("t")),
        ("alone", topic("alone")),
    ];
    let pages: Vec<(&str, &str)> = pages.iter().map(|(id, text)| (*id, text.as_str())).collect();
    let input = write_records(folder.path(), "in.jsonl", &pages);
    (folder, input)
}

#[test]
fn an_imported_collection_is_as_a_batch_run_says() {
    let folder = tempdir().expect("a folder");
    let (input, out) = (write_corpus(folder.path(), 1_500), folder.path().join("out"));
    dedup(&input, &out).succeed();
    let said = import(folder.path(), &input).args("--json").succeed();
    let told = json_of(&said);
    assert_eq!(told["imported"]["accepted"], 1_500, "{told}");
    assert_eq!((&told["stats"]["pages"], &told["stats"]["waiting"]), (&json!(1_500), &json!(0)), "{told}");
    assert_eq!(told["stats"]["groups"], groups(&out).len(), "{told}");
    assert_as_batch(folder.path(), &out);
    import(folder.path(), &input).args("-j 3").succeed();
    assert_as_batch(folder.path(), &out);
    on("check", folder.path()).succeed();
}

#[test]
fn a_finished_run_is_imported_as_it_was_told() {
    let (folder, input) = small();
    let out = folder.path().join("out");
    dedup(&input, &out).args("--threshold 0.6 --winner longer").succeed();
    import(folder.path(), &out).args("-t 0.9").fail(2).says(&["a finished run brings its own configuration"]);
    import(folder.path(), &out).succeed();
    assert_as_batch(folder.path(), &out);
    std::fs::remove_file(&input).expect("it is there");
    import(folder.path(), &out).fail(1).says(&["in.jsonl", "no longer exists"]);
}

#[test]
fn the_later_of_two_records_of_one_page_counts() {
    let folder = tempdir().expect("a folder");
    // There are enough pages between the two for different threads to read them.
    let mut lines = String::new();
    for turn in 0..3 {
        lines += &record("a", &topic(&format!("turn{turn}x")));
        for number in 0..4_000 {
            lines += &record(&format!("p{number}"), &topic(&format!("n{number}x")));
        }
    }
    let input = write_file(folder.path(), "in.jsonl", lines + &record("b", &topic("turn2x")));
    import(folder.path(), &input).args("-j 4 --quiet").succeed();
    let found = statuses(folder.path());
    assert_eq!(found.len(), 4_002);
    assert_eq!((&found["b"]["status"], &found["b"]["winner"]), (&json!("loser"), &json!("a")));
}

#[test]
fn archives_folders_and_pipes_are_imported_too() {
    let folder = tempdir().expect("a folder");
    let archive = [
        warc::warcinfo(),
        warc::page("http://a.example/x", &topic("x")),
        warc::page("http://a.example/y", &topic("first")),
        warc::page("http://a.example/y", &topic("x")),
        warc::record("revisit", "http://a.example/x", &[("WARC-Profile", "x")], b""),
    ];
    write_file(folder.path(), "in/crawl.warc", archive.concat());
    write_file(folder.path(), "in/site/z.html", warc::html(&topic("x")));
    let said = import(folder.path(), &folder.path().join("in")).arg("--json").succeed();
    let told = json_of(&said);
    assert_eq!(told["imported"], json!({"read": 5, "accepted": 4, "unchanged": 1, "rejected": 0}), "{told}");
    let mut piped = on("import", folder.path()).args("- --quiet").start();
    piped.feed(format!("{{\"text\": \"{}\"}}\n", topic("x")).as_bytes());
    assert!(piped.finish().status.success());
    let found = statuses(folder.path());
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(names, ["http://a.example/x", "http://a.example/y", "site/z.html", "stdin:1"]);
    assert_eq!(found.values().filter(|status| status["status"] == "loser").count(), 3, "{found:?}");
    assert!(!folder.path().join("pages.import").exists());
}

#[test]
fn fields_by_other_names_are_imported_under_the_usual_ones() {
    let folder = tempdir().expect("a folder");
    let line = json!({"key": 7, "words": topic("x"), "text": "not this"}).to_string() + "\n";
    let input = write_file(folder.path(), "in.jsonl", line);
    import(folder.path(), &input).args("--text-field words --id-field key").succeed();
    let said = on("export", folder.path()).succeed().stdout;
    let exported: Value = serde_json::from_str(&said).expect("a line");
    assert_eq!(exported, json!({"id": 7, "text": topic("x")}));
}

#[test]
fn what_is_rejected_is_told_with_its_line() {
    let folder = tempdir().expect("a folder");
    let mut lines = record("a", &topic("a")) + "\nbroken\n" + &record("silent", "?!");
    for _ in 0..9 {
        lines += "{\"id\":1}\n";
    }
    let input = write_file(folder.path(), "in.jsonl", lines);
    let list = folder.path().join("rejected.jsonl");
    let said = import(folder.path(), &input).arg("--rejected").arg(&list).succeed().stdout;
    assert!(
        said.contains("in.jsonl:3: not JSON: expected") && said.contains("and 6 more; all are in"),
        "{said}"
    );
    let rejected = json_lines(&list);
    let found: Vec<&Value> = rejected.iter().map(|line| &line["line"]).collect();
    assert_eq!(found, (3..=13).map(Value::from).collect::<Vec<_>>().iter().collect::<Vec<_>>());
    let nothing = write_file(folder.path(), "bad.jsonl", "broken\n");
    import(folder.path(), &nothing).fail(1).says(&["none of the 1 records"]);
}

#[test]
fn pages_are_exported_as_they_were_put() {
    let (folder, input) = small();
    import(folder.path(), &input).succeed();
    let text = std::fs::read_to_string(&input).expect("it is there");
    let mut put: Vec<&str> = text.lines().collect();
    put.sort_unstable();
    let all = on("export", folder.path()).args("--status all").succeed().stdout;
    let mut lines: Vec<&str> = all.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, put);
    let out = folder.path().join("kept.jsonl");
    on("export", folder.path()).arg("--out").arg(&out).succeed().says(&["4 pages written"]);
    assert_eq!(json_lines(&out).len(), 4);
    assert_eq!(on("export", folder.path()).args("--status losers").succeed().stdout.lines().count(), 2);
    assert!(!folder.path().join("kept.jsonl.part").exists());
    let nowhere = folder.path().join("none/x.jsonl");
    on("export", folder.path()).arg("--out").arg(&nowhere).fail(1).says(&["cannot create", "x.jsonl"]);
}

#[test]
fn statuses_and_groups_for_people_and_programs() {
    let (folder, input) = small();
    import(folder.path(), &input).succeed();
    let said = on("status", folder.path()).succeed().stdout;
    for words in ["pages             6", "losers             2", "groups by number of pages"] {
        assert!(said.contains(words), "`{words}` is not in\n{said}");
    }
    let told = json_of(&on("status", folder.path()).args("a copy-of-a --verify --json").succeed());
    let loser = told.as_array().expect("an array").iter().find(|status| status["status"] == "loser");
    assert_eq!(loser.expect("one goes")["verified"], true, "{told}");
    let failed = on("status", folder.path()).args("a nobody").fail(1);
    failed.says(&["no page is called `nobody`"]);
    assert!(failed.stdout.contains("unknown"), "{}", failed.stdout);
    let listed = json_of(&on("groups", folder.path()).args("--least 3 --json").succeed());
    assert_eq!((&listed[0]["pages"], &listed[0]["kept"], &listed[1]), (&json!(3), &json!(2), &Value::Null));
    let number = listed[0]["group"].to_string();
    let said = on("groups", folder.path()).args(&number).succeed().stdout;
    for words in ["3 pages, 2 kept", "loser of w", "(near, 0.8"] {
        assert!(said.contains(words), "`{words}` is not in\n{said}");
    }
    on("groups", folder.path()).args(&number).arg("--repair").succeed();
    let found = on("groups", folder.path()).args("--search copy-of").succeed().stdout;
    assert_eq!(found.lines().count(), 2, "{found}");
    on("groups", folder.path()).args("999999").fail(1).says(&["no group has the number 999999"]);
}

#[test]
fn nobody_begins_a_collection_by_mistake() {
    let (folder, input) = small();
    for command in ["export", "status", "groups", "pages", "check"] {
        on(command, folder.path()).fail(1).says(&["has no collection", "onecopy import"]);
    }
    let other = tempdir().expect("a folder");
    std::fs::create_dir(other.path().join("pages")).expect("a folder");
    std::fs::write(other.path().join("pages/letter.txt"), "mine").expect("a file");
    for command in ["export", "status", "groups", "pages", "check"] {
        on(command, other.path()).fail(1).says(&["has no collection", "onecopy import"]);
    }
    assert_eq!(std::fs::read_dir(other.path().join("pages")).expect("a folder").count(), 1);
    import(folder.path(), &input).args("--threshold 2").fail(2).says(&["threshold"]);
    import(folder.path(), &folder.path().join("nothing")).fail(1).says(&["no such file"]);
    import(folder.path(), &input).args("-j 0").fail(2).says(&["threads"]);
    assert!(!folder.path().join("pages").exists());
    import(folder.path(), &input).succeed();
    import(folder.path(), &input)
        .args("--threshold 0.9")
        .fail(2)
        .says(&["begun with another configuration", "leave out the options"]);
}

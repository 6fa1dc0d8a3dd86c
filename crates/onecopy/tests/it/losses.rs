//! Nothing goes missing quietly: unreadable inputs, reasons for rejections, and options that match nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::pages::{gzip, record, topic, write_file, write_records};
use crate::program::{Finished, dedup, onecopy};
use crate::results::{entries, report};
use crate::warc::{page, response};

/// A folder with a good file, one that is cut, one without the text field, and one that is no archive.
fn damaged_site(folder: &Path) -> PathBuf {
    let site = folder.join("site");
    write_records(&site, "good.jsonl", &[("good", &topic("good"))]);
    let lines: String = (0..300).map(|n| record(&format!("p{n}"), &topic(&format!("t{n}x")))).collect();
    let mut cut = gzip(lines.as_bytes());
    cut.truncate(cut.len() / 2);
    write_file(&site, "cut.jsonl.gz", cut);
    write_file(&site, "other.jsonl", "{\"id\":1,\"prose\":\"a b c\"}\n\n{\"id\":2,\"prose\":\"d\"}\n");
    write_file(&site, "page.warc", "<html>not an archive</html>");
    let line = record("whole", &topic("whole"));
    write_file(&site, "torn.jsonl", format!("{line}{}", &line[..line.len() / 2]));
    write_file(&site, "notes.xyz", "of no kind");
    site
}

#[test]
fn unreadable_inputs_are_named_everywhere() {
    let folder = tempdir().expect("a folder");
    let (site, out) = (damaged_site(folder.path()), folder.path().join("out"));
    let finished = dedup(&site, &out).fail(3);
    let pages = report(&out)["unreadable"][0]["pages"].as_u64().expect("a number");
    assert!((50..300).contains(&pages), "{pages}");
    let breaks = format!("cut.jsonl.gz` breaks off after {pages} pages: ");
    let told = [
        &breaks,
        "other.jsonl` could not be read, 2 records lost: no text",
        "page.warc` could not be read: ",
        "torn.jsonl` breaks off after 1 page: the file ends within this record",
    ];
    finished.says(&told);
    for words in [
        "  4  inputs, wholly or in part",
        "see kept/cut.jsonl.gz.incomplete",
        "not read: 1 file of unknown kind",
    ] {
        assert!(finished.stdout.contains(words), "`{words}` is not in\n{}", finished.stdout);
    }
    assert_eq!(
        entries(&out.join("kept")),
        ["cut.jsonl.gz.incomplete", "good.jsonl", "torn.jsonl.incomplete"]
    );
    let unreadable = report(&out)["unreadable"].clone();
    assert_eq!(unreadable[0]["kept"], "cut.jsonl.gz.incomplete");
    let other = json!({"source": "other.jsonl", "reason": unreadable[1]["reason"], "pages": 0, "lost": 2, "kept": null});
    assert_eq!(unreadable[1], other);
    // A second call repeats nothing, and says the same.
    let again = dedup(&site, &out).arg("--quiet").fail(3);
    again.says(&told);
    let again = dedup(&site, &out).arg("--json").fail(3);
    let printed: Value = serde_json::from_str(&again.stdout).expect("stdout is one JSON value");
    assert_eq!(printed["unreadable"], unreadable);
}

#[test]
fn strict_stops_at_the_first_unreadable_input() {
    let folder = tempdir().expect("a folder");
    let (site, out) = (damaged_site(folder.path()), folder.path().join("out"));
    fs::remove_file(site.join("torn.jsonl")).expect("the file");
    dedup(&site, &out).arg("--strict").fail(1).says(&["cut.jsonl.gz", "cannot be read", "--strict"]);
    assert!(!out.join("report.json").exists());
    fs::remove_file(site.join("cut.jsonl.gz")).expect("the file");
    dedup(&site, &out).arg("--strict").fail(1).says(&["other.jsonl", "no text"]);
    dedup(&site, &out).fail(3);
    dedup(&site, &out).arg("--strict").fail(1).says(&["other.jsonl"]);
    for name in ["other.jsonl", "page.warc"] {
        fs::remove_file(site.join(name)).expect("the file");
    }
    dedup(&site, &out).args("--strict --overwrite").succeed();
}

#[test]
fn what_the_system_does_not_let_us_read_is_named() {
    let folder = tempdir().expect("a folder");
    let site = folder.path().join("site");
    write_records(&site, "good.jsonl", &[("good", &topic("good"))]);
    let secret = write_file(&site, "secret.jsonl", record("a", &topic("a")));
    let inner = write_file(&site, "inner/page.txt", topic("b"));
    let inner = inner.parent().expect("a folder").to_owned();
    let allow =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("our file");
    allow(&secret, 0);
    allow(&inner, 0);
    if fs::File::open(&secret).is_ok() {
        allow(&inner, 0o755);
        println!("skipped: root may read all files");
        return;
    }
    let out = folder.path().join("out");
    let finished = dedup(&site, &out).run();
    let strict = dedup(&site, &folder.path().join("strict")).arg("--strict").run();
    allow(&inner, 0o755);
    assert_eq!((finished.code(), strict.code()), (Some(3), Some(1)), "{}", finished.stderr);
    finished.says(&["`secret.jsonl` could not be read", "`inner` could not be read", "denied"]);
    assert_eq!(entries(&out.join("kept")), ["good.jsonl"]);
    assert_eq!(report(&out)["rejected"], 2);
}

#[test]
fn an_import_names_what_it_could_not_read() {
    let folder = tempdir().expect("a folder");
    let site = damaged_site(folder.path());
    let finished = onecopy(["import", "site", "--data", "pages", "--json"]).within(folder.path()).fail(3);
    finished.says(&["cut.jsonl.gz", "could not be read"]);
    let printed: Value = serde_json::from_str(&finished.stdout).expect("stdout is one JSON value");
    let unreadable = printed["imported"]["unreadable"].as_array().expect("a list");
    let names: Vec<&Value> = unreadable.iter().map(|input| &input["source"]).collect();
    assert_eq!(names, ["cut.jsonl.gz", "other.jsonl", "page.warc", "torn.jsonl"]);
    assert_eq!((&unreadable[1]["lost"], &unreadable[3]["pages"]), (&json!(2), &json!(1)));
    for name in ["cut.jsonl.gz", "other.jsonl", "page.warc", "torn.jsonl"] {
        fs::remove_file(site.join(name)).expect("the file");
    }
    let told = onecopy(["import", "site", "--data", "more"]).within(folder.path()).succeed().stdout;
    assert!(told.contains("rejected") && !told.contains("--max-page"), "{told}");
}

/// Runs over one file; the folder must live as long as the results.
fn run(name: &str, bytes: impl AsRef<[u8]>, flags: &str) -> (TempDir, Finished) {
    let folder = tempdir().expect("a folder");
    let input = write_file(folder.path(), name, bytes);
    let finished = dedup(&input, &folder.path().join("out")).args(flags).run();
    (folder, finished)
}

#[test]
fn the_summary_says_what_was_rejected_and_why() {
    let gone = |n| response(&format!("http://a.example/{n}"), "404 Not Found\nContent-Type: text/html", "no");
    let image = response("http://a.example/i", "200 OK\nContent-Type: image/png", "\u{89}PNG");
    let records = [gone(1), gone(2), image, page("http://a.example/", &topic("a"))].concat();
    let (folder, finished) = run("crawl.warc", records, "");
    let told = "not pages: 3, copied unchanged: 2 HTTP 404, 1 image\n";
    assert!(finished.stdout.contains(told), "{}", finished.stdout);
    assert!(!finished.stdout.contains("--max-page"), "{}", finished.stdout);
    let reasons = json!([
        {"reason": "HTTP 404", "kind": "not-a-page", "copied": true, "records": 2},
        {"reason": "images", "kind": "not-a-page", "copied": true, "records": 1},
    ]);
    assert_eq!(report(&folder.path().join("out"))["reasons"], reasons);

    let mut lines = record("a", &topic("a")).into_bytes();
    lines.extend_from_slice(b"{\"text\":\"\xff\"}\nnonsense\n{\"text\":\"\xfe\"}\n{\"text\":\"!\"}\n");
    lines.extend_from_slice(record("long", &topic("b").repeat(20)).as_bytes());
    let (_folder, finished) = run("rows.jsonl", lines, "--max-page 2K");
    for words in [
        "unreadable: 3, not in kept/: 2 not UTF-8, 1 not JSON\n",
        "not pages: 1, not in kept/: 1 without any word\n",
        "over a limit: 1, not in kept/: 1 over the page limit\n",
        "--max-page and --max-expansion change the limits",
    ] {
        assert!(finished.stdout.contains(words), "`{words}` is not in\n{}", finished.stdout);
    }
    assert_eq!(finished.code(), Some(0));
}

#[test]
fn a_field_that_no_record_has_is_an_error() {
    let text = topic("a");
    let lines =
        format!("{{\"id\":1,\"content\":\"{text}\",\"more\":{{\"url\":\"http://a.example/\"}}}}\n").repeat(2);
    for (flags, words) in [
        (
            "--text-field contnet",
            "no field `contnet`; records have `content`, `id`, `more`: did you mean `content`?; name a field with --text-field",
        ),
        ("--id-field ID", "did you mean `id`?"),
        ("--url-field address", "no field `address`"),
        ("--popularity-field clicks", "with --popularity-field"),
        ("--time-field when", "with --time-field"),
        ("--redirect-field to", "with --redirect-field"),
        ("--canonical-field main", "with --canonical-field"),
    ] {
        let (folder, failed) = run("in.jsonl", &lines, flags);
        assert_eq!(failed.code(), Some(2), "{flags}: {}", failed.stderr);
        failed.says(&[words]);
        assert!(!folder.path().join("out").exists(), "{flags}: something was written");
        let call = format!("import {} --data pages {flags}", folder.path().join("in.jsonl").display());
        onecopy(call.split(' ')).within(folder.path()).fail(2).says(&[words]);
        assert!(!folder.path().join("pages").exists(), "{flags}: a collection was begun");
    }
    // The last record is enough, and so is a null.
    let rare = lines + "{\"id\":3,\"content\":\"b c\",\"clicks\":null}\n";
    let (_folder, finished) = run("in.jsonl", &rare, "--popularity-field clicks --text-field content");
    assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
    // Archives have no fields; an empty file has no record that lacks one.
    let (_folder, failed) = run("in.warc", page("http://a.example/", &text), "--id-field id");
    assert_eq!(failed.code(), Some(2), "{}", failed.stderr);
    failed.says(&["no field `id`: the input has no records with fields"]);
}

#[test]
fn a_market_without_a_page_is_an_error() {
    let line = |host: &str| format!("{{\"url\":\"http://{host}/\",\"text\":\"{}\"}}\n", topic(host));
    let lines = line("a.uk") + &line("b.de");
    for (markets, missing) in [("ukk", "ukk"), ("uk,fr", "fr"), ("uk,de,example", "example")] {
        let (folder, failed) = run("in.jsonl", &lines, &format!("--market {markets}"));
        assert_eq!(failed.code(), Some(2), "{markets}: {}", failed.stderr);
        failed.says(&[&format!("ends in `{missing}`"), "--market"]);
        assert!(!folder.path().join("out/report.json").exists(), "{markets}");
    }
    assert_eq!(run("in.jsonl", &lines, "--market uk,de").1.code(), Some(0));
}

#[test]
fn a_threshold_is_given_once() {
    let lines = record("a", &topic("a"));
    for flags in [
        "--threshold 0.8 --threshold 0.9",
        "--threshold 0.8 --method jaccard:threshold=0.8",
        "--threshold 0.9 --method simhash:distance=4",
        "--method simhash:threshold=0.9:distance=4",
        "--threshold 0.9 --method shingles-b:agree=3",
    ] {
        let (folder, failed) = run("in.jsonl", &lines, flags);
        assert_eq!(failed.code(), Some(2), "{flags}: {}", failed.stderr);
        failed.says(&["--threshold"].map(|word| if flags.starts_with(word) { word } else { "given twice" }));
        assert!(!folder.path().join("out").exists(), "{flags}");
    }
    onecopy("eval set --threshold 0.9 --method jaccard,lcs:threshold=0.8".split(' '))
        .fail(2)
        .says(&["given twice"]);
}

//! Bad input and invalid parameters: each is reported with its place and a remedy, and costs nothing else.

#[cfg(target_os = "linux")]
use std::ffi::OsString;
use std::fs;
#[cfg(target_os = "linux")]
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tempfile::tempdir;

use crate::pages::{PACKERS, corpus_lines, record, topic, write_file, write_records};
use crate::program::{dedup, onecopy};
use crate::results::{entries, files_below, json_lines, kept_ids, rejected, report};

#[test]
fn a_bad_record_costs_itself_only() {
    let bad: [(&[u8], &str); 13] = [
        (b"{\"id\":\"x\",\"text\":\"cut in the mid", "EOF while parsing a string"),
        (b"{\"id\":\"x\",\"text\":\"a\"} trailing", "trailing characters"),
        (b"just words", "expected"),
        (b"[\"a\",\"list\"]", "expected a JSON object"),
        (b"\"a string\"", "expected a JSON object"),
        (b"{\"id\":\"x\",\"text\":12}", "the page's text"),
        (b"{\"id\":\"x\",\"text\":[\"a\"]}", "the page's text"),
        (b"{\"id\":{\"a\":1},\"text\":\"a\"}", "the id is neither a string nor a number"),
        (b"{\"id\":\"x\"}", "no text: none of the fields `text`"),
        (b"{\"id\":\"x\",\"text\":null}", "no text"),
        (b"{\"id\":\"x\",\"text\":\"\xff\xfe\"}", "invalid UTF-8 at byte 18"),
        (b"{\"id\":\"x\",\"text\":\"\"}", "no words to compare"),
        (b"{\"id\":\"x\",\"text\":\" .,;!? \\u200b \"}", "no words to compare"),
    ];
    let folder = tempdir().expect("a folder");
    let mut bytes = Vec::new();
    for (number, (line, _)) in bad.iter().enumerate() {
        bytes.extend_from_slice(record(&format!("good{number}"), &topic(&format!("t{number}x"))).as_bytes());
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
    }
    let out = folder.path().join("out");
    dedup(&write_file(folder.path(), "mixed.jsonl", bytes), &out).succeed();
    assert_eq!(kept_ids(&out, "mixed.jsonl").len(), bad.len());
    let found = rejected(&out, "mixed.jsonl");
    assert_eq!(found.len(), bad.len(), "{found:?}");
    for (number, ((line, reason), (text, expected))) in found.iter().zip(bad).enumerate() {
        let text = String::from_utf8_lossy(text);
        assert_eq!(*line, Some(2 * number as u64 + 2), "{text}");
        assert!(reason.contains(expected), "{text}: {reason}");
    }
    assert_eq!(report(&out)["rejected"], bad.len());
}

#[test]
fn strange_signals_do_not_cost_the_page() {
    let folder = tempdir().expect("a folder");
    let text = topic("a");
    let lines = format!(
        "{{\"id\":\"a\",\"text\":\"{text}\",\"url\":5,\"date\":{{}},\"score\":\"high\"}}\n\
         {{\"id\":\"b\",\"text\":\"{text}\",\"url\":null,\"date\":\"never\",\"score\":1e999}}\n\
         {{\"id\":\"\",\"text\":\"{}\"}}\n",
        topic("b")
    );
    let out = folder.path().join("out");
    dedup(&write_file(folder.path(), "in.jsonl", lines), &out).succeed();
    let report = report(&out);
    assert_eq!(
        (report["kept"].as_u64(), report["removed"].as_u64(), report["rejected"].as_u64()),
        (Some(2), Some(1), Some(0))
    );
}

#[test]
fn the_lists_are_json_whatever_the_ids() {
    let folder = tempdir().expect("a folder");
    let ids = [r#""\ud800""#, r#""a\u0000\n\"b""#, "-0", "1E5", "12345678901234567890123", r#""""#];
    let text = topic("same");
    let lines: String = ids.iter().map(|id| format!("{{\"id\":{id},\"text\":\"{text}\"}}\n")).collect();
    let out = folder.path().join("out");
    dedup(&write_file(folder.path(), "in.jsonl", lines), &out).succeed();
    let report = report(&out);
    let judged = report["kept"].as_u64().expect("kept") + report["removed"].as_u64().expect("removed");
    assert_eq!(json_lines(&out.join("removed.jsonl")).len() as u64, judged - 1);
    assert_eq!(json_lines(&out.join("groups.jsonl")).len(), 1);
}

#[test]
fn records_over_the_page_limit_are_rejected() {
    let folder = tempdir().expect("a folder");
    let lines = record("small", &topic("a"))
        + &record("large", &topic("b").repeat(20))
        + &record("last", &topic("c"));
    let site = folder.path().join("site");
    write_file(&site, "in.jsonl", lines);
    write_file(&site, "large.txt", topic("d").repeat(20));
    let out = folder.path().join("out");
    dedup(&site, &out).args("--max-page 2K").succeed();
    assert_eq!(kept_ids(&out, "in.jsonl").len(), 2);
    let (line, reason) = &rejected(&out, "in.jsonl")[0];
    assert_eq!(*line, Some(2));
    assert!(reason.contains("longer than the limit of 2048 bytes per page"), "{reason}");
    let (line, reason) = &rejected(&out, "large.txt")[0];
    assert!(line.is_none() && reason.contains("limit of 2048 bytes"), "{reason}");
}

#[test]
fn deep_nesting_is_survived() {
    let folder = tempdir().expect("a folder");
    let site = folder.path().join("site");
    let deep = 200_000;
    let lists = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
    let line = format!("{{\"id\":\"deep\",\"x\":{lists},\"text\":\"{}\"}}\n", topic("a"));
    write_file(&site, "deep.jsonl", line + &format!("{{\"id\":{lists}}}\n") + &record("good", &topic("b")));
    write_file(&site, "deep.html", "<div>".repeat(deep) + &topic("c"));
    let out = folder.path().join("out");
    dedup(&site, &out).succeed();
    let kept = fs::read_to_string(out.join("kept/deep.jsonl")).expect("kept");
    assert!(kept.ends_with(&record("good", &topic("b"))), "the good record is kept");
    assert!(out.join("kept/deep.html").exists());
    assert_eq!(report(&out)["read"], 4);
}

#[test]
fn a_truncated_file_yields_what_came_before_the_cut() {
    let folder = tempdir().expect("a folder");
    let text: String = corpus_lines(1_000).collect();
    for (ending, pack) in PACKERS {
        let mut packed = pack(text.as_bytes());
        packed.truncate(packed.len() / 2);
        let name = format!("cut.jsonl.{ending}");
        let site = folder.path().join(format!("site-{ending}"));
        write_file(&site, &name, packed);
        write_records(&site, "whole.jsonl", &[("whole", &topic("whole"))]);
        let out = folder.path().join(ending);
        dedup(&site, &out).fail(3).says(&[&name, "breaks off after"]);
        let report = report(&out);
        let judged = report["kept"].as_u64().expect("kept") + report["removed"].as_u64().expect("removed");
        assert!((100..1_000).contains(&judged), "{ending}: {judged} records were read");
        assert_eq!(kept_ids(&out, "whole.jsonl").len(), 1);
        let found = rejected(&out, &name);
        assert_eq!(found.len(), 1, "{ending}: {found:?}");
        assert_eq!(found[0].0, Some(judged), "{ending}: the line of the cut");
        assert!(found[0].1.contains("damaged from here on"), "{ending}: {}", found[0].1);
    }
}

#[test]
fn a_file_that_is_not_what_its_name_says_is_rejected() {
    let folder = tempdir().expect("a folder");
    let site = folder.path().join("site");
    write_file(&site, "not.jsonl.gz", record("a", &topic("a")));
    write_file(&site, "not.jsonl.zst", record("a", &topic("a")));
    write_file(&site, "binary.jsonl", [0u8, 159, 146, 150, 10, 0, 1, 2]);
    write_records(&site, "good.jsonl", &[("good", &topic("good"))]);
    let out = folder.path().join("out");
    dedup(&site, &out).fail(3);
    assert_eq!(kept_ids(&out, "good.jsonl").len(), 1);
    assert_eq!(files_below(&out.join("kept")), ["good.jsonl"], "no empty file pretends to be whole");
    for (name, count) in [("not.jsonl.gz", 1), ("not.jsonl.zst", 1), ("binary.jsonl", 2)] {
        let found = rejected(&out, name);
        assert_eq!(found.len(), count, "{name}: {found:?}");
        assert_eq!(found[0].0, Some(1), "{name}");
    }
    assert!(rejected(&out, "not.jsonl.gz")[0].1.contains("damaged from here on"));
}

#[test]
fn inputs_that_are_not_there_are_named() {
    let folder = tempdir().expect("a folder");
    write_records(folder.path(), "good.jsonl", &[("a", &topic("a"))]);
    fs::create_dir(folder.path().join("empty")).expect("a folder");
    write_file(folder.path(), "empty.jsonl", "");
    write_file(folder.path(), "blank.jsonl", "\n  \n\r\n");
    write_file(folder.path(), "picture", b"\x89PNG\r\n\x1a\n");
    for (input, words) in [
        ("absent.jsonl", ["absent.jsonl", "no such file or folder"]),
        ("absent-*.jsonl", ["absent-*.jsonl", "nothing matches this pattern"]),
        ("a[.jsonl", ["a[.jsonl", "pattern"]),
        ("empty", ["empty", "there is nothing to read"]),
        ("empty.jsonl", ["empty.jsonl", "nothing was read"]),
        ("blank.jsonl", ["blank.jsonl", "nothing was read"]),
        ("picture", ["picture", "not a kind of file that onecopy reads"]),
    ] {
        let failed = onecopy(["dedup", input, "--out", "out"]).within(folder.path()).fail(1);
        failed.says(&words);
        assert!(!folder.path().join("out/report.json").exists(), "{input}");
    }
    let failed =
        onecopy(["dedup", "good.jsonl", "absent.jsonl", "--out", "out"]).within(folder.path()).fail(1);
    failed.says(&["absent.jsonl"]);
    let nothing = onecopy(["dedup", "-", "--out", "out"]).within(folder.path()).fail(1);
    nothing.says(&["nothing was read"]);
    onecopy(["dedup", "good.jsonl", "empty.jsonl", "--out", "out"]).within(folder.path()).succeed();
    assert_eq!(fs::read(folder.path().join("out/kept/empty.jsonl")).expect("an empty file stays one"), b"");
}

#[test]
fn when_all_records_are_rejected_the_run_fails_and_says_where_to_look() {
    let folder = tempdir().expect("a folder");
    let input = write_file(folder.path(), "in.jsonl", "{\"id\":1}\nnonsense\n");
    let out = folder.path().join("out");
    for _ in 0..2 {
        dedup(&input, &out).fail(1).says(&["none of the 2 records could be judged", "rejected.jsonl"]);
        assert_eq!(json_lines(&out.join("rejected.jsonl")).len(), 2);
        assert_eq!(report(&out)["rejected"], 2);
    }
}

#[test]
fn nonsense_parameters_end_with_2_and_the_remedy() {
    let folder = tempdir().expect("a folder");
    let input = write_records(folder.path(), "in.jsonl", &[("a", &topic("a"))]);
    let out = folder.path().join("out");
    for (flags, words) in [
        ("--threshold 0", ["threshold 0", "above 0 and up to 1, such as 0.8; set it with --threshold"]),
        ("--threshold 1.5", ["threshold 1.5", "above 0 and up to 1"]),
        ("--threshold=-0.5", ["threshold -0.5", "above 0 and up to 1"]),
        ("--threshold nan", ["threshold NaN", "above 0 and up to 1"]),
        ("--threshold inf", ["threshold inf", "above 0 and up to 1"]),
        ("-k 0", ["shingle length 0", "such as 5; set it with --shingle"]),
        ("-k 1000", ["shingle length 1000", "from 1 to"]),
        ("--memory 1M", ["memory limit of 1", "at least 64M; set it with --memory"]),
        ("--threads 0", ["0 threads", "give 1 to 1024; set it with --threads"]),
        ("--threads 100000", ["100000 threads", "give 1 to"]),
        ("--max-page 0", ["page limit of 0", "give 1 to 1G; set it with --max-page"]),
        ("--max-page 2G", ["page limit", "give 1 to"]),
        ("--max-page 900M", ["sixteen times as much memory", "raise --memory or lower --max-page"]),
        ("--max-expansion 0", ["expansion", "set it with --max-expansion"]),
    ] {
        let failed = dedup(&input, &out).args(flags).fail(2);
        failed.says(&words);
        assert!(!out.exists(), "{flags}: something was written");
    }
}

#[test]
fn links_in_a_folder_are_followed_once() {
    let folder = tempdir().expect("a folder");
    let site = folder.path().join("site");
    write_file(&site, "a.txt", topic("a"));
    write_file(folder.path(), "other/s.txt", topic("s"));
    write_file(folder.path(), "other/t.txt", topic("t"));
    write_file(&site, "blobs/0123abcd", topic("blob"));
    let link = |from: &Path, name: &str| std::os::unix::fs::symlink(from, site.join(name)).expect("a link");
    link(&folder.path().join("other"), "folder-link");
    link(&folder.path().join("other/s.txt"), "file-link.txt");
    link(Path::new("blobs/0123abcd"), "README.md");
    link(&site, "loop");
    link(Path::new("absent"), "broken.txt");
    let out = folder.path().join("out");
    dedup(&site, &out).succeed();
    let kept = ["README.md", "a.txt", "file-link.txt", "folder-link/t.txt"];
    assert_eq!(files_below(&out.join("kept")), kept, "a file has the name that tells its format");
    let reasons = rejected(&out, "broken.txt");
    assert!(reasons[0].1.starts_with("a link that leads to no file"), "{reasons:?}");
    assert_eq!(report(&out)["read"], 5);
    // An import does not leave the folder.
    let call = ["import", "--data", "pages", "site", "--rejected", "rejected.jsonl"];
    onecopy(call).within(folder.path()).succeed();
    let list = fs::read_to_string(folder.path().join("rejected.jsonl")).expect("a list");
    assert_eq!(list.matches("a link, which is not followed").count(), 5, "{list}");
}

#[test]
fn a_named_pipe_does_not_make_the_program_wait_for_ever() {
    let folder = tempdir().expect("a folder");
    let site = folder.path().join("site");
    write_file(&site, "a.txt", topic("a"));
    let pipe = site.join("pipe.jsonl");
    let made = Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped: there is no mkfifo here");
        return;
    }
    let out = folder.path().join("out");
    dedup(&site, &out).succeed();
    assert_eq!(rejected(&out, "pipe.jsonl"), [(None, "not a regular file".to_owned())]);
    let mut running = dedup(&pipe, &folder.path().join("named")).start();
    assert!(running.ends_within(Duration::from_secs(3)), "a named pipe as an input hangs the program");
    let failed = running.finish();
    assert_eq!(failed.code(), Some(1));
    failed.says(&["pipe.jsonl", "not a regular file"]);
}

#[test]
fn strange_file_names_come_out_as_they_went_in() {
    let folder = tempdir().expect("a folder");
    let site = folder.path().join("site");
    let names = ["a b.txt", "ünï.txt", "quo\"te.txt", "new\nline.txt", "-x.txt", "star*.txt"];
    for (number, name) in names.iter().enumerate() {
        write_file(&site, name, topic(&format!("t{number}x")));
    }
    write_file(&site, "z/copy\\.txt", topic("t0x"));
    let out = folder.path().join("out");
    dedup(&site, &out).succeed();
    let mut expected: Vec<&str> = names.to_vec();
    expected.sort_unstable();
    assert_eq!(entries(&out.join("kept")), expected);
    let line = &json_lines(&out.join("removed.jsonl"))[0];
    assert_eq!((&line["page"], &line["winner"]), (&"z/copy\\.txt".into(), &"a b.txt".into()));
}

/// Not on macOS, where names are UTF-8.
#[test]
#[cfg(target_os = "linux")]
fn file_names_that_are_no_text_are_rejected_and_cost_nothing_else() {
    let strange = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let folder = tempdir().expect("a folder");
    let site = folder.path().join("site");
    write_file(&site, "good.txt", topic("good"));
    fs::write(site.join(strange(b"bad\xff.txt")), topic("a")).expect("any name is a name");
    fs::write(site.join(strange(b"bad\xfe.txt")), topic("b")).expect("any name is a name");
    fs::create_dir(site.join(strange(b"dir\xff"))).expect("any name is a name");
    // The folder, a pattern, and an output folder whose name is no text either.
    let out = folder.path().join(strange(b"out\xff"));
    dedup(&site, &out).fail(3).says(&["bad\u{fffd}.txt", "dir\u{fffd}"]);
    dedup(&site, &out).fail(3);
    let reason = |name: &str| rejected(&out, name).into_iter().map(|(_, reason)| reason).collect::<Vec<_>>();
    assert_eq!(reason("bad\u{fffd}.txt"), ["its name is not UTF-8: rename it to have it read"; 2]);
    assert_eq!(reason("dir\u{fffd}").len(), 1);
    assert_eq!(files_below(&out.join("kept")), ["good.txt"]);
    let by_pattern = folder.path().join("by-pattern");
    dedup(&folder.path().join("s*/*.txt"), &by_pattern).fail(3);
    assert_eq!(rejected(&by_pattern, "bad\u{fffd}.txt").len(), 2);
    assert_eq!(report(&by_pattern)["read"], 3);
    dedup(&folder.path().join("site/bad*"), &folder.path().join("bad-only")).fail(1).says(&["none of the 2"]);
    // A good name below a folder whose name is no text.
    let inside = site.join(strange(b"dir\xff"));
    write_file(&inside, "page.txt", topic("inside"));
    onecopy(["dedup", "page.txt", "--out", "out"]).within(&inside).succeed();
    onecopy(["dedup", "page.txt", "--out", "out"]).within(&inside).succeed();
    assert_eq!(files_below(&inside.join("out/kept")), ["page.txt"]);
    let mut piped = onecopy(["dedup", "-", "--out", "piped"]).within(&inside).start();
    piped.feed(record("a", &topic("a")).as_bytes());
    assert!(piped.finish().status.success());
}

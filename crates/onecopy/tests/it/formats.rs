//! Kept records have the input's bytes and format: from files, folders, patterns and pipes.

use std::fs;

use tempfile::tempdir;

use crate::pages::{PACKERS, gzip, record, topic, window, write_file, write_records};
use crate::program::{dedup, onecopy};
use crate::results::{files_below, gunzip, json_lines, rejected, removed, report, unpacked, winners};

/// Lines that a JSON parser and printer would change, and one to be removed between them.
fn odd_lines() -> (Vec<String>, String) {
    let lines = vec![
        format!("{{ \"text\" :\t\"{}\" ,   \"id\":\"spaced\"}}\r\n", topic("a")),
        format!(
            "{{\"zz\":1e0,\"text\":\"\\u00e9\\ud83d\\ude00 {}\",\"aa\":[1, 2],\"id\":\"escaped\"}}\n",
            topic("b")
        ),
        "\n".to_owned(),
        format!("{{\"id\":\"zz-gone\",\"text\":\"{}\"}}\n", topic("a")),
        format!("  {{\"id\":\"big\",\"n\":12345678901234567890123,\"text\":\"é😀 {}\"}}  \n", topic("c")),
        format!("{{\"id\":\"dup\",\"k\":1,\"k\":2,\"text\":\"{}\"}}", topic("d")),
    ];
    let kept = [0, 1, 4, 5].map(|at| lines[at].as_str()).concat();
    (lines, kept)
}

#[test]
fn kept_records_are_the_same_bytes() {
    let folder = tempdir().expect("a folder");
    let (lines, kept) = odd_lines();
    let input = write_file(folder.path(), "odd.jsonl", lines.concat());
    let out = folder.path().join("out");
    dedup(&input, &out).args("--winner newer").succeed();
    assert_eq!(fs::read_to_string(out.join("kept/odd.jsonl")).expect("kept"), kept);
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_record_and_stays() {
    let folder = tempdir().expect("a folder");
    let text = format!("\u{feff}{}{}", record("a", &topic("a")), record("b", &topic("b")));
    let input = write_file(folder.path(), "bom.jsonl", &text);
    let out = folder.path().join("out");
    dedup(&input, &out).succeed();
    assert_eq!(fs::read_to_string(out.join("kept/bom.jsonl")).expect("kept"), text);
}

#[test]
fn packed_files_stay_packed_whatever_they_are_made_of() {
    let folder = tempdir().expect("a folder");
    let parts = [
        record("a", &topic("a")) + &record("b", &topic("b")),
        record("copy", &topic("a")).trim_end().to_owned(),
        format!("\n{}", record("c", &topic("c"))),
    ];
    let kept = record("a", &topic("a")) + &record("b", &topic("b")) + &record("c", &topic("c"));
    for (ending, pack) in PACKERS {
        let packed: Vec<u8> = parts.iter().flat_map(|part| pack(part.as_bytes())).collect();
        let name = format!("pages.jsonl.{ending}");
        let input = write_file(folder.path(), &name, packed);
        let out = folder.path().join(ending);
        dedup(&input, &out).succeed();
        let magic: &[u8] = if ending == "gz" { b"\x1f\x8b" } else { b"\x28\xb5\x2f\xfd" };
        let path = out.join("kept").join(name);
        assert!(fs::read(&path).expect("kept").starts_with(magic), "{ending}: other format");
        assert_eq!(String::from_utf8(unpacked(&path)).expect("UTF-8"), kept, "{ending}");
        assert_eq!(winners(&out)["copy"], "a", "{ending}");
        assert_eq!(report(&out)["read"], 4, "{ending}");
    }
}

#[test]
fn a_zstd_file_with_a_long_window_is_read() {
    let folder = tempdir().expect("a folder");
    let text = record("a", &topic("a"));
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("an encoder");
    encoder.window_log(27).expect("a long window");
    encoder.long_distance_matching(true).expect("a long window");
    std::io::Write::write_all(&mut encoder, text.as_bytes()).expect("memory takes it");
    let input = write_file(folder.path(), "long.jsonl.zst", encoder.finish().expect("memory takes it"));
    let out = folder.path().join("out");
    dedup(&input, &out).succeed();
    assert_eq!(unpacked(&out.join("kept/long.jsonl.zst")), text.as_bytes());
}

/// A zstd frame with a window of so many bits.
fn frame(text: &str, window_log: u32) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("an encoder");
    encoder.window_log(window_log).expect("a window");
    std::io::Write::write_all(&mut encoder, text.as_bytes()).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

#[test]
fn a_long_window_in_a_later_frame_keeps_to_the_memory_limit() {
    let folder = tempdir().expect("a folder");
    let (first, later) = (record("a", &topic("a")), record("b", &topic("b")));
    let [plain, dictionary] = [Vec::new(), b"\x5d\x2a\x4d\x18\x04\0\0\0word".to_vec()];
    for (name, front) in [("plain.jsonl.zst", plain), ("dictionary.jsonl.zst", dictionary)] {
        let input = write_file(folder.path(), name, [front, frame(&first, 20), frame(&later, 27)].concat());
        let out = folder.path().join(format!("out-{name}"));
        let failed = dedup(&input, &out).args("--memory 64M").fail(1);
        failed.says(&["of memory to unpack", name, "the limit is 64M"]);
        let (_, advice) = failed.stderr.split_once("give --memory ").expect("the remedy");
        dedup(&input, &out).args(&format!("--memory {advice}")).succeed();
        assert_eq!(unpacked(&out.join("kept").join(name)), (first.clone() + &later).into_bytes());
    }
    // One that says so at once is told the same before anything is read, whatever is in front of it.
    let front = b"\x50\x2a\x4d\x18\x01\0\0\0x".to_vec();
    let input = write_file(folder.path(), "first.jsonl.zst", [front, frame(&first, 27)].concat());
    let out = folder.path().join("out");
    let failed = dedup(&input, &out).args("--memory 64M").fail(1);
    let (_, advice) = failed.stderr.split_once("give --memory ").expect("the remedy");
    assert!(!out.exists(), "nothing was begun");
    dedup(&input, &out).args(&format!("--memory {advice}")).succeed();
}

#[test]
fn a_folder_of_documents_keeps_its_shape() {
    let folder = tempdir().expect("a folder");
    let site = folder.path().join("site");
    let page =
        |text: &str| format!("<html><head><script>var x;</script></head><body><p>{text}</p></body></html>");
    write_file(&site, "index.html", page(&topic("home")));
    write_file(&site, "deep/copy.html", format!("<!-- other markup --><div>{}</div>", topic("home")));
    write_file(&site, "deep/other.htm", page(&topic("other")));
    write_file(&site, "notes.txt", topic("notes"));
    write_file(&site, "pages.jsonl", record("of-notes", &topic("notes")));
    write_file(&site, ".hidden/x.txt", topic("hidden"));
    write_file(&site, "picture.png", b"\x89PNG");
    let out = folder.path().join("out");
    dedup(&site, &out).succeed().says(&["1 files are no pages"]);
    assert_eq!(winners(&out)["deep/copy.html"], "index.html");
    assert_eq!(winners(&out)["of-notes"], "notes.txt");
    assert_eq!(files_below(&out.join("kept")), ["deep/other.htm", "index.html", "notes.txt", "pages.jsonl"]);
    assert_eq!(fs::read_to_string(out.join("kept/notes.txt")).expect("kept"), topic("notes"));
    assert_eq!(fs::read_to_string(out.join("kept/index.html")).expect("kept"), page(&topic("home")));
    assert_eq!((rejected(&out, "picture.png").len(), &report(&out)["read"]), (0, &5.into()));
}

#[test]
fn files_of_one_name_in_two_folders_stay_apart() {
    let folder = tempdir().expect("a folder");
    for name in ["one", "two"] {
        write_records(
            folder.path(),
            &format!("{name}/p.jsonl"),
            &[(name, &topic(name)), ("both", &topic("both"))],
        );
    }
    let out = folder.path().join("out");
    onecopy(["dedup", "one", "two", "--out", "out"]).within(folder.path()).succeed();
    assert_eq!(files_below(&out.join("kept")), ["one/p.jsonl", "two/p.jsonl"]);
    let kept = |name: &str| fs::read_to_string(out.join("kept").join(name)).expect("kept");
    let both = record("both", &topic("both"));
    assert_eq!(kept("one/p.jsonl"), record("one", &topic("one")) + &both);
    assert_eq!(kept("two/p.jsonl"), record("two", &topic("two")));
}

#[test]
fn a_file_and_a_folder_of_one_name_stay_apart() {
    let folder = tempdir().expect("a folder");
    write_records(folder.path(), "one/p.jsonl/x.jsonl", &[("x", &topic("x"))]);
    write_records(folder.path(), "two/p.jsonl", &[("y", &topic("y"))]);
    onecopy(["dedup", "one", "two", "--out", "out"]).within(folder.path()).succeed();
    assert_eq!(files_below(&folder.path().join("out/kept")).len(), 2);
}

#[test]
fn a_file_given_twice_is_read_once() {
    let folder = tempdir().expect("a folder");
    write_records(folder.path(), "p.jsonl", &[("a", &topic("a"))]);
    onecopy(["dedup", "p.jsonl", "./p.jsonl", "*.jsonl", "--out", "out"]).within(folder.path()).succeed();
    assert_eq!(report(&folder.path().join("out"))["read"], 1);
}

#[test]
fn patterns_are_matched_by_the_program() {
    let folder = tempdir().expect("a folder");
    for name in ["a1.jsonl", "a2.jsonl", "b1.jsonl", "sub/a3.jsonl"] {
        write_records(folder.path(), name, &[(name, &topic(&name.replace(['.', '/'], "")))]);
    }
    onecopy(["dedup", "a?.jsonl", "**/a3.*", "--out", "out"]).within(folder.path()).succeed();
    assert_eq!(files_below(&folder.path().join("out/kept")), ["a1.jsonl", "a2.jsonl", "a3.jsonl"]);
}

#[test]
fn a_name_with_the_letters_of_a_pattern_is_a_name() {
    let folder = tempdir().expect("a folder");
    write_records(folder.path(), "a[1].jsonl", &[("a", &topic("a"))]);
    onecopy(["dedup", "a[1].jsonl", "--out", "out"]).within(folder.path()).succeed();
    assert_eq!(files_below(&folder.path().join("out/kept")), ["a[1].jsonl"]);
}

#[test]
fn standard_input_is_read_plain_and_packed() {
    let folder = tempdir().expect("a folder");
    let text = record("a", &window(0)) + &record("b", &window(3)) + &record("c", &topic("c"));
    let kept = record("a", &window(0)) + &record("c", &topic("c"));
    for (name, bytes) in [("plain", text.clone().into_bytes()), ("gz", gzip(text.as_bytes()))] {
        let out = folder.path().join(name);
        let mut running = onecopy(["dedup", "-", "--out"]).arg(&out).start();
        running.feed(&bytes);
        let finished = running.finish();
        assert!(finished.status.success(), "{name}: {}", finished.stderr);
        let path = &files_below(&out.join("kept"))[0];
        let found = fs::read(out.join("kept").join(path)).expect("kept");
        let plain = if name == "plain" { found } else { gunzip(&found) };
        assert_eq!(String::from_utf8(plain).expect("UTF-8"), kept, "{name}");
        assert_eq!(winners(&out)["b"], "a", "{name}");
    }
}

#[test]
fn the_output_folder_is_not_read() {
    let folder = tempdir().expect("a folder");
    let site = folder.path().join("site");
    write_file(&site, "a.txt", topic("a"));
    let out = site.join("clean");
    dedup(&site, &out).succeed();
    dedup(&site, &out).arg("--overwrite").succeed();
    assert_eq!(report(&out)["read"], 1);
    assert!(json_lines(&out.join("rejected.jsonl")).is_empty());
}

#[test]
fn escapes_are_the_characters_they_stand_for() {
    let plain = format!("Zürich\n日本語 \"quoted\"/slash\ttab 😀 É {}", topic("t"));
    let escaped = |c: char| match c {
        '/' => "\\/".to_owned(),
        c => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04X}")).collect(),
    };
    let all: String = plain.chars().map(escaped).collect();
    let some: String =
        plain.chars().map(|c| if "eÉ😀\"\n\t0".contains(c) { escaped(c) } else { c.to_string() }).collect();
    let lines = record("plain", &plain)
        + &format!("{{\"id\":\"x1\",\"text\":\"{all}\"}}\n{{\"id\":\"x2\",\"te\\u0078t\":\"{some}\"}}\n");
    let folder = tempdir().expect("a folder");
    let input = write_file(folder.path(), "in.jsonl", lines);
    for (number, flags) in
        ["", "--keep-case", "--keep-punctuation", "--unit chars", "--drop-numbering"].iter().enumerate()
    {
        let out = folder.path().join(number.to_string());
        dedup(&input, &out).args(flags).succeed();
        let fates = removed(&out);
        assert_eq!(fates.len(), 2, "{flags}: {fates:?}");
        assert!(fates.values().all(|fate| fate.0 == "plain" && fate.2 == "exact"), "{flags}: {fates:?}");
    }
}

#[test]
fn html_in_a_record_is_compared_by_its_text() {
    let folder = tempdir().expect("a folder");
    let lines = format!(
        "{}{}",
        serde_json::json!({"id": "h", "html": format!("<h1>{}</h1><style>p {{}}</style>", topic("a"))}),
        format_args!("\n{}", serde_json::json!({"id": "t", "text": topic("a")}))
    );
    let out = folder.path().join("out");
    dedup(&write_file(folder.path(), "in.jsonl", lines), &out).succeed();
    assert_eq!(winners(&out)["t"], "h");
}

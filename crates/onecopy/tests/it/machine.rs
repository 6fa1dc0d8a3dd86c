//! Exhausted machines: a full disk, folders that cannot be written, and input made to exhaust memory.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::Path;

use tempfile::tempdir;

use crate::pages::{record, topic, write_corpus, write_file, write_records};
use crate::program::{dedup, onecopy};
use crate::results::{assert_memory_within, assert_same_answer, entries, kept_ids, rejected, report};
use crate::small_disk::SmallDisk;

const LIMIT: u64 = 128 << 20;

/// Writes a record of about `bytes` bytes, with its newline.
fn long_record(out: &mut impl Write, id: &str, bytes: usize) {
    write!(out, "{{\"id\":\"{id}\",\"text\":\"").expect("the disk takes it");
    for number in 0..bytes / 10 {
        write!(out, "{id}{number:08} ").expect("the disk takes it");
    }
    out.write_all(b"\"}\n").expect("the disk takes it");
}

#[test]
fn a_line_of_100_megabytes_takes_no_memory() {
    let folder = tempdir().expect("a folder");
    let input = folder.path().join("long.jsonl");
    let mut out = BufWriter::new(File::create(&input).expect("a file"));
    out.write_all(record("first", &topic("first")).as_bytes()).expect("the disk takes it");
    long_record(&mut out, "a", 100 << 20);
    out.write_all(record("last", &topic("last")).as_bytes()).expect("the disk takes it");
    // A record without an end.
    std::io::copy(&mut std::io::repeat(b'x').take(100 << 20), &mut out).expect("the disk takes it");
    out.flush().expect("the disk takes it");
    let out = folder.path().join("out");
    dedup(&input, &out).args("--memory 128M").succeed();
    assert_eq!(kept_ids(&out, "long.jsonl").into_iter().collect::<Vec<_>>(), ["first", "last"]);
    let found = rejected(&out, "long.jsonl");
    assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [Some(2), Some(4)]);
    assert!(found.iter().all(|(_, reason)| reason.contains("longer than the limit of")), "{found:?}");
    assert_memory_within(&out, LIMIT);
}

#[test]
fn pages_just_below_the_page_limit_stay_within_memory() {
    let folder = tempdir().expect("a folder");
    let input = folder.path().join("large.jsonl");
    let mut out = BufWriter::new(File::create(&input).expect("a file"));
    for id in ["a", "b", "c"] {
        long_record(&mut out, id, (4 << 20) - 100);
    }
    out.flush().expect("the disk takes it");
    let out = folder.path().join("out");
    dedup(&input, &out).args("--memory 128M --threads 2").succeed();
    assert_eq!((&report(&out)["read"], &report(&out)["rejected"]), (&3.into(), &0.into()));
    assert_memory_within(&out, LIMIT);
}

#[test]
fn a_long_zstd_window_stays_within_memory() {
    let folder = tempdir().expect("a folder");
    let corpus = fs::read(write_corpus(folder.path(), 5_000)).expect("the corpus");
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("an encoder");
    encoder.window_log(27).expect("a long window");
    encoder.include_contentsize(false).expect("a stream of unknown size");
    for _ in 0..24 {
        encoder.write_all(&corpus).expect("memory takes it");
    }
    let input = write_file(folder.path(), "long.jsonl.zst", encoder.finish().expect("memory takes it"));
    let out = folder.path().join("out");
    let finished = dedup(&input, &out).args("--memory 128M --quiet").run();
    if !finished.status.success() {
        // The window alone is as large as the limit, so an error that says so is also right.
        assert_eq!(finished.code(), Some(1));
        finished.says(&["long.jsonl.zst", "--memory"]);
        return;
    }
    assert_memory_within(&out, LIMIT);
}

/// Compresses `times` repetitions of `block`.
fn repeated(path: &Path, block: &[u8], times: usize) {
    let file = File::create(path).expect("a file");
    if path.extension().is_some_and(|ending| ending == "gz") {
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::default());
        (0..times).for_each(|_| encoder.write_all(block).expect("the disk takes it"));
        encoder.finish().expect("the disk takes it");
    } else {
        let mut encoder = zstd::Encoder::new(file, 1).expect("an encoder");
        (0..times).for_each(|_| encoder.write_all(block).expect("the disk takes it"));
        encoder.finish().expect("the disk takes it");
    }
}

#[test]
fn decompression_bombs_are_refused_and_the_other_files_read() {
    let line = record("bomb", &topic("bomb").repeat(200));
    let block = line.repeat((1 << 20) / line.len());
    for (name, block, flags) in [
        ("spaces.jsonl.gz", " ".repeat(1 << 20), ""),
        ("lines.jsonl.gz", block.clone(), "--max-expansion 100"),
        ("lines.jsonl.zst", block, ""),
    ] {
        let folder = tempdir().expect("a folder");
        let site = folder.path().join("site");
        write_records(&site, "a.jsonl", &[("a", &topic("a"))]);
        write_records(&site, "z.jsonl", &[("z", &topic("z"))]);
        let bomb = site.join(name);
        repeated(&bomb, block.as_bytes(), 400);
        let packed = fs::metadata(&bomb).expect("a file").len();
        assert!(packed < 4 << 20, "{name} is no bomb: {packed} bytes");
        let out = folder.path().join("out");
        dedup(&site, &out).args("--memory 128M").args(flags).fail(3).says(&[name, "decompression bomb"]);
        let found = rejected(&out, name);
        let reason = &found[found.len() - 1].1;
        assert!(reason.contains("decompression bomb"), "{name}: {reason}");
        assert_eq!((kept_ids(&out, "a.jsonl").len(), kept_ids(&out, "z.jsonl").len()), (1, 1), "{name}");
        assert_memory_within(&out, LIMIT);
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempdir().expect("a folder");
    let input = write_records(folder.path(), "in.jsonl", &[("a", &topic("a"))]);
    let file = write_file(folder.path(), "file", "precious");
    for out in [file.clone(), file.join("below"), file.join("far/below")] {
        let failed = dedup(&input, &out).run();
        assert!(matches!(failed.code(), Some(1 | 2)), "{:?}", failed.status);
        failed.says(&["cannot", &out.display().to_string(), "ot a directory"]);
    }
    assert_eq!(fs::read_to_string(&file).expect("the file"), "precious");
}

#[test]
fn what_the_system_says_is_said_once() {
    let folder = tempdir().expect("a folder");
    let input = write_records(folder.path(), "in.jsonl", &[("a", &topic("a"))]);
    let file = write_file(folder.path(), "file", "precious");
    let failed = dedup(&input, &file).run();
    assert_eq!(failed.stderr.matches("ot a directory").count(), 1, "{}", failed.stderr);
}

/// A pipe whose reader has gone, as after `| head -1`.
fn broken_pipe() -> std::io::PipeWriter {
    std::io::pipe().expect("a pipe").1
}

#[test]
fn nobody_reading_the_output_is_no_reason_to_panic() {
    let folder = tempdir().expect("a folder");
    let input = write_records(folder.path(), "in.jsonl", &[("a", &topic("a")), ("b", &topic("b"))]);
    let out = folder.path().join("out");
    for (name, call) in [
        ("dedup", dedup(&input, &out)),
        ("dedup again", dedup(&input, &out)),
        ("--json", dedup(&input, &out).arg("--json")),
        ("explain", onecopy(["explain".into(), out.as_os_str().to_owned(), "a".into(), "b".into()])),
        ("completions", onecopy(["completions", "zsh"])),
        ("--help", onecopy(["dedup", "--help"])),
    ] {
        let finished = call.stdout(broken_pipe()).run();
        assert!(!finished.stderr.contains("panicked"), "{name}: {}", finished.stderr);
        assert!(out.join("report.json").exists(), "{name}: the results are complete");
    }
}

/// Runs on a disk with `free` megabytes left, which fails. Then frees space and runs again, which succeeds.
/// `then` is said when there is room again.
fn on_a_full_disk(flags: &str, free: u64, then: &str) {
    let Some(disk) = SmallDisk::new(240) else {
        println!("skipped: only root may mount the small file system that this fills");
        return;
    };
    let folder = tempdir().expect("a folder");
    let input = write_corpus(folder.path(), 24_000);
    let expected = folder.path().join("expected");
    dedup(&input, &expected).args(flags).arg("--quiet").succeed();
    let filler = disk.path().join("filler");
    let mut zeros = std::io::repeat(0).take((240 - free) << 20);
    std::io::copy(&mut zeros, &mut File::create(&filler).expect("a file")).expect("the filler fits");
    let out = disk.path().join("out");
    for _ in 0..2 {
        let failed = dedup(&input, &out).args(flags).fail(1);
        failed.says(&["cannot write", &out.join(".onecopy").display().to_string(), "o space left"]);
        failed.says(&["free some space, then the same command continues where it left off"]);
        assert_eq!(entries(&out), [".onecopy"], "nothing half-written is visible");
    }
    fs::remove_file(filler).expect("room can be made");
    dedup(&input, &out).args(flags).succeed().says(&[then]);
    assert_same_answer(&out, &expected, "after making room");
}

#[test]
fn a_disk_that_is_full_while_reading() {
    on_a_full_disk("--memory 64M", 20, "continuing the run");
}

#[test]
fn a_disk_that_is_full_while_writing() {
    // The disk has no room for the pages in memory either.
    on_a_full_disk("", 6, "saved no pages");
}

#[test]
fn a_disk_without_any_room_is_named() {
    let Some(disk) = SmallDisk::new(1) else {
        println!("skipped: only root may mount the small file system that this fills");
        return;
    };
    let folder = tempdir().expect("a folder");
    let input = write_records(folder.path(), "in.jsonl", &[("a", &topic("a"))]);
    let mut filler = File::create(disk.path().join("filler")).expect("a file");
    while filler.write_all(&[1; 4_096]).is_ok() {}
    drop(filler);
    let out = disk.path().join("out");
    dedup(&input, &out).fail(1).says(&["cannot", ".onecopy", "free some space"]);
    fs::remove_file(disk.path().join("filler")).expect("room can be made");
    dedup(&input, &out).succeed();
    assert_eq!(report(&out)["kept"], 1);
}

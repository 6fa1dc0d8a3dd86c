//! Memory, threads and input order change no answer, and the memory limit holds.

use std::collections::BTreeSet;
use std::path::Path;

use tempfile::tempdir;

use crate::pages::{Random, corpus_lines, write_corpus, write_file};
use crate::program::dedup;
use crate::results::{
    assert_memory_within, assert_same_answer, groups, kept_ids, removed, report, without_places,
};

/// About 80 MB, whose shared keys exceed 64 MB too.
const PAGES: usize = 60_000;

/// The winner and the members of each group, in file order.
fn group_sets(out: &Path) -> Vec<(String, BTreeSet<String>)> {
    groups(out).into_iter().map(|members| (members[0].clone(), members.into_iter().collect())).collect()
}

#[test]
fn a_memory_limit_is_kept_and_changes_nothing() {
    let folder = tempdir().expect("a folder");
    let input = write_corpus(folder.path(), PAGES);
    let ample = folder.path().join("ample");
    dedup(&input, &ample).args("--memory 2G --quiet").succeed();
    assert_eq!(report(&ample)["out_of_core"], false);
    assert!(report(&ample)["removed"].as_u64() > Some(10_000), "the corpus has duplicates");
    for (limit, megabytes) in [("64M", 64), ("128M", 128)] {
        let out = folder.path().join(limit);
        dedup(&input, &out).args(&format!("--memory {limit} --quiet")).succeed();
        assert_eq!(report(&out)["out_of_core"], true, "{limit}");
        assert_same_answer(&out, &ample, limit);
        assert_memory_within(&out, megabytes << 20);
    }
}

#[test]
fn the_peak_is_that_of_the_run_and_not_of_whoever_started_it() {
    let folder = tempdir().expect("a folder");
    let input = write_corpus(folder.path(), 100);
    // On Linux a process inherits the peak memory of its parent: ours is 200 MB from here on.
    let held = vec![1u8; 200 << 20];
    assert_eq!(
        std::hint::black_box(&held).iter().step_by(4_096).map(|&byte| u64::from(byte)).sum::<u64>(),
        51_200
    );
    let out = folder.path().join("out");
    dedup(&input, &out).args("--memory 64M --quiet").succeed();
    assert_memory_within(&out, 64 << 20);
}

#[test]
fn large_pages_on_many_threads_keep_the_limit() {
    let folder = tempdir().expect("a folder");
    let mut random = Random::new(7);
    let mut large = || -> String {
        let word = |_| format!("{:x} ", random.below(1 << 14));
        (0..800_000).map(word).collect()
    };
    let mut lines = String::new();
    for number in 0..4 {
        write_file(folder.path(), &format!("pages/{number}.txt"), large());
        write_file(folder.path(), &format!("pages/{number}.html"), format!("<p>{}</p>", large()));
        lines.push_str(&format!("{{\"id\":{number},\"text\":\"{}\"}}\n", large()));
    }
    write_file(folder.path(), "pages/lines.jsonl", lines);
    for threads in [2, 8] {
        let out = folder.path().join(threads.to_string());
        let options = format!("--memory 64M --threads {threads} --quiet");
        dedup(&folder.path().join("pages"), &out).args(&options).succeed();
        assert_eq!(report(&out)["kept"], 12);
        // The code of a build for debugging takes 6 MB more than that of a release.
        let code = if cfg!(debug_assertions) { 6 << 20 } else { 0 };
        assert_memory_within(&out, (64 << 20) + code);
    }
}

#[test]
fn pages_of_tiny_paragraphs_keep_the_limit() {
    let folder = tempdir().expect("a folder");
    let input = folder.path().join("pages");
    for page in 0..4 {
        write_file(&input, &format!("{page}.html"), format!("<p>a {page}").repeat(500_000));
    }
    let out = folder.path().join("out");
    dedup(&input, &out).args("--memory 64M --quiet").succeed();
    assert_eq!(report(&out)["read"], 4);
    assert_memory_within(&out, 64 << 20);
}

/// Memory is allocated for the size of the last chunk, so the rest must be freed when the next one needs less.
#[test]
fn full_and_empty_chunks_in_turn_keep_the_limit() {
    let folder = tempdir().expect("a folder");
    let (mut lines, mut random) = (String::new(), Random::new(7));
    for megabyte in 0..40 {
        for page in 0..107 {
            let words: String = match megabyte % 2 {
                0 => (0..2_600).map(|_| format!("{:x} ", random.below(4_096))).collect(),
                _ => format!("{megabyte}x{page}y").repeat(1_700),
            };
            lines += &format!("{{\"id\":\"{megabyte} {page}\",\"text\":\"{words}\"}}\n");
        }
    }
    let (input, out) = (write_file(folder.path(), "pages.jsonl", lines), folder.path().join("out"));
    dedup(&input, &out).args("--memory 128M --threads 1 --quiet").succeed();
    // Everything fits in memory. The shares of the limit leave much for uncounted memory, and this run uses none of
    // that.
    assert_memory_within(&out, 88 << 20);
}

#[test]
fn threads_change_nothing() {
    let folder = tempdir().expect("a folder");
    let input = write_corpus(folder.path(), PAGES / 4);
    let alone = folder.path().join("1");
    dedup(&input, &alone).args("--threads 1 --quiet").succeed();
    for threads in ["2", "4"] {
        let out = folder.path().join(threads);
        dedup(&input, &out).args(&format!("--threads {threads} --quiet")).succeed();
        assert_same_answer(&out, &alone, &format!("{threads} threads"));
    }
    let out = folder.path().join("tight");
    dedup(&input, &out).args("--threads 4 --memory 64M --quiet").succeed();
    assert_same_answer(&out, &alone, "4 threads and little memory");
    assert_memory_within(&out, 64 << 20);
}

#[test]
fn shuffled_lines_give_the_same_answer() {
    let folder = tempdir().expect("a folder");
    let mut lines: Vec<String> = corpus_lines(PAGES / 4).collect();
    let straight = folder.path().join("straight");
    dedup(&write_file(folder.path(), "pages.jsonl", lines.concat()), &straight).arg("--quiet").succeed();
    let expected = (removed(&straight), kept_ids(&straight, "pages.jsonl"), group_sets(&straight));
    assert!(expected.0.len() > 1_000, "the corpus has duplicates");
    for seed in [1, 2] {
        let mut random = Random::new(seed);
        for at in (1..lines.len()).rev() {
            lines.swap(at, random.below(at as u64 + 1) as usize);
        }
        let shuffled = write_file(folder.path(), &format!("{seed}/pages.jsonl"), lines.concat());
        let out = folder.path().join(format!("shuffled-{seed}"));
        dedup(&shuffled, &out).args(if seed == 1 { "--quiet" } else { "--quiet --memory 64M" }).succeed();
        assert!(removed(&out) == expected.0, "seed {seed}: other removed pages, winners or similarities");
        assert!(kept_ids(&out, "pages.jsonl") == expected.1, "seed {seed}: other kept pages");
        assert!(group_sets(&out) == expected.2, "seed {seed}: other groups");
    }
}

#[test]
fn one_file_or_many_give_the_same_answer() {
    let folder = tempdir().expect("a folder");
    let lines: Vec<String> = corpus_lines(4_000).collect();
    let whole = folder.path().join("whole");
    dedup(&write_file(folder.path(), "pages.jsonl", lines.concat()), &whole).arg("--quiet").succeed();
    for (number, part) in lines.chunks(450).enumerate() {
        write_file(folder.path(), &format!("parts/{number}.jsonl"), part.concat());
    }
    let out = folder.path().join("out");
    dedup(&folder.path().join("parts"), &out).arg("--quiet").succeed();
    assert!(removed(&out) == removed(&whole), "other removed pages, winners or similarities");
    let groups = |out: &Path| without_places(&out.join("groups.jsonl"));
    assert!(groups(&out) == groups(&whole), "other groups");
}

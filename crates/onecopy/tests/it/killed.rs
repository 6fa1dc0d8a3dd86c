//! A run that is killed or stopped in any stage resumes with the same command, and gives the same bytes.
//!
//! The program reports when a stage begins. The tests wait for that line and kill the program, at once or some
//! milliseconds later.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::{TempDir, tempdir};

use crate::pages::{gzip, record, topic, write_corpus, write_file};
use crate::program::{Call, Finished, dedup, onecopy};
use crate::repeat::set_in_run;
use crate::results::{RESULTS, assert_same_answer, entries, files_below, kept_ids, report};

/// The stages, and the delays in milliseconds before the kill.
const KILLS: [(&str, u64); 11] = [
    ("read", 0),
    ("read", 60),
    ("read", 250),
    ("order", 0),
    ("index", 0),
    ("index", 40),
    ("compare", 0),
    ("group", 0),
    ("write", 0),
    ("write", 30),
    ("write", 70),
];

/// About 40 MB, whose sketches take more than half of 64 MB.
const PAGES: usize = 30_000;

/// A corpus, and the results of an undisturbed run over it.
struct Prepared {
    folder: TempDir,
    input: PathBuf,
    expected: PathBuf,
    flags: &'static str,
}

impl Prepared {
    fn new(flags: &'static str) -> Prepared {
        let folder = tempdir().expect("a folder");
        let input = write_corpus(folder.path(), PAGES);
        let expected = folder.path().join("undisturbed");
        dedup(&input, &expected).args(flags).args("--quiet").succeed();
        Prepared { folder, input, expected, flags }
    }

    fn out(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn call(&self, out: &Path) -> Call {
        dedup(&self.input, out).args(self.flags)
    }

    /// Starts a run and kills it in a stage. Returns whether the kill came before the end.
    fn kill_in(&self, stage: &str, delay_ms: u64, out: &Path) -> bool {
        let mut running = self.call(out).start();
        running.hear(&format!("{stage}:"));
        std::thread::sleep(Duration::from_millis(delay_ms));
        running.kill();
        let landed = running.finish().was_killed();
        self.assert_nothing_half_done(out, &format!("killed in {stage} after {delay_ms} ms"));
        landed
    }

    /// Asserts that everything visible outside `.onecopy` is complete: results move there only when they are finished.
    fn assert_nothing_half_done(&self, out: &Path, what: &str) {
        for name in entries(out) {
            assert!(name == ".onecopy" || RESULTS.contains(&name.as_str()), "{what}: {name} is visible");
        }
        for name in files_below(out).iter().filter(|name| !name.starts_with(".onecopy/")) {
            assert!(!name.ends_with(".part"), "{what}: {name} is visible");
            if !name.ends_with(".json") {
                let (found, expected) = (fs::read(out.join(name)), fs::read(self.expected.join(name)));
                let whole =
                    found.expect("a visible file") == expected.expect("a file of the undisturbed run");
                assert!(whole, "{what}: {name} is visible and not whole");
            }
        }
        assert!(
            !out.join("report.json").exists() || out.join("kept").exists(),
            "{what}: a report without results"
        );
    }

    /// Repeats the command and compares the results.
    fn continues(&self, out: &Path, what: &str) -> Finished {
        let finished = self.call(out).succeed();
        assert_same_answer(out, &self.expected, what);
        finished
    }

    fn in_each_stage(&self, kills: impl IntoIterator<Item = (&'static str, u64)>) {
        for (stage, delay_ms) in kills {
            let what = format!("killed in {stage} after {delay_ms} ms");
            let out = self.out(&format!("{stage}-{delay_ms}"));
            let landed = self.kill_in(stage, delay_ms, &out);
            assert!(landed || delay_ms > 0, "{what}: the run was over before; make the corpus larger");
            let finished = self.continues(&out, &what);
            // A kill between the last rename and the end leaves a complete run.
            if landed && !finished.stdout.contains("nothing was repeated") {
                finished.says(&["the run that was stopped here"]);
            }
            if landed && stage == "write" && !finished.stderr.is_empty() {
                let again = finished
                    .stderr
                    .lines()
                    .find(|line| line.starts_with("order") || line.starts_with("compare"));
                assert_eq!(again, None, "{what}: what was decided is not decided again");
            }
            fs::remove_dir_all(&out).expect("results can be deleted");
        }
    }
}

#[test]
fn killed_in_each_stage_with_sketches_on_disk() {
    let prepared = Prepared::new("--memory 64M");
    assert_eq!(report(&prepared.expected)["out_of_core"], true, "the corpus is too small to go to disk");
    prepared.in_each_stage(KILLS);
}

#[test]
fn killed_in_each_stage_in_memory() {
    let prepared = Prepared::new("");
    assert_eq!(report(&prepared.expected)["out_of_core"], false);
    // Data that is not on disk is read again whenever the kill comes, so one kill per stage suffices.
    prepared.in_each_stage(KILLS.into_iter().filter(|kill| kill.1 == 0));
}

#[test]
fn killed_in_every_stage_one_after_the_other() {
    let prepared = Prepared::new("--memory 64M");
    let out = prepared.out("out");
    for stage in ["read", "order", "index", "compare", "group", "write"] {
        let delay_ms = if stage == "read" { 120 } else { 0 };
        assert!(prepared.kill_in(stage, delay_ms, &out), "{stage}: the run was over before it was killed");
    }
    prepared.continues(&out, "killed in every stage");
}

#[test]
fn a_killed_run_continues_with_other_memory_and_threads() {
    let prepared = Prepared::new("--memory 64M");
    let out = prepared.out("out");
    assert!(prepared.kill_in("index", 0, &out), "the run was over before it was killed");
    let finished = dedup(&prepared.input, &out).args("--memory 512M --threads 1").succeed();
    finished.says(&["continuing"]);
    assert_same_answer(&out, &prepared.expected, "other memory");
}

#[test]
fn a_killed_run_over_packed_files_and_documents_continues() {
    let folder = tempdir().expect("a folder");
    let site = folder.path().join("site");
    let text: String = crate::pages::corpus_lines(6_000).collect();
    write_file(&site, "pages.jsonl.gz", gzip(text.as_bytes()));
    for number in 0..600 {
        write_file(&site, &format!("notes/{number}.txt"), topic(&format!("t{}x", number / 2)));
    }
    let (out, expected) = (folder.path().join("out"), folder.path().join("expected"));
    dedup(&site, &expected).succeed();
    for stage in ["read", "index", "write"] {
        let mut running = dedup(&site, &out).start();
        running.hear(&format!("{stage}:"));
        running.kill();
        running.finish();
        assert!(!out.join("report.json").exists(), "{stage}: the run was over before it was killed");
    }
    dedup(&site, &out).succeed();
    assert_same_answer(&out, &expected, "packed files and documents");
    assert_eq!(files_below(&out.join("kept/notes")).len(), 300);
}

#[test]
fn a_signal_ends_the_run_and_the_same_command_continues_it() {
    let prepared = Prepared::new("--memory 64M");
    let out = prepared.out("out");
    for (stage, signal) in [("read", "INT"), ("index", "TERM"), ("write", "INT")] {
        let mut running = prepared.call(&out).start();
        running.hear(&format!("{stage}:"));
        running.signal(signal);
        let finished = running.finish();
        if stage == "write" && finished.code() == Some(0) {
            continue; // The signal came after the work was done.
        }
        assert_eq!(finished.code(), Some(130), "{signal} in {stage}: {}", finished.stderr);
        finished.says(&["stopped; the same command continues where it left off"]);
        assert_eq!(finished.stdout, "", "{signal} in {stage}");
        prepared.assert_nothing_half_done(&out, &format!("{signal} in {stage}"));
    }
    prepared.continues(&out, "stopped by signals");
}

/// With enough memory nothing is on disk until the signal comes.
#[test]
fn a_signal_saves_the_pages_in_memory() {
    let prepared = Prepared::new("");
    assert_eq!(report(&prepared.expected)["out_of_core"], false);
    let out = prepared.out("out");
    let mut read_before = 0;
    for (stage, signal) in [("read", "TERM"), ("compare", "INT"), ("write", "TERM")] {
        let mut running = prepared.call(&out).start();
        running.hear(&format!("{stage}:"));
        if stage == "read" {
            std::thread::sleep(Duration::from_millis(150));
        }
        running.signal(signal);
        let finished = running.finish();
        assert_eq!(finished.code(), Some(130), "{signal} in {stage}: {}", finished.stderr);
        assert!(pages_already_read(&finished) >= read_before, "{stage}: {}", finished.stderr);
        read_before = if stage == "read" { 1 } else { PAGES };
    }
    let finished = prepared.continues(&out, "stopped with pages in memory");
    assert_eq!(pages_already_read(&finished), PAGES);
}

/// The number of pages that a run says it need not read. Zero if it does not continue another.
fn pages_already_read(finished: &Finished) -> usize {
    let line = finished.stderr.lines().find_map(|line| line.split("pages already read: ").nth(1));
    line.map_or(0, |number| number.parse().expect("a number"))
}

#[test]
fn a_signal_ends_a_run_that_waits_for_its_input() {
    let folder = tempdir().expect("a folder");
    let out = folder.path().join("out");
    let mut running = onecopy(["dedup", "-", "--out"]).arg(&out).start();
    running.feed(record("a", &topic("a")).as_bytes());
    let begun = std::time::Instant::now();
    while !out.join(".onecopy/stdin").exists() {
        assert!(begun.elapsed().as_secs() < 60, "the run does not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    running.signal("INT");
    assert!(running.ends_within(Duration::from_secs(3)), "Ctrl-C does nothing while standard input is read");
    let finished = running.finish();
    assert_eq!(finished.code(), Some(130));
    finished.says(&["a run over standard input", "starts over"]);
}

#[test]
fn a_run_that_overwrites_and_is_killed_leaves_the_old_results() {
    let prepared = Prepared::new("");
    let out = prepared.out("out");
    let small = write_file(prepared.folder.path(), "small.jsonl", record("a", &topic("a")));
    dedup(&small, &out).succeed();
    let old: Vec<Vec<u8>> =
        files_below(&out).iter().map(|name| fs::read(out.join(name)).expect("a result")).collect();
    for stage in ["compare", "write"] {
        let mut running = prepared.call(&out).arg("--overwrite").start();
        running.hear(&format!("{stage}:"));
        running.kill();
        assert!(running.finish().was_killed(), "{stage}: the run was over before it was killed");
        let names = files_below(&out).into_iter().filter(|name| !name.starts_with(".onecopy/"));
        let now: Vec<Vec<u8>> = names.map(|name| fs::read(out.join(name)).expect("a result")).collect();
        assert!(now == old, "{stage}: the old results were touched");
    }
    prepared.call(&out).arg("--overwrite").succeed().says(&["the run that was stopped here saved no pages"]);
    assert_same_answer(&out, &prepared.expected, "overwritten");
}

/// The run was killed when the results were in place but its working files were not deleted yet.
#[test]
fn a_run_that_was_killed_while_it_cleared_up_leaves_nothing() {
    let folder = tempdir().expect("a folder");
    let (input, out) = (write_corpus(folder.path(), 30), folder.path().join("out"));
    dedup(&input, &out).succeed();
    let run = fs::read(out.join("run.json")).expect("the run's configuration");
    for run in [Some(run), None] {
        fs::create_dir_all(out.join(".onecopy/results")).expect("a folder");
        write_file(&out.join(".onecopy"), "segments.bin", "sketches");
        if let Some(run) = run {
            fs::write(out.join(".onecopy/run.json"), run).expect("a file");
        }
        assert!(dedup(&input, &out).succeed().stdout.contains("nothing was repeated"));
        assert!(!out.join(".onecopy").exists());
    }
    fs::create_dir(out.join(".onecopy")).expect("a folder");
    let other = fs::read_to_string(out.join("run.json")).expect("text").replace("pages.jsonl", "other.jsonl");
    fs::write(out.join(".onecopy/run.json"), other).expect("a file");
    dedup(&input, &out).succeed();
    assert!(out.join(".onecopy/run.json").exists(), "what another run has done is left to it");
}

#[test]
fn a_killed_run_is_not_mixed_with_another() {
    let prepared = Prepared::new("");
    let out = prepared.out("out");
    assert!(prepared.kill_in("write", 0, &out), "the run was over before it was killed");
    let small = write_file(prepared.folder.path(), "small.jsonl", record("a", &topic("a")));
    dedup(&small, &out).succeed();
    assert_eq!(entries(&out), RESULTS);
    assert_eq!(kept_ids(&out, "small.jsonl").len(), 1);
    assert_eq!(files_below(&out.join("kept")), ["small.jsonl"]);
}

#[test]
fn a_killed_run_of_other_answers_is_begun_again() {
    let prepared = Prepared::new("--memory 64M");
    let out = prepared.out("out");
    assert!(prepared.kill_in("index", 0, &out), "the run was over before it was killed");
    set_in_run(&out.join(".onecopy"), "answer_version", 0.into());
    let finished = prepared.continues(&out, "other answers");
    finished.says(&["its answers may differ from ours, so the run starts over"]);
    assert!(!finished.stderr.contains("continuing"), "{}", finished.stderr);
}

/// A run's results replace nothing that appeared while it worked.
#[test]
fn a_folder_that_appears_while_a_run_works_is_left() {
    let prepared = Prepared::new("");
    let out = prepared.out("out");
    assert!(prepared.kill_in("compare", 0, &out), "the run was over before it was killed");
    write_file(&out, "kept/mine.txt", "precious");
    prepared.call(&out).fail(2).says(&["it has kept, which onecopy did not make"]);
    assert_eq!(fs::read_to_string(out.join("kept/mine.txt")).expect("it is there"), "precious");
    fs::remove_dir_all(out.join("kept")).expect("it is ours");
    prepared.continues(&out, "taken away");
}

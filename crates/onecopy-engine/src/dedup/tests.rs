//! The equalities: fast = obvious, and the answer depends on neither order, threads, memory nor a restart.

mod against;
mod dense;
mod formats;
mod rows;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use onecopy_core::{Config, Decision, Decisions, METHODS, Needs, PageId, Record, method, reference};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::error::Error;
use crate::ingest::{FieldNames, read_line};
use crate::job::Fields;
use crate::progress::{Note, Silent, Stage};

/// A page of a generated corpus.
#[derive(Clone, Debug)]
struct Made {
    name: String,
    text: String,
    /// The text around the article, if the page is HTML.
    menu: Option<&'static str>,
    popularity: Option<f64>,
}

/// The answer for a page: its winner and similarity if it is removed, and the winner of its group.
type ReportedPage = (Option<(String, String, String)>, String);

/// Word lists that are edited copies of each other, of boilerplate, or unique. They are plain text or HTML.
fn corpus() -> impl Strategy<Value = Vec<Made>> {
    let page = (0usize..4, 0usize..3, 0usize..6, prop::collection::vec(0usize..30, 0..5), 0usize..4);
    prop::collection::vec(page, 1..60).prop_map(|plans| plans.into_iter().enumerate().map(make).collect())
}

/// `base` selects an article, `drift` the length of a chain of edits, and `edits` all other differences.
fn make(
    (number, (base, shape, drift, edits, signal)): (usize, (usize, usize, usize, Vec<usize>, usize)),
) -> Made {
    let mut words: Vec<String> = (0..30).map(|i| format!("a{base}w{i}")).collect();
    for step in 0..drift {
        words[2 * step + 1] = format!("drift{step}");
    }
    for edit in edits {
        words[edit] = format!("edit{number}");
    }
    let text = match (shape, number % 11) {
        (_, 7) => String::new(),
        (_, 8) => "word".to_owned(),
        (0, _) => format!("home news contact about us {} all rights reserved by all of us", words.join(" ")),
        (1, _) => words[..10].join(", "),
        // Pages with the same words may have other sentences.
        _ => words.chunks(3 + number % 2).map(|words| words.join(" ")).collect::<Vec<_>>().join(". "),
    };
    let popularity = (signal > 0).then_some(signal as f64);
    let menu = [None, None, Some("home news"), Some("home news shop about us and all that is in our shop")];
    Made { name: format!("page-{number:02}"), text, menu: menu[number * 7 % 5 % 4], popularity }
}

fn line(page: &Made) -> String {
    let mut record = json!({"id": page.name, "popularity": page.popularity});
    let text = &page.text;
    match page.menu {
        Some(menu) if !text.is_empty() => {
            let menu: String = menu.split(' ').map(|word| format!("<li><a href=/>{word}</a>")).collect();
            record["html"] = json!(format!("<body><ul>{menu}</ul><p>{text}.</p><p>{text}.</p></body>"));
        }
        _ => record["text"] = json!(text),
    }
    record.to_string() + "\n"
}

/// The answer of the reference. A run rejects pages without words, so they are left out.
fn expected(pages: &[Made], config: &Config) -> BTreeMap<String, ReportedPage> {
    let judged: Vec<&Made> = pages.iter().filter(|page| !page.text.is_empty()).collect();
    let lines: Vec<String> = judged.iter().map(|page| line(page)).collect();
    let (names, method) = (FieldNames::new(&Fields::default()), method(config).unwrap());
    let needs = Needs::of(config, &*method);
    let records: Vec<Record> =
        lines.iter().map(|line| read_line(line.as_bytes(), &names, &needs).unwrap()).collect();
    let Decisions { of_page, group_of } = reference::dedup(&records, config);
    assert_eq!(onecopy_core::dedup(&records, config).unwrap(), reference::dedup(&records, config));
    let name = |page: PageId| judged[page as usize].name.clone();
    let fate = |page: usize| {
        let removed = match of_page[page] {
            Decision::Kept | Decision::Rejected => None,
            Decision::Removed { winner, similarity, kind } => {
                let shown = (similarity * 1e5).round() / 1e5;
                Some((name(winner), format!("{shown:.5}"), kind.as_str().to_owned()))
            }
        };
        (removed, name(group_of[page]))
    };
    (0..judged.len()).map(|page| (judged[page].name.clone(), fate(page))).collect()
}

fn records(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// The answer in an output folder.
fn found(out: &Path) -> BTreeMap<String, ReportedPage> {
    let mut fates: BTreeMap<String, ReportedPage> = BTreeMap::new();
    for kept in records(&out.join("kept/pages.jsonl")) {
        fates.insert(text(&kept["id"]), (None, text(&kept["id"])));
    }
    for gone in records(&out.join("removed.jsonl")) {
        let similarity = format!("{:.5}", gone["similarity"].as_f64().unwrap());
        let fate = (Some((text(&gone["winner"]), similarity, text(&gone["kind"]))), text(&gone["page"]));
        assert!(fates.insert(text(&gone["page"]), fate).is_none(), "kept and removed");
    }
    for group in records(&out.join("groups.jsonl")) {
        for member in group["members"].as_array().unwrap() {
            fates.get_mut(&text(member)).unwrap().1 = text(&group["winner"]);
        }
    }
    fates
}

/// Resource limits of a run, which must not affect the answer.
#[derive(Clone, Copy, Debug)]
struct Squeeze {
    threads: usize,
    chunk: usize,
    /// The number of shared keys that fit in memory, if almost nothing does.
    tight: Option<usize>,
}

fn squeezes() -> impl Strategy<Value = Squeeze> {
    let tight = prop::option::of(1usize..200);
    (1usize..4, 40usize..3_000, tight).prop_map(|(threads, chunk, tight)| Squeeze { threads, chunk, tight })
}

fn job(folder: &Path, config: &Config, squeeze: Squeeze) -> Job {
    let mut job = Job::new([folder.join("pages.jsonl").display().to_string()], folder.join("out"));
    job.config = config.clone();
    job.threads = squeeze.threads;
    job
}

/// Opens the work of a job, with almost no memory if `tight`.
fn squeezed(job: &Job, squeeze: Squeeze) -> Work {
    let work::Found::Work(mut work) = work::open(job, &Silent).unwrap() else { panic!("the folder is new") };
    work.run.chunk_bytes = squeeze.chunk;
    work.budget.chunk = squeeze.chunk;
    work.opener.chunk_bytes = squeeze.chunk;
    if let Some(entries) = squeeze.tight {
        work.budget = crate::batch::budget::Budget {
            // All segments on disk, or only some.
            segments: [0, 10_000, 40_000][entries % 3],
            names: if entries % 5 == 0 { 0 } else { work.budget.names },
            seen: 3,
            // Crowded counters, or mostly empty ones that count few pages.
            rarity_bits: if entries % 2 == 0 { 5 } else { 14 },
            rarity_share: 3,
            sort: 0,
            // All contents in place, several sections, or one.
            sketches: [0, 4_000, 1 << 20][entries / 3 % 3],
            entries,
            holders: entries,
            ..work.budget
        };
    }
    *work
}

fn answer(pages: &[Made], config: &Config, squeeze: Squeeze) -> BTreeMap<String, ReportedPage> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pages.jsonl"), pages.iter().map(line).collect::<String>()).unwrap();
    let job = job(folder.path(), config, squeeze);
    let report = run(squeezed(&job, squeeze), attempt(&job, &Silent, &mut io::sink())).unwrap();
    assert_eq!(report.read, pages.len() as u64);
    assert_eq!(report.counts.kept + report.counts.removed + report.counts.rejected, report.read);
    assert!(squeeze.tight.is_some() || !report.out_of_core);
    found(&job.out)
}

/// Every method with its defaults and with some other parameters.
fn methods() -> impl Strategy<Value = Config> {
    const OTHERS: &[&str] = &[
        "jaccard:mod=3",
        "jaccard:min=9",
        "containment:threshold=0.5",
        "cosine:threshold=0.6",
        "shingles-b:k=2:agree=1",
        "lcs:threshold=0.3:limit=4",
        "lcs:threshold=0.3:search=all",
        "lcs:threshold=0.5:trust=off:m=2:n=1",
        "bloom:threshold=0.2:chunk=16",
        "projection-c:bits=64:agree=58",
        "simhash:distance=6",
        "simhash:distance=6:search=rotate:step=16:window=2",
        "combined:k=2:agree=300",
    ];
    let names = METHODS.iter().map(|entry| entry.name).chain(OTHERS.iter().copied());
    let choices: Vec<Config> =
        names.map(|name| Config { method: name.into(), ..Config::default() }).collect();
    prop::sample::select(choices)
}

fn configs() -> impl Strategy<Value = Config> {
    (prop_oneof![Just(0.8), Just(1.0), 0.05f64..1.0], 1usize..6).prop_map(|(threshold, length)| {
        let mut config = Config { threshold: Some(threshold), ..Config::default() };
        config.shingles.length = length;
        config
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_method_equals_the_obvious(
        pages in corpus(), config in methods(), squeeze in squeezes(), seed in any::<u64>(),
    ) {
        let expected = expected(&pages, &config);
        let mut shuffled = pages;
        shuffled.sort_by_key(|page| onecopy_core::digest(format!("{seed}{}", page.name).as_bytes()));
        prop_assert_eq!(answer(&shuffled, &config, squeeze), expected);
    }

    #[test]
    fn fast_equals_obvious(
        pages in corpus(), config in configs(), squeeze in squeezes(), seed in any::<u64>(),
    ) {
        let expected = expected(&pages, &config);
        let mut shuffled = pages;
        shuffled.sort_by_key(|page| onecopy_core::digest(format!("{seed}{}", page.name).as_bytes()));
        let found = answer(&shuffled, &config, squeeze);
        let regrouped = only_grouped(&found);
        prop_assert_eq!(only_fates(&found), only_fates(&expected));
        prop_assert_eq!(regrouped, only_grouped(&expected));
    }
}

fn only_fates(
    fates: &BTreeMap<String, ReportedPage>,
) -> BTreeMap<&String, &Option<(String, String, String)>> {
    fates.iter().map(|(page, fate)| (page, &fate.0)).collect()
}

fn only_grouped(fates: &BTreeMap<String, ReportedPage>) -> BTreeMap<String, String> {
    fates.iter().map(|(page, fate)| (page.clone(), fate.1.clone())).collect()
}

/// A group of hundreds of pages among boilerplate. Every page shares keys with every other.
#[test]
fn a_giant_group_is_settled_like_any_other() {
    let words: Vec<String> = (0..40).map(|i| format!("w{i}")).collect();
    let mut pages: Vec<Made> = (0..400)
        .map(|n| Made {
            name: format!("g{n:03}"),
            text: format!("{} n{}", words.join(" "), n % 7),
            menu: None,
            popularity: None,
        })
        .collect();
    pages.extend((0..100).map(|n| Made {
        name: format!("b{n:03}"),
        text: format!(
            "{} {}",
            words[..15].join(" "),
            (0..20).map(|i| format!("own{n}x{i}")).collect::<Vec<_>>().join(" ")
        ),
        menu: None,
        popularity: None,
    }));
    let config = Config::default();
    let expected = expected(&pages, &config);
    for tight in [None, Some(500)] {
        assert_eq!(answer(&pages, &config, Squeeze { threads: 2, chunk: 4_096, tight }), expected);
    }
}

/// Two kept pages far apart, each with losers on the side of the other. Only pairs of losers join the two groups. Each
/// loser alone is too near its winner for the bound on pairs to allow it.
#[test]
fn groups_are_joined_by_pairs_of_losers() {
    let page = |name: String, drift: usize, own: Option<usize>, popularity: f64| {
        let words = (0..40).map(|i| if i < drift { format!("new{i}") } else { format!("old{i}") });
        let own = own.map(|n| format!("own{name}{n}"));
        let text = words.chain(own).collect::<Vec<_>>().join(" ");
        Made { text, name, menu: None, popularity: Some(popularity) }
    };
    let mut pages = vec![page("a".into(), 0, None, 9.0), page("b".into(), 9, None, 8.0)];
    for n in 0..3 {
        pages.push(page(format!("a{n}"), 3, Some(n), 1.0));
        pages.push(page(format!("b{n}"), 6, Some(n), 1.0));
    }
    let mut config = Config::default();
    config.shingles.length = 1;
    let expected = expected(&pages, &config);
    assert_eq!(expected["a0"].0.as_ref().unwrap().0, "a");
    assert_eq!((expected["b"].0.is_none(), expected["b"].1.as_str()), (true, "a"));
    for tight in [None, Some(5)] {
        assert_eq!(answer(&pages, &config, Squeeze { threads: 2, chunk: 4_096, tight }), expected);
    }
}

/// Plain text, and the same twice as HTML. The numbers beside their keys are of two kinds, and use all their bits.
#[test]
fn plain_text_and_html_are_compared() {
    let text: String = (0..30).map(|i| format!("w{i} ")).collect();
    let page = |name: &str, menu| Made { name: name.into(), text: text.clone(), menu, popularity: None };
    let pages = [page("plain", None), page("html", Some("home news"))];
    let expected = expected(&pages, &Config::default());
    assert_eq!(expected["plain"].0, Some(("html".into(), "0.83871".into(), "near".into())));
    let squeeze = Squeeze { threads: 1, chunk: 4_096, tight: None };
    assert_eq!(answer(&pages, &Config::default(), squeeze), expected);
}

/// Two pages with the same words in other sentences. The sentences of the better page count, in any input order.
#[test]
fn the_best_page_of_a_text_speaks_for_it() {
    let sentences: Vec<String> = (0..10).map(|n| format!("a{n} b{n} c{n}")).collect();
    let page =
        |name: &str, text: String, popularity| Made { name: name.into(), text, menu: None, popularity };
    let near = format!("{}. something else", sentences[..9].join(". "));
    let pages = [
        page("one-sentence", sentences.join(" "), Some(1.0)),
        page("best", sentences.join(". "), Some(9.0)),
        page("near", near, None),
    ];
    let config = Config { method: "lcs:search=all".into(), ..Config::default() };
    let expected = expected(&pages, &config);
    assert_eq!(expected["near"].0.as_ref().unwrap().0, "best");
    for order in [[0, 1, 2], [1, 0, 2], [2, 0, 1]] {
        let shuffled = order.map(|place: usize| pages[place].clone());
        assert_eq!(answer(&shuffled, &config, Squeeze { threads: 1, chunk: 4_096, tight: None }), expected);
    }
}

/// Pages without names. All, some or none of them are in memory.
#[test]
fn what_is_in_memory_changes_no_name() {
    let page = |n: usize| {
        let words: Vec<String> = (0..40).map(|i| format!("w{}", i + n / 3 * 40)).collect();
        format!("{{\"text\":\"{} n{}\"}}\n", words.join(" "), n % 3)
    };
    let squeeze = Squeeze { threads: 2, chunk: 4_096, tight: None };
    let mut found = Vec::new();
    for (memory, names) in [(1 << 20, 0), (80_000, 0), (80_000, 1 << 20), (40_000, 9_000), (0, 1 << 20)] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("pages.jsonl"), (0..300).map(page).collect::<String>()).unwrap();
        let job = job(folder.path(), &Config::default(), squeeze);
        let mut work = squeezed(&job, squeeze);
        (work.budget.segments, work.budget.names) = (memory, names);
        let report = run(work, attempt(&job, &Silent, &mut io::sink())).unwrap();
        assert_eq!((report.counts.removed, report.out_of_core), (200, memory < 1 << 20));
        let lists = ["removed.jsonl", "groups.jsonl", "pages.jsonl", "kept/pages.jsonl"];
        found.push(lists.map(|list| fs::read_to_string(job.out.join(list)).unwrap()));
    }
    let line = r#"{"page":"pages.jsonl:3","source":"pages.jsonl","line":3,"winner":"pages.jsonl:2","winner_source":"pages.jsonl","winner_line":2,"#;
    assert!(found[0][0].contains(line), "{}", found[0][0]);
    assert!(found.iter().all(|lists| *lists == found[0]));
}

fn attempt<'a>(job: &'a Job, progress: &'a dyn Progress, kept: &'a mut dyn Write) -> Attempt<'a> {
    Attempt { job, begun: Begun::now(), progress, kept }
}

/// Stops a run in a stage, after a number of requests.
struct StopIn {
    stage: Stage,
    steps: std::sync::atomic::AtomicI64,
    within: std::sync::atomic::AtomicBool,
    notes: std::sync::Mutex<Vec<Note>>,
}

impl Progress for StopIn {
    fn begin(&self, stage: Stage, _: u64) {
        self.within.store(stage == self.stage, std::sync::atomic::Ordering::Relaxed);
    }
    fn note(&self, note: &Note) {
        self.notes.lock().unwrap().push(note.clone());
    }
    fn stopped(&self) -> bool {
        self.within.load(std::sync::atomic::Ordering::Relaxed)
            && self.steps.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) <= 0
    }
}

#[test]
fn a_run_that_was_stopped_anywhere_continues_to_the_same_answer() {
    let words: Vec<String> = (0..30).map(|i| format!("w{i}")).collect();
    let pages: Vec<Made> = (0..4_200)
        .map(|n| {
            let mut words = words.clone();
            words[n % 30] = format!("x{}", n % 997);
            words[(n + 11) % 30] = format!("y{}", n % 13);
            Made { name: format!("p{n:04}"), text: words.join(" "), menu: None, popularity: None }
        })
        .collect();
    let config = Config::default();
    let whole = answer(&pages, &config, Squeeze { threads: 2, chunk: 50_000, tight: None });
    for tight in [None, Some(20_000), Some(20_001)] {
        let squeeze = Squeeze { threads: 2, chunk: 20_000, tight };
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("pages.jsonl"), pages.iter().map(line).collect::<String>()).unwrap();
        let job = job(folder.path(), &config, squeeze);
        let mut stops = 0;
        for stage in Stage::ALL {
            let steps = if stage == Stage::Read { 5 } else { 0 };
            let stop = StopIn { stage, steps: steps.into(), within: false.into(), notes: Default::default() };
            let work = squeezed(&job, squeeze);
            assert_eq!(work.continued, stops > 0, "{stage:?}");
            match run(work, attempt(&job, &stop, &mut io::sink())) {
                Err(Error::Stopped) => stops += 1,
                Ok(_) => panic!("the run was not stopped in {stage:?}"),
                Err(error) => panic!("{error}"),
            }
            // No page is read twice, wherever the segments were.
            let notes = stop.notes.into_inner().unwrap();
            let notes: Vec<Note> = notes.into_iter().filter(|note| *note != Note::Saving).collect();
            match &notes[..] {
                [] => assert_eq!(stage, Stage::Read),
                [Note::Continued { pages }] if stage == Stage::Order => {
                    assert!((1..4_200).contains(pages), "{pages} pages were saved")
                }
                notes => assert_eq!(notes, [Note::Continued { pages: 4_200 }], "{stage:?}"),
            }
        }
        run(squeezed(&job, squeeze), attempt(&job, &Silent, &mut io::sink())).unwrap();
        assert_eq!(found(&job.out), whole);
    }
}

/// The stages that were begun: their totals, and all steps that were reported.
#[derive(Default)]
struct Steps(std::sync::Mutex<Vec<(Stage, u64, u64)>>);

impl Progress for Steps {
    fn begin(&self, stage: Stage, total: u64) {
        self.0.lock().unwrap().push((stage, total, 0));
    }
    fn advance(&self, steps: u64) {
        self.0.lock().unwrap().last_mut().expect("a stage has begun").2 += steps;
    }
}

#[test]
fn every_stage_counts_up_to_its_total() {
    let words: Vec<String> = (0..30).map(|i| format!("w{i}")).collect();
    let pages: Vec<Made> = (0..900)
        .map(|n| {
            let mut words = words.clone();
            words[n % 30] = format!("x{}", n % 97);
            words[(n + 11) % 30] = format!("y{}", n % 13);
            Made { name: format!("p{n:04}"), text: words.join(" "), menu: None, popularity: None }
        })
        .collect();
    for tight in [None, Some(20_000), Some(20_001)] {
        let squeeze = Squeeze { threads: 2, chunk: 20_000, tight };
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("pages.jsonl"), pages.iter().map(line).collect::<String>()).unwrap();
        let job = job(folder.path(), &Config::default(), squeeze);
        let steps = Steps::default();
        run(squeezed(&job, squeeze), attempt(&job, &steps, &mut io::sink())).unwrap();
        let stages = steps.0.into_inner().unwrap();
        assert_eq!(stages.iter().map(|stage| stage.0).collect::<Vec<_>>(), Stage::ALL);
        for (stage, total, done) in stages {
            assert_eq!(done, total, "{stage:?}, {tight:?}");
        }
    }
}

/// The second half of the input disappears after it was read, and nobody notices.
#[test]
fn a_run_that_continues_does_not_open_what_was_read() {
    let words = |n: usize| (0..12).map(|i| format!("w{}", i + n / 2 * 12)).collect::<Vec<_>>().join(" ");
    let pages: String =
        (0..4_200).map(|n| format!("{{\"id\":\"{n}\",\"text\":\"{}\"}}\n", words(n))).collect();
    let squeeze = Squeeze { threads: 2, chunk: 4_096, tight: None };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pages.jsonl");
    fs::write(&path, &pages).unwrap();
    let mut job = job(folder.path(), &Config::default(), squeeze);
    job.outputs.kept = KeptPages::Nowhere;
    let (stage, within) = (Stage::Order, false.into());
    let stop = StopIn { stage, steps: 0.into(), within, notes: Default::default() };
    assert!(matches!(
        run(squeezed(&job, squeeze), attempt(&job, &stop, &mut io::sink())),
        Err(Error::Stopped)
    ));
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, pages[..pages.len() / 2].to_owned() + &" ".repeat(pages.len().div_ceil(2))).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    let report = run(squeezed(&job, squeeze), attempt(&job, &Silent, &mut io::sink())).unwrap();
    assert_eq!((report.read, report.counts.removed), (4_200, 2_100));
}

//! Service = batch: after any changes, in any batches, with restarts and power losses, the service gives the answers of
//! a batch run over the same pages.

mod backups;
mod durability;
mod feed;
mod follower;
mod listing;
mod names;
mod opening;
mod poison;
mod rewriting;
mod scrubbing;
mod tags;
mod templates;
mod upgrades;

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use onecopy_store::Volatile;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::tuning::Tuning;
use super::*;
use crate::error::Error;
use crate::job::Job;
use crate::progress::Silent;
use follower::Follower;

const WAIT: Duration = Duration::from_secs(60);

/// A version of a page.
#[derive(Clone, Debug)]
struct Draft {
    page: usize,
    base: usize,
    drift: usize,
    edits: Vec<usize>,
    signal: usize,
    link: PageLink,
    shape: usize,
}

#[derive(Clone, Debug)]
enum PageLink {
    None,
    Redirect(usize),
    Canonical(usize),
    Revisit(usize),
}

#[derive(Clone, Debug)]
enum Step {
    Put(Draft),
    Dead(usize),
    Delete(usize),
    /// Deletes the pages whose names begin with that of a page, so many at once.
    Sweep(usize, usize),
    /// Waits until all accepted changes are settled.
    Drain,
    /// Closes the collection and opens it again.
    Restart,
    /// Loses power, with a seed that selects the lost writes.
    PowerLoss(u64),
}

const PAGES: usize = 14;

fn made() -> impl Strategy<Value = Draft> {
    let link = prop_oneof![
        6 => Just(PageLink::None),
        2 => (0..PAGES).prop_map(PageLink::Redirect),
        2 => (0..PAGES).prop_map(PageLink::Canonical),
        1 => (0..PAGES).prop_map(PageLink::Revisit),
    ];
    let edits = prop::collection::vec(0usize..30, 0..3);
    (0..PAGES, 0usize..3, 0usize..6, edits, 0usize..4, link, 0usize..6).prop_map(
        |(page, base, drift, edits, signal, link, shape)| Draft {
            page,
            base,
            drift,
            edits,
            signal,
            link,
            shape,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => made().prop_map(Step::Put),
        2 => (0..PAGES).prop_map(Step::Dead),
        2 => (0..PAGES).prop_map(Step::Delete),
        1 => (0..PAGES, 1usize..4).prop_map(|(page, limit)| Step::Sweep(page, limit)),
        4 => Just(Step::Drain),
        1 => Just(Step::Restart),
        1 => any::<u64>().prop_map(Step::PowerLoss),
    ]
}

/// Addresses, some of which are one page by the rules.
fn address(page: usize) -> String {
    match page % 7 {
        5 => format!("https://www.h{}.example/p", page / 7),
        6 => format!("http://h{}.example/p/index.html?utm_source=x", page / 7),
        other => format!("http://h{}.example/{other}", page / 7),
    }
}

/// The shape of a page of a template: long, and with few words of its own.
const TEMPLATE: usize = 6;

fn template(made: &Draft) -> Vec<String> {
    let mut words: Vec<String> = (0..80).map(|i| format!("t{}w{i}", made.base)).collect();
    for (nth, &edit) in made.edits.iter().enumerate() {
        words[edit + 18 * nth] = format!("edit{}of{nth}", made.page);
    }
    words
}

fn line(made: &Draft) -> String {
    let mut words: Vec<String> = (0..30).map(|i| format!("a{}w{i}", made.base)).collect();
    for step in 0..made.drift {
        words[2 * step + 1] = format!("drift{step}");
    }
    for &edit in &made.edits {
        words[edit] = format!("edit{}", made.page);
    }
    let mut record = json!({"id": format!("p{}", made.page), "url": address(made.page)});
    let text = words.join(" ");
    match made.shape {
        0 => record["text"] = json!(""),
        1 => record["text"] = json!(words[..9].join(" ")),
        2 | 3 => {
            let menu = format!("<ul><li><a href=/>home</a><li><a href=/n>news {}</a></ul>", made.page % 3);
            record["html"] = json!(format!("<html><body>{menu}<p>{text}.</p><p>{text}</p></body></html>"));
        }
        TEMPLATE => record["text"] = json!(template(made).join(" ")),
        _ => record["text"] = json!(text),
    }
    match made.link {
        PageLink::None => {}
        PageLink::Redirect(to) => record["redirect"] = json!(address(to)),
        PageLink::Canonical(to) => record["canonical"] = json!(address(to)),
        PageLink::Revisit(to) => record["revisit"] = json!(address(to)),
    }
    // Times vary in both directions. They are signals, and do not decide which version counts.
    if made.signal > 0 {
        record["popularity"] = json!(made.signal);
        record["time"] = json!(1_000_000 * (7 - made.signal));
    }
    record.to_string()
}

/// The fate of a page: how it is removed, if at all, and the pages of its group, best first.
type AnsweredPage = (Option<(String, String, String)>, Vec<String>);
type Answers = BTreeMap<String, Option<AnsweredPage>>;

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

/// The answers of a batch run.
fn by_batch(lines: &BTreeMap<usize, String>, config: &Config) -> Answers {
    let mut answer: Answers = lines.keys().map(|page| (format!("p{page}"), None)).collect();
    if lines.is_empty() {
        return answer;
    }
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join("pages.jsonl"), folder.path().join("out"));
    fs::write(&input, lines.values().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    let mut job = Job::new([input.to_str().unwrap()], &out);
    job.config = config.clone();
    job.threads = 1;
    if let Err(Error::NoPageInMarket { .. }) = crate::dedup(&job, &Silent) {
        // All pages are outside the market, so it prefers none of them.
        job.config.markets.clear();
        crate::dedup(&job, &Silent).unwrap();
    }
    let records = |name: &str| -> Vec<Value> {
        let text = fs::read_to_string(out.join(name)).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    for kept in records("kept/pages.jsonl") {
        let name = text(&kept["id"]);
        answer.insert(name.clone(), Some((None, vec![name])));
    }
    for gone in records("removed.jsonl") {
        let fate = (text(&gone["winner"]), gone["similarity"].to_string(), text(&gone["kind"]));
        answer.insert(text(&gone["page"]), Some((Some(fate), Vec::new())));
    }
    for group in records("groups.jsonl") {
        let members: Vec<String> = group["members"].as_array().unwrap().iter().map(text).collect();
        for member in &members {
            answer.get_mut(member).unwrap().as_mut().unwrap().1 = members.clone();
        }
    }
    answer
}

/// The answers of the service after everything is settled.
fn by_service(service: &Service, lines: &BTreeMap<usize, String>) -> Answers {
    assert!(service.drain(WAIT), "{:?}", service.stats());
    let mut answer = Answers::new();
    let mut groups: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for line in service.groups(0, usize::MAX, 2, None).unwrap() {
        let view = service.group(line.group).unwrap().unwrap();
        let members: Vec<String> =
            view.members.iter().map(|status| serde_json::from_str(status.page.get()).unwrap()).collect();
        assert_eq!(members.len() as u64, line.pages, "pages are counted");
        groups.insert(line.group, members);
    }
    for page in lines.keys() {
        let name = format!("p{page}");
        let status = service.status(&[&*name], true).unwrap().swap_remove(0).expect("a page that was put");
        assert!(status.settled);
        let own = || vec![name.clone()];
        let members = status.group.map_or_else(own, |group| groups.get(&group).cloned().unwrap_or_default());
        let fate = match status.status {
            StatusKind::Unique | StatusKind::Winner => Some((None, members)),
            StatusKind::Loser => {
                assert_eq!(status.verified, Some(true));
                let winner: String = serde_json::from_str(status.winner.unwrap().get()).unwrap();
                let similarity = json!(status.similarity.unwrap()).to_string();
                Some((Some((winner, similarity, status.kind.unwrap().to_owned())), members))
            }
            _ => None,
        };
        assert_eq!(
            status.status == StatusKind::Unique,
            fate.as_ref().is_some_and(|(_, members)| members.len() == 1)
        );
        answer.insert(name, fate);
    }
    answer
}

/// The last change of each page in the feed, by name, and of each group.
fn by_feed(service: &Service) -> (BTreeMap<String, (u64, Status)>, BTreeMap<u64, u64>) {
    let (mut pages, mut groups) = (BTreeMap::new(), BTreeMap::new());
    for Change { sequence, what } in service.feed(FeedCursor::default(), usize::MAX).unwrap().changes {
        match what {
            FeedEntry::Page(status) => drop(pages.insert(status.page.get().to_owned(), (sequence, status))),
            FeedEntry::Group(regrouped) => drop(groups.insert(regrouped.group, sequence)),
        }
    }
    (pages, groups)
}

/// Asserts that who follows the feed knows a status: it has it, or knows that the group's losers have another winner.
fn assert_told(status: &Status, told: &(u64, Status), groups: &BTreeMap<u64, u64>) {
    let (sequence, told) = told;
    assert_eq!((told.status, &told.reason), (status.status, &status.reason));
    let details = |status: &Status| {
        let winner = status.winner.as_ref().map(|name| name.get().to_owned());
        (winner, status.similarity, status.kind, status.group)
    };
    if details(told) != details(status) {
        let regrouped = status.group.and_then(|group| groups.get(&group));
        assert!(regrouped.is_some_and(|number| number > sequence), "{told:?} was not told to be {status:?}");
    }
}

fn open(disk: &Volatile, config: &Config) -> Service {
    let options = ServiceOptions { config: Some(config.clone()), ..ServiceOptions::new("memory") };
    Service::open_tuned(Arc::new(disk.clone()), options, Tuning::small()).unwrap()
}

fn check(steps: Vec<Step>, config: &Config) {
    let mut disk = Volatile::new();
    let mut service = open(&disk, config);
    let mut lines: BTreeMap<usize, String> = BTreeMap::new();
    let mut follower = Follower::default();
    for step in steps {
        match step {
            Step::Put(made) => {
                let line = line(&made);
                service.accept(&[Action::Put(line.as_bytes())]).swap_remove(0).unwrap();
                lines.insert(made.page, line);
            }
            Step::Dead(page) | Step::Delete(page) => {
                let name = format!("p{page}");
                let action = if matches!(step, Step::Dead(_)) {
                    Action::Dead(PageName::Text(&name))
                } else {
                    Action::Delete(PageName::Text(&name))
                };
                let outcome = service.accept(&[action]).swap_remove(0);
                assert!(outcome.is_ok() || !lines.contains_key(&page));
                lines.remove(&page);
            }
            Step::Sweep(page, limit) => {
                let prefix = format!("p{page}");
                listing::sweep(&service, &prefix, limit);
                lines.retain(|page, _| !format!("p{page}").starts_with(&prefix));
            }
            Step::Drain => {
                assert!(service.drain(WAIT), "{:?}", service.stats());
                follower.follow(&service);
                follower.assert_knows(&service);
            }
            Step::Restart => {
                follower.follow(&service);
                service.close().unwrap();
                service = open(&disk, config);
            }
            Step::PowerLoss(seed) => {
                // The new disk does not see later writes of the old service.
                let after = disk.power_loss(seed);
                drop(service);
                disk = after;
                service = open(&disk, config);
            }
        }
    }
    assert_eq!(by_service(&service, &lines), by_batch(&lines, config));
    follower.follow(&service);
    follower.assert_knows(&service);
    let (told, groups) = by_feed(&service);
    for page in lines.keys() {
        let name = format!("p{page}");
        let status = service.status(&[&*name], false).unwrap().swap_remove(0).unwrap();
        assert_told(&status, &told[&format!("\"{name}\"")], &groups);
    }
    listing::assert_all_listed(&service, &lines);
    let stats = service.stats();
    assert_eq!(stats.kept + stats.losers + stats.rejected, lines.len() as u64);
    let report = service.check().unwrap();
    assert_eq!(report.wrong, Vec::<String>::new());
}

/// Steps, and how pages are compared.
fn configs() -> impl Strategy<Value = Config> {
    let method =
        prop_oneof![4 => Just("auto"), 1 => Just("jaccard"), 1 => Just("containment"), 1 => Just("simhash")];
    (method, prop_oneof![3 => Just(None), 1 => Just(Some("h1.example"))], prop_oneof![Just(2usize), Just(5)])
        .prop_map(|(method, market, length)| {
            let mut config = Config { method: method.into(), ..Config::default() };
            config.markets.extend(market.map(str::to_owned));
            if method != "simhash" {
                config.shingles.length = length;
            }
            config
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]
    #[test]
    fn the_service_says_what_a_batch_run_says(steps in prop::collection::vec(step(), 1..60), config in configs()) {
        check(steps, &config);
    }
}

/// A normal test run has few cases; `ONECOPY_LONG_TESTS` gives many.
fn cases() -> u32 {
    if std::env::var_os("ONECOPY_LONG_TESTS").is_some() { 2_000 } else { 60 }
}

/// A page of thirty words, possibly changed by `shape`, that may have a link.
fn plain(page: usize, shape: usize, link: PageLink) -> Step {
    Step::Put(Draft { page, base: 0, drift: 0, edits: Vec::new(), signal: 0, link, shape })
}

#[test]
fn a_page_that_leads_through_others_to_a_circle_is_a_page_again() {
    let steps = vec![
        plain(1, 0, PageLink::Redirect(0)),
        plain(0, 1, PageLink::None),
        plain(2, 1, PageLink::Revisit(1)),
        Step::Drain,
        // The page where both end leads back to them. It has words, and so does the revisit.
        plain(0, 2, PageLink::Redirect(1)),
    ];
    check(steps, &Config::default());
}

/// Enough pages that each batch is searched while the previous one is made durable.
#[test]
fn pages_that_are_looked_for_ahead_of_time_find_each_other() {
    let disk = Volatile::new();
    let config = Config::default();
    let service = open(&disk, &config);
    let mut lines = BTreeMap::new();
    for round in 0..3 {
        for page in 0..160 {
            // Pairs that are alike to no other page, within one batch or across two.
            let (base, edits) = ((page + round) / 2 + 100 * round, vec![page % 2 * 29]);
            let made =
                Draft { page, base, drift: 0, edits, signal: page % 4, link: PageLink::None, shape: 5 };
            lines.insert(page, line(&made));
        }
        let actions: Vec<Action> = lines.values().map(|line| Action::Put(line.as_bytes())).collect();
        assert!(service.accept(&actions).iter().all(|outcome| outcome.is_ok()));
    }
    assert!(service.drain(WAIT));
    assert_eq!(by_service(&service, &lines), by_batch(&lines, &config));
    assert_eq!(service.check().unwrap().wrong, Vec::<String>::new());
}

#[test]
fn a_page_that_was_put_is_known_while_it_is_being_settled() {
    let disk = Volatile::new();
    let service = open(&disk, &Config::default());
    for page in 0..if cases() > 100 { 5_000 } else { 300 } {
        let name = format!("p{page}");
        let line = json!({"id": name, "text": format!("word{page} of a page that is put and looked at")});
        service.accept(&[Action::Put(line.to_string().as_bytes())]).swap_remove(0).unwrap();
        while !service.status(&[&*name], false).unwrap()[0].as_ref().expect("it was put").settled {}
    }
}

#[test]
fn a_page_that_comes_and_dies_in_one_batch_is_known_as_dead() {
    let disk = Volatile::new();
    let service = open(&disk, &Config::default());
    let put = |page: &str| {
        let line = json!({"id": page, "text": format!("some words of a page, {page}")}).to_string();
        service.accept(&[Action::Put(line.as_bytes())]).swap_remove(0).unwrap();
    };
    // Tier 2 is blocked with the first page while the others arrive.
    let held = service.collection.contents.write();
    put("first");
    std::thread::sleep(Duration::from_millis(30));
    put("p");
    service.accept(&[Action::Dead(PageName::Text("p"))]).swap_remove(0).unwrap();
    put("q");
    service.accept(&[Action::Delete(PageName::Text("q"))]).swap_remove(0).unwrap();
    let refusal = service.accept(&[Action::Dead(PageName::Text("q"))]).swap_remove(0).unwrap_err();
    assert!(matches!(refusal, Refusal::Unknown(_)), "{refusal:?}");
    drop(held);
    assert!(service.drain(WAIT));
    let status = service.status(&["p", "q"], false).unwrap();
    assert_eq!(status[0].as_ref().map(|status| status.status), Some(StatusKind::Dead));
    assert!(status[1].is_none());
}

//! Service = batch: after any changes, in any batches, with restarts and power losses, the service gives the answers of
//! a batch run over the same pages.

mod backups;
mod chains;
mod draft;
mod durability;
mod feed;
mod follower;
mod fragile;
mod listing;
mod names;
mod opening;
mod poison;
mod rewriting;
mod scrubbing;
mod steps;
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
use draft::{Draft, PAGES, PageLink, TEMPLATE, address, json_name, line, made, name};
use follower::Follower;
use steps::{Setup, Step, check, setups, step};

const WAIT: Duration = Duration::from_secs(60);

/// The fate of a page: how it is removed, if at all, and the pages of its group, best first.
type AnsweredPage = (Option<(String, String, String)>, Vec<String>);
type Answers = BTreeMap<String, Option<AnsweredPage>>;

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

/// The answers of a batch run.
fn by_batch(lines: &BTreeMap<usize, String>, config: &Config) -> Answers {
    let mut answer: Answers = lines.keys().map(|page| (name(*page), None)).collect();
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
        let name = name(*page);
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]
    #[test]
    fn the_service_says_what_a_batch_run_says(steps in prop::collection::vec(step(), 1..60), setup in setups()) {
        check(steps, &setup);
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
    check(steps, &Setup { config: Config::default(), feed_bytes: u64::MAX });
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

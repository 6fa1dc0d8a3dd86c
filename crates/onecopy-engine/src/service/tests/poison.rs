//! Changes that cannot be settled, repairs at the same time, and questions while Tier 2 is busy: nobody waits forever.

use std::sync::mpsc;

use super::fragile::{POISON, open_fragile};
use super::*;

fn usual() -> Setup {
    Setup { config: Config::default(), feed_bytes: u64::MAX }
}

fn put_text(service: &Service, page: usize, text: &str) {
    let line = json!({"id": format!("p{page}"), "text": text}).to_string();
    let begun = std::time::Instant::now();
    while service.accept(&[Action::Put(line.as_bytes())]).swap_remove(0).is_err() {
        assert!(begun.elapsed() < WAIT, "{:?}", service.ready());
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_change_that_panics_is_rejected_and_the_others_are_settled() {
    let disk = Volatile::new();
    let service = open_fragile(&disk, &usual());
    let text = |page: usize| format!("some words of a page of its own, number {page} and no other");
    (0..30).for_each(|page| {
        put_text(&service, page, &text(page));
        if page == 11 || page == 17 {
            put_text(&service, page, &format!("{} {POISON}", text(page)));
        }
    });
    put_text(&service, 40, POISON);
    assert!(service.drain(WAIT), "{:?}", service.ready());
    service.ready().unwrap();
    let check = |service: &Service| {
        let stats = service.stats();
        assert_eq!((stats.quarantined, stats.waiting), (3, 0), "{stats:?}");
        assert_eq!(stats.settled, stats.accepted);
        for page in ["p11", "p17", "p40"] {
            let status = service.status(&[page], false).unwrap().swap_remove(0).expect("it was put");
            assert_eq!(status.status, StatusKind::Rejected, "{page}");
            assert!(status.reason.is_some_and(|reason| reason.contains("this page is poison")));
        }
        let status = service.status(&["p12"], false).unwrap().swap_remove(0).expect("it was put");
        assert!(status.status != StatusKind::Rejected && status.settled);
        assert_eq!(service.check().unwrap().wrong, Vec::<String>::new());
        service.pages(&mut |_| Ok(())).unwrap();
    };
    check(&service);
    service.close().unwrap();
    let service = open_fragile(&disk, &usual());
    check(&service);
    // The next change of such a page counts, and so does its end.
    put_text(&service, 11, &text(11));
    service.accept(&[Action::Delete(crate::PageName::Text("p40"))]).swap_remove(0).unwrap();
    assert!(service.drain(WAIT));
    assert_eq!(service.stats().quarantined, 1);
    let status = service.status(&["p11", "p40"], false).unwrap();
    assert!(status[0].as_ref().is_some_and(|status| status.status != StatusKind::Rejected));
    assert!(status[1].is_none());
}

/// A service with a group, and the number of the group.
fn with_a_group(disk: &Volatile) -> (Service, u64) {
    let service = open(disk, &Config::default());
    let lines: BTreeMap<usize, String> = (0..6).map(|page| (page, templates::page(page, 0, 120))).collect();
    for line in lines.values() {
        service.accept(&[Action::Put(line.as_bytes())]).swap_remove(0).unwrap();
    }
    // Copies of one page, so that there is a group.
    let copy = json!({"id": "copy", "text": serde_json::from_str::<Value>(&lines[&0]).unwrap()["text"]});
    service.accept(&[Action::Put(copy.to_string().as_bytes())]).swap_remove(0).unwrap();
    assert!(service.drain(WAIT));
    let group = service.groups(0, 1, 2, None).unwrap()[0].group;
    (service, group)
}

#[test]
fn two_repairs_of_one_group_at_the_same_time_both_end() {
    let (service, group) = with_a_group(&Volatile::new());
    let service = Arc::new(service);
    // Tier 2 waits with a page while both are asked for.
    let held = service.collection.contents.write();
    put_text(&service, 50, "words that nobody else has");
    std::thread::sleep(Duration::from_millis(30));
    let (ended, ends) = mpsc::channel();
    for _ in 0..2 {
        let (service, ended) = (service.clone(), ended.clone());
        std::thread::spawn(move || ended.send(service.repair(group).unwrap()));
    }
    std::thread::sleep(Duration::from_millis(30));
    drop(held);
    for _ in 0..2 {
        assert_eq!(ends.recv_timeout(WAIT), Ok(Some(0)));
    }
}

#[test]
fn no_question_waits_for_tier_2() {
    let (service, group) = with_a_group(&Volatile::new());
    let service = Arc::new(service);
    let held = service.collection.contents.write();
    put_text(&service, 50, "words that nobody else has");
    let (answered, answers) = mpsc::channel();
    let asking = service.clone();
    std::thread::spawn(move || {
        let line = templates::page(0, 7, 120);
        asking.query(line.as_bytes()).unwrap();
        asking.status(&["p1", "p50"], true).unwrap();
        asking.group(group).unwrap();
        asking.feed(FeedCursor::default(), 10).unwrap();
        asking.pages(&mut |_| Ok(())).unwrap();
        answered.send(asking.stats().pages)
    });
    let answer = answers.recv_timeout(Duration::from_secs(10));
    drop(held);
    assert_eq!(answer, Ok(7));
}

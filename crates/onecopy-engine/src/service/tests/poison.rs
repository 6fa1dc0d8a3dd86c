//! Changes that cannot be settled, repairs at the same time, and questions while Tier 2 is busy: nobody waits forever.

use std::sync::mpsc;

use super::fragile::{POISON, accept, open_fragile};
use super::*;

fn usual() -> Setup {
    Setup { config: Config::default(), feed_bytes: u64::MAX }
}

fn put_text(service: &Service, page: usize, text: &str) {
    let line = json!({"id": format!("p{page}"), "text": text}).to_string();
    accept(service, Action::Put(line.as_bytes())).unwrap();
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

#[test]
fn a_collection_is_closed_while_a_batch_fails() {
    let disk = Volatile::new();
    // Tier 2 waits after its first failure, until the collection is closed.
    let tuning = Tuning { retry_pause: WAIT, ..Tuning::small() };
    let service = fragile::open_tuned(&disk, &usual(), tuning);
    put_text(&service, 0, POISON);
    let begun = std::time::Instant::now();
    while service.ready().is_ok() {
        assert!(begun.elapsed() < WAIT, "{:?}", service.stats());
        std::thread::sleep(Duration::from_millis(1));
    }
    service.close().unwrap();
    let service = open_fragile(&disk, &usual());
    assert!(service.drain(WAIT));
    assert_eq!(service.stats().quarantined, 1);
}

/// The page of a list with this name.
fn listed(service: &Service, filter: PageFilter, page: &str) -> Option<ListedPage> {
    let (pages, name) = (listing::all(service, &filter, 2).0, json!(page).to_string());
    pages.into_iter().find(|listed| listed.status.page.get() == name)
}

#[test]
fn a_page_whose_first_change_is_rejected_is_listed_told_and_deleted() {
    let disk = Volatile::new();
    let setup = Setup { feed_bytes: 0, ..usual() };
    let service = open_fragile(&disk, &setup);
    let put = |service: &Service, page: &str| {
        let line = json!({"id": page, "url": format!("http://{page}.example/"), "text": POISON}).to_string();
        accept(service, Action::Put(line.as_bytes())).unwrap();
        assert!(service.drain(WAIT));
    };
    ["a", "a", "b", "c"].into_iter().for_each(|page| put(&service, page));
    // All other changes leave this feed at once.
    put_text(&service, 1, "words that nobody else has");
    accept(&service, Action::Delete(PageName::Text("p1"))).unwrap();
    assert!(service.drain(WAIT));
    service.close().unwrap();
    let service = open_fragile(&disk, &setup);
    let (told, _) = by_feed(&service);
    assert_eq!(told.keys().collect::<Vec<_>>(), ["\"a\"", "\"b\"", "\"c\""]);
    let everything = service.feed(FeedCursor::default(), 100).unwrap().changes;
    assert_eq!(everything.len(), 3, "the second rejection of a page replaces the first: {everything:?}");
    let of = |host: &str| PageFilter { host: Some(host.into()), ..PageFilter::default() };
    let page = listed(&service, of("a.example"), "a").expect("it is listed");
    assert_eq!((page.url.as_deref(), page.changed), (Some("http://a.example/"), Some(told["\"a\""].0)));
    assert!(page.status.reason.is_some_and(|reason| reason.contains("this page is poison")));
    let since = PageFilter { changed_since: page.changed, ..PageFilter::default() };
    assert!(listed(&service, since.clone(), "a").is_none() && listed(&service, since, "b").is_some());

    listing::sweep(&service, "a", 5);
    assert_eq!(service.sweep(&of("b.example"), None, 5).unwrap().deleted, 1);
    accept(&service, Action::Dead(PageName::Text("c"))).unwrap();
    assert!(service.drain(WAIT));
    assert_eq!((service.stats().quarantined, service.stats().pages), (0, 1));
    let left = listing::all(&service, &PageFilter::default(), 9).0;
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(
        (left[0].status.status, left[0].url.as_deref()),
        (StatusKind::Dead, Some("http://c.example/"))
    );
    assert_eq!(by_feed(&service).0.len(), 1, "a deleted page leaves this feed at once");
}

#[test]
fn the_feed_tells_the_end_of_a_rejection() {
    let service = open_fragile(&Volatile::new(), &usual());
    let kinds = || -> Vec<StatusKind> {
        let told = by_feed(&service).0;
        ["\"p0\"", "\"p1\""].iter().filter_map(|page| Some(told.get(*page)?.1.status)).collect()
    };
    let settled = |page: usize, text: &str| {
        put_text(&service, page, text);
        assert!(service.drain(WAIT));
    };
    settled(0, "words that nobody else has");
    settled(0, POISON);
    settled(1, POISON);
    assert_eq!(kinds(), [StatusKind::Rejected, StatusKind::Rejected]);
    // The page is as it was before, so that nothing but the rejection ends.
    settled(0, "words that nobody else has");
    accept(&service, Action::Delete(PageName::Text("p1"))).unwrap();
    assert!(service.drain(WAIT));
    assert_eq!(kinds(), [StatusKind::Unique, StatusKind::Dead]);
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

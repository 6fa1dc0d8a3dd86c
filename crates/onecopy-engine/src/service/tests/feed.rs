//! The feed stays small, and says who has missed something.

use super::*;

fn put(service: &Service, page: usize, text: &str) {
    let line = json!({"id": format!("p{page}"), "text": text, "popularity": 1_000 - page}).to_string();
    service.accept(&[Action::Put(line.as_bytes())]).swap_remove(0).unwrap();
}

fn read(service: &Service, after: u64, begun: u64, limit: usize) -> std::result::Result<FeedPage, Refusal> {
    service.feed(FeedCursor { after, begun }, limit)
}

const SAME: &str = "the same words on every page of a large group of copies";

#[test]
fn a_group_that_loses_its_winner_is_one_change() {
    let service = open(&Volatile::new(), &Config::default());
    (0..50).for_each(|page| put(&service, page, SAME));
    assert!(service.drain(WAIT));
    let before = service.stats().feed;
    for page in 0..5 {
        service.accept(&[Action::Dead(PageName::Text(&format!("p{page}")))]).swap_remove(0).unwrap();
        assert!(service.drain(WAIT));
    }
    // The page that is dead, the page that wins, and the group.
    assert!(service.stats().feed - before <= 15, "{} changes", service.stats().feed - before);
    let page = read(&service, before, 0, 100).unwrap();
    let groups = page.changes.iter().filter(|change| matches!(change.what, FeedEntry::Group(_)));
    // A group has another number when its winner dies.
    assert_eq!(groups.count(), 5, "{:?}", page.changes);
    // One for each page and each of these groups.
    assert_eq!(read(&service, 0, 0, 1_000).unwrap().changes.len(), 55);
}

#[test]
fn a_page_that_changes_again_and_again_is_in_the_feed_once() {
    let service = open(&Volatile::new(), &Config::default());
    put(&service, 0, SAME);
    for round in 0..20 {
        put(&service, 1, if round % 2 == 0 { SAME } else { "a text that no other page of all has" });
        assert!(service.drain(WAIT));
    }
    assert!(service.stats().feed > 20);
    assert!(read(&service, 0, 0, 1_000).unwrap().changes.len() <= 3);
}

#[test]
fn the_feed_has_a_size() {
    let options = ServiceOptions { feed_bytes: 1_000, ..ServiceOptions::new("memory") };
    let service = Service::open_tuned(Arc::new(Volatile::new()), options, Tuning::small()).unwrap();
    (0..60).for_each(|page| put(&service, page, &format!("page {page} has words of its own, {page}")));
    (0..50).for_each(|page| {
        service.accept(&[Action::Delete(PageName::Text(&format!("p{page}")))]).swap_remove(0).unwrap();
    });
    assert!(service.drain(WAIT));
    let changes = read(&service, 0, 0, 1_000).unwrap().changes;
    let deleted: Vec<&Change> = changes
        .iter()
        .filter(|change| matches!(&change.what, FeedEntry::Page(status) if status.status == StatusKind::Dead))
        .collect();
    let bytes: usize = deleted.iter().map(|change| serde_json::to_vec(&change.what).unwrap().len()).sum();
    assert!(!deleted.is_empty() && bytes <= 1_000, "{bytes} bytes of {} deletions", deleted.len());
    assert_eq!(changes.len() - deleted.len(), 10, "the pages that are there stay");
    assert!(matches!(read(&service, 2, 0, 9), Err(Refusal::Gone(_))));
    assert!(read(&service, deleted[0].sequence, 0, 9).is_ok());
}

#[test]
fn who_missed_a_deletion_is_told_and_who_begins_is_not() {
    let keep = |days: u64| ServiceOptions {
        feed_keep: Duration::from_secs(86_400 * days),
        ..ServiceOptions::new("memory")
    };
    let disk = Volatile::new();
    let open = |days| Service::open_tuned(Arc::new(disk.clone()), keep(days), Tuning::small()).unwrap();
    let service = open(30);
    (0..6).for_each(|page| put(&service, page, &format!("page {page} has words of its own, {page}")));
    assert!(service.drain(WAIT));
    service.accept(&[Action::Delete(PageName::Text("p3"))]).swap_remove(0).unwrap();
    assert!(service.drain(WAIT));
    assert!(read(&service, 2, 0, 9).unwrap().changes.len() == 4, "the deletion is there");
    service.close().unwrap();
    let service = open(0);
    put(&service, 9, "one more page, after which the deletion is forgotten");
    assert!(service.drain(WAIT));
    let gone = read(&service, 2, 0, 9).unwrap_err();
    assert!(matches!(&gone, Refusal::Gone(why) if why.contains("no longer kept")), "{gone:?}");
    assert!(matches!(read(&service, 99, 0, 9), Err(Refusal::Gone(_))));
    // From the beginning, two at a time, nothing is missed and nobody is refused.
    let (mut cursor, mut seen) = (FeedCursor::default(), Vec::new());
    for _ in 0..9 {
        let page = service.feed(cursor, 2).unwrap();
        seen.extend(page.changes.into_iter().map(|change| change.sequence));
        cursor = page.next;
    }
    assert_eq!((seen.len(), cursor), (6, FeedCursor { after: service.stats().feed, begun: 0 }));
}

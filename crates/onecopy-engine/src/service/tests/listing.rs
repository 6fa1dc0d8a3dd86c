//! Lists of pages: each page once whatever changes meanwhile, filters, records, and deleting what a filter selects.

use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

use onecopy_core::Language;

use super::*;

/// All pages that a filter selects, `limit` at a time. Also the number of lists.
pub(super) fn all(service: &Service, filter: &PageFilter, limit: usize) -> (Vec<ListedPage>, usize) {
    let (mut pages, mut after) = (Vec::new(), None);
    for lists in 1..10_000 {
        let list = service.list(filter, after.as_ref(), limit).unwrap();
        assert!(list.pages.len() <= limit);
        pages.extend(list.pages);
        match list.next {
            Some(next) => after = Some(next.to_string().parse().unwrap()),
            None => return (pages, lists),
        }
    }
    panic!("the list does not end");
}

fn names(pages: &[ListedPage]) -> Vec<String> {
    pages.iter().map(|page| page.status.page.get().to_owned()).collect()
}

/// Deletes the pages whose names begin with a prefix, `limit` at a time.
pub(super) fn sweep(service: &Service, prefix: &str, limit: usize) {
    let filter = PageFilter { prefix: prefix.into(), ..PageFilter::default() };
    let mut after = None;
    for _ in 0..1_000 {
        let swept = fragile::retried(|| service.sweep(&filter, after.as_ref(), limit)).unwrap();
        assert!(swept.deleted <= limit as u64);
        let Some(next) = swept.next else { return };
        after = Some(next);
    }
    panic!("deleting does not end");
}

/// Asserts that the list has these pages, each once, with the status that a question about it has.
pub(super) fn assert_all_listed(service: &Service, pages: impl Iterator<Item = usize>) {
    let (listed, _) = all(service, &PageFilter::default(), 3);
    let alive: Vec<_> = listed.into_iter().filter(|page| page.status.status != StatusKind::Dead).collect();
    let expected: BTreeSet<String> = pages.map(json_name).collect();
    assert_eq!(names(&alive), expected.into_iter().collect::<Vec<_>>());
    for page in alive {
        let asked = service.status(&[PageName::Json(page.status.page.get())], false).unwrap().swap_remove(0);
        assert_eq!(json!(page.status), json!(asked));
    }
}

fn put(service: &Service, record: Value) {
    service.accept(&[Action::Put(record.to_string().as_bytes())]).swap_remove(0).unwrap();
}

fn words(name: &str) -> String {
    (0..20).map(|word| format!("{name}w{word} ")).collect()
}

#[test]
fn a_page_that_stays_is_listed_once_while_others_come_and_go() {
    let service = open(&Volatile::new(), &Config::default());
    let stable: Vec<String> = (0..60).map(|page| format!("s{page:03}")).collect();
    for name in &stable {
        put(&service, json!({"id": name, "text": words(name)}));
    }
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..150 {
                // The stable pages are rewritten, and others come and go beside them.
                let name = &stable[round * 7 % stable.len()];
                put(&service, json!({"id": name, "text": words(&format!("{name}r{round}"))}));
                put(&service, json!({"id": format!("s{:03}x{round}", round % 60), "text": words("passing")}));
                let gone = format!("s{:03}x{}", round / 2 % 60, round / 2);
                service.accept(&[Action::Delete(PageName::Text(&gone))]);
            }
            is_done.store(true, Ordering::Relaxed);
        });
        for _ in 0..10_000 {
            let is_last = is_done.load(Ordering::Relaxed);
            let listed = names(&all(&service, &PageFilter::default(), 7).0);
            assert!(listed.is_sorted(), "{listed:?}");
            for name in &stable {
                let times = listed.iter().filter(|listed| **listed == format!("\"{name}\"")).count();
                assert_eq!(times, 1, "{name} in {listed:?}");
            }
            if is_last {
                return;
            }
        }
    });
}

#[test]
fn pages_that_wait_are_listed_and_deleted_too() {
    let service = open(&Volatile::new(), &Config::default());
    put(&service, json!({"id": "b", "url": "http://old.example/", "text": words("b")}));
    assert!(service.drain(WAIT));
    // Tier 2 is blocked.
    let held = service.collection.contents.write();
    put(&service, json!({"id": "first", "text": words("first")}));
    std::thread::sleep(Duration::from_millis(30));
    put(&service, json!({"id": "a", "url": "http://new.example/", "text": words("a")}));
    put(&service, json!({"id": "b", "url": "http://new.example/b", "text": words("b")}));
    put(&service, json!({"id": "c", "url": "http://new.example/c", "text": words("c")}));
    service.accept(&[Action::Delete(PageName::Text("c"))]).swap_remove(0).unwrap();
    let of = |host: &str| PageFilter { host: Some(host.into()), ..PageFilter::default() };
    let (listed, _) = all(&service, &of("New.Example."), 1);
    assert_eq!(names(&listed), ["\"a\"", "\"b\""]);
    assert!(listed.iter().all(|page| !page.status.settled));
    assert!(all(&service, &of("old.example"), 9).0.is_empty());
    let record = service.record(PageName::Text("b")).unwrap().unwrap();
    assert!(record.record.unwrap().get().contains("http://new.example/b"));
    assert_eq!(service.sweep(&of("new.example"), None, 9).unwrap().deleted, 2);
    assert_eq!(names(&all(&service, &PageFilter::default(), 9).0), ["\"first\""]);
    drop(held);
    assert!(service.drain(WAIT));
    assert_eq!(service.stats().pages, 1);
}

#[test]
fn filters_select() {
    let service = open(&Volatile::new(), &Config::default());
    let english = "the page has many words of the english language and it is about the weather of the day";
    let german = "die seite hat viele wörter der deutschen sprache und sie ist über das wetter an diesem tag";
    put(&service, json!({"url": "http://a.example/x", "text": english}));
    put(&service, json!({"url": "https://user@a.example:8080/y", "text": german}));
    put(&service, json!({"id": "a\"\\q", "url": "http://b.example/", "text": english}));
    put(&service, json!({"id": 17, "text": words("seventeen")}));
    put(&service, json!({"id": "17", "text": ""}));
    assert!(service.drain(WAIT));
    let check = |filter: PageFilter, expected: &[&str]| {
        assert_eq!(names(&all(&service, &filter, 2).0), expected, "{filter:?}");
    };
    let none = PageFilter::default;
    let (x, y, quoted) = ("\"http://a.example/x\"", "\"https://user@a.example:8080/y\"", r#""a\"\\q""#);
    check(none(), &["\"17\"", quoted, x, y, "17"]);
    check(PageFilter { prefix: "http".into(), ..none() }, &[x, y]);
    check(PageFilter { prefix: "a\"\\".into(), ..none() }, &[quoted]);
    check(PageFilter { prefix: "1".into(), ..none() }, &["\"17\""]);
    check(PageFilter { host: Some("A.example".into()), ..none() }, &[x, y]);
    check(PageFilter { language: Some(Language::German), ..none() }, &[y]);
    check(PageFilter { status: Some(StatusKind::Rejected), ..none() }, &["\"17\""]);
    check(PageFilter { status: Some(StatusKind::Unique), ..none() }, &[y, "17"]);
    let group = service.groups(0, 9, 2, None).unwrap()[0].group;
    check(PageFilter { group: Some(group), ..none() }, &[quoted, x]);
    check(PageFilter { group: Some(group), status: Some(StatusKind::Loser), ..none() }, &[x]);
    check(PageFilter { group: Some(group + 1), ..none() }, &[]);
    let before = service.stats().feed;
    check(PageFilter { changed_since: Some(before), ..none() }, &[]);
    put(&service, json!({"id": 17, "text": ""}));
    assert!(service.drain(WAIT));
    check(PageFilter { changed_since: Some(before), ..none() }, &["17"]);
    let listed = all(&service, &PageFilter { prefix: "https".into(), ..none() }, 9).0.swap_remove(0);
    assert_eq!((listed.url.as_deref(), listed.language), (Some("https://user@a.example:8080/y"), Some("de")));
}

#[test]
fn a_list_looks_at_a_bounded_number_of_pages() {
    let service = open(&Volatile::new(), &Config::default());
    let lines: Vec<String> = (0..130)
        .map(|page| json!({"id": format!("p{page:03}"), "text": words(&format!("p{page}"))}).to_string())
        .collect();
    let actions: Vec<Action> = lines.iter().map(|line| Action::Put(line.as_bytes())).collect();
    assert!(service.accept(&actions).iter().all(|outcome| outcome.is_ok()));
    assert!(service.drain(WAIT));
    let nowhere = PageFilter { host: Some("nowhere.example".into()), ..PageFilter::default() };
    let first = service.list(&nowhere, None, 5).unwrap();
    assert!(first.pages.is_empty() && first.next.is_some());
    assert_eq!(all(&service, &nowhere, 5).1, 4);
    assert_eq!(all(&service, &PageFilter::default(), 1_000).0.len(), 130);
}

#[test]
fn a_large_group_is_read_in_pages() {
    let service = open(&Volatile::new(), &Config::default());
    for page in 0..90 {
        let text = format!("{} {}", words("same"), if page % 3 == 0 { "end" } else { "" });
        put(&service, json!({"id": format!("p{page:02}"), "url": address(page), "text": text}));
    }
    put(&service, json!({"id": "r", "redirect": address(4)}));
    assert!(service.drain(WAIT));
    let group = service.groups(0, 9, 50, None).unwrap()[0].group;
    let whole = service.group(group).unwrap().unwrap();
    let (mut seen, mut after) = (HashSet::new(), None);
    for _ in 0..100 {
        let view = service.group_page(group, after.as_ref(), 7).unwrap().unwrap();
        assert!(view.members.len() <= 7);
        assert_eq!(json!(view.line), json!(whole.line));
        for member in &view.members {
            assert!(seen.insert(json!(member).to_string()), "twice: {member:?}");
        }
        after = view.next;
        if after.is_none() {
            break;
        }
    }
    let expected: HashSet<String> = whole.members.iter().map(|member| json!(member).to_string()).collect();
    assert_eq!(seen, expected);
    // The list of a group also looks at so many pages only, and has all of them in the end.
    let of_group = PageFilter { group: Some(group), ..PageFilter::default() };
    assert_eq!(all(&service, &of_group, 1_000).0.len(), 91);
    assert!(service.group_page(group + 1_000, None, 7).unwrap().is_none());
}

#[test]
fn a_record_comes_back_as_it_was_put() {
    let disk = Volatile::new();
    let line = r#"{"id": "p", "text": "some  words \u00e9", "more": [1, 2.50]}"#;
    let service = open(&disk, &Config::default());
    let refuse = |service: &Service, page| {
        let found = service.record(PageName::Text(page)).unwrap().unwrap();
        assert!(found.record.is_none());
        found.missing.unwrap()
    };
    service.accept(&[Action::Put(line.as_bytes())]).swap_remove(0).unwrap();
    let record = |service: &Service| service.record(PageName::Text("p")).unwrap().unwrap().record.unwrap();
    assert_eq!(record(&service).get(), line);
    assert!(service.drain(WAIT));
    assert_eq!(record(&service).get(), line);
    assert!(service.record(PageName::Text("q")).unwrap().is_none());
    service.accept(&[Action::Dead(PageName::Text("p"))]).swap_remove(0).unwrap();
    assert!(refuse(&service, "p").contains("dead"));
    assert!(service.drain(WAIT));
    assert!(refuse(&service, "p").contains("dead"));
    service.close().unwrap();
    let options = ServiceOptions { keep_pages: false, ..ServiceOptions::new("memory") };
    let service = Service::open_tuned(Arc::new(disk), options, Tuning::small()).unwrap();
    service.accept(&[Action::Put(line.as_bytes())]).swap_remove(0).unwrap();
    assert!(refuse(&service, "p").contains("not store"));
}

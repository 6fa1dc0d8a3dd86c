//! Upgrades of collections that were compared by an earlier version: unsettled changes, sketches that are made again.

use onecopy_core::ANSWER_VERSION;
use onecopy_store::{Backend, Disk, Folder, Open, Tables};
use tempfile::tempdir;

use super::opening::{put, seen};
use super::upgrade::upgrade_since;
use super::*;

/// A collection with some pages, of which the last are not settled, as an earlier version left it.
fn earlier(data: &std::path::Path, keep_pages: bool) -> Vec<String> {
    let options = ServiceOptions { keep_pages, ..ServiceOptions::new(data) };
    let service = Service::open(options.clone()).unwrap();
    (0..30).for_each(|page| put(&service, page, 0));
    service.accept(&[Action::Dead(PageName::Text("p4")), Action::Delete(PageName::Text("p5"))]);
    assert!(service.drain(WAIT));
    service.close().unwrap();
    let disk = Arc::new(Disk::open(data).unwrap());
    let collection = collection::Collection::open_in(disk, options.clone(), Tuning::small()).unwrap();
    // No thread settles them.
    let waiting =
        [br#"{"id":"late","text":"a late page"}"#, br#"{"id":"p0","text":"another text"}"#.as_slice()];
    let waiting = waiting.map(Action::Put);
    accept::accept(&collection, &waiting).into_iter().for_each(|accepted| drop(accepted.unwrap()));
    accept::accept(&collection, &[Action::Dead(PageName::Text("p1"))]).swap_remove(0).unwrap();
    let writing = collection.begin().unwrap();
    writing.batch().unwrap().set_meta("answers", &(ANSWER_VERSION - 1).to_le_bytes()).unwrap();
    writing.commit().unwrap();
    drop(collection);
    let again = tempdir().unwrap();
    let again = Service::open(ServiceOptions { data: again.path().join("pages"), ..options }).unwrap();
    (0..30).for_each(|page| put(&again, page, 0));
    again.accept(&[Action::Dead(PageName::Text("p4")), Action::Delete(PageName::Text("p5"))]);
    assert!(again.drain(WAIT));
    again.accept(&waiting).into_iter().for_each(|accepted| drop(accepted.unwrap()));
    again.accept(&[Action::Dead(PageName::Text("p1"))]).swap_remove(0).unwrap();
    assert!(again.drain(WAIT));
    without_groups(seen(&again))
}

/// Numbers of groups depend on the order of changes.
fn without_groups(lines: Vec<String>) -> Vec<String> {
    let without = |line: String| {
        let Some((start, rest)) = line.split_once("\"group\":") else { return line };
        format!("{start}{}", rest.trim_start_matches(|c: char| c.is_ascii_digit()))
    };
    lines.into_iter().map(without).collect()
}

#[test]
fn earlier_answers_are_upgraded_and_waiting_changes_are_kept() {
    // With the sketches that there are, and with new ones.
    for since in [1, ANSWER_VERSION] {
        let folder = tempdir().unwrap();
        let data = folder.path().join("pages");
        let expected = earlier(&data, true);
        let options = ServiceOptions { opening: Opening::Existing, ..ServiceOptions::new(&data) };
        assert!(matches!(Service::open(options.clone()), Err(Error::CollectionAnswers { .. })));
        let upgraded = upgrade_since(&options, &Silent, since).unwrap().unwrap();
        assert!(upgraded.before.ends_with("format-3"), "{upgraded:?}");
        let service = Service::open(options).unwrap();
        assert_eq!(without_groups(seen(&service)), expected);
        assert_eq!(service.check().unwrap().wrong, Vec::<String>::new());
    }
}

#[test]
fn rejected_pages_are_still_known_after_an_upgrade() {
    let folder = tempdir().unwrap();
    let data = folder.path().join("pages");
    earlier(&data, true);
    let options = ServiceOptions { opening: Opening::Existing, ..ServiceOptions::new(&data) };
    // A page that was never settled, one that was, and one with another change that waits.
    let rejected = |page: &str| {
        let line = json!({"page": page, "status": "rejected", "reason": "why", "settled": true}).to_string();
        status::Quarantined::from_bytes(page, line.as_bytes()).unwrap()
    };
    let tables = Tables::open(
        Backend::new(Disk::open(&data).unwrap().open("tables.redb", Open::Create).unwrap()),
        1 << 20,
        false,
    )
    .unwrap();
    let writing = tables.begin().unwrap();
    for page in ["never", "p2", "p0"] {
        let bytes = rejected(page).to_bytes();
        writing.batch().unwrap().set_quarantined(&json!(page).to_string(), Some(&bytes)).unwrap();
    }
    writing.commit().unwrap();
    drop(tables);
    upgrade(&options, &Silent).unwrap().unwrap();
    let service = Service::open(options).unwrap();
    let status = service.status(&["never", "p2", "p0"], false).unwrap();
    let reasons: Vec<_> = status.into_iter().map(|status| status.unwrap().reason).collect();
    assert_eq!(reasons, [Some("why".into()), Some("why".into()), None]);
    let told = by_feed(&service).0;
    assert_eq!(told["\"never\""].1.status, StatusKind::Rejected);
    assert_eq!(service.stats().quarantined, 2);
}

#[test]
fn without_pages_only_sketches_of_today_are_upgraded() {
    let folder = tempdir().unwrap();
    let data = folder.path().join("pages");
    earlier(&data, false);
    let options = ServiceOptions { opening: Opening::Existing, ..ServiceOptions::new(&data) };
    let error = upgrade_since(&options, &Silent, ANSWER_VERSION).unwrap_err().to_string();
    assert!(error.contains("is not stored: import the pages into a new collection"), "{error}");
    upgrade_since(&options, &Silent, 1).unwrap().unwrap();
    assert_eq!(Service::open(options).unwrap().check().unwrap().wrong, Vec::<String>::new());
}

#[test]
fn a_collection_that_is_in_use_or_only_read_is_left_alone() {
    let folder = tempdir().unwrap();
    let data = folder.path().join("pages");
    earlier(&data, true);
    let read = ServiceOptions { opening: Opening::Read, ..ServiceOptions::new(&data) };
    assert_eq!(upgrade(&read, &Silent).unwrap(), None);
    let lock = onecopy_store::Folder::lock(&Disk::open(&data).unwrap()).unwrap();
    let options = ServiceOptions { opening: Opening::Existing, ..ServiceOptions::new(&data) };
    assert_eq!(upgrade(&options, &Silent).unwrap(), None);
    drop(lock);
    assert!(upgrade(&options, &Silent).unwrap().is_some());
}

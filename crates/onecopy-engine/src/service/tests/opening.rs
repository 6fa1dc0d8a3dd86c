//! Which folders are opened as collections, and reading one that somebody else changes.

use onecopy_store::{Folder, Open};

use super::*;
use crate::error::Error;

fn options(opening: Opening) -> ServiceOptions {
    ServiceOptions { opening, ..ServiceOptions::new("memory") }
}

fn try_open(disk: &Volatile, opening: Opening) -> Result<Service> {
    Service::open_tuned(Arc::new(disk.clone()), options(opening), Tuning::small())
}

pub(super) fn put(service: &Service, page: usize, round: usize) {
    // Every third page has a copy, and a round changes all texts.
    let text = format!("text {round} of the pages {} and its copy with some more words", page / 3);
    let line = json!({"id": format!("p{page}"), "text": text}).to_string();
    service.accept(&[Action::Put(line.as_bytes())]).swap_remove(0).unwrap();
}

#[test]
fn a_folder_without_a_collection_is_left_alone() {
    let disk = Volatile::new();
    disk.open("letters.txt", Open::Create).unwrap().write_all_at(b"mine", 0).unwrap();
    for opening in [Opening::Existing, Opening::Read] {
        assert!(matches!(try_open(&disk, opening), Err(Error::NoCollection { .. })));
        assert_eq!(disk.names().unwrap(), ["letters.txt"]);
    }
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let options = ServiceOptions { opening: Opening::Existing, ..ServiceOptions::new(&missing) };
    assert!(matches!(Service::open(options), Err(Error::NoCollection { .. })));
    assert!(!missing.exists());
}

#[test]
fn lost_tables_are_not_replaced_by_empty_ones() {
    let disk = Volatile::new();
    let service = try_open(&disk, Opening::Begin).unwrap();
    put(&service, 1, 1);
    assert!(service.drain(WAIT));
    service.close().unwrap();
    let without = disk.power_loss(0);
    without.remove("tables.redb").unwrap();
    let emptied = disk.power_loss(0);
    emptied.open("tables.redb", Open::Create).unwrap().set_len(0).unwrap();
    for disk in [without, emptied] {
        let before = disk.names().unwrap();
        for opening in [Opening::Begin, Opening::Existing, Opening::Read] {
            let error = try_open(&disk, opening).unwrap_err().to_string();
            assert!(error.contains("tables.redb is missing or empty"), "{error}");
        }
        assert_eq!(disk.names().unwrap(), before);
    }
    for log in disk.names().unwrap().iter().filter(|name| name.starts_with("log-")) {
        disk.remove(log).unwrap();
    }
    let error = try_open(&disk, Opening::Begin).unwrap_err().to_string();
    assert!(error.contains("log-00000001 is damaged") && error.contains("missing"), "{error}");
    assert!(!disk.names().unwrap().iter().any(|name| name.starts_with("log-")));
}

/// All pages, as a reader sees them.
pub(super) fn seen(service: &Service) -> Vec<String> {
    let mut lines = Vec::new();
    let add = &mut |view: PageView| {
        assert_eq!(view.damaged, None);
        lines.push(format!("{} {}", serde_json::to_string(&view.status).unwrap(), view.record));
        Ok(())
    };
    service.pages(add).unwrap();
    lines
}

#[test]
fn a_reader_sees_one_moment_while_the_owner_rewrites_everything() {
    let disk = Volatile::new();
    let owner = try_open(&disk, Opening::Existing).unwrap_err();
    assert!(matches!(owner, Error::NoCollection { .. }));
    let owner = try_open(&disk, Opening::Begin).unwrap();
    (0..60).for_each(|page| put(&owner, page, 0));
    assert!(owner.drain(WAIT));
    let before = seen(&owner);
    let reader = try_open(&disk, Opening::Read).unwrap();
    // It has no page in its cache when it begins to read.
    let late = try_open(&disk, Opening::Read).unwrap();
    let writes = disk.writes();
    assert_eq!(seen(&reader), before);
    assert_eq!(reader.groups(0, 100, 2, None).unwrap().len(), 20);
    assert_eq!(disk.writes(), writes, "a reader writes nothing");
    for round in 1..12 {
        (0..60).for_each(|page| put(&owner, page, round));
        assert!(owner.drain(WAIT));
        assert_eq!(seen(&reader), before);
        assert_eq!(seen(&try_open(&disk, Opening::Read).unwrap()), seen(&owner));
    }
    assert_eq!(seen(&late), before);
    drop(late);
    let report = reader.check().unwrap();
    assert_eq!((report.wrong, report.pages, report.compared), (Vec::new(), 60, false));
    assert!(reader.accept(&[Action::Dead(PageName::Text("p1"))]).swap_remove(0).is_err());
    assert!(reader.repair(1).is_err() && reader.query(br#"{"id":"x","text":"y"}"#).is_err());
    assert_eq!(reader.stats().pages, 60);
    reader.close().unwrap();
    // Without a reader the owner gives the space back.
    put(&owner, 0, 50);
    assert!(owner.drain(WAIT));
    put(&owner, 1, 51);
    assert!(owner.drain(WAIT));
    let segments =
        |disk: &Volatile| disk.names().unwrap().iter().filter(|name| name.starts_with("log-")).count();
    assert!(segments(&disk) < 20, "{} segments", segments(&disk));
}

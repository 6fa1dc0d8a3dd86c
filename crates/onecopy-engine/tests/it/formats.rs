//! Collections of every released format are upgraded, and then say what a new collection of the same pages says.
//!
//! `tests/formats/` has a collection of each, made by the program of that time from `actions.jsonl`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use onecopy_core::FilterRules;
use onecopy_engine::{
    Action, Error, FeedCursor, Opening, PageName, PageView, Progress, Service, ServiceOptions, Silent,
    upgrade,
};
use serde_json::Value;
use serde_json::value::RawValue;
use tempfile::{TempDir, tempdir};

const WAIT: Duration = Duration::from_secs(60);

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats")
}

/// Unpacks a collection into `pages` of a new folder.
fn unpacked(name: &str) -> TempDir {
    let folder = tempdir().unwrap();
    let packed = fs::read(fixtures().join(name)).unwrap();
    let bytes = zstd::stream::decode_all(&packed[..]).unwrap();
    tar::Archive::new(&bytes[..]).unpack(folder.path().join("pages")).unwrap();
    folder
}

fn options(folder: &Path) -> ServiceOptions {
    let mut options = ServiceOptions::new(folder.join("pages"));
    options.opening = Opening::Existing;
    options
}

/// A new collection of the same changes, by this version.
fn fresh() -> (TempDir, Service) {
    fresh_with(None)
}

fn fresh_with(tags: Option<FilterRules>) -> (TempDir, Service) {
    let folder = tempdir().unwrap();
    let mut options = ServiceOptions::new(folder.path().join("pages"));
    options.tags = tags;
    let service = Service::open(options).unwrap();
    for line in fs::read_to_string(fixtures().join("actions.jsonl")).unwrap().lines() {
        let action: BTreeMap<&str, &RawValue> = serde_json::from_str(line).unwrap();
        let (kind, what) = action.into_iter().next().unwrap();
        let action = match kind {
            "put" => Action::Put(what.get().as_bytes()),
            "dead" => Action::Dead(PageName::Json(what.get())),
            _ => Action::Delete(PageName::Json(what.get())),
        };
        service.accept(&[action]).swap_remove(0).unwrap();
        assert!(service.drain(WAIT));
    }
    (folder, service)
}

/// The record and status of every page, with the pages of its group instead of the number.
fn told(service: &Service) -> BTreeMap<String, (Value, String)> {
    let mut pages = BTreeMap::new();
    let each = &mut |view: PageView| {
        let mut status = serde_json::to_value(&view.status).unwrap();
        if let Some(group) = status["group"].as_u64() {
            let group = service.group(group).unwrap().unwrap();
            let group = serde_json::to_value(&group).unwrap();
            let members = group["members"].as_array().unwrap().iter();
            status["group"] = members.map(|member| member["page"].clone()).collect();
        }
        pages.insert(view.status.page.get().to_owned(), (status, view.record.get().to_owned()));
        Ok(())
    };
    service.pages(each).unwrap();
    pages
}

/// A collection of format 4: with tags.
const TAGGED: &str = "format-4-0.5.tar.zst";

fn names() -> Vec<String> {
    let entries = fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.filter_map(|name| name.into_string().ok()).collect();
    names.retain(|name| name.ends_with(".tar.zst"));
    names.sort();
    assert!(names.len() >= 4, "{names:?}");
    names
}

#[test]
fn collections_of_every_release_open_and_are_as_new_ones() {
    let (_folder, service) = fresh();
    let expected = told(&service);
    for name in names() {
        let folder = unpacked(&name);
        let upgraded = upgrade(&options(folder.path()), &Silent).unwrap().unwrap();
        let before = upgraded.before;
        assert!(before.join("tables.redb").exists() && before.ends_with(&name[..8]), "{name}");
        assert_eq!(upgraded.pages, expected.len() as u64);
        let service = Service::open(options(folder.path())).unwrap();
        assert!(service.drain(WAIT));
        assert_eq!(told(&service), expected, "{name}");
        assert_eq!(service.check().unwrap().wrong, Vec::<String>::new(), "{name}");
        let fed = service.feed(FeedCursor::default(), 1_000).unwrap().changes.len();
        assert!(fed >= expected.len() - 1, "{name}: {fed}");
        assert_eq!(upgrade(&options(folder.path()), &Silent).unwrap(), None, "once is enough");
    }
}

/// The tag of every page.
fn tags(service: &Service) -> BTreeMap<String, Option<String>> {
    let mut tags = BTreeMap::new();
    let each = &mut |view: PageView| {
        tags.insert(view.status.page.get().to_owned(), view.tag);
        Ok(())
    };
    service.pages(each).unwrap();
    tags
}

#[test]
fn a_collection_with_tags_has_those_of_a_new_one_and_takes_changes() {
    let (_fresh, expected) = fresh_with(Some(FilterRules::default()));
    let folder = unpacked(TAGGED);
    let refused = Service::open(options(folder.path())).unwrap_err();
    assert!(matches!(refused, Error::CollectionAnswers { .. }), "{refused:?}");
    assert!(upgrade(&options(folder.path()), &Silent).unwrap().is_some());
    let service = Service::open(options(folder.path())).unwrap();
    assert_eq!(service.tags(), expected.tags());
    assert_eq!(tags(&service), tags(&expected));
    assert!(tags(&service).values().flatten().count() > 9);
    let line = br#"{"id": "late", "text": "a page that comes after the upgrade to this program"}"#;
    for service in [&service, &expected] {
        service.accept(&[Action::Put(line)]).swap_remove(0).unwrap();
        assert!(service.drain(WAIT));
    }
    assert!(tags(&service)["\"late\""].is_some());
    assert_eq!((tags(&service), told(&service)), (tags(&expected), told(&expected)));
    assert_eq!(service.check().unwrap().wrong, Vec::<String>::new());
}

/// Stops after some steps.
struct StopAfter(AtomicU64);

impl Progress for StopAfter {
    fn stopped(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

#[test]
fn an_upgrade_that_stops_changes_nothing_and_begins_again() {
    let folder = unpacked("format-2-0.2.tar.zst");
    let data = folder.path().join("pages");
    let tables = fs::read(data.join("tables.redb")).unwrap();
    let stopped = upgrade(&options(folder.path()), &StopAfter(AtomicU64::new(0)));
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    assert_eq!(fs::read(data.join("tables.redb")).unwrap(), tables);
    assert!(data.join("upgrading").exists());
    let refused = Service::open(options(folder.path())).unwrap_err();
    assert!(matches!(refused, Error::CollectionFormat { found: 2, .. }), "{refused}");
    assert!(upgrade(&options(folder.path()), &Silent).unwrap().is_some());
    assert!(!data.join("upgrading").exists() && !data.join("upgraded").exists());
    assert_eq!(told(&Service::open(options(folder.path())).unwrap()), told(&fresh().1));
}

/// All files below a folder, by path.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

/// A collection that is built, complete, and not moved yet.
fn built() -> TempDir {
    let (old, new) = (unpacked("format-2-0.2.tar.zst"), unpacked("format-2-0.2.tar.zst"));
    upgrade(&options(new.path()), &Silent).unwrap();
    let (from, to) = (new.path().join("pages"), old.path().join("pages/upgrading"));
    fs::create_dir(&to).unwrap();
    for entry in
        fs::read_dir(&from).unwrap().map(|entry| entry.unwrap()).filter(|entry| entry.path().is_file())
    {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    fs::write(to.join("complete"), "format-2").unwrap();
    old
}

#[test]
fn a_switch_that_was_killed_anywhere_goes_on() {
    let expected = told(&fresh().1);
    for moved in 0..10 {
        let folder = built();
        let data = folder.path().join("pages");
        let before = files(&data).len();
        // The moves of the switch, as far as they came.
        let mut moves: Vec<(PathBuf, PathBuf)> = Vec::new();
        for name in ["tables.redb", "log-00000001", "postings", "postings-00000001"] {
            moves.push((data.join(name), data.join("format-2").join(name)));
        }
        moves.push((data.join("upgrading"), data.join("upgraded")));
        for name in ["log-00000001", "postings", "postings-00000001", "tables.redb"] {
            moves.push((data.join("upgraded").join(name), data.join(name)));
        }
        fs::create_dir(data.join("format-2")).unwrap();
        for (from, to) in moves.into_iter().take(moved) {
            fs::rename(&from, &to).unwrap();
        }
        assert_eq!(upgrade(&options(folder.path()), &Silent).unwrap(), None);
        assert!(!data.join("upgrading").exists() && !data.join("upgraded").exists());
        assert!(files(&data).len() > before - 5, "nothing is lost");
        assert!(data.join("format-2/tables.redb").exists());
        assert_eq!(told(&Service::open(options(folder.path())).unwrap()), expected, "{moved}");
    }
}

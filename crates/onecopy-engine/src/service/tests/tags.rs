//! Tags that a collection keeps: they survive rewriting, restarts, upgrades and backups, and the feed tells of new ones.

use onecopy_core::{ANSWER_VERSION, Content, FilterRules, Tag};
use onecopy_store::{Disk, Folder, Open};
use tempfile::tempdir;

use super::upgrade::upgrade_since;
use super::*;
use crate::backup::{BackupJob, Depot, RestoreJob, backup, restore};

fn text(page: usize, round: usize) -> String {
    (0..200).map(|word| format!("w{} ", (page * 31 + round * 7 + word * word) % 5_000)).collect()
}

fn options(data: impl Into<std::path::PathBuf>) -> ServiceOptions {
    ServiceOptions { tags: Some(FilterRules::default()), ..ServiceOptions::new(data) }
}

fn put(service: &Service, pages: std::ops::Range<usize>, round: usize) {
    let line = |page: usize| json!({"id": format!("p{page}"), "text": text(page, round)}).to_string();
    let lines: Vec<String> = pages.map(line).collect();
    let actions: Vec<Action> = lines.iter().map(|line| Action::Put(line.as_bytes())).collect();
    assert!(service.accept(&actions).iter().all(|outcome| outcome.is_ok()));
    assert!(service.drain(WAIT), "{:?}", service.stats());
}

fn tags(service: &Service, pages: std::ops::Range<usize>) -> Vec<Option<Tag>> {
    let names: Vec<String> = pages.map(|page| format!("p{page}")).collect();
    let names: Vec<PageName> = names.iter().map(|name| PageName::Text(name)).collect();
    let tag = |stored| match stored {
        Some(Stored::Tag(tag)) => tag,
        _ => None,
    };
    service.stored(&names, StoredPart::Tag).unwrap().into_iter().map(tag).collect()
}

fn made(pages: std::ops::Range<usize>, round: usize) -> Vec<Option<Tag>> {
    pages.map(|page| Some(Tag::of_text(&text(page, round), &FilterRules::default()))).collect()
}

#[test]
fn tags_survive_rewriting_and_restarts() {
    let disk = Volatile::new();
    let tuning = Tuning { segment_bytes: 1 << 15, batch_changes: 16, ..Tuning::small() };
    let open = |options| Service::open_tuned(Arc::new(disk.clone()), options, tuning).unwrap();
    let service = open(options("memory"));
    for round in 0..12 {
        put(&service, 0..40, round);
    }
    service.accept(&[Action::Dead(PageName::Text("p3"))]).swap_remove(0).unwrap();
    put(&service, 40..41, 0);
    let last = disk.names().unwrap().into_iter().filter(|name| name.starts_with("log-")).min();
    assert!(last > Some("log-00000001".into()), "the log was compacted");
    service.close().unwrap();
    // The collection knows that it has tags.
    let service = open(ServiceOptions::new("memory"));
    assert_eq!(service.tags(), Some(&FilterRules::default()));
    let found = tags(&service, 0..42);
    assert_eq!((&found[..3], &found[4..40]), (&made(0..3, 11)[..], &made(4..40, 11)[..]));
    assert_eq!((&found[3], &found[40..]), (&None, &[made(40..41, 0).remove(0), None][..]));
    assert_eq!(service.check().unwrap().wrong, Vec::<String>::new());
    let record = service.record(PageName::Text("p1")).unwrap().unwrap();
    assert_eq!(record.tag, found[1].as_ref().map(Tag::to_string));
}

#[test]
fn other_tags_are_refused() {
    let (with, without) = (Volatile::new(), Volatile::new());
    let open =
        |disk: &Volatile, options| Service::open_tuned(Arc::new(disk.clone()), options, Tuning::small());
    open(&with, options("with")).unwrap().close().unwrap();
    open(&without, ServiceOptions::new("without")).unwrap().close().unwrap();
    let error = open(&without, options("without")).unwrap_err();
    assert_eq!(error.to_string(), "collection without: it was begun without tags, and stays so");
    let rules = FilterRules { bits: 4096, ..FilterRules::default() };
    let error = open(&with, ServiceOptions { tags: Some(rules), ..ServiceOptions::new("with") }).unwrap_err();
    assert_eq!(error.to_string(), "collection with: it was begun with tags 1:256:2048:5, and stays so");
    // A program that does not know tags must not read the log.
    let format = |disk: &Volatile| {
        let file = disk.open("tables.redb", Open::Create).unwrap();
        let tables = onecopy_store::Tables::open(onecopy_store::Backend::new(file), 1 << 20, false).unwrap();
        collection::facts::Facts::of(&tables.snapshot().unwrap()).unwrap().format
    };
    assert_eq!((format(&without), format(&with)), (Some(3), Some(4)));
}

#[test]
fn tags_are_those_of_any_collection_whatever_it_compares() {
    let html =
        "<nav>Home and other menus of the site</nav><article><p>".to_owned() + &text(1, 1) + "</article>";
    let line = json!({"id": "p0", "html": html}).to_string();
    for content in [Content::Auto, Content::All] {
        let config = Config { content, method: "jaccard".into(), ..Config::default() };
        let options = ServiceOptions { config: Some(config), ..options("memory") };
        let service = Service::open_tuned(Arc::new(Volatile::new()), options, Tuning::small()).unwrap();
        service.accept(&[Action::Put(line.as_bytes())]).swap_remove(0).unwrap();
        assert!(service.drain(WAIT));
        assert_eq!(tags(&service, 0..1), [Some(Tag::of_html(&html, &FilterRules::default()))], "{content:?}");
    }
}

#[test]
fn the_feed_tells_of_every_new_tag() {
    for has_tags in [false, true] {
        let options = if has_tags { options("memory") } else { ServiceOptions::new("memory") };
        let service = Service::open_tuned(Arc::new(Volatile::new()), options, Tuning::small()).unwrap();
        put(&service, 0..2, 0);
        let last = service.stats().feed;
        // A new text, and the same text again.
        put(&service, 0..1, 1);
        put(&service, 1..2, 0);
        let cursor = FeedCursor { after: last, begun: 0 };
        let changed = service.changed_pages(cursor, 100).unwrap().pages;
        let names: Vec<&str> = changed.iter().map(|(_, status)| status.page.get()).collect();
        assert_eq!(names, if has_tags { vec!["\"p0\""] } else { vec![] });
        let stats = service.stats();
        assert_eq!((stats.kept, stats.pages), (2, 2), "pages are counted once");
    }
}

#[test]
fn tags_survive_upgrades_and_backups() {
    // With the sketches that there are, and with new ones.
    for since in [1, ANSWER_VERSION] {
        let folder = tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let service = Service::open(options(at("pages"))).unwrap();
        put(&service, 0..20, 0);
        service.close().unwrap();
        let disk = Arc::new(Disk::open(at("pages")).unwrap());
        let collection =
            collection::Collection::open_in(disk, options(at("pages")), Tuning::small()).unwrap();
        let writing = collection.begin().unwrap();
        writing.batch().unwrap().set_meta("answers", &(ANSWER_VERSION - 1).to_le_bytes()).unwrap();
        writing.commit().unwrap();
        drop(collection);
        let upgraded = upgrade_since(&ServiceOptions::new(at("pages")), &Silent, since).unwrap().unwrap();
        assert!(upgraded.before.ends_with("format-4"), "{upgraded:?}");
        assert_eq!(upgrade(&ServiceOptions::new(at("pages")), &Silent).unwrap(), None, "it is of today");
        let to = Depot { place: at("backups").display().to_string(), ..Depot::default() };
        let job = BackupJob { data: at("pages"), to: to.clone(), keep: None };
        backup(&job, &Silent).unwrap();
        let job = RestoreJob { from: to, snapshot: None, data: at("restored"), keep_id: false };
        restore(&job, &Silent).unwrap();
        for name in ["pages", "restored"] {
            let service = Service::open(ServiceOptions::new(at(name))).unwrap();
            assert_eq!(tags(&service, 0..20), made(0..20, 0), "{name}");
            put(&service, 20..21, 0);
            assert_eq!(tags(&service, 20..21), made(20..21, 0), "{name}");
            assert_eq!(service.check().unwrap().wrong, Vec::<String>::new());
        }
    }
}

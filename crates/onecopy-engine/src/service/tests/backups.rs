//! A restored snapshot is the collection as it was. Changes meanwhile, kills and damage are noticed or do no harm.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use onecopy_store::{Disk, Folder, Open};
use tempfile::{TempDir, tempdir};

use super::opening::{put, seen};
use super::*;
use crate::backup::{BackupJob, Depot, RestoreJob, backup, list_backups, restore};
use crate::progress::Progress;

struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(tempdir().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn open(&self, name: &str) -> Service {
        let disk = Disk::create(self.at(name)).unwrap();
        Service::open_tuned(Arc::new(disk), ServiceOptions::new(self.at(name)), Tuning::small()).unwrap()
    }

    fn depot(&self) -> Depot {
        Depot { place: self.at("backups").display().to_string(), ..Depot::default() }
    }

    fn job(&self, keep: Option<usize>) -> BackupJob {
        BackupJob { data: self.at("pages"), to: self.depot(), keep }
    }

    fn restore_to(&self, name: &str, snapshot: Option<&str>) -> RestoreJob {
        let snapshot = snapshot.map(str::to_owned);
        RestoreJob { from: self.depot(), snapshot, data: self.at(name), keep_id: false }
    }

    fn pieces(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.at("backups/pieces")).unwrap().map(|entry| entry.unwrap().path());
        let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap());
        let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }
}

/// Snapshots of a disk in memory.
pub(super) struct Shelter {
    place: Place,
    restored: usize,
}

impl Default for Shelter {
    fn default() -> Shelter {
        Shelter { place: Place::new(), restored: 0 }
    }
}

impl Shelter {
    /// Makes a snapshot of the collection on a disk, which nobody uses.
    pub(super) fn save(&self, disk: &Volatile) {
        fs::remove_dir_all(self.place.at("pages")).ok();
        copy(disk, &Disk::create(self.place.at("pages")).unwrap());
        backup(&self.place.job(None), &Silent).unwrap();
    }

    /// A disk with the collection of the last snapshot.
    pub(super) fn restore(&mut self) -> Volatile {
        self.restored += 1;
        let name = format!("restored-{}", self.restored);
        let newest = list_backups(&self.place.depot()).unwrap().pop().expect("a snapshot").snapshot;
        restore(&self.place.restore_to(&name, Some(&newest)), &Silent).unwrap();
        let disk = Volatile::new();
        copy(&Disk::open(self.place.at(&name)).unwrap(), &disk);
        disk
    }
}

/// Copies all files.
fn copy(from: &dyn Folder, to: &dyn Folder) {
    for name in from.names().unwrap() {
        let (file, copy) = (from.open(&name, Open::Read).unwrap(), to.open(&name, Open::Create).unwrap());
        let mut bytes = vec![0; file.len().unwrap() as usize];
        file.read_exact_at(&mut bytes, 0).unwrap();
        copy.write_all_at(&bytes, 0).unwrap();
        copy.sync().unwrap();
    }
    to.sync().unwrap();
}

/// All that a service says: pages, groups and the feed.
fn told(service: &Service) -> (Vec<String>, String, String) {
    let groups = format!("{:?}", service.groups(0, 1_000, 1, None).unwrap());
    (seen(service), groups, format!("{:?}", service.feed(FeedCursor::default(), 100_000).unwrap()))
}

/// Stops after some steps.
struct StopAfter(AtomicU64);

impl Progress for StopAfter {
    fn stopped(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

fn stop_after(steps: u64) -> StopAfter {
    StopAfter(AtomicU64::new(steps))
}

#[test]
fn a_restored_collection_is_the_same_and_goes_on() {
    let place = Place::new();
    let service = place.open("pages");
    for round in 0..6 {
        (0..60).for_each(|page| put(&service, page, round));
        assert!(service.drain(WAIT));
    }
    service.accept(&[Action::Dead(PageName::Text("p7")), Action::Delete(PageName::Text("p8"))]);
    assert!(service.drain(WAIT));
    let (before, id) = (told(&service), service.id().to_owned());
    let done = backup(&place.job(None), &Silent).unwrap();
    assert_eq!((done.line.collection.as_str(), done.line.pages), (&*id, 59));
    assert_eq!((done.new_pieces, done.pieces as usize), (done.pieces, place.pieces().len()));
    // The owner continues, and a later change is not in the snapshot.
    put(&service, 99, 9);
    let line = restore(&place.restore_to("restored", None), &Silent).unwrap();
    assert_eq!(line, done.line);
    let restored = place.open("restored");
    assert_eq!(told(&restored), before);
    assert_ne!(restored.id(), id, "readers of the feed must not continue");
    assert_eq!(restored.check().unwrap().wrong, Vec::<String>::new());
    (0..60).for_each(|page| put(&restored, page, 77));
    assert!(restored.drain(WAIT));
    assert_eq!(restored.check().unwrap().wrong, Vec::<String>::new());
    let moved = RestoreJob { keep_id: true, ..place.restore_to("moved", None) };
    restore(&moved, &Silent).unwrap();
    assert_eq!(place.open("moved").id(), id);
}

#[test]
fn every_acknowledged_change_is_in_a_backup_that_begins_later() {
    let place = Place::new();
    let service = place.open("pages");
    put(&service, 0, 0);
    let (acknowledged, is_over) = (AtomicUsize::new(1), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // The first pages are rewritten all the time, so that segments and parts come and go.
            for page in 1..20_000 {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                put(&service, page % 40, page);
                put(&service, 100 + page, 0);
                acknowledged.store(100 + page, Ordering::Release);
            }
        });
        for round in 0..6 {
            let least = acknowledged.load(Ordering::Acquire);
            let done = backup(&place.job(None), &Silent).unwrap();
            let name = format!("restored-{round}");
            restore(&place.restore_to(&name, Some(&done.line.snapshot)), &Silent).unwrap();
            let restored = place.open(&name);
            assert!(restored.drain(WAIT));
            assert_eq!(restored.stats().accepted, done.line.accepted);
            let names: Vec<String> = (101..=least).map(|page| format!("p{page}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let missing =
                restored.status(&names, false).unwrap().iter().filter(|page| page.is_none()).count();
            assert_eq!(missing, 0, "of {least}");
            assert_eq!(restored.check().unwrap().wrong, Vec::<String>::new());
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn only_new_pieces_are_written_and_old_ones_go_with_their_snapshots() {
    let place = Place::new();
    let service = place.open("pages");
    (0..200).for_each(|page| put(&service, page, 0));
    assert!(service.drain(WAIT));
    let first = backup(&place.job(None), &Silent).unwrap();
    let again = backup(&place.job(None), &Silent).unwrap();
    assert_eq!((again.pieces, again.new_pieces, again.new_bytes), (first.pieces, 0, 0));
    put(&service, 500, 3);
    assert!(service.drain(WAIT));
    let before = told(&service);
    let third = backup(&place.job(Some(1)), &Silent).unwrap();
    assert!(third.new_pieces > 0 && third.new_pieces < third.pieces, "{third:?}");
    assert_eq!(third.removed, 2);
    let names: Vec<String> =
        list_backups(&place.depot()).unwrap().into_iter().map(|line| line.snapshot).collect();
    assert_eq!(names, [third.line.snapshot]);
    assert_eq!(place.pieces().len() as u64, third.pieces, "each is needed");
    restore(&place.restore_to("restored", None), &Silent).unwrap();
    assert_eq!(told(&place.open("restored")), before);
}

#[test]
fn a_backup_that_stops_leaves_the_older_ones() {
    let place = Place::new();
    let service = place.open("pages");
    (0..30).for_each(|page| put(&service, page, 0));
    assert!(service.drain(WAIT));
    let (before, first) = (told(&service), backup(&place.job(None), &Silent).unwrap());
    (0..30).for_each(|page| put(&service, page, 1));
    assert!(service.drain(WAIT));
    let mut stopped = 0;
    while backup(&place.job(None), &stop_after(stopped)).is_err() {
        assert_eq!(list_backups(&place.depot()).unwrap(), std::slice::from_ref(&first.line));
        stopped += 1;
    }
    assert!(stopped > 5, "{stopped}");
    fs::write(place.at("backups/pieces/half.part"), "half").unwrap();
    put(&service, 99, 1);
    let last = backup(&place.job(Some(3)), &Silent).unwrap();
    assert_eq!((last.removed, place.at("backups/pieces/half.part").exists()), (0, false));
    restore(&place.restore_to("restored", Some(&first.line.snapshot)), &Silent).unwrap();
    assert_eq!(told(&place.open("restored")), before);
}

#[test]
fn a_restore_that_stops_is_no_collection_and_is_run_again() {
    let place = Place::new();
    let service = place.open("pages");
    (0..30).for_each(|page| put(&service, page, 0));
    assert!(service.drain(WAIT));
    let before = told(&service);
    backup(&place.job(None), &Silent).unwrap();
    let (job, mut steps) = (place.restore_to("restored", None), 0);
    while restore(&job, &stop_after(steps)).is_err() {
        for opening in [Opening::Begin, Opening::Existing, Opening::Read] {
            let options = ServiceOptions { opening, ..ServiceOptions::new(&job.data) };
            let error = Service::open(options).unwrap_err();
            assert!(matches!(error, Error::RestoreUnfinished { .. }), "{error}");
        }
        steps += 1;
    }
    assert!(steps > 5, "{steps}");
    assert_eq!(told(&place.open("restored")), before);
    let error = restore(&job, &Silent).unwrap_err();
    assert!(matches!(error, Error::RestoreNotEmpty { .. }), "{error}");
    fs::create_dir(place.at("mine")).unwrap();
    fs::write(place.at("mine/letter.txt"), "mine").unwrap();
    let error = restore(&place.restore_to("mine", None), &Silent).unwrap_err();
    assert!(matches!(error, Error::RestoreNotEmpty { .. }), "{error}");
    assert_eq!(fs::read_dir(place.at("mine")).unwrap().count(), 1);
}

#[test]
fn a_collection_without_postings_is_backed_up() {
    let place = Place::new();
    let service = place.open("pages");
    (0..30).for_each(|page| put(&service, page, 0));
    assert!(service.drain(WAIT));
    let before = told(&service);
    service.close().unwrap();
    for name in fs::read_dir(place.at("pages")).unwrap().map(|entry| entry.unwrap().path()) {
        if name.display().to_string().contains("postings-") {
            fs::remove_file(name).unwrap();
        }
    }
    backup(&place.job(None), &Silent).unwrap();
    restore(&place.restore_to("restored", None), &Silent).unwrap();
    let restored = place.open("restored");
    assert_eq!(told(&restored), before);
    (0..30).for_each(|page| put(&restored, page, 1));
    assert!(restored.drain(WAIT));
    assert_eq!(restored.check().unwrap().wrong, Vec::<String>::new());
}

#[test]
fn damaged_and_missing_pieces_are_named() {
    let place = Place::new();
    let service = place.open("pages");
    (0..30).for_each(|page| put(&service, page, 0));
    assert!(service.drain(WAIT));
    let line = backup(&place.job(None), &Silent).unwrap().line;
    let job = place.restore_to("restored", None);
    let refused = |path: &Path, words: &str| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let error = restore(&job, &Silent).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(words) && error.contains("a piece of "), "{error}");
    };
    for path in place.pieces() {
        let bytes = fs::read(&path).unwrap();
        for at in [0, bytes.len() / 2, bytes.len() - 1] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 16;
            fs::write(&path, &damaged).unwrap();
            // A bit of the compressed form may mean nothing.
            if zstd::stream::decode_all(&damaged[..]).ok() != zstd::stream::decode_all(&bytes[..]).ok() {
                fs::remove_dir_all(&job.data).ok();
                refused(&path, "damaged");
            }
        }
        fs::remove_dir_all(&job.data).ok();
        fs::remove_file(&path).unwrap();
        refused(&path, "missing");
        // The next backup writes it again.
        let mended = backup(&place.job(None), &Silent).unwrap();
        assert_eq!(mended.new_pieces, 1);
    }
    let manifest = place.at("backups/snapshots").join(line.snapshot.clone() + ".json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replacen("\"pages\":30", "\"pages\":31", 1)).unwrap();
    let listed = list_backups(&place.depot()).unwrap();
    assert!(listed[0].damaged.is_some() && listed[1].damaged.is_none());
    fs::remove_dir_all(&job.data).ok();
    let error =
        restore(&place.restore_to("restored", Some(&line.snapshot)), &Silent).unwrap_err().to_string();
    assert!(error.contains(&line.snapshot) && error.contains("checksum"), "{error}");
    let error = backup(&place.job(Some(1)), &Silent).unwrap_err().to_string();
    assert!(error.contains("nothing was removed"), "{error}");
}

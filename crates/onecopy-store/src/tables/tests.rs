//! Checks that tables keep their data, in whole transactions.

use redb::backends::InMemoryBackend;

use super::read::Look;
use super::*;
use crate::disk::{Backend, Folder, Open, Volatile};
use crate::rows::{ContentRow, Heads, PageRow};

fn tables() -> Tables {
    Tables::open(InMemoryBackend::new(), 1 << 20, false).unwrap()
}

#[test]
fn what_is_not_committed_is_not_there() {
    let tables = tables();
    let row = PageRow { name: "\"a\"".into(), ..PageRow::default() };
    let writing = tables.begin().unwrap();
    writing.batch().unwrap().set_page(1, &row).unwrap();
    drop(writing);
    assert_eq!(tables.snapshot().unwrap().page(1).unwrap(), None);
    let writing = tables.begin().unwrap();
    {
        let mut batch = writing.batch().unwrap();
        batch.set_page(1, &row).unwrap();
        batch.set_name(&row.name, 1).unwrap();
        batch.set_heads(&Heads { feed: 3, ..Heads::default() }).unwrap();
        assert_eq!(batch.page(1).unwrap(), Some(row.clone()));
    }
    let before = tables.snapshot().unwrap();
    writing.commit().unwrap();
    assert_eq!(before.page(1).unwrap(), None, "a snapshot is one moment");
    let after = tables.snapshot().unwrap();
    assert_eq!(after.page(1).unwrap(), Some(row));
    assert_eq!(after.page_number("\"a\"").unwrap(), Some(1));
    assert_eq!(after.heads().unwrap().feed, 3);
}

#[test]
fn the_best_comes_first_and_neighbours_do_not_mix() {
    let tables = tables();
    let writing = tables.begin().unwrap();
    let mut batch = writing.batch().unwrap();
    for (slot, class, rank, page) in
        [(1, 1, &b"a"[..], 10), (1, 2, b"0", 11), (1, 1, b"b", 12), (2, 0, b"", 13)]
    {
        batch.add_copy(slot, class, rank, page).unwrap();
    }
    assert_eq!(batch.best_copy(1, 0).unwrap(), None);
    assert_eq!(batch.best_copy(1, 1).unwrap(), Some(10));
    assert_eq!(batch.copies(1).unwrap(), [10, 12, 11]);
    batch.remove_copy(1, 1, b"a").unwrap();
    assert_eq!(batch.best_copy(1, 1).unwrap(), Some(12));
    batch.add_standing(Role::Content, 7, b"x", 5).unwrap();
    batch.add_standing(Role::Pointing, 7, b"a", 6).unwrap();
    assert_eq!(batch.standing(Role::Content, 7).unwrap(), Some(5));
    assert_eq!(batch.standing(Role::Content, 6).unwrap(), None);
    assert_eq!(batch.standing(Role::PointingAlike, 7).unwrap(), None);
    batch.add_naming(9, 1).unwrap();
    batch.add_naming(9, 4).unwrap();
    batch.add_naming(10, 2).unwrap();
    assert_eq!(batch.naming(9).unwrap(), [1, 4]);
}

#[test]
fn checks_go_with_their_group_and_the_feed_is_read_from_any_number() {
    let tables = tables();
    let writing = tables.begin().unwrap();
    {
        let mut batch = writing.batch().unwrap();
        batch.add_grouped(1, 5).unwrap();
        assert_eq!(batch.add_checks(1, 2, 1).unwrap(), (2, 1));
        assert_eq!(batch.add_checks(1, 1, 0).unwrap(), (3, 1));
        batch.remove_grouped(1, 5).unwrap();
        batch.set_content(3, &ContentRow::default()).unwrap();
        (1..=5).for_each(|number| {
            batch.add_change(number, FeedSubject::Page(number as u32), &[number as u8]).unwrap()
        });
        batch.add_live(4, 10).unwrap();
        batch.add_live(4, -3).unwrap();
    }
    writing.commit().unwrap();
    let now = tables.snapshot().unwrap();
    assert_eq!(now.checks(1).unwrap(), (0, 0));
    assert_eq!(now.feed(3, 9).unwrap(), [(4, vec![4]), (5, vec![5])]);
    assert_eq!(now.feed(u64::MAX, 9).unwrap(), []);
    assert_eq!(now.live().unwrap(), [(4, 7)]);
    assert_eq!(now.contents().unwrap().count(), 1);
}

#[test]
fn a_key_that_nobody_writes_belongs_to_no_content() {
    let tables = tables();
    let writing = tables.begin().unwrap();
    let mut batch = writing.batch().unwrap();
    batch.add_copy(1, 0, b"a", 10).unwrap();
    batch.copies.insert(&[0xff][..], 11).unwrap();
    assert_eq!(batch.copies(1).unwrap(), [10]);
}

#[test]
fn a_change_replaces_the_earlier_one_and_what_is_gone_expires() {
    let tables = tables();
    let writing = tables.begin().unwrap();
    {
        let mut batch = writing.batch().unwrap();
        let (page, group) = (FeedSubject::Page, FeedSubject::Group(7));
        let subjects = [page(1), page(2), page(1), group, FeedSubject::Deleted(2), group, page(3)];
        for (number, subject) in (1..).zip(subjects) {
            batch.add_change(number, subject, &[number as u8]).unwrap();
            batch.mark_feed(100 + number, number).unwrap();
        }
    }
    writing.commit().unwrap();
    let numbers = |tables: &Tables| -> Vec<u64> {
        tables.snapshot().unwrap().feed(0, 9).unwrap().into_iter().map(|(number, _)| number).collect()
    };
    assert_eq!(numbers(&tables), [3, 5, 6, 7]);
    for (minute, left, expired) in
        [(99, vec![3, 5, 6, 7], 0), (105, vec![3, 6, 7], 5), (105, vec![3, 6, 7], 5), (999, vec![3, 7], 6)]
    {
        let writing = tables.begin().unwrap();
        let limits = FeedLimits { minute, bytes: u64::MAX, most: 100 };
        writing.batch().unwrap().expire_feed(limits).unwrap();
        writing.commit().unwrap();
        assert_eq!((numbers(&tables), tables.snapshot().unwrap().expired().unwrap()), (left, expired));
    }
}

#[test]
fn the_oldest_changes_beyond_a_size_expire() {
    let tables = tables();
    let writing = tables.begin().unwrap();
    {
        let mut batch = writing.batch().unwrap();
        for number in 1..=10u64 {
            let subject =
                if number <= 4 { FeedSubject::Page(number as u32) } else { FeedSubject::Group(number) };
            batch.add_change(number, subject, &[0; 100]).unwrap();
        }
        // Groups 5 and 6 change again, and a page is deleted: six groups and a page with 100 bytes each.
        batch.add_change(11, FeedSubject::Group(5), &[0; 100]).unwrap();
        batch.add_change(12, FeedSubject::Group(6), &[0; 100]).unwrap();
        batch.add_change(13, FeedSubject::Deleted(4), &[0; 100]).unwrap();
    }
    writing.commit().unwrap();
    let numbers = |tables: &Tables| -> Vec<u64> {
        tables.snapshot().unwrap().feed(0, 99).unwrap().into_iter().map(|(number, _)| number).collect()
    };
    for (bytes, most, left, expired) in [
        (700, 100, vec![1, 2, 3, 7, 8, 9, 10, 11, 12, 13], 0),
        (699, 100, vec![1, 2, 3, 8, 9, 10, 11, 12, 13], 7),
        (300, 1, vec![1, 2, 3, 9, 10, 11, 12, 13], 8),
        (300, 100, vec![1, 2, 3, 11, 12, 13], 10),
        (0, 100, vec![1, 2, 3], 13),
    ] {
        let writing = tables.begin().unwrap();
        writing.batch().unwrap().expire_feed(FeedLimits { minute: 0, bytes, most }).unwrap();
        writing.commit().unwrap();
        assert_eq!((numbers(&tables), tables.snapshot().unwrap().expired().unwrap()), (left, expired));
    }
    // A collection of an earlier program has no count.
    let writing = tables.begin().unwrap();
    {
        let mut batch = writing.batch().unwrap();
        batch.add_change(14, FeedSubject::Group(5), &[0; 100]).unwrap();
        batch.add_change(15, FeedSubject::Group(6), &[0; 100]).unwrap();
        batch.meta.remove("feed-expiring-bytes").unwrap();
        batch.expire_feed(FeedLimits { minute: 0, bytes: 100, most: 100 }).unwrap();
    }
    writing.commit().unwrap();
    assert_eq!(numbers(&tables), [1, 2, 3, 15]);
}

/// Drawn numbers.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Makes some changes of drawn sizes, as long as the disk takes them; some are given up, and readers of earlier
/// snapshots come and go. Returns the last durable change.
fn change_some(tables: &Tables, last: u64, draw: &mut Draw) -> u64 {
    let (mut held, mut durable) = (Vec::new(), last);
    let mut change = |number: u64| -> Result<()> {
        let writing = tables.begin()?;
        let mut batch = writing.batch()?;
        let value = vec![number as u8; draw.below(60_000) as usize];
        batch.add_change(number, FeedSubject::Page(draw.below(5) as u32), &value)?;
        batch.set_heads(&Heads { feed: number, ..Heads::default() })?;
        drop(batch);
        if draw.below(9) == 0 {
            return Ok(());
        }
        writing.commit()?;
        durable = number;
        held.truncate(draw.below(3) as usize);
        held.push(tables.snapshot()?);
        Ok(())
    };
    let _ = (last + 1..=last + 6).try_for_each(&mut change);
    durable
}

/// Opens the tables on `disk`.
fn open(disk: &Volatile, check: bool) -> Result<Tables> {
    let file = disk.open(FILE, Open::Create).map_err(|error| damaged(FILE, 0, error.to_string()))?;
    Tables::open(Backend::new(file), 1 << 20, check)
}

/// Changes the tables, fills the disk meanwhile, loses power, and verifies what is left; four times.
fn disturb(seed: u64) -> Result<()> {
    let mut draw = Draw(seed);
    let (mut disk, mut last) = (Volatile::new(), 0);
    drop(open(&disk, false)?);
    disk.sync().unwrap();
    for _ in 0..4 {
        disk.fail_after((draw.below(3) == 0).then(|| draw.below(60)));
        if let Ok(tables) = open(&disk, false) {
            last = change_some(&tables, last, &mut draw);
        }
        disk = disk.power_loss(draw.below(u64::MAX));
        let found = open(&disk.power_loss(0), true)?.snapshot()?.heads()?.feed;
        assert!((last..=last + 6).contains(&found), "seed {seed}: change {found}, after {last}");
        last = found;
    }
    Ok(())
}

#[test]
fn no_power_loss_and_no_full_disk_looks_like_damage() {
    // 2,420: the header is there, and the length that it names is not. 3,052: the list of free pages is out of date.
    for seed in (0..40).chain([2_420, 3_052]) {
        disturb(seed).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}

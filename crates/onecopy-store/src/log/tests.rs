//! Tests the log against a list of records: after syncs, reopening, power loss, a full disk and damage.

use std::io::ErrorKind;

use proptest::prelude::*;

use super::layout::segment_head;
use super::*;
use crate::disk::{Disk, Open, Volatile};

/// Small enough that a few records fill a segment.
const SEGMENT: u32 = 3000;

type Records = Vec<(Place, Vec<u8>)>;

fn open(disk: &Volatile) -> Result<Log> {
    Log::open(Arc::new(disk.clone()), SEGMENT)
}

fn replay(log: &Log, from: Position) -> Result<Records> {
    let mut records = Vec::new();
    log.replay(from, &mut |place, bytes| {
        records.push((place, bytes.to_vec()));
        Ok(())
    })?;
    Ok(records)
}

/// A log with synced records of these lengths, synced in groups of three.
fn log_of(disk: &Volatile, lengths: &[usize]) -> (Log, Records) {
    let mut log = open(disk).unwrap();
    let mut records = Vec::new();
    for group in lengths.chunks(3) {
        records.extend(append(&mut log, group, 7));
        log.sync().unwrap();
    }
    (log, records)
}

fn append(log: &mut Log, lengths: &[usize], seed: u8) -> Records {
    let record = |length: &usize| (0..*length).map(|at| seed.wrapping_mul(31) ^ at as u8).collect();
    let added = lengths.iter().map(record).map(|bytes: Vec<u8>| (log.append(&bytes).unwrap(), bytes));
    added.collect()
}

fn check_reads(log: &Log, records: &Records) {
    let reader = log.reader();
    let mut bytes = vec![1, 2, 3];
    for (place, expected) in records {
        reader.read(*place, &mut bytes).unwrap();
        assert_eq!(&bytes, expected);
    }
    let total = log.check(&mut |error| panic!("{error}")).unwrap();
    assert_eq!(total, records.len() as u64);
}

#[derive(Debug, Clone)]
enum Deed {
    Append(usize),
    Sync,
    Reopen,
    LosePower(u64),
    /// The disk becomes full after this many writes; later there is space again.
    SyncFull(u64),
    /// The same, but power is lost while the disk is full.
    SyncFullLosePower(u64, u64),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let deed = prop_oneof![
        6 => prop_oneof![0..40_usize, 0..1500_usize, 2900..5000_usize].prop_map(Deed::Append),
        2 => Just(Deed::Sync),
        1 => Just(Deed::Reopen),
        1 => any::<u64>().prop_map(Deed::LosePower),
        1 => (0..12_u64).prop_map(Deed::SyncFull),
        2 => (0..12_u64, any::<u64>()).prop_map(|(count, seed)| Deed::SyncFullLosePower(count, seed)),
    ];
    prop::collection::vec(deed, 1..60)
}

/// The log and its expected contents.
struct Model {
    disk: Volatile,
    log: Log,
    synced: Records,
    unsynced: Records,
    /// Records whose sync failed: a prefix of one of these may reappear.
    failed: Vec<Records>,
    appended: u8,
}

impl Model {
    fn new() -> Model {
        let disk = Volatile::new();
        let log = open(&disk).unwrap();
        Model { disk, log, synced: Vec::new(), unsynced: Vec::new(), failed: Vec::new(), appended: 0 }
    }

    fn carry_out(&mut self, deed: Deed) {
        match deed {
            Deed::Append(length) => {
                self.appended = self.appended.wrapping_add(1);
                self.unsynced.extend(append(&mut self.log, &[length], self.appended));
            }
            Deed::Sync => self.sync(),
            Deed::Reopen => {
                self.unsynced.clear();
                self.reopen();
            }
            Deed::LosePower(seed) => {
                self.disk = self.disk.power_loss(seed);
                self.reopen();
            }
            Deed::SyncFull(count) => {
                self.disk.fail_after(Some(count));
                self.sync();
                self.disk.fail_after(None);
            }
            Deed::SyncFullLosePower(count, seed) => {
                self.disk.fail_after(Some(count));
                self.sync();
                self.disk = self.disk.power_loss(seed);
                self.reopen();
            }
        }
        assert_eq!(replay(&self.log, Position::default()).unwrap(), self.synced);
    }

    fn sync(&mut self) {
        let records = std::mem::take(&mut self.unsynced);
        match self.log.sync() {
            Ok(()) => {
                self.synced.extend(records);
                self.failed.clear();
            }
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::StorageFull => {
                self.failed.push(records);
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn reopen(&mut self) {
        self.log = open(&self.disk).unwrap();
        let found = replay(&self.log, Position::default()).unwrap();
        assert!(found.starts_with(&self.synced), "a synced record is gone");
        let rest = &found[self.synced.len()..];
        self.failed.push(std::mem::take(&mut self.unsynced));
        let written = self.failed.iter().any(|records| records.starts_with(rest));
        assert!(written, "what is found was never written so");
        self.failed.clear();
        self.synced = found;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_log_has_what_was_synced(deeds in deeds()) {
        let mut model = Model::new();
        for deed in deeds {
            model.carry_out(deed);
        }
        check_reads(&model.log, &model.synced);
        for (at, (place, _)) in model.synced.iter().enumerate() {
            prop_assert_eq!(&replay(&model.log, place.position()).unwrap(), &model.synced[at..]);
        }
    }
}

#[test]
fn a_probe_tells_whether_the_disk_is_full_and_changes_nothing() {
    for count in 0..40 {
        let disk = Volatile::new();
        let (mut log, mut records) = log_of(&disk, &[100, 2000, 50]);
        let end = log.end();
        disk.fail_after(Some(count));
        let is_full = log.probe().is_err();
        assert_eq!(log.end(), end);
        assert_eq!(replay(&log, Position::default()).unwrap(), records);
        // Power may be lost in the middle of a probe.
        let reopened = open(&disk.power_loss(count)).unwrap();
        check_reads(&reopened, &records);
        disk.fail_after(None);
        log.probe().unwrap();
        records.extend(append(&mut log, &[600, 2500], 2));
        log.sync().unwrap();
        check_reads(&log, &records);
        if !is_full {
            assert!(count > 0, "no write cannot be enough");
            return;
        }
    }
    panic!("the disk was full each time");
}

#[test]
fn a_sync_on_a_full_disk_can_be_tried_again_after_any_write() {
    for count in 0..40 {
        let disk = Volatile::new();
        let (mut log, mut records) = log_of(&disk, &[100, 2000, 50]);
        let end = log.end();
        append(&mut log, &[700, 2500, 4000, 10], 1);
        disk.fail_after(Some(count));
        if log.sync().is_ok() {
            assert!(count > 5, "so few writes cannot be enough");
            return;
        }
        assert_eq!(log.end(), end);
        assert_eq!(replay(&log, Position::default()).unwrap(), records);
        disk.fail_after(None);
        records.extend(append(&mut log, &[600, 2500, 40], 2));
        log.sync().unwrap();
        check_reads(&log, &records);
        let reopened = open(&disk.power_loss(count)).unwrap();
        check_reads(&reopened, &records);
        assert_eq!(reopened.end(), log.end());
    }
    panic!("the disk was full each time");
}

#[test]
fn each_damaged_byte_is_found_and_named() {
    let disk = Volatile::new();
    let (log, records) = log_of(&disk, &[40, 0, 60, 2000, 90, 1500, 30]);
    assert_eq!(log.segments().len(), 2);
    for (segment, length) in log.segments() {
        let name = segment_name(segment);
        let file = disk.open(&name, Open::Create).unwrap();
        for offset in (0..length).filter(|offset| offset % 7 == 0 || *offset < 200) {
            let mut byte = [0];
            file.read_exact_at(&mut byte, offset).unwrap();
            file.write_all_at(&[byte[0] ^ 4], offset).unwrap();
            check_damage(&log, &records, segment, offset);
            file.write_all_at(&byte, offset).unwrap();
        }
    }
    check_reads(&log, &records);
}

fn check_damage(log: &Log, records: &Records, segment: u32, offset: u64) {
    let mut told = Vec::new();
    let good = log.check(&mut |error| told.push(error.to_string())).unwrap();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains(&segment_name(segment)));
    assert!(replay(log, Position::default()).is_err());
    if offset < u64::from(SEGMENT_HEAD_BYTES) {
        return;
    }
    assert_eq!(good, records.len() as u64 - 1);
    let of = |place: &Place| place.segment == segment && u64::from(place.offset) <= offset;
    let (place, _) = records.iter().rfind(|(place, _)| of(place)).unwrap();
    assert!(told[0].contains(&format!("byte {}:", place.offset)), "{told:?}");
    let error = log.reader().read(*place, &mut Vec::new()).unwrap_err();
    assert!(matches!(error, Error::Damaged { offset, .. } if offset == u64::from(place.offset)));
}

#[test]
fn damage_before_the_last_sync_is_not_taken_for_a_torn_end() {
    let disk = Volatile::new();
    let (log, records) = log_of(&disk, &[40, 50, 60, 70, 80, 90]);
    let (first_groups, last) = (records[2].0, records[4].0);
    let file = disk.open(&segment_name(1), Open::Create).unwrap();
    for at in [first_groups.offset, first_groups.offset + 4, first_groups.offset + 30] {
        file.write_all_at(&[0xA5], u64::from(at)).unwrap();
        let error = open(&disk).unwrap_err().to_string();
        assert!(
            error.contains(&format!("log-00000001 is damaged at byte {}:", first_groups.offset)),
            "{error}"
        );
        let head = Head::of(&records[2].1, SEGMENT_HEAD_BYTES).to_bytes(first_groups.position());
        file.write_all_at(&[&head[..], &records[2].1].concat(), u64::from(first_groups.offset)).unwrap();
    }
    file.write_all_at(&[0xA5], u64::from(last.offset)).unwrap();
    // If it is known to be durable, it is not truncated and does not prevent opening.
    let known = Log::open_after(Arc::new(disk.clone()), SEGMENT, log.end()).unwrap();
    assert_eq!(known.end(), log.end());
    assert!(known.reader().read(last, &mut Vec::new()).is_err());
    known.reader().read(records[5].0, &mut Vec::new()).unwrap();
    file.set_len(u64::from(last.end().offset)).unwrap();
    let damaged = Log::open_after(Arc::new(disk.clone()), SEGMENT, log.end()).unwrap_err();
    assert!(matches!(damaged, Error::Damaged { .. }));
    assert_eq!(replay(&open(&disk).unwrap(), Position::default()).unwrap(), records[..4]);
}

#[test]
fn a_torn_end_is_cut_wherever_it_is_torn() {
    let disk = Volatile::new();
    let (log, records) = log_of(&disk, &[40, 50, 60, 70, 80]);
    let end = log.end().offset;
    for length in (SEGMENT_HEAD_BYTES..end).rev() {
        disk.open(&segment_name(1), Open::Create).unwrap().set_len(u64::from(length)).unwrap();
        let log = open(&disk).unwrap();
        let whole =
            records.iter().take_while(|(place, _)| place.offset + HEAD_BYTES + place.length <= length);
        check_reads(&log, &whole.cloned().collect());
    }
}

#[test]
fn a_segment_without_a_head_is_begun_again_and_another_version_refused() {
    let disk = Volatile::new();
    let (_, records) = log_of(&disk, &[10, 20]);
    for length in [0, 3, 16] {
        let file = disk.open(&segment_name(2), Open::Create).unwrap();
        file.set_len(length).unwrap();
        let log = open(&disk).unwrap();
        check_reads(&log, &records);
        assert_eq!(log.end(), Position { segment: 2, offset: SEGMENT_HEAD_BYTES });
        file.write_all_at(&[0; 16], 0).unwrap();
    }
    let mut head = segment_head(2);
    head[8] = 9;
    disk.open(&segment_name(2), Open::Create).unwrap().write_all_at(&head, 0).unwrap();
    assert!(matches!(open(&disk).unwrap_err(), Error::Refused(_)));
}

#[test]
fn segments_are_removed_but_the_last() {
    let disk = Volatile::new();
    let (mut log, records) = log_of(&disk, &[2000, 2000, 2000, 5000, 10]);
    assert_eq!(log.segments().iter().map(|(segment, _)| *segment).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    check_reads(&log, &records);
    log.remove(2).unwrap();
    for segment in [2, 5, 6] {
        assert!(matches!(log.remove(segment), Err(Error::Refused(_))));
    }
    let left: Records = records.iter().filter(|(place, _)| place.segment != 2).cloned().collect();
    check_reads(&open(&disk.power_loss(3)).unwrap(), &left);
    let error = log.reader().read(records[1].0, &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "log-00000002 is damaged at byte 0: the file is missing");
    assert!(replay(&log, Position { segment: 9, offset: 16 }).is_err());
    assert!(replay(&log, Position { segment: 3, offset: 2900 }).is_err());
}

#[test]
fn too_long_a_record_is_refused_and_places_keep_their_bytes() {
    let mut log = open(&Volatile::new()).unwrap();
    assert!(matches!(log.append(&vec![0; MAX_RECORD_BYTES as usize + 1]), Err(Error::Refused(_))));
    let place = Place { segment: 1, offset: 0x0203_0405, length: 6 };
    assert_eq!(place.to_bytes(), [1, 0, 0, 0, 5, 4, 3, 2, 6, 0, 0, 0]);
    assert_eq!(Place::from_bytes(place.to_bytes()), place);
}

fn check_later(folder: Arc<dyn Folder>, rounds: u8) {
    let mut log = Log::open(folder.clone(), SEGMENT).unwrap();
    let reader = log.reader();
    let mut records = Vec::new();
    for round in 0..rounds {
        records.extend(append(&mut log, &[2990, 2991], round));
        log.sync().unwrap();
    }
    let mut bytes = Vec::new();
    for (place, expected) in records.iter().rev().chain(&records) {
        reader.read(*place, &mut bytes).unwrap();
        assert_eq!(&bytes, expected);
    }
    drop(log);
    check_reads(&Log::open(folder, SEGMENT).unwrap(), &records);
}

#[test]
fn a_reader_sees_what_comes_later_on_both_disks() {
    let folder = tempfile::tempdir().unwrap();
    check_later(Arc::new(Disk::open(folder.path()).unwrap()), 8);
    // More segments than may be open at a time.
    check_later(Arc::new(Volatile::new()), 150);
}

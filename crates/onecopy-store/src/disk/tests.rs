//! Checks that the real disk stays in its folder, and that [`Volatile`] forgets only unsynced data.

use std::io::ErrorKind;

use super::*;

fn bytes_of(folder: &dyn Folder, name: &str) -> Option<Vec<u8>> {
    let file = folder.open(name, Open::Read).ok()?;
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_exact_at(&mut bytes, 0).unwrap();
    Some(bytes)
}

fn check_folder(folder: &dyn Folder) {
    assert_eq!(folder.open("a", Open::Read).unwrap_err().kind(), ErrorKind::NotFound);
    let file = folder.open("a", Open::Create).unwrap();
    file.write_all_at(b"world", 6).unwrap();
    file.write_all_at(b"hello", 0).unwrap();
    assert_eq!(bytes_of(folder, "a").unwrap(), b"hello\0world");
    file.set_len(4).unwrap();
    file.set_len(6).unwrap();
    file.sync().unwrap();
    assert_eq!(bytes_of(folder, "a").unwrap(), b"hell\0\0");
    assert_eq!(file.read_exact_at(&mut [0; 4], 3).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    folder.open("b", Open::Create).unwrap();
    folder.rename("a", "b").unwrap();
    folder.sync().unwrap();
    assert_eq!(folder.names().unwrap(), ["b"]);
    assert_eq!(bytes_of(folder, "b").unwrap(), b"hell\0\0");
    folder.remove("b").unwrap();
    assert_eq!(file.len().unwrap(), 6, "an open file stays readable");
    for name in ["", ".", "..", "../a", "/a", "a/b", "a\0"] {
        assert!(folder.open(name, Open::Create).is_err(), "{name:?}");
    }
    let lock = folder.lock().unwrap();
    assert_eq!(folder.lock().unwrap_err().kind(), ErrorKind::WouldBlock);
    drop(lock);
    folder.lock().unwrap();
}

#[test]
fn both_disks_do_the_same() {
    let folder = tempfile::tempdir().unwrap();
    check_folder(&Disk::create(folder.path().join("c")).unwrap());
    check_folder(&Volatile::new());
}

#[test]
fn a_link_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("outside"), "secret").unwrap();
    let disk = Disk::create(folder.path().join("c")).unwrap();
    std::os::unix::fs::symlink("../outside", disk.path().join("a")).unwrap();
    assert_eq!(disk.open("a", Open::Read).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(disk.open("a", Open::Create).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert!(disk.names().unwrap().is_empty());
}

/// A durable file of ones, overwritten with twos and then threes, and extended.
fn unsynced() -> Volatile {
    let disk = Volatile::new();
    let file = disk.open("a", Open::Create).unwrap();
    file.write_all_at(&[1; 2000], 0).unwrap();
    file.sync().unwrap();
    disk.sync().unwrap();
    file.write_all_at(&[2; 2000], 0).unwrap();
    file.write_all_at(&[3; 3000], 0).unwrap();
    disk.rename("a", "b").unwrap();
    disk
}

#[test]
fn what_is_not_synced_is_lost_by_sector() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let disk = unsynced().power_loss(seed);
        let names = disk.names().unwrap();
        assert!(names == ["a"] || names == ["b"], "{names:?}");
        let bytes = bytes_of(&disk, &names[0]).unwrap();
        assert!(bytes.len() == 2000 || bytes.len() == 3000);
        for sector in bytes[..1536].chunks(512) {
            assert!(sector.iter().all(|byte| *byte == sector[0]) && (1..=3).contains(&sector[0]));
        }
        seen.insert((names, bytes.len(), bytes[0], bytes[512]));
    }
    assert!(seen.len() > 20, "too few kinds of loss: {seen:?}");
    assert_eq!(bytes_of(&unsynced(), "b").unwrap(), [3; 3000], "without a loss all is there");
}

#[test]
fn what_is_synced_stays() {
    let disk = unsynced();
    disk.open("b", Open::Create).unwrap().sync().unwrap();
    disk.sync().unwrap();
    disk.remove("b").unwrap();
    disk.open("b", Open::Create).unwrap();
    for seed in 0..20 {
        let found = disk.power_loss(seed);
        let expected = [Some(vec![3; 3000]), Some(vec![]), None];
        assert!(expected.contains(&bytes_of(&found, "b")));
    }
}

#[test]
fn a_full_disk_writes_half_and_a_read_only_one_nothing() {
    let disk = Volatile::new();
    let file = disk.open("a", Open::Create).unwrap();
    disk.fail_after(Some(1));
    file.write_all_at(b"1234", 0).unwrap();
    assert_eq!(file.write_all_at(b"5678", 4).unwrap_err().kind(), ErrorKind::StorageFull);
    assert_eq!(file.sync().unwrap_err().kind(), ErrorKind::StorageFull);
    assert_eq!(bytes_of(&disk, "a").unwrap(), b"123456");
    disk.fail_after(None);
    disk.set_read_only(true);
    assert_eq!(file.write_all_at(b"x", 0).unwrap_err().kind(), ErrorKind::ReadOnlyFilesystem);
    assert!(disk.open("b", Open::Create).is_err());
    assert_eq!(bytes_of(&disk, "a").unwrap(), b"123456");
}

const NUMBERS: redb::TableDefinition<u64, u64> = redb::TableDefinition::new("numbers");

fn database(disk: &Volatile) -> redb::Database {
    let file = disk.open("tables", Open::Create).unwrap();
    disk.sync().unwrap();
    redb::Database::builder().create_with_backend(Backend::new(file)).unwrap()
}

#[test]
fn a_database_survives_power_loss_at_any_commit() {
    let disk = Volatile::new();
    let database_now = database(&disk);
    for round in 0..20_u64 {
        let write = database_now.begin_write().unwrap();
        write.open_table(NUMBERS).unwrap().insert(round, round * round).unwrap();
        write.commit().unwrap();
        let unfinished = database_now.begin_write().unwrap();
        unfinished.open_table(NUMBERS).unwrap().insert(1000, 0).unwrap();
        let found = database(&disk.power_loss(round));
        let read = redb::ReadableDatabase::begin_read(&found).unwrap();
        let table = read.open_table(NUMBERS).unwrap();
        assert_eq!(redb::ReadableTableMetadata::len(&table).unwrap(), round + 1);
        assert_eq!(table.get(round).unwrap().unwrap().value(), round * round);
        unfinished.abort().unwrap();
    }
}

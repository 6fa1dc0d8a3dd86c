//! Damage that comes while a collection is served is found, and counted.

use std::time::Instant;

use onecopy_store::{Folder, Open};

use super::*;

fn open_on(disk: &Volatile) -> Service {
    let tuning = Tuning { scrub_pause: Duration::from_millis(1), ..Tuning::small() };
    Service::open_tuned(Arc::new(disk.clone()), ServiceOptions::new("memory"), tuning).unwrap()
}

fn fill(service: &Service, round: usize) {
    for page in 0..40 {
        let line = json!({"id": page, "text": format!("words {round} of page {} with others", page / 2)});
        service.accept(&[Action::Put(line.to_string().as_bytes())]).swap_remove(0).unwrap();
    }
    assert!(service.drain(WAIT));
}

/// Waits for two more passes: one may have begun before.
fn passes(service: &Service) {
    let (begun, after) = (Instant::now(), service.stats().scrubs + 2);
    while service.stats().scrubs < after {
        assert!(begun.elapsed() < WAIT, "{:?}", service.stats());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Changes a bit in every part of a file that has a hundred bytes.
fn damage(disk: &Volatile, name: &str, from: u64) {
    let file = disk.open(name, Open::Create).unwrap();
    for offset in (from..file.len().unwrap()).step_by(100) {
        let mut byte = [0];
        file.read_exact_at(&mut byte, offset).unwrap();
        file.write_all_at(&[byte[0] ^ 0x10], offset).unwrap();
    }
}

#[test]
fn a_whole_collection_is_verified_while_it_changes() {
    let service = open_on(&Volatile::new());
    for round in 0..5 {
        fill(&service, round);
        passes(&service);
    }
    let stats = service.stats();
    assert_eq!((stats.damaged, service.ready()), (0, Ok(())));
    assert!(stats.scrubbed_at > 1_600_000_000);
}

#[test]
fn damage_in_the_log_is_counted_and_damage_in_the_tables_stops_the_service() {
    let disk = Volatile::new();
    let service = open_on(&disk);
    fill(&service, 0);
    passes(&service);
    let first = disk.names().unwrap().into_iter().find(|name| name.starts_with("log-")).unwrap();
    damage(&disk, &first, 20);
    passes(&service);
    assert_eq!((service.stats().damaged, service.ready()), (1, Ok(())));
    damage(&disk, "tables.redb", 4_096);
    passes(&service);
    assert_eq!(service.stats().damaged, 2);
    let Err(Refusal::Broken(why)) = service.ready() else { panic!("it is ready") };
    assert!(why.contains("tables.redb is damaged"), "{why}");
}

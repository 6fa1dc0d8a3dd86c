//! A collection whose pages are rewritten again and again stays as small as a new one.

use std::time::Instant;

use onecopy_store::{Folder, Open};

use super::*;

const MANY: usize = 300;

/// Sizes in the proportion of a large collection: several parts and segments.
fn tuning() -> Tuning {
    Tuning { postings_in_memory: 1 << 13, segment_bytes: 1 << 16, batch_changes: 64, ..Tuning::small() }
}

fn open_on(disk: &Volatile) -> Service {
    Service::open_tuned(Arc::new(disk.clone()), ServiceOptions::new("memory"), tuning()).unwrap()
}

fn rewrite(service: &Service, round: usize) {
    let line = |page: usize| {
        let words = (0..24).map(|word| format!("w{}", (page * 31 + round * 7 + word * word) % 5_000));
        json!({"id": format!("p{page}"), "text": words.collect::<Vec<_>>().join(" ")}).to_string()
    };
    let lines: Vec<String> = (0..MANY).map(line).collect();
    let actions: Vec<Action> = lines.iter().map(|line| Action::Put(line.as_bytes())).collect();
    assert!(service.accept(&actions).iter().all(|outcome| outcome.is_ok()));
    assert!(service.drain(WAIT), "{:?}", service.stats());
}

/// The bytes of the files whose name begins so.
fn bytes(disk: &Volatile, start: &str) -> u64 {
    let names = disk.names().unwrap().into_iter().filter(|name| name.starts_with(start));
    names.map(|name| disk.open(&name, Open::Read).unwrap().len().unwrap()).sum()
}

#[test]
fn a_hundred_rewrites_take_no_more_space_than_two_collections() {
    let (fresh, disk) = (Volatile::new(), Volatile::new());
    let service = open_on(&fresh);
    rewrite(&service, 0);
    service.close().unwrap();
    let service = open_on(&disk);
    let rounds = if cases() > 100 { 400 } else { 100 };
    let begun = Instant::now();
    let mut times = Vec::new();
    for round in 0..rounds {
        let begun = Instant::now();
        rewrite(&service, round);
        times.push(begun.elapsed());
    }
    let mean = |some: &[Duration]| some.iter().sum::<Duration>() / some.len() as u32;
    eprintln!("rounds of {:?} at first, {:?} at last", mean(&times[1..11]), mean(&times[rounds - 10..]));
    let starts = ["postings", "log-", "tables", "order", "counts"];
    // At any time it is a few times as large; when nothing happens, it shrinks.
    let most = |start: &str| 2 * bytes(&fresh, start) + (1 << 16);
    assert!(bytes(&disk, "postings") < 2 * most("postings"), "{}", bytes(&disk, "postings"));
    let is_small = || starts.iter().all(|start| bytes(&disk, start) <= most(start));
    while !is_small() && begun.elapsed() < WAIT {
        std::thread::sleep(Duration::from_millis(10));
    }
    for start in starts {
        eprintln!("{start}: {} of {} fresh", bytes(&disk, start), bytes(&fresh, start));
        assert!(bytes(&disk, start) <= most(start), "{start}: {}", bytes(&disk, start));
    }
    assert_eq!(service.check().unwrap().wrong, Vec::<String>::new());
}

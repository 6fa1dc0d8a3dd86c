//! A full disk, an unwritable disk, and a damaged byte in each kind of file: no acknowledged change is lost, errors
//! name the damage, and the rest is served.

use std::time::Instant;

use onecopy_store::{Folder, Log, Look, Open, Place, Position};

use super::*;

type Lines = BTreeMap<usize, String>;

/// A disk with a collection that has groups, all settled and closed.
fn with_groups(pages: usize) -> (Volatile, Lines) {
    let disk = Volatile::new();
    let service = open(&disk, &Config::default());
    let mut lines = Lines::new();
    for page in 0..pages {
        put(&service, &mut lines, version(page, 0)).unwrap();
        if page == MANY - 2 {
            // Later pages use the frozen order.
            assert!(service.drain(WAIT));
        }
    }
    assert!(service.drain(WAIT));
    service.close().unwrap();
    (disk, lines)
}

/// One of several versions of a page. Those with the same remainder of three are alike.
fn version(page: usize, number: usize) -> Draft {
    let edits = vec![(page * 5 + number * 7) % 30];
    Draft { page, base: page % 3, drift: number % 3, edits, signal: page % 4, link: PageLink::None, shape: 5 }
}

fn put(service: &Service, lines: &mut Lines, made: Draft) -> std::result::Result<(), Refusal> {
    let line = line(&made);
    service.accept(&[Action::Put(line.as_bytes())]).swap_remove(0)?;
    lines.insert(made.page, line);
    Ok(())
}

/// Adds a page. Retries while Tier 2 repairs damage.
fn put_when_ready(service: &Service, lines: &mut Lines, made: Draft) {
    let begun = Instant::now();
    while let Err(refusal) = put(service, lines, made.clone()) {
        assert!(begun.elapsed() < WAIT, "{refusal:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Opens the service over this disk, or returns why that failed.
fn try_open(disk: &Volatile) -> Result<Service> {
    Service::open_tuned(Arc::new(disk.clone()), ServiceOptions::new("memory"), Tuning::small())
}

fn assert_as_batch(service: &Service, lines: &Lines) {
    assert_eq!(by_service(service, lines), by_batch(lines, service.config()));
    assert_eq!(service.check().unwrap().wrong, Vec::<String>::new());
}

fn length(disk: &Volatile, name: &str) -> u64 {
    disk.open(name, Open::Read).unwrap().len().unwrap()
}

/// Changes one bit.
fn damage(disk: &Volatile, name: &str, offset: u64) {
    let (file, mut byte) = (disk.open(name, Open::Create).unwrap(), [0]);
    file.read_exact_at(&mut byte, offset).unwrap();
    file.write_all_at(&[byte[0] ^ 0x10], offset).unwrap();
    file.sync().unwrap();
}

fn first_name(disk: &Volatile, start: &str) -> String {
    disk.names().unwrap().into_iter().find(|name| name.starts_with(start)).expect("a file")
}

fn is_long() -> bool {
    std::env::var_os("ONECOPY_LONG_TESTS").is_some()
}

/// A page as it was put.
fn record_of(service: &Service, page: usize) -> String {
    let mut found = String::new();
    let look = &mut |view: PageView| {
        if view.status.page.get() == json_name(page) {
            found = view.record.get().to_owned();
        }
        Ok(())
    };
    service.pages(look).unwrap();
    found
}

/// Makes changes while the disk is full. Returns the refused changes that may have reached the disk.
fn change_while_full(service: &Service, lines: &mut Lines) -> Lines {
    let mut unsure = Lines::new();
    for page in (0..PAGES).chain(0..4) {
        let made = version(page, 1 + unsure.len() % 2);
        match put(service, lines, made.clone()) {
            Ok(()) => drop(unsure.remove(&page)),
            Err(Refusal::Broken(why)) => {
                let files = ["tables.redb", "log-0000", "postings", "order-0", "counts", "the folder"];
                assert!(files.iter().any(|name| why.contains(name)), "{why}");
                unsure.insert(page, line(&made));
            }
            Err(other) => panic!("{other:?}"),
        }
        if page % 5 == 4 {
            service.drain(Duration::from_millis(10));
        }
    }
    unsure
}

/// Fills the disk after `writes` more writes, for a while. Returns how many changes were refused.
fn fill(disk: &Volatile, mut lines: Lines, writes: u64) -> usize {
    let mut disk = disk.power_loss(0);
    let mut service = try_open(&disk).unwrap();
    disk.fail_after(Some(writes));
    let unsure = change_while_full(&service, &mut lines);
    let refused = unsure.len();
    if writes % 2 == 1 {
        let after = disk.power_loss(writes);
        drop(service);
        disk = after;
        service = try_open(&disk).unwrap();
        assert!(service.drain(WAIT), "{:?}", service.ready());
        for (page, line) in unsure {
            let record = record_of(&service, page);
            assert!(record == line || record == lines[&page], "{record}");
            lines.insert(page, record);
        }
    }
    disk.fail_after(None);
    assert!(service.drain(WAIT), "{:?}", service.ready());
    put(&service, &mut lines, version(3, 2)).unwrap();
    assert_as_batch(&service, &lines);
    drop(service);
    assert_as_batch(&try_open(&disk).unwrap(), &lines);
    refused
}

#[test]
fn a_full_disk_loses_nothing_and_the_service_goes_on_when_there_is_space() {
    let (disk, lines) = with_groups(PAGES);
    let (most, step) = if is_long() { (600, 1) } else { (240, 13) };
    let refused: usize = (0..most).step_by(step).map(|writes| fill(&disk, lines.clone(), writes)).sum();
    assert!(refused > 0);
}

#[test]
fn what_many_threads_put_at_once_is_durable_and_numbered_once() {
    let disk = Volatile::new();
    let service = try_open(&disk).unwrap();
    let put = |thread: usize| {
        let pages = (0..30).map(|page| line(&version(100 * thread + page, 0)));
        let accept = |line: String| service.accept(&[Action::Put(line.as_bytes())]).swap_remove(0).unwrap();
        pages.map(|line| accept(line).accepted).collect::<Vec<u64>>()
    };
    let mut numbers: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|thread| scope.spawn(move || put(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let after = disk.power_loss(7);
    drop(service);
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=240).collect::<Vec<u64>>());
    let service = try_open(&after).unwrap();
    assert!(service.drain(WAIT));
    let stats = service.stats();
    assert_eq!(stats.kept + stats.losers, 240);
}

#[test]
fn a_disk_that_cannot_be_written_is_said_and_nothing_panics() {
    let (disk, mut lines) = with_groups(PAGES);
    disk.set_read_only(true);
    let error = try_open(&disk).unwrap_err().to_string();
    assert!(error.contains("lock") && error.contains("read-only"), "{error}");
    disk.set_read_only(false);
    let service = try_open(&disk).unwrap();
    disk.set_read_only(true);
    let before = lines.clone();
    for page in 0..4 {
        let refusal = put(&service, &mut lines, version(page, 1)).unwrap_err();
        assert!(matches!(&refusal, Refusal::Broken(why) if why.contains("read-only")), "{refusal:?}");
    }
    assert_eq!(lines, before);
    assert!(service.status(&["p1"], true).unwrap()[0].is_some());
    disk.set_read_only(false);
    put_when_ready(&service, &mut lines, version(2, 1));
    assert_as_batch(&service, &lines);
}

#[test]
fn a_format_of_another_version_is_refused_with_the_remedy() {
    let (whole, _) = with_groups(PAGES);
    for number in [0u32, 1, 2, 5] {
        let disk = whole.power_loss(0);
        set_meta(&disk, "format", number);
        let error = try_open(&disk).unwrap_err().to_string();
        let is_earlier = (1..3).contains(&number);
        let remedy =
            if is_earlier { "must be upgraded first" } else { "export its pages there and import them here" };
        for words in [&*format!("has format {number}"), remedy] {
            assert!(error.contains(words), "`{words}` is not in: {error}");
        }
    }
}

#[test]
fn answers_of_another_version_are_refused_with_the_remedy() {
    let (whole, _) = with_groups(PAGES);
    let own = onecopy_core::ANSWER_VERSION;
    assert_eq!(open_collection(&whole).snapshot().meta("answers").unwrap(), Some(own.to_le_bytes().to_vec()));
    for number in [own - 1, own + 1] {
        let disk = whole.power_loss(0);
        set_meta(&disk, "answers", number);
        let error = try_open(&disk).unwrap_err().to_string();
        let remedy = if number < own {
            "must be upgraded first"
        } else {
            "export its pages there and import them here"
        };
        for words in [&*format!("by answer version {number}, and this version"), remedy] {
            assert!(error.contains(words), "`{words}` is not in: {error}");
        }
    }
}

fn open_collection(disk: &Volatile) -> collection::Collection {
    let options = ServiceOptions::new("memory");
    collection::Collection::open_in(Arc::new(disk.clone()), options, Tuning::small()).unwrap()
}

fn set_meta(disk: &Volatile, name: &str, number: u32) {
    let collection = open_collection(disk);
    let writing = collection.begin().unwrap();
    writing.batch().unwrap().set_meta(name, &number.to_le_bytes()).unwrap();
    writing.commit().unwrap();
}

#[test]
fn damaged_or_missing_postings_are_made_anew() {
    let (whole, lines) = with_groups(PAGES);
    let part = first_name(&whole, "postings-");
    let parts = if is_long() { 400 } else { 20 };
    let mut spots: Vec<(&str, u64)> =
        (0..parts).map(|at| (&*part, length(&whole, &part) * at / parts)).collect();
    spots.extend((0..length(&whole, "postings")).step_by(9).map(|at| ("postings", at)));
    let (count, mut mended) = (spots.len(), 0);
    for (name, offset) in spots {
        let (disk, mut lines) = (whole.power_loss(0), lines.clone());
        damage(&disk, name, offset);
        let service = try_open(&disk).unwrap_or_else(|error| panic!("{name} at {offset}: {error}"));
        // Searches each kind of text, to reach a damaged block, unless its keys belong to an earlier generation.
        for page in 0..6 {
            put_when_ready(&service, &mut lines, version(page, 2));
        }
        assert_eq!(by_service(&service, &lines), by_batch(&lines, service.config()));
        let wrong = service.check().unwrap().wrong;
        let is_unmet = |line: &String| line.contains("Tier 2 rebuilds it from the log");
        assert!(wrong.iter().all(is_unmet), "{wrong:?}");
        mended += usize::from(wrong.is_empty());
    }
    assert!(mended > count / 4, "{mended} of {count}");
    for name in [&*part, "postings"] {
        let disk = whole.power_loss(0);
        disk.remove(name).unwrap();
        assert_as_batch(&try_open(&disk).unwrap(), &lines);
    }
}

#[test]
fn a_page_that_is_damaged_in_the_log_is_named_and_the_others_are_settled() {
    let (whole, lines) = with_groups(PAGES);
    let log = Log::open(Arc::new(whole.power_loss(0)), 1 << 20).unwrap();
    let mut places = Vec::new();
    let note = &mut |place, _: &[u8]| {
        places.push(place);
        Ok(())
    };
    log.replay(Position::default(), note).unwrap();
    assert_eq!(places.len(), PAGES);
    let step = if is_long() { 1 } else { 4 };
    for (page, place) in places.iter().enumerate().step_by(step).chain([(PAGES - 1, &places[PAGES - 1])]) {
        for within in [2, 30, u64::from(place.length)] {
            let disk = whole.power_loss(0);
            damage(&disk, &segment_of(place), u64::from(place.offset) + within);
            check_without(&disk, page, place, lines.clone());
        }
    }
}

fn segment_of(place: &Place) -> String {
    format!("log-{:08}", place.segment)
}

/// Checks a collection in which the version of a page is damaged.
fn check_without(disk: &Volatile, page: usize, place: &Place, mut lines: Lines) {
    let service = try_open(disk).unwrap();
    let named = format!("{} is damaged at byte {}", segment_of(place), place.offset);
    let wrong = service.check().unwrap().wrong;
    assert!(wrong[0].contains(&named), "{wrong:?}");
    let of_page =
        |line: &String| line.starts_with(&format!("page {}: ", json_name(page))) && line.contains(&named);
    assert!(wrong.iter().any(of_page), "{wrong:?}");
    // All similar pages change.
    for other in (0..PAGES).filter(|other| *other != page) {
        put(&service, &mut lines, version(other, 1)).unwrap();
    }
    assert!(service.drain(WAIT), "{:?}", service.ready());
    let mut damaged = 0;
    let count = &mut |view: PageView| {
        damaged += u32::from(view.damaged.is_some());
        Ok(())
    };
    service.pages(count).unwrap();
    assert_eq!(damaged, 1);
    service.query(line(&version(page, 0)).as_bytes()).unwrap();
    // The documented remedy.
    service.accept(&[Action::Delete(PageName::Text(&name(page)))]).swap_remove(0).unwrap();
    assert!(service.drain(WAIT));
    put(&service, &mut lines, version(page, 1)).unwrap();
    assert_eq!(by_service(&service, &lines), by_batch(&lines, service.config()));
    let wrong = service.check().unwrap().wrong;
    assert!(wrong.iter().all(|only| only.contains(&named)) && wrong.len() < 2, "{wrong:?}");
    // Nobody needs the damaged version any more, so its segment is rewritten.
    service.close().unwrap();
    let (service, begun) = (try_open(disk).unwrap(), Instant::now());
    while !service.check().unwrap().wrong.is_empty() {
        assert!(begun.elapsed() < WAIT, "{:?}", service.check().unwrap().wrong);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_as_batch(&service, &lines);
}

/// Enough pages to freeze an order.
const MANY: usize = 1_010;

#[test]
fn a_lost_order_is_replaced_and_damaged_counts_are_done_without() {
    let (whole, lines) = with_groups(MANY);
    let order = first_name(&whole, "order-");
    let end = length(&whole, &order) - 1;
    for offset in [Some(9), Some(end), None] {
        let (disk, mut lines) = (whole.power_loss(0), lines.clone());
        match offset {
            Some(offset) => damage(&disk, &order, offset),
            None => disk.remove(&order).unwrap(),
        }
        let service = try_open(&disk).unwrap();
        assert_eq!(service.stats().replaced_orders, 1);
        put(&service, &mut lines, version(5, 1)).unwrap();
        put(&service, &mut lines, version(MANY - 1, 1)).unwrap();
        assert_as_batch(&service, &lines);
        service.close().unwrap();
        let service = try_open(&disk).unwrap();
        assert_eq!(service.stats().replaced_orders, 0);
        assert_as_batch(&service, &lines);
    }
    let disk = whole.power_loss(0);
    damage(&disk, "counts", 77);
    let (service, mut lines) = (try_open(&disk).unwrap(), lines);
    put(&service, &mut lines, version(5, 1)).unwrap();
    assert_as_batch(&service, &lines);
}

/// A table whose name is damaged seems to be missing, and must not be created again.
#[test]
fn damaged_names_of_tables_are_found_before_anything_is_written() {
    let (whole, lines) = with_groups(PAGES);
    let mut bytes = vec![0; length(&whole, "tables.redb") as usize];
    whole.open("tables.redb", Open::Read).unwrap().read_exact_at(&mut bytes, 0).unwrap();
    // Names are stored in sequence, after their end positions.
    let names = b"checkscontents";
    let found = (0..bytes.len() - names.len()).filter(|&at| bytes[at..].starts_with(names));
    let around: Vec<usize> = found.flat_map(|at| at.saturating_sub(100)..at + 100).collect();
    for &offset in around.iter().filter(|&&at| bytes[at] != 0) {
        let disk = whole.power_loss(0);
        damage(&disk, "tables.redb", offset as u64);
        let options = ServiceOptions { check_tables: true, ..ServiceOptions::new("memory") };
        match Service::open_tuned(Arc::new(disk), options, Tuning::small()) {
            // Bytes of an earlier state, which nobody reads.
            Ok(service) => assert_as_batch(&service, &lines),
            Err(error) => assert!(error.to_string().contains("tables.redb is damaged"), "{error}"),
        }
    }
    assert!(!around.is_empty());
}

#[test]
fn damaged_tables_are_named_and_nothing_panics() {
    let (whole, lines) = with_groups(PAGES);
    let mut bytes = vec![0; length(&whole, "tables.redb") as usize];
    whole.open("tables.redb", Open::Read).unwrap().read_exact_at(&mut bytes, 0).unwrap();
    let used: Vec<u64> = (0..bytes.len()).filter(|at| bytes[*at] != 0).map(|at| at as u64).collect();
    let step = used.len() / if is_long() { 2_000 } else { 60 };
    let mut named = 0;
    for &offset in used.iter().take(10).chain(used.iter().step_by(step)) {
        let disk = whole.power_loss(0);
        damage(&disk, "tables.redb", offset);
        let options = ServiceOptions { check_tables: true, ..ServiceOptions::new("memory") };
        match Service::open_tuned(Arc::new(disk.power_loss(0)), options, Tuning::small()) {
            // Bytes of an earlier state, which nobody reads.
            Ok(service) => assert_as_batch(&service, &lines),
            Err(error) => {
                assert!(error.to_string().contains("tables.redb is damaged"), "{error}");
                named += 1;
            }
        }
        // Without a check, the service may give wrong answers, but it never hangs.
        match try_open(&disk) {
            Ok(service) => {
                put(&service, &mut lines.clone(), version(1, 2)).ok();
                let begun = Instant::now();
                while !service.drain(Duration::from_millis(5)) && service.ready().is_ok() {
                    assert!(begun.elapsed() < WAIT, "at {offset}");
                }
            }
            Err(error) => {
                let told = error.to_string();
                assert!(told.contains("tables.redb") || told.contains("has format"), "{told}");
            }
        }
    }
    assert!(named > 10, "{named} were found");
}

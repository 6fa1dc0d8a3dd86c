//! Reads any bytes as the files of a collection, with valid checksums: rows, log segments, parts of the postings.
//!
//! Damage must give an error. Every value read must be in the file, and records written after damage must be found
//! again.

use std::sync::Arc;

use crate::{Draw, forge};
use onecopy_store::{
    ContentRow, Error, Folder, Heads, Log, PageRow, Place, Posting, Postings, Version, read_whole,
};
use xxhash_rust::xxh3::xxh3_64;

/// Short, so that a log soon needs a second segment.
const SEGMENT_BYTES: u32 = 256;
/// The number of parts that a merge joins.
const PARTS: u32 = 4;

pub fn run(data: &[u8]) {
    let mut draw = Draw::new(data);
    match draw.byte() % 6 {
        0 => rows(draw.rest()),
        1 => log(draw.rest().to_vec()),
        2 => log(segment(&mut draw)),
        3 => parts(&mut draw),
        4 => manifest(&mut draw),
        _ => whole(draw.rest()),
    }
}

fn rows(bytes: &[u8]) {
    if let Some(row) = PageRow::from_bytes(bytes) {
        assert_eq!(PageRow::from_bytes(&row.to_bytes()), Some(row));
    }
    if let Some(row) = ContentRow::from_bytes(bytes) {
        assert_eq!(ContentRow::from_bytes(&row.to_bytes()), Some(row));
    }
    if let Some(heads) = Heads::from_bytes(bytes) {
        assert_eq!(heads.to_bytes(), bytes);
    }
    let (name, sketch) = (Version::name_of(bytes), Version::sketch_of(bytes));
    if let Some(version) = Version::from_bytes(bytes) {
        assert_eq!((name.as_ref(), sketch.as_ref()), (Some(&version.name), Some(&version.sketch)));
        assert_eq!(Version::from_bytes(&version.to_bytes()), Some(version));
    }
}

/// A segment of records, some of them valid, with other bytes between them.
fn segment(draw: &mut Draw) -> Vec<u8> {
    let mut bytes = forge::segment_head(1);
    while !draw.is_empty() {
        let kind = draw.byte();
        let length = draw.below(32);
        let record = draw.bytes(length);
        let place = (1, bytes.len() as u32);
        let (length, since) = match kind & 3 {
            0 => (record.len() as u32, 16),
            1 => (record.len() as u32, draw.long() as u32),
            2 => (draw.long() as u32, 16),
            _ => (0, 0),
        };
        if kind & 3 != 3 {
            let checksum = if kind & 4 == 0 { xxh3_64(record) } else { draw.long() };
            bytes.extend(forge::record_head(place, length, since, checksum));
        }
        bytes.extend(record);
    }
    bytes
}

fn log(bytes: Vec<u8>) {
    let Ok(folder) = forge::folder(&[("log-00000001".into(), bytes)]) else { return };
    let Ok(mut log) = Log::open(folder.clone(), SEGMENT_BYTES) else { return };
    let before = records(&log);
    let good = log.check(&mut |_| {}).expect("memory is read");
    assert!(good >= before.len() as u64, "{good} records, but {} were read", before.len());
    let added = log.append(b"behind").and_then(|place| log.sync().map(|()| place)).expect("room");
    drop(log);
    let log = Log::open(folder, SEGMENT_BYTES).expect("a log that was cut and written to");
    let after = records(&log);
    assert!(after.ends_with(&[(added, b"behind".to_vec())]), "{after:?}");
    assert_eq!(after[..after.len() - 1], before);
}

/// The records of a log that was just opened. Opening it truncated the unreadable end.
fn records(log: &Log) -> Vec<(Place, Vec<u8>)> {
    let mut found: Vec<(Place, Vec<u8>)> = Vec::new();
    log.replay(Default::default(), &mut |place, bytes| {
        found.push((place, bytes.to_vec()));
        Ok(())
    })
    .expect("a log that was cut");
    let mut again = Vec::new();
    for (place, bytes) in &found {
        log.reader().read(*place, &mut again).expect("a record that was read");
        assert_eq!(again, *bytes, "{place:?}");
    }
    found
}

/// Searches, checks and merges equal parts with several numbers.
fn parts(draw: &mut Draw) {
    let part = forge::Part::draw(draw);
    let (mut files, mut entries) = (Vec::new(), Vec::new());
    for number in 1..=PARTS {
        let (bytes, checksum) = part.file(number);
        entries.push((u64::from(number), bytes.len() as u64, checksum));
        files.push((format!("postings-{number:08}"), bytes));
    }
    files.push(("postings".into(), forge::manifest(&entries, u64::from(PARTS), 7)));
    let Ok(mut postings) = forge::folder(&files).map_err(drop).and_then(|f| Postings::open(f).map_err(drop))
    else {
        return;
    };
    let mut held = part.readable();
    held.sort_unstable();
    held.dedup();
    let is_right = is_right(&postings);
    compare(&postings, &held, is_right);
    let plan = postings.plan_merge().expect("the parts are of a size");
    match plan.run(&|_, _| true).and_then(|merged| postings.install(merged)) {
        Ok(()) => {}
        Err(error) => assert!(!is_right, "{error}"),
    }
    if is_right {
        assert!(self::is_right(&postings), "the parts were right, and what was made of them is not");
        compare(&postings, &held, true);
    }
}

fn is_right(postings: &Postings) -> bool {
    let mut is_right = true;
    postings.check(&mut |_| is_right = false).expect("memory is read");
    is_right
}

/// Searches for all keys. Every result must have been written, and without errors all postings must be found.
fn compare(postings: &Postings, held: &[Posting], is_right: bool) {
    let mut keys: Vec<u64> = held.iter().map(|posting| posting.key).chain([0, 1, u64::MAX]).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut found = Vec::new();
    let read = postings.find(&keys, &mut |at: usize, content: u32, rest: u32| {
        found.push(Posting { key: keys[at], content, rest });
    });
    found.sort_unstable();
    found.dedup();
    assert!(found.iter().all(|posting| held.binary_search(posting).is_ok()), "{found:?} of {held:?}");
    if is_right {
        read.expect("right parts");
        assert_eq!(found, held);
    }
}

fn manifest(draw: &mut Draw) {
    let (told, covered) = (u64::from(draw.byte()), draw.long());
    let mut entries = Vec::new();
    while !draw.is_empty() {
        entries.push((draw.long(), draw.long(), draw.long()));
    }
    let bytes = forge::manifest(&entries, told, covered);
    if let Ok(postings) = open_postings(bytes) {
        assert_eq!((postings.parts(), postings.covered()), (0, covered), "no part is there");
    }
}

fn open_postings(manifest: Vec<u8>) -> Result<Postings, Error> {
    let folder: Arc<dyn Folder> = forge::folder(&[("postings".into(), manifest)]).expect("memory is written");
    Postings::open(folder)
}

fn whole(bytes: &[u8]) {
    let sealed = [&xxh3_64(bytes).to_le_bytes()[..], bytes].concat();
    let files = [("right".into(), sealed), ("any".into(), bytes.to_vec())];
    let folder = forge::folder(&files).expect("memory is written");
    assert_eq!(read_whole(&*folder, "right").expect("a right checksum"), bytes);
    // A fuzzer that traces comparisons can eventually find a checksum.
    if let Ok(body) = read_whole(&*folder, "any") {
        assert_eq!(xxh3_64(&body).to_le_bytes(), bytes[..8]);
    }
    let postings = open_postings(bytes.to_vec());
    assert!(postings.is_err() || postings.is_ok_and(|postings| postings.parts() == 0), "no part is there");
}

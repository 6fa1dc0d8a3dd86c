//! Segments are the same in memory and on disk, survive a stop, and are checked when they are read back.

use std::os::unix::fs::FileExt;

use super::*;

fn segment(lot: u32, chunk: u32) -> Segment {
    let row = Row {
        line: chunk,
        fingerprint: u128::from(lot) << 70 | 1,
        sketch_size: 2,
        name_end: 3,
        ..Default::default()
    };
    Segment {
        lot,
        chunk,
        lines: 4,
        rows: vec![row],
        names: format!("\"{lot}\"").into_bytes(),
        ranks: vec![lot as u8; 5],
        ..Default::default()
    }
}

/// More words than a block has.
fn sketches(lot: u32) -> Vec<u64> {
    [&[u64::from(lot), 99][..], &[7; 600]].concat()
}

fn check(segments: &Segments) {
    assert_eq!(segments.pages(), 3);
    for (i, lot) in [0, 0, 2].into_iter().enumerate() {
        let (row, name) = segments.page(i as u32).unwrap();
        assert_eq!(name, format!("\"{lot}\"").into_bytes());
        assert_eq!(segments.load(i).unwrap().rows, [row]);
        for again in [false, true] {
            let mut buffer = Aligned::default();
            assert_eq!(segments.sketches(i, again, &mut buffer).unwrap(), sketches(lot as u32));
        }
        let at = SketchAt { segment: i as u32, start: 0 };
        assert_eq!(segments.sketch(at, 1, &mut Vec::new()).unwrap(), [lot]);
        assert_eq!(segments.ranks(i, &mut vec![9; 40]).unwrap(), [lot as u8; 5]);
        assert_eq!(segments.rank_bytes(i), 5);
    }
}

#[test]
fn memory_and_disk_hold_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let one = segment(2, 0).bytes() + 8 * sketches(2).len() as u64;
    for (limit, held) in [(1 << 20, 3), (3 * one, 3), (2 * one, 2), (one, 0), (0, 0)] {
        let mut collector = Collector::open(folder.path(), limit).unwrap();
        for (lot, chunk) in [(2, 0), (0, 1), (0, 0)] {
            collector.add(segment(lot, chunk), &mut sketches(lot)).unwrap();
        }
        let segments = collector.finish().unwrap();
        assert_eq!(segments.memory, held * one, "{limit}");
        assert_eq!((segments.in_memory(), segments.on_disk()), (held == 3, held == 0));
        check(&segments);
        let _ = std::fs::remove_file(folder.path().join("segments.log"));
    }
}

#[test]
fn what_was_logged_is_found_again_and_a_torn_end_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut collector = Collector::open(folder.path(), 0).unwrap();
    for (lot, chunk) in [(2, 0), (0, 1)] {
        collector.add(segment(lot, chunk), &mut sketches(lot)).unwrap();
    }
    drop(collector);
    let log = folder.path().join("segments.log");
    let mut bytes = std::fs::read(&log).unwrap();
    bytes.truncate(bytes.len() - 1);
    std::fs::write(&log, bytes).unwrap();
    let mut collector = Collector::open(folder.path(), 0).unwrap();
    assert!(collector.has(2, 0) && !collector.has(0, 1));
    collector.add(segment(0, 1), &mut sketches(0)).unwrap();
    collector.add(segment(0, 0), &mut sketches(0)).unwrap();
    check(&collector.finish().unwrap());
}

/// Reads a segment in all ways. Returns which succeeded.
fn read_all(segments: &Segments) -> [bool; 6] {
    let at = SketchAt::default();
    let (mut aligned, mut buffer) = (Aligned::default(), Vec::new());
    [
        segments.load(0).is_err(),
        segments.page(0).is_err(),
        segments.ranks(0, &mut Vec::new()).is_err(),
        segments.sketches(0, false, &mut aligned).is_err(),
        segments.sketches(0, true, &mut aligned).is_err(),
        segments.sketch(at, 1, &mut buffer).is_err(),
    ]
}

#[test]
fn damage_on_disk_is_noticed_wherever_it_is() {
    let layout = segment(0, 0).encode(&sketches(0), |_| Box::leak(Box::default()));
    let (ranks, sketch) = (8 * layout.ranks_at() as u64, 8 * layout.sketches_at() as u64);
    for (byte, expected) in [
        (0, [true, true, false, false, false, false]),
        (ranks - 1, [true, true, false, false, false, false]),
        (ranks, [false, false, true, false, false, false]),
        // If one sketch of a segment is damaged, no sketch of it is used.
        (sketch + 4_000, [false, false, false, true, true, true]),
        (8 * layout.words() as u64, [false; 6]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut collector = Collector::open(folder.path(), 0).unwrap();
        collector.add(segment(0, 0), &mut sketches(0)).unwrap();
        let segments = collector.finish().unwrap();
        let path = folder.path().join("segments.bin");
        let file = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let mut found = [0];
        file.read_exact_at(&mut found, byte).unwrap();
        file.write_all_at(&[found[0] ^ 1], byte).unwrap();
        file.sync_all().unwrap();
        assert_eq!(read_all(&segments), expected, "{byte}");
        let again = Collector::open(folder.path(), 0).unwrap();
        assert_eq!(again.has(0, 0), expected == [false; 6], "what is damaged is not taken up");
    }
}

#[test]
fn a_stopped_run_saves_the_segments_in_memory_and_where_sources_end() {
    use crate::progress::Silent;
    let folder = tempfile::tempdir().unwrap();
    let mut job = Job::new(["pages.jsonl"], "out");
    for (error, saved) in [(Error::Stopped, true), (Error::RunsDiffer, false)] {
        let mut collector = Collector::open(folder.path(), 1 << 20).unwrap();
        for (lot, chunk) in [(2, 0), (0, 1)] {
            collector.add(segment(lot, chunk), &mut sketches(lot)).unwrap();
        }
        collector.end(vec![(2, 1), (0, 2)]).unwrap();
        collector.save_after(&job, error, &Silent);
        let again = Collector::open(folder.path(), 1 << 20).unwrap();
        assert_eq!((again.has(2, 0), again.has(0, 1), again.pages() == 2), (saved, saved, saved));
        // The first chunk of lot 0 is missing.
        assert_eq!((again.has_all(2), again.has_all(0), again.has_all(1)), (saved, false, false));
        let _ =
            ["segments.log", "segments.bin"].map(|name| std::fs::remove_file(folder.path().join(name)).ok());
    }
    job.inputs = vec!["-".into()];
    let mut collector = Collector::open(folder.path(), 1 << 20).unwrap();
    collector.add(segment(0, 0), &mut sketches(0)).unwrap();
    collector.save_after(&job, Error::Stopped, &Silent);
    assert!(!folder.path().join("segments.log").exists(), "standard input is read again anyway");
}

//! Damaged and overlong records cost only themselves, and an archive keeps everything that can be kept.

use std::fs;

use tempfile::tempdir;

use crate::archives::{ONE, counts, crawl, kept, reasons, run, write};
use crate::pages::{gzip, topic, window, write_file};
use crate::program::dedup;
use crate::results::{assert_memory_within, entries, rejected, unpacked};
use crate::warc::{PACKINGS, field, packed, page, response, split};

#[test]
fn a_file_that_is_cut_gives_what_comes_before_the_cut() {
    let input: Vec<_> =
        (0..6).map(|n| page(&format!("http://a.example/{n}"), &topic(&format!("t{n}x")))).collect();
    for ending in PACKINGS {
        let name = format!("cut.{ending}");
        let folder = tempdir().expect("a folder");
        let whole = packed(&input, &name);
        // The cut is within the last record. If all records are one frame, that is nearer to its end.
        let path = write_file(
            folder.path(),
            &name,
            &whole[..whole.len() - if name.contains("whole") { 30 } else { 60 }],
        );
        let out = folder.path().join("out");
        // Zstandard returns a block completely or not at all, and this file is one block.
        if name == "cut.whole.warc.zst" {
            dedup(&path, &out).fail(1).says(&["could not be read", "none of the 1 records"]);
            assert!(entries(&out.join("kept")).is_empty(), "nothing could be read");
        } else {
            dedup(&path, &out).fail(3).says(&[&name, "breaks off after 5 pages"]);
            assert_eq!(entries(&out.join("kept")), [format!("{name}.incomplete")]);
            let kept = fs::read(out.join("kept").join(format!("{name}.incomplete"))).expect("what was read");
            assert!(split(&kept, &name)[..] == input[..5], "{name}");
        }
        assert_eq!(counts(&out)[3], 1, "{name}");
        assert!(reasons(&out)[0].contains("damaged from here on"), "{name}: {:?}", reasons(&out));
    }
}

/// A record whose header states a wrong length.
fn lying(record: &[u8], length: usize) -> Vec<u8> {
    let text = String::from_utf8(record.to_vec()).expect("text");
    let right = field(record, "Content-Length").expect("a length");
    text.replacen(&format!("Content-Length: {right}"), &format!("Content-Length: {length}"), 1).into_bytes()
}

#[test]
fn records_that_lie_about_their_length_harm_no_other() {
    let [a, b, c] = ["a", "b", "c"].map(|name| page(&format!("http://{name}.example/"), &topic(name)));
    let right = field(&b, "Content-Length").and_then(|length| length.parse().ok()).unwrap_or(0);
    for length in [0, 50, right - 1, right + 1, right + 50, right + 300] {
        let folder = tempdir().expect("a folder");
        let input = [a.clone(), lying(&b, length), c.clone()];
        let path = write(folder.path(), "lying.warc", &input);
        let out = folder.path().join("out");
        dedup(&path, &out).succeed();
        let kept = fs::read(out.join("kept/lying.warc")).expect("a kept archive");
        assert!(kept.starts_with(&a) && kept.ends_with(&c), "{length}: a neighbour changed");
        assert!((2..=3).contains(&counts(&out)[1]), "{length}: {:?}", counts(&out));
    }
}

#[test]
fn a_bomb_in_a_record_is_refused_and_the_run_goes_on() {
    let bomb = gzip(&vec![b' '; 200 << 20]);
    let head = "200 OK\nContent-Type: text/html\nContent-Encoding: gzip";
    let input = [
        page(ONE, &window(0)),
        response("http://bomb.example/", head, bomb),
        page("http://e.example/", &topic("e")),
    ];
    let (_folder, out) = run(&input, "bomb.warc.gz", "--memory 64M");
    assert_eq!(counts(&out), [3, 2, 0, 1]);
    let found = rejected(&out, "bomb.warc.gz");
    assert!(found[0].1.contains("longer than the limit of"), "{found:?}");
    assert!(kept(&out, "bomb.warc.gz") == input, "what was not judged stays in the archive");
    assert_memory_within(&out, 64 << 20);
}

#[test]
fn records_over_the_page_limit_stay_in_the_archive() {
    let large = page("http://large.example/", &"large ".repeat(100_000));
    let mut input = crawl();
    input.insert(3, large.clone());
    input.push(large);
    for ending in PACKINGS {
        let name = format!("crawl.{ending}");
        let (_folder, out) = run(&input, &name, "--max-page 100K --removed-records leave-out");
        assert_eq!(counts(&out), [10, 2, 4, 4], "{name}: {:?}", reasons(&out));
        let expected: Vec<_> =
            (0..).zip(&input).filter(|(n, _)| ![5, 6].contains(n)).map(|(_, r)| r.clone()).collect();
        assert!(kept(&out, &name) == expected, "{name}");
    }
}

#[test]
fn of_a_record_over_the_page_limit_that_is_cut_stays_what_is_there() {
    let large = page("http://large.example/", &"large ".repeat(100_000));
    let (one, other) = (page(ONE, &window(0)), page("http://e.example/", &topic("e")));
    // Cut off by the end of the file, or shorter than it states.
    let inputs =
        [vec![one.clone(), large[..large.len() - 90_000].to_vec()], vec![one, lying(&other, 1 << 40), other]];
    for input in inputs {
        for name in ["cut.warc", "cut.warc.gz"] {
            let folder = tempdir().expect("a folder");
            let out = folder.path().join("out");
            dedup(&write(folder.path(), name, &input), &out).args("--max-page 100K").fail(3);
            let found = reasons(&out);
            assert_eq!(counts(&out), [3, 1, 0, 2], "{name}: {found:?}");
            assert!(
                found[0].contains("longer than the limit of") && found[1].contains("the file ends"),
                "{name}: {found:?}"
            );
            let kept = out.join("kept").join(name);
            fs::rename(out.join("kept").join(format!("{name}.incomplete")), &kept).expect("what was read");
            assert!(unpacked(&kept) == input.concat(), "{name}");
        }
    }
}

#[test]
fn a_record_without_a_length_that_never_ends_is_left_out_alone() {
    let large = page("http://large.example/", &"large ".repeat(100_000));
    let endless =
        String::from_utf8(large).expect("text").replace("Content-Length", "Content-Breadth").into_bytes();
    let input = [page(ONE, &window(0)), endless, page("http://e.example/", &topic("e"))];
    for name in ["endless.warc", "endless.warc.gz", "endless.warc.zst"] {
        let (_folder, out) = run(&input, name, "--max-page 100K");
        assert_eq!(counts(&out), [3, 2, 0, 1], "{name}: {:?}", reasons(&out));
        assert!(kept(&out, name) == [input[0].clone(), input[2].clone()], "{name}");
    }
}

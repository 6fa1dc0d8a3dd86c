//! Cuts streams into records: correct, malformed, truncated and random ones.

use proptest::prelude::*;

use super::*;

#[test]
fn records_are_found_whatever_the_chunk() {
    let text =
        record("warcinfo", "", "about") + &record("response", "", "one\r\n\r\n") + &record("request", "", "");
    for chunk in [1, 70, 150, 10_000] {
        assert_eq!(found(text.as_bytes(), chunk, 1_000), ["about", "one\r\n\r\n", ""], "{chunk}");
    }
    let pieces = chunks(text.as_bytes(), None, 100, 1_000);
    assert_eq!(pieces.len(), 3);
    assert!(pieces.iter().enumerate().all(|(i, c)| c.index == i as u32 && c.bytes.starts_with(b"WARC/1.0")));
}

#[test]
fn lengths_that_lie_cost_what_they_hide() {
    let good = record("response", "", "good");
    let lying = |length: &str, block: &str| {
        format!("WARC/1.0\r\n{length}\r\nWARC-Type: response\r\n\r\n{block}\r\n\r\n")
    };
    for (bad, wanted) in [
        (lying("Content-Length: 300", "far too long"), vec!["far too long", "good"]),
        (lying("Content-Length: 3", "too short"), vec!["too", "lost  short\r\n\r\n", "good"]),
        (lying("Content-Length: x", "none"), vec!["none", "good"]),
        (lying("X: y", "none\nat all"), vec!["none\nat all", "good"]),
        ("garbage\n\0\x01WARC/1.0\r\n".into(), vec!["lost garbage\n\0\x01WARC/1.0\r\n", "good"]),
        ("\r\n\r\n\n".into(), vec!["good"]),
        ("WARC/1.0\r\nWARC-Type: response\r\n".into(), vec!["", "good"]),
        ("WARC/0.18\nWARC-Type: response\n\nContent-Length: 3\n\nabc".into(), vec!["abc", "good"]),
        (format!("WARC/1.0\r\n{}", "a: b\r\n".repeat(20_000)), vec!["lost", "good"]),
    ] {
        for chunk in [1, 100, 1_000_000] {
            let stream = format!("{good}{bad}{good}");
            let found = found(stream.as_bytes(), chunk, 100_000);
            let short: Vec<&str> = found.iter().map(|f| if f.len() > 99 { &f[..4] } else { f }).collect();
            assert_eq!(short, [vec!["good"], wanted.clone()].concat(), "{bad:.60} {chunk}");
        }
    }
}

#[test]
fn a_length_that_ends_within_another_record_is_found_out() {
    let good = record("response", "", "good");
    let stream = "WARC/1.0\r\nContent-Length: 100\r\n\r\nfar too long\r\n\r\n".to_owned() + &good.repeat(4);
    for chunk in [1, 150, 1_000_000] {
        assert_eq!(found(stream.as_bytes(), chunk, 1_000), ["far too long", "good", "good", "good", "good"]);
    }
    // The stated length ends where the next record does, and no record starts there. Both records must be found for
    // every chunk size.
    let length = "abc\r\n\r\n".len() + good.len() - 4;
    let stream = format!("WARC/1.0\r\nContent-Length: {length}\r\n\r\nabc\r\n\r\n{good}garbage\n{good}");
    for chunk in 1..300 {
        assert_eq!(
            found(stream.as_bytes(), chunk, 1_000),
            ["abc", "good", "lost garbage\n", "good"],
            "{chunk}"
        );
    }
}

#[test]
fn a_header_without_end_is_the_same_whatever_the_chunk() {
    let good = record("response", "", "good");
    let arc = "http://a.example/ 1.2.3.4 20080509190241 text/html 3\none\n";
    let (fields, long) = ("a: b\n".repeat(20_000), "x".repeat(70_000));
    for (rest, wanted) in [
        (format!("{arc}{fields}"), vec!["", "one", "lost", "good"]),
        (format!("Content-Length: 3\n<{long}\n"), vec!["lost", "good"]),
    ] {
        let stream = format!("WARC/1.0\nWARC-Type: response\n{rest}{good}");
        for chunk in [1, 100, 90_000, 1_000_000] {
            let found = found(stream.as_bytes(), chunk, 1 << 20);
            let short: Vec<&str> = found.iter().map(|f| if f.len() > 99 { &f[..4] } else { f }).collect();
            assert_eq!(short, wanted, "{rest:.60} {chunk}");
        }
    }
}

/// The header runs into another record, or into a block that ends mid-line where another record starts.
#[test]
fn a_header_that_another_record_ends_is_the_same_whatever_the_chunk() {
    let line = "http://a.example/ 1.2.3.4 20080509190241 text/html 3\n";
    for (rest, wanted) in [
        (format!("file{line}one\n"), ["old", "", "one"]),
        (format!("HTTP/{line}one\n"), ["old", "HTTP/", "one"]),
        (format!("<abcd{line}one\n"), ["old", "<abcd", "one"]),
    ] {
        let stream = format!("{line}old\nWARC/1.0\nWARC-Type: response\nContent-Length: 5\n{rest}");
        for chunk in 1..stream.len() {
            assert_eq!(found(stream.as_bytes(), chunk, 1 << 20), wanted, "{stream} {chunk}");
        }
    }
}

#[test]
fn arc_files_are_read_too() {
    let line = |length: &str| format!("http://a.example/ 1.2.3.4 20080509190241 text/html {length}\n");
    let text = format!(
        "filedesc://x.arc 0.0.0.0 20080509190241 text/plain 6\n1 0 x\n\n{}one\n\n{}two\n{}three\n\n",
        line("3"),
        line("-1"),
        line("99999")
    );
    for chunk in [1, 100, 10_000] {
        let cut = "Corrupt(\"the file ends 99992 bytes before its last record does\")";
        assert_eq!(found(text.as_bytes(), chunk, 100_000), ["1 0 x\n", "one", "two", cut]);
    }
    assert!(is_warc(text.as_bytes()) && !is_warc(b"<html>") && !is_warc(b""));
}

#[test]
fn an_overlong_record_is_passed_over() {
    let (small, large) = (record("response", "", "small"), record("response", "", &"x".repeat(300_000)));
    for chunk in [1, 1_000, 1_000_000] {
        let stream = format!("{small}{large}{small}{large}");
        assert_eq!(
            found(stream.as_bytes(), chunk, 1_000),
            ["small", "Overlong", "small", "Overlong"],
            "{chunk}"
        );
        // Without a length, or outside any record, bytes are skipped up to the next record.
        let endless = large.replace("Content-Length", "Content-Breadth");
        let stream = format!("{small}{endless}{small}{}\n{small}", "x\n".repeat(200_000));
        let found = found(stream.as_bytes(), chunk, 1_000);
        assert_eq!(
            found.iter().map(|f| &f[..f.len().min(8)]).collect::<Vec<_>>(),
            ["small", "Endless", "small", "lost x\nx", "Endless", "small"]
        );
    }
}

#[test]
fn damage_costs_the_record_it_is_in() {
    let text = record("response", "", "one") + "WARC/1.0\r\nContent-Length: 9\r\n\r\ntw";
    let pieces = chunks(text.as_bytes(), Some("bad block"), 1_000, 1_000);
    assert_eq!(pieces.len(), 1);
    assert_eq!(records(&pieces[0].bytes).count(), 1);
    assert_eq!(pieces[0].trouble, Some(Trouble::Corrupt("bad block".into())));
}

/// A fragment that may occur in a file of records.
fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z\r\n]{0,60}".prop_map(|block| record("response", "", &block)),
        1 => "WARC/1.[01]\r?\n((WARC-Type: response|Content-Length: [0-9]{1,3}|WARC-Date: x|odd|\t y)\r?\n){0,4}(\r?\n)?[a-z\r\n]{0,90}",
        1 => "https?://a[a-z ]{0,5} 1\\.2\\.3\\.4 20080509190241 text/html [0-9]{1,2}\n[a-z\r\n]{0,30}",
        1 => "[a-zA-Z/ .:0-9\r\n]{0,30}",
    ]
}

proptest! {
    #[test]
    fn chunks_cover_the_stream_and_change_nothing(parts in prop::collection::vec(part(), 0..8), chunk in 1usize..400) {
        let stream = parts.concat();
        let once = chunks(stream.as_bytes(), None, 1 << 20, 1 << 20);
        let often = chunks(stream.as_bytes(), None, chunk, 1 << 20);
        let joined: Vec<u8> = often.iter().flat_map(|c| c.bytes.clone()).collect();
        let cut = often.iter().any(|c| c.trouble.is_some());
        let covered = if cut { stream.as_bytes().starts_with(&joined) } else { joined == stream.as_bytes() };
        prop_assert!(covered, "{:?}", stream);
        prop_assert_eq!(joined.len(), once.iter().map(|c| c.bytes.len()).sum::<usize>());
        prop_assert_eq!(found(stream.as_bytes(), chunk, 1 << 20), found(stream.as_bytes(), 1 << 20, 1 << 20));
    }

    #[test]
    fn a_file_cut_anywhere_gives_the_records_before(
        blocks in prop::collection::vec("[a-z\r\n]{1,40}", 1..6), at in 0.0..1.0f64, chunk in 1usize..300
    ) {
        let records: Vec<String> = blocks.iter().map(|block| record("response", "", block)).collect();
        let whole = records.concat();
        let at = (at * whole.len() as f64) as usize;
        let mut end = 0;
        let complete = records.iter().take_while(|record| { end += record.len(); end - 4 <= at }).count();
        let got = found(&whole.as_bytes()[..at], chunk, 1_000);
        prop_assert_eq!(&got[..complete], &blocks[..complete]);
        prop_assert!(got.len() <= complete + 1);
        prop_assert!(got[complete..].iter().all(|g| g.starts_with("Corrupt") || g.starts_with("lost")), "{:?}", got);
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300), chunk in 1usize..100, page in 1usize..200) {
        let limits = crate::job::Limits { page_bytes: page, expansion: 10 };
        let dressed = [b"WARC/1.0\r\nWARC-Type: response\r\n\r\nHTTP/1.1 200 OK\r\n", &bytes[..]].concat();
        for stream in [&bytes, &dressed] {
            for piece in chunks(stream, None, chunk, page) {
                for item in records(&piece.bytes) {
                    let _ = item.record.map(|record| super::super::meaning(&record, &limits));
                }
            }
        }
    }
}

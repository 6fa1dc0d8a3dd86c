//! Checks that rows decode as they were encoded, and that other bytes are refused.

use super::*;

fn page() -> PageRow {
    PageRow {
        name: "\"é\"".into(),
        url: "http://a.example/".into(),
        accepted: 7,
        at: Place { segment: 1, offset: 2, length: 3 },
        dead: true,
        silent: false,
        fingerprint: 1 << 100,
        sketch: 5,
        size: 6,
        exact: 7,
        identity: 8,
        language: 9,
        markets: 10,
        rank: vec![1, 2, 3],
        links: vec![LinkRow { kind: 2, address: 3, identity: 4, to: "x".into() }],
        content: Some(11),
        end: EndRow { how: 3, page: 12, revisit: true },
        lesser: true,
        told: 13,
    }
}

fn content() -> ContentRow {
    ContentRow {
        fingerprint: 1,
        best: 2,
        at: Place::default(),
        sketch: 3,
        size: 4,
        pages: 5,
        generation: 6,
        language: 8,
        born: 9,
        rank: vec![10],
        winner: 11,
        score: 12,
        group: 13,
    }
}

#[test]
fn rows_come_back_and_cut_or_longer_ones_do_not() {
    let (page, content) = (page(), content());
    assert_eq!(PageRow::from_bytes(&page.to_bytes()), Some(page.clone()));
    assert_eq!(ContentRow::from_bytes(&content.to_bytes()), Some(content.clone()));
    let alone = PageRow { content: None, end: EndRow::default(), ..page };
    assert_eq!(PageRow::from_bytes(&alone.to_bytes()), Some(alone.clone()));
    let heads = Heads {
        settled_to: (1, 2),
        settled: 3,
        next_page: 4,
        last_group: 5,
        born: 6,
        feed: 7,
        generations: 9,
        counts: [8; 4],
    };
    assert_eq!(Heads::from_bytes(&heads.to_bytes()), Some(heads));
    let bytes = alone.to_bytes();
    for end in 0..bytes.len() {
        assert_eq!(PageRow::from_bytes(&bytes[..end]), None);
    }
    assert_eq!(PageRow::from_bytes(&[bytes, vec![0]].concat()), None);
}

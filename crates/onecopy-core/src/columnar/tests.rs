//! Columns give the same results as single pages.

use super::*;
use crate::page::appraise::Appraiser;
use crate::similarity::method::{METHODS, method};

const TEXTS: [&str; 5] = [
    "nine pages told the same story and one of them was kept by its reader",
    "",
    "Nine pages told the same story, and one of them was kept by its writer!",
    "<p>a lighthouse keeper wrote down the weather of every single day",
    "日本語のページも同じように比べられる。空白がなくても同じである。",
];

fn column(texts: &[&str]) -> (Vec<u8>, Vec<i32>) {
    let ends = texts.iter().scan(0, |end, text| {
        *end += text.len() as i32;
        Some(*end)
    });
    (texts.concat().into_bytes(), std::iter::once(0).chain(ends).collect())
}

#[test]
fn a_row_is_sketched_as_a_page_is() {
    let (bytes, offsets) = column(&TEXTS);
    let texts = Column::new(&bytes, &offsets).unwrap();
    for entry in METHODS {
        let config = Config { method: entry.name.into(), ..Config::default() };
        let method = method(&config).unwrap();
        for markup in [Markup::Plain, Markup::Html] {
            let found = sketch_column(&texts, markup, &config, &*method);
            let mut appraiser = Appraiser::new(&config, &*method);
            for (row, text) in TEXTS.iter().enumerate() {
                let record = record((*text).into(), markup, &Needs::of(&config, &*method));
                let mut sketch = Vec::new();
                let page = appraiser.appraise(&record, b"", |_| true, &mut sketch);
                assert_eq!(found.sketches.view().row(row), sketch, "{} {text}", entry.name);
                assert_eq!(found.fingerprints[row], page.fingerprint);
            }
        }
    }
}

#[test]
fn keys_and_verdicts_are_those_of_the_method() {
    let (bytes, offsets) = column(&TEXTS);
    let config = Config { threshold: Some(0.5), ..Config::default() };
    let method = method(&config).unwrap();
    let column = sketch_column(&Column::new(&bytes, &offsets).unwrap(), Markup::Plain, &config, &*method);
    let sketches = column.sketches.view();
    let mut rarity = Rarity::empty(10);
    sketches.rows().for_each(|sketch| rarity.count(sketch));
    let found = key_column(&sketches, &rarity, &*method);
    let mut keys = Vec::new();
    method.keys(sketches.row(2), &rarity, &mut Scratch::default(), &mut keys);
    assert!(!keys.is_empty(), "the first and the third share shingles");
    assert_eq!(found.keys.view().row(2), keys.iter().map(|(key, _)| *key).collect::<Vec<_>>());
    let from = found.keys.offsets[2] as usize;
    assert_eq!(found.rests[from..][..keys.len()], keys.iter().map(|(_, rest)| *rest).collect::<Vec<_>>());
    let verdicts = verdicts(&sketches, &[0, 0, 1, 2], &[2, 3, 1, 0], &*method).unwrap();
    assert_eq!(verdicts, [Some(10.0 / 12.0), None, None, Some(10.0 / 12.0)]);
}

#[test]
fn slices_that_are_no_column_are_refused() {
    let values = [1u64, 2, 3];
    let refused = |offsets: &[i64]| Column::new(&values, offsets).map(|column| column.len());
    assert_eq!(refused(&[]), Err(ColumnError::NoOffsets));
    assert_eq!(refused(&[0, 2, 1]), Err(ColumnError::Offset(2)));
    assert_eq!(refused(&[-1, 2]), Err(ColumnError::Offset(0)));
    assert_eq!(refused(&[0, 4]), Err(ColumnError::Offset(1)));
    assert_eq!(refused(&[1, 1, 3]), Ok(2));
    let column = Column::new(&values, &[0i64, 3]).unwrap();
    let method = method(&Config::default()).unwrap();
    assert_eq!(verdicts(&column, &[0], &[1], &*method), Err(ColumnError::Row(0)));
    assert_eq!(verdicts(&column, &[0], &[], &*method), Err(ColumnError::Sides));
}

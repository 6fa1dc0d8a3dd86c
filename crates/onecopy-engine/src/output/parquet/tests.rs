//! Checks that kept rows equal the originals, cell by cell.

use std::fs;

use bytes::Bytes;
use parquet::file::metadata::KeyValue;
use parquet::record::Row;
use proptest::prelude::*;

use super::*;

fn made(name: &str) -> Bytes {
    let path = format!("{}/tests/parquet/{name}.parquet", env!("CARGO_MANIFEST_DIR"));
    fs::read(path).unwrap().into()
}

fn kept(source: &Bytes, keep: impl Fn(u64) -> bool) -> io::Result<(u64, Bytes)> {
    let target = tempfile::NamedTempFile::new().unwrap();
    let written = write_kept(source.clone(), target.reopen().unwrap(), keep)?;
    Ok((written, fs::read(target.path()).unwrap().into()))
}

fn rows(source: &Bytes) -> Vec<String> {
    let file = open_parquet(source.clone()).unwrap();
    let rows: Vec<Row> = file.get_row_iter(None).unwrap().map(|row| row.unwrap()).collect();
    rows.iter().map(|row| row.to_string()).collect()
}

fn facts(source: &Bytes) -> (String, Option<Vec<KeyValue>>, Vec<Compression>) {
    let file = open_parquet(source.clone()).unwrap();
    let about = file.metadata().file_metadata();
    let codecs = file
        .metadata()
        .row_groups()
        .first()
        .map_or(Vec::new(), |group| group.columns().iter().map(|column| column.compression()).collect());
    (format!("{:?}", about.schema_descr().root_schema()), about.key_value_metadata().cloned(), codecs)
}

const MADE: [&str; 9] =
    ["nested", "types", "string", "binary", "dictionary", "delta", "time_old", "time_zone", "time_days"];

#[test]
fn all_rows_kept_are_the_file() {
    for name in MADE {
        let source = made(name);
        let (written, target) = kept(&source, |_| true).unwrap();
        assert_eq!(rows(&target), rows(&source), "{name}");
        assert_eq!(written, rows(&source).len() as u64);
        assert_eq!(facts(&target), facts(&source), "{name}");
    }
}

#[test]
fn rows_that_go_leave_the_others_as_they_were() {
    let source = made("nested");
    let all = rows(&source);
    let (written, target) = kept(&source, |row| !(9..18).contains(&row) && row % 3 != 1).unwrap();
    let expected: Vec<_> = (0..all.len())
        .filter(|row| !(9..18).contains(row) && row % 3 != 1)
        .map(|row| all[row].clone())
        .collect();
    assert_eq!(rows(&target), expected);
    assert_eq!(written, expected.len() as u64);
    // One of five row groups was dropped.
    assert_eq!(open_parquet(target).unwrap().num_row_groups(), 4);
}

#[test]
fn no_rows_kept_are_an_empty_file() {
    let source = made("nested");
    let (written, target) = kept(&source, |_| false).unwrap();
    assert_eq!((written, rows(&target).len()), (0, 0));
    let (schema, about, _) = facts(&source);
    let found = facts(&target);
    assert_eq!((found.0, found.1), (schema, about));
    // An empty file stays empty.
    assert_eq!(kept(&target, |_| true).unwrap().0, 0);
}

#[test]
fn damage_is_an_error() {
    let source = made("types");
    for at in (0..source.len()).step_by(5) {
        let mut bytes = source.to_vec();
        bytes[at] ^= [0x01, 0x80, 0xff][at % 3];
        let _ = kept(&bytes.into(), |row| row != 1);
    }
    let mut pages = source.to_vec();
    pages[4..400].fill(0x55);
    assert!(kept(&pages.into(), |_| true).is_err());
    assert!(kept(&source.slice(..source.len() / 2), |_| true).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn kept_rows_are_a_filter_of_the_rows(wanted in prop::collection::vec(any::<bool>(), 40)) {
        for name in ["nested", "types"] {
            let source = made(name);
            let all = rows(&source);
            let (written, target) = kept(&source, |row| wanted[row as usize]).unwrap();
            let expected: Vec<_> =
                all.iter().zip(&wanted).filter(|(_, wanted)| **wanted).map(|(row, _)| row.clone()).collect();
            prop_assert_eq!(written, expected.len() as u64);
            prop_assert_eq!(rows(&target), expected);
        }
    }
}

//! Reads any bytes as a WARC or ARC file, packed or not. The chunk size changes no count.

use std::io::ErrorKind;

use crate::many_times;
use onecopy_engine::{Limits, census_of};

pub fn run(data: &[u8]) {
    check(data);
    many_times(data).iter().for_each(|data| check(data));
}

fn check(data: &[u8]) {
    let limits = Limits { page_bytes: 64 << 10, expansion: 100 };
    let cut_at = 1 + data.last().map_or(0, |byte| usize::from(*byte)) * (1 + data.len() / 1_024);
    let whole = census_of(data, 256 << 10, &limits);
    let cut = census_of(data, cut_at, &limits);
    match (whole, cut) {
        (Ok(whole), Ok(cut)) => assert_eq!(whole, cut, "chunks of {cut_at} bytes"),
        (Err(error), Err(_)) => assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}"),
        (whole, cut) => panic!("{whole:?} but {cut:?} in chunks of {cut_at} bytes"),
    }
}

//! Rows to pages: fingerprint, rank, sketch, address and links of each row.

use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::{ArrayRef, BinaryArray, StringArray};
use onecopy_core::{Appraised, NamedLink, digest};
use onecopy_engine::{RowFacts, appraise_rows};
use pyo3::prelude::*;

use super::columns::{append_words, binary, integers, longs};
use super::links::StatedLink;
use super::plan::Plan;
use crate::arrow::{ArrowTable, Batches};
use crate::error::failed;
use crate::rows::ArrowRows;

/// Marks a page without words.
pub const SILENT: i64 = 1;
/// Marks a page that says that it is elsewhere.
pub const POINTING: i64 = 2;
/// Marks a page whose sketch depends on more than its canonical text.
pub const OWN: i64 = 4;
/// Where the bits of markets begin.
pub const MARKETS: u32 = 8;

/// The facts of each row in columns.
#[derive(Default)]
struct Facts {
    reason: Vec<Option<String>>,
    fingerprint: Vec<[u8; 16]>,
    node: Vec<i64>,
    name: Vec<i64>,
    rank: Vec<Vec<u8>>,
    sketch: BinaryBuilder,
    /// The bytes of the last sketch.
    bytes: Vec<u8>,
    identity: Vec<i64>,
    exact: Vec<i64>,
    flags: Vec<Option<i32>>,
    links: Vec<Option<Vec<u8>>>,
}

/// Appraises the rows of `data`. Each row gets `reason` if it cannot be judged, else the facts of its page.
#[pyfunction]
pub fn appraise_pages(py: Python<'_>, data: &Bound<'_, PyAny>, plan: &str) -> PyResult<ArrowTable> {
    let (rows, job) = (ArrowRows::new(Batches::of(data)?), Plan::read(plan)?.job());
    let mut facts = Facts::default();
    py.detach(|| appraise_rows(&job, &rows, |row| facts.add(row))).map_err(failed)?;
    facts.table()
}

impl Facts {
    fn add(&mut self, row: RowFacts) {
        match row {
            Ok((page, sketch)) => {
                self.reason.push(None);
                self.page(page, sketch);
            }
            Err(reason) => {
                self.reason.push(Some(reason));
                self.page(nothing(), &[]);
            }
        }
    }

    fn page(&mut self, page: Appraised, sketch: &[u64]) {
        let print = page.fingerprint.0.to_be_bytes();
        self.node.push(i64::from_be_bytes(print[..8].try_into().expect("eight bytes")));
        self.fingerprint.push(print);
        self.name.push(digest(page.name.as_bytes()) as i64);
        self.bytes.clear();
        append_words(sketch, &mut self.bytes);
        self.sketch.append_value(&self.bytes);
        self.identity.push(page.address.identity as i64);
        self.exact.push(page.address.exact as i64);
        let bits = [(page.silent, SILENT), (page.pointing, POINTING), (page.own, OWN)];
        let flags = bits.iter().filter(|(is, _)| *is).fold(0, |flags, (_, bit)| flags | bit);
        self.flags.push(Some(flags as i32 | i32::from(page.markets) << MARKETS));
        self.links.push(written(&page.links));
        self.rank.push(page.rank);
    }

    fn table(mut self) -> PyResult<ArrowTable> {
        let links: ArrayRef = Arc::new(BinaryArray::from_iter(self.links));
        ArrowTable::new(vec![
            ("reason", Arc::new(StringArray::from(self.reason)) as ArrayRef),
            ("fingerprint", binary(&self.fingerprint)),
            ("node", longs(self.node)),
            ("name", longs(self.name)),
            ("rank", binary(&self.rank)),
            ("sketch", Arc::new(self.sketch.finish())),
            ("identity", longs(self.identity)),
            ("exact", longs(self.exact)),
            ("flags", integers(self.flags)),
            ("links", links),
        ])
    }
}

fn nothing() -> Appraised<'static> {
    Appraised {
        name: "".into(),
        fingerprint: onecopy_core::Fingerprint(0),
        silent: true,
        pointing: false,
        own: false,
        address: Default::default(),
        language: 0,
        markets: 0,
        rank: Vec::new(),
        links: Vec::new(),
    }
}

/// Links as JSON; nothing if there are none.
fn written(links: &[NamedLink]) -> Option<Vec<u8>> {
    let stated: Vec<StatedLink> = links.iter().map(StatedLink::of).collect();
    (!stated.is_empty()).then(|| serde_json::to_vec(&stated).expect("links are JSON"))
}

//! Decides about all pages of a set: which stay, and the winner and the group of each.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, StringArray};
use onecopy_core::{Address, Appraised, Decision, Decisions, Fingerprint, Links, decide_appraised, shown};
use pyo3::prelude::*;

use super::appraise::{MARKETS, OWN};
use super::columns::{Table, integers, words};
use super::pack::unpacked;
use super::plan::Plan;
use crate::arrow::ArrowTable;
use crate::error::refused;

/// Decides about the pages of `data`. No page outside may be similar to one of them. `canonical` has pairs of rows: a
/// page, and the page that it names as its own. The result has for each row its `winner` and its `group` as rows, its
/// `similarity`, its `kind`, and how many `members` its group has. Sketches are in `data`, or packed in `sketches`.
#[pyfunction]
#[pyo3(signature = (data, canonical, plan, sketches=None))]
pub fn settle_pages(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    mut canonical: Vec<(u32, u32)>,
    plan: &str,
    sketches: Option<&Bound<'_, PyAny>>,
) -> PyResult<ArrowTable> {
    let (table, plan) = (Table::of(data)?, Plan::read(plan)?);
    canonical.sort_unstable();
    let links = Links { ends: Vec::new(), canonical };
    let sketches = match sketches {
        Some(packed) => unpacked(&Table::of(packed)?)?,
        None => table.sketches()?,
    };
    let pages = pages(&table)?;
    if pages.len() != sketches.len() {
        return Err(refused("some sketches were lost on their way: run it again"));
    }
    let threshold = plan.method()?.threshold();
    let decided = py.detach(|| decide_appraised(pages, sketches, &links, &plan.config));
    written(&decided.map_err(|error| refused(error.to_string()))?, threshold)
}

/// Whether the sketches `left` and `right` of each row of `data` are alike, in a column `alike`.
#[pyfunction]
pub fn alike_sketches(py: Python<'_>, data: &Bound<'_, PyAny>, plan: &str) -> PyResult<ArrowTable> {
    let (table, method) = (Table::of(data)?, Plan::read(plan)?.method()?);
    let (left, right) = (table.bytes("left")?, table.bytes("right")?);
    let alike: BooleanArray = py.detach(|| {
        let pairs = left.iter().zip(&right).map(|(a, b)| (words(a), words(b)));
        pairs.map(|(a, b)| Some(method.verify(&a, &b).is_some())).collect()
    });
    ArrowTable::new(vec![("alike", Arc::new(alike) as ArrayRef)])
}

fn pages(table: &Table) -> PyResult<Vec<Appraised<'static>>> {
    let (prints, ranks) = (table.bytes("fingerprint")?, table.bytes("rank")?);
    let (identity, flags) = (table.numbers("identity")?, table.numbers("flags")?);
    let page = |row: usize| {
        let print: [u8; 16] = prints[row].try_into().ok()?;
        Some(Appraised {
            name: "".into(),
            fingerprint: Fingerprint(u128::from_be_bytes(print)),
            silent: false,
            pointing: false,
            own: flags[row] & OWN != 0,
            address: Address { exact: 0, identity: identity[row] as u64 },
            language: 0,
            markets: (flags[row] >> MARKETS) as u16,
            rank: ranks[row].to_vec(),
            links: Vec::new(),
        })
    };
    let pages: Option<Vec<_>> = (0..table.rows()).map(page).collect();
    pages.ok_or_else(|| refused("a fingerprint was damaged on its way: run it again"))
}

fn written(decisions: &Decisions, threshold: f64) -> PyResult<ArrowTable> {
    let removed = |decision: &Decision| match *decision {
        Decision::Removed { winner, similarity, kind } => {
            Some((winner as i32, shown(similarity, threshold), kind.as_str()))
        }
        Decision::Kept | Decision::Rejected => None,
    };
    let of: Vec<_> = decisions.of_page.iter().map(removed).collect();
    let winner = of.iter().map(|it| it.map(|(winner, ..)| winner)).collect();
    let similarity: Float64Array = of.iter().map(|it| it.map(|(_, similarity, _)| similarity)).collect();
    let kind: StringArray = of.iter().map(|it| it.map(|(.., kind)| kind)).collect();
    let mut members = vec![0; of.len()];
    decisions.group_of.iter().for_each(|&group| members[group as usize] += 1);
    let members = decisions.group_of.iter().map(|&group| Some(members[group as usize])).collect();
    let group = decisions.group_of.iter().map(|&group| Some(group as i32)).collect();
    ArrowTable::new(vec![
        ("winner", integers(winner)),
        ("similarity", Arc::new(similarity) as ArrayRef),
        ("kind", Arc::new(kind) as ArrayRef),
        ("group", integers(group)),
        ("members", integers(members)),
    ])
}

//! Where redirects, revisits and canonical links lead, among pages whose addresses are connected.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, StringArray};
use onecopy_core::{Address, AddressBook, Claim, End, LinkKind, Links, NamedLink, PageEnd};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use super::appraise::SILENT;
use super::columns::{Table, integers, longs};
use crate::arrow::ArrowTable;
use crate::error::refused;

/// A link as it travels.
#[derive(Serialize, Deserialize)]
pub struct StatedLink {
    kind: u8,
    exact: u64,
    pub identity: u64,
    to: String,
}

impl StatedLink {
    pub fn of(link: &NamedLink) -> StatedLink {
        let Address { exact, identity } = link.address;
        StatedLink { kind: link.kind as u8, exact, identity, to: link.to.clone() }
    }

    fn kind(&self) -> LinkKind {
        match self.kind {
            0 => LinkKind::Redirect,
            1 => LinkKind::Revisit,
            _ => LinkKind::Canonical,
        }
    }

    fn read(json: &[u8]) -> PyResult<Vec<StatedLink>> {
        if json.is_empty() {
            return Ok(Vec::new());
        }
        serde_json::from_slice(json).map_err(|error| refused(format!("links were damaged: {error}")))
    }
}

/// The edges between addresses: `node` is a page's own address, or its name if it has none, and `root` one it names.
#[pyfunction]
pub fn link_edges(data: &Bound<'_, PyAny>) -> PyResult<ArrowTable> {
    let table = Table::of(data)?;
    let (links, own) = (table.bytes("links")?, table.numbers("address")?);
    let (mut from, mut to) = (Vec::new(), Vec::new());
    for (json, own) in links.into_iter().zip(own) {
        for link in StatedLink::read(json)? {
            from.push(own);
            to.push(link.identity as i64);
        }
    }
    ArrowTable::new(vec![("node", longs(from)), ("root", longs(to))])
}

/// Follows the links among the pages of `data`. Returns the pages that stand for another: `row`, `target`, `revisit`,
/// and the `reason` if they lead nowhere. Returns the canonical links to be tested, too: `row` and `target`.
#[pyfunction]
pub fn follow_links(data: &Bound<'_, PyAny>) -> PyResult<(ArrowTable, ArrowTable)> {
    let table = Table::of(data)?;
    let stated: Vec<Vec<StatedLink>> =
        table.bytes("links")?.into_iter().map(StatedLink::read).collect::<PyResult<_>>()?;
    let links = followed(&table, &stated)?;
    let rows = |of: Vec<u32>| -> ArrayRef { integers(of.into_iter().map(|row| Some(row as i32)).collect()) };
    let target = |end: &PageEnd| match end.end {
        End::Page(page) => Some(page as i32),
        _ => None,
    };
    let reasons: Vec<Option<String>> =
        links.ends.iter().map(|end| reason(end, &stated[end.page as usize])).collect();
    let ends = ArrowTable::new(vec![
        ("row", rows(links.ends.iter().map(|end| end.page).collect())),
        ("target", integers(links.ends.iter().map(target).collect())),
        ("revisit", Arc::new(links.ends.iter().map(|end| Some(end.revisit)).collect::<BooleanArray>())),
        ("reason", Arc::new(StringArray::from(reasons))),
    ])?;
    let (pages, targets): (Vec<u32>, Vec<u32>) = links.canonical.into_iter().unzip();
    Ok((ends, ArrowTable::new(vec![("row", rows(pages)), ("target", rows(targets))])?))
}

fn followed(table: &Table, stated: &[Vec<StatedLink>]) -> PyResult<Links> {
    let (ranks, identity) = (table.bytes("rank")?, table.numbers("identity")?);
    let (exact, flags) = (table.numbers("exact")?, table.numbers("flags")?);
    let mut order: Vec<u32> = (0..ranks.len() as u32).collect();
    order.sort_by_key(|&page| ranks[page as usize]);
    let places = onecopy_core::ranks(&order, order.len());
    let silent = |page: u32| flags[page as usize] & SILENT != 0;
    let mut claims = Vec::new();
    for (page, links) in (0..).zip(stated) {
        claims.extend(links.iter().map(|link| Claim {
            page,
            kind: link.kind(),
            from: exact[page as usize] as u64,
            own_identity: identity[page as usize] as u64,
            address: link.exact,
            identity: link.identity,
            silent: silent(page),
        }));
    }
    let mut book = AddressBook::new(claims.into_iter().collect(), &places);
    for page in (0..ranks.len() as u32).filter(|&page| !silent(page)) {
        book.enter(page, identity[page as usize] as u64);
    }
    Ok(book.links())
}

/// Why a page that only refers to another could not be compared, in the words of the program.
fn reason(end: &PageEnd, links: &[StatedLink]) -> Option<String> {
    let link = links.iter().find(|link| link.kind() != LinkKind::Canonical)?;
    end.objection(&link.to)
}

//! Sorts pages by name and place, without all names in memory: a million pages may redirect to one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use onecopy_core::PageId;

use crate::error::Result;
use crate::output::names::{Named, Names};
use crate::output::place::Place;

/// Sorts pages by name, then by place. Names in memory take up to about `memory` bytes.
pub(super) fn by_name(pages: &mut [PageId], names: &Names, memory: u64) -> Result<()> {
    let mut ends = Vec::new();
    while ends.last().copied().unwrap_or(0) < pages.len() {
        let start = ends.last().copied().unwrap_or(0);
        ends.push(start + sort_some(&mut pages[start..], names, memory)?);
    }
    if ends.len() > 1 {
        let merged = merge(pages, &ends, names)?;
        pages.copy_from_slice(&merged);
    }
    Ok(())
}

/// Sorts as many of the first pages as fit into memory. Returns their number, which is not zero.
fn sort_some(pages: &mut [PageId], names: &Names, memory: u64) -> Result<usize> {
    let (mut run, mut bytes) = (Vec::new(), 0);
    for &page in pages.iter() {
        let key = Key::of(page, names)?;
        bytes += (size_of::<Key>() + key.name.len()) as u64;
        run.push(key);
        // A growing vector may have capacity for twice its length.
        if 2 * bytes > memory {
            break;
        }
    }
    run.sort_unstable();
    pages.iter_mut().zip(&run).for_each(|(page, key)| *page = key.page);
    Ok(run.len())
}

/// Merges sorted runs, which end at `ends`. The names of their first pages are in memory.
fn merge(pages: &[PageId], ends: &[usize], names: &Names) -> Result<Vec<PageId>> {
    let mut starts: Vec<usize> = std::iter::once(0).chain(ends.iter().copied()).take(ends.len()).collect();
    let mut heap = BinaryHeap::new();
    for (run, &start) in starts.iter().enumerate() {
        heap.push(Reverse((Key::of(pages[start], names)?, run)));
    }
    let mut merged = Vec::with_capacity(pages.len());
    while let Some(Reverse((key, run))) = heap.pop() {
        merged.push(key.page);
        starts[run] += 1;
        if starts[run] < ends[run] {
            heap.push(Reverse((Key::of(pages[starts[run]], names)?, run)));
        }
    }
    Ok(merged)
}

/// What a page is sorted by.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a> {
    name: std::borrow::Cow<'a, str>,
    place: Place<'a>,
    page: PageId,
}

impl<'a> Key<'a> {
    fn of(page: PageId, names: &'a Names) -> Result<Key<'a>> {
        let Named { name, place, .. } = names.of(page)?;
        Ok(Key { name, place, page })
    }
}

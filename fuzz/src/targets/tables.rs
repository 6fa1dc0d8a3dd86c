//! Damages the file of a collection's tables. Opening it with a check must give an error, or rows that were written.

use std::sync::{Arc, LazyLock};

use crate::{Draw, Memory};
use onecopy_store::{Backend, ContentRow, Heads, Look, PageRow, Result, Role, Snapshot, Tables};

const CACHE_BYTES: usize = 1 << 20;
const PAGES: u32 = 40;

static RIGHT: LazyLock<Vec<u8>> = LazyLock::new(|| made().expect("memory is written"));

pub fn run(data: &[u8]) {
    let mut bytes = RIGHT.clone();
    let mut draw = Draw::new(data);
    let is_cut = draw.rarely();
    while !draw.is_empty() {
        let at = draw.long() as usize % bytes.len();
        let length = draw.below(16);
        let wrong = draw.bytes(length);
        let end = (at + wrong.len()).min(bytes.len());
        bytes[at..end].copy_from_slice(&wrong[..end - at]);
        if is_cut && bytes.len() > 1 {
            bytes.truncate(at.max(1));
        }
    }
    let Ok(tables) = open(&Arc::new(Memory::new(bytes)), true) else { return };
    // All checksums are valid, so this is the result of a transaction.
    let snapshot = tables.snapshot().expect("tables that were checked");
    read(&snapshot).expect("rows that were checked");
}

fn open(file: &Arc<Memory>, check: bool) -> Result<Tables> {
    Tables::open(Backend::new(file.clone()), CACHE_BYTES, check)
}

/// The bytes of valid tables, written by two transactions.
fn made() -> Result<Vec<u8>> {
    let file = Arc::new(Memory::new(Vec::new()));
    let tables = open(&file, false)?;
    for pages in [0..PAGES / 2, PAGES / 2..PAGES] {
        let writing = tables.begin()?;
        let mut batch = writing.batch()?;
        for page in pages {
            let name = format!("\"page {page}\"");
            batch.set_page(page, &row(page))?;
            batch.set_name(&name, page)?;
            batch.set_content(page, &content(page))?;
            batch.set_fingerprint(u128::from(page), Some(page))?;
            batch.add_copy(page, 0, &[1], page)?;
            batch.add_standing(Role::Content, u64::from(page), &[2], page)?;
            batch.add_naming(u64::from(page), page)?;
            batch.add_ending(page, 0)?;
            batch.add_grouped(7, page)?;
            batch.set_witness((page, page + 1), true)?;
            batch.add_change(u64::from(page) + 1, onecopy_store::FeedSubject::Page(page), name.as_bytes())?;
            batch.add_live(1, 100)?;
        }
        batch.set_heads(&Heads { next_page: PAGES, ..Heads::default() })?;
        drop(batch);
        writing.commit()?;
    }
    drop(tables);
    Ok(file.copy())
}

fn row(page: u32) -> PageRow {
    PageRow {
        name: format!("\"page {page}\""),
        rank: vec![page as u8; 9],
        content: Some(page),
        ..PageRow::default()
    }
}

fn content(slot: u32) -> ContentRow {
    ContentRow { best: slot, fingerprint: u128::from(slot), rank: vec![1; 9], ..ContentRow::default() }
}

/// Reads everything and compares it with the written rows.
fn read(snapshot: &Snapshot) -> Result<()> {
    for found in snapshot.pages()? {
        let (page, found) = found?;
        assert_eq!(found, row(page));
    }
    for found in snapshot.contents()? {
        let (slot, found) = found?;
        assert_eq!(found, content(slot));
    }
    for found in snapshot.names()? {
        let (name, page) = found?;
        assert_eq!(name, row(page).name);
    }
    for page in 0..PAGES {
        let found = (snapshot.copies(page)?, snapshot.naming(page.into())?, snapshot.ending(page)?);
        let all = (vec![page], vec![page], vec![0]);
        assert!(found == all || found == Default::default(), "{found:?}");
        snapshot.standing(Role::Content, page.into())?;
        snapshot.fingerprint(page.into())?;
    }
    for found in snapshot.grouped(0)? {
        assert_eq!(found?.0, 7);
    }
    for found in snapshot.witnesses()? {
        let (one, other) = found?;
        assert_eq!(one + 1, other);
    }
    assert!(snapshot.feed(0, usize::MAX)?.len() <= PAGES as usize);
    snapshot.heads()?;
    snapshot.live()?;
    Ok(())
}

//! Giving back the space of versions that are no longer wanted.
//!
//! A segment of the log of which less than half is in use is written anew at the log's end, and removed. What is written
//! is what was there: whoever opens the log sees by its number that it is settled.

use onecopy_store::{Look, Place, Position, Result as StoreResult, Snapshot, Version};

use super::shared::Shared;
use super::sketches::unless_damaged;
use crate::error::Result;

/// Records that are moved while nobody else can write to the log.
const RECORDS_AT_ONCE: usize = 64;

/// A version that is still wanted: its page, where it was, and what it is.
struct Wanted {
    page: u32,
    from: Place,
    bytes: Vec<u8>,
}

/// Rewrites the worst segment, if one is worth it. Says whether there was one. Only Tier 2 may call it.
pub(super) fn compact(shared: &Shared) -> Result<bool> {
    shared.remove_doomed()?;
    let snapshot = shared.snapshot();
    let Some((segment, bytes)) = worst(shared, &snapshot)? else { return Ok(false) };
    let Some(wanted) = unless_damaged(wanted(shared, &snapshot, (segment, bytes)))? else {
        // It stays as it is: what can be read of it is read there.
        shared.spare(segment);
        return Ok(false);
    };
    for some in wanted.chunks(RECORDS_AT_ONCE) {
        let places = append(shared, some)?;
        relocate(shared, some, &places)?;
    }
    let writing = shared.begin()?;
    writing.batch()?.remove_live(segment)?;
    writing.commit()?;
    shared.renew_snapshot()?;
    shared.doom(segment);
    Ok(true)
}

/// The segment of which the least is in use, if that is less than half. What is not settled is not touched.
fn worst(shared: &Shared, snapshot: &Snapshot) -> Result<Option<(u32, u64)>> {
    let settled = snapshot.heads()?.settled_to.0;
    let live: std::collections::HashMap<u32, u64> = snapshot.live()?.into_iter().collect();
    let segments = shared.log.lock().expect("no thread panics with this lock").segments();
    let share = |(segment, bytes): (u32, u64)| {
        let live = live.get(&segment).copied().unwrap_or(0);
        (live * 2 < bytes).then_some((live * 1_000 / bytes.max(1), segment, bytes))
    };
    let old =
        segments.into_iter().filter(|(segment, _)| *segment < settled && !shared.is_passed_over(*segment));
    Ok(old.filter_map(share).min().map(|(_, segment, bytes)| (segment, bytes)))
}

/// The versions of a segment that pages are.
fn wanted(shared: &Shared, snapshot: &Snapshot, (segment, bytes): (u32, u64)) -> Result<Vec<Wanted>> {
    let mut found = Vec::new();
    let mut look = |place: Place, bytes: &[u8]| -> StoreResult<()> {
        let Some(name) = Version::name_of(bytes) else { return Ok(()) };
        let page = snapshot.page_number(&name)?;
        let row = page.map(|page| Look::page(snapshot, page)).transpose()?.flatten();
        if let (Some(page), Some(true)) = (page, row.map(|row| row.at == place)) {
            found.push(Wanted { page, from: place, bytes: bytes.to_vec() });
        }
        Ok(())
    };
    let from = Position { segment, offset: 0 };
    shared.reader.records(from, bytes as u32, &mut look)?;
    Ok(found)
}

/// Writes versions at the end of the log.
fn append(shared: &Shared, some: &[Wanted]) -> Result<Vec<Place>> {
    let mut log = shared.log.lock().expect("no thread panics with this lock");
    let places: StoreResult<Vec<Place>> = some.iter().map(|version| log.append(&version.bytes)).collect();
    log.sync()?;
    Ok(places?)
}

/// Says where versions are now.
fn relocate(shared: &Shared, some: &[Wanted], places: &[Place]) -> Result<()> {
    let mut contents = shared.write_contents()?;
    let writing = shared.begin()?;
    {
        let mut batch = writing.batch()?;
        for (version, &place) in some.iter().zip(places) {
            let Some(mut row) = batch.page(version.page)? else { continue };
            row.at = place;
            batch.set_page(version.page, &row)?;
            batch.add_live(version.from.segment, -i64::from(version.from.length))?;
            batch.add_live(place.segment, i64::from(place.length))?;
            let Some(slot) = row.content else { continue };
            let Some(mut content) = batch.content(slot)? else { continue };
            if content.at == version.from {
                content.at = place;
                batch.set_content(slot, &content)?;
                contents.relocate(slot, place);
            }
        }
    }
    Ok(writing.commit()?)
}

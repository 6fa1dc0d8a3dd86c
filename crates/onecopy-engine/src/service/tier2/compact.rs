//! Giving back the space of versions that are no longer wanted.
//!
//! A segment of the log of which less than half is in use is written anew at the log's end, and removed. What is written
//! is what was there: whoever opens the log sees by its number that it is settled.

use onecopy_store::{Look, Place, Position, Result as StoreResult, Snapshot, Version};

use crate::error::Result;
use crate::service::collection::Collection;
use crate::service::contents::unless_damaged;

/// Records that are moved while nobody else can write to the log.
const RECORDS_AT_ONCE: usize = 64;

/// A segment that is worth rewriting, and its length.
struct Worn {
    segment: u32,
    bytes: u32,
}

/// A version that is some page's latest: the page, where the version was, and its bytes.
struct LiveVersion {
    page: u32,
    from: Place,
    bytes: Vec<u8>,
}

/// Rewrites the worst segment, if one is worth it. Says whether there was one. Only Tier 2 may call it.
pub(super) fn compact(collection: &Collection) -> Result<bool> {
    collection.remove_doomed()?;
    let snapshot = collection.snapshot();
    let Some(worn) = worst(collection, &snapshot)? else { return Ok(false) };
    let segment = worn.segment;
    let Some(live) = unless_damaged(live_versions(collection, &snapshot, &worn))? else {
        // It stays as it is: what can be read of it is read there.
        collection.spare(segment);
        return Ok(false);
    };
    for some in live.chunks(RECORDS_AT_ONCE) {
        let places = append(collection, some)?;
        relocate(collection, some, &places)?;
    }
    let writing = collection.begin()?;
    writing.batch()?.remove_live(segment)?;
    writing.commit()?;
    collection.renew_snapshot()?;
    collection.doom(segment);
    Ok(true)
}

/// The segment of which the least is in use, if that is less than half. What is not settled is not touched.
fn worst(collection: &Collection, snapshot: &Snapshot) -> Result<Option<Worn>> {
    let settled = snapshot.heads()?.settled_to.0;
    let live: std::collections::HashMap<u32, u64> = snapshot.live()?.into_iter().collect();
    let segments = collection.log.lock().expect("no thread panics with this lock").segments();
    let share = |(segment, bytes): (u32, u64)| {
        let live = live.get(&segment).copied().unwrap_or(0);
        (live * 2 < bytes).then_some((live * 1_000 / bytes.max(1), segment, bytes))
    };
    let old = segments
        .into_iter()
        .filter(|(segment, _)| *segment < settled && !collection.is_passed_over(*segment));
    Ok(old.filter_map(share).min().map(|(_, segment, bytes)| Worn { segment, bytes: bytes as u32 }))
}

/// The versions of a segment that pages are.
fn live_versions(collection: &Collection, snapshot: &Snapshot, worn: &Worn) -> Result<Vec<LiveVersion>> {
    let mut found = Vec::new();
    let mut look = |place: Place, bytes: &[u8]| -> StoreResult<()> {
        let Some(name) = Version::name_of(bytes) else { return Ok(()) };
        let page = snapshot.page_number(&name)?;
        let row = page.map(|page| Look::page(snapshot, page)).transpose()?.flatten();
        if let (Some(page), Some(true)) = (page, row.map(|row| row.at == place)) {
            found.push(LiveVersion { page, from: place, bytes: bytes.to_vec() });
        }
        Ok(())
    };
    let from = Position { segment: worn.segment, offset: 0 };
    collection.reader.records(from, worn.bytes, &mut look)?;
    Ok(found)
}

/// Writes versions at the end of the log.
fn append(collection: &Collection, some: &[LiveVersion]) -> Result<Vec<Place>> {
    let mut log = collection.log.lock().expect("no thread panics with this lock");
    let places: StoreResult<Vec<Place>> = some.iter().map(|version| log.append(&version.bytes)).collect();
    log.sync()?;
    Ok(places?)
}

/// Says where versions are now.
fn relocate(collection: &Collection, some: &[LiveVersion], places: &[Place]) -> Result<()> {
    let mut contents = collection.write_contents()?;
    let writing = collection.begin()?;
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

//! Reclaims the space of replaced versions.
//!
//! It appends a segment that is less than half in use to the log again, and removes the old one. Versions keep their
//! numbers, so a later start sees that they are settled.

use onecopy_store::{Look, Place, Position, Result as StoreResult, Snapshot, Version};

use crate::error::Result;
use crate::service::collection::Collection;
use crate::service::contents::unless_damaged;

/// The number of records to move per lock of the log.
const RECORDS_AT_ONCE: usize = 64;

/// A segment that is worth rewriting, and its length.
struct Worn {
    segment: u32,
    bytes: u32,
}

/// The latest version of a page: the page, the old position, and the bytes.
struct LiveVersion {
    page: u32,
    from: Place,
    bytes: Vec<u8>,
}

/// Rewrites the segment with the least data in use, if that is worthwhile. Returns whether there was one. Only Tier 2
/// may call this.
pub(super) fn compact(collection: &Collection) -> Result<bool> {
    collection.remove_doomed()?;
    let snapshot = collection.snapshot();
    let Some(worn) = worst(collection, &snapshot)? else { return Ok(false) };
    let segment = worn.segment;
    let live = match unless_damaged(live_versions(collection, &snapshot, &worn))? {
        Some(live) => Some(live),
        // The damage may be in a version that was replaced.
        None => unless_damaged(live_rows(collection, &snapshot, segment))?,
    };
    let Some(live) = live else {
        // The segment stays unchanged, so that its readable versions remain available.
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
    collection.renew_snapshot(None)?;
    collection.doom(segment);
    Ok(true)
}

/// The segment with the smallest share in use, if that is below half. Segments with unsettled changes are excluded.
fn worst(collection: &Collection, snapshot: &Snapshot) -> Result<Option<Worn>> {
    let settled = snapshot.heads()?.settled_to.0;
    let live: std::collections::HashMap<u32, u64> = snapshot.live()?.into_iter().collect();
    let segments = collection.log.lock().segments();
    let share = |(segment, bytes): (u32, u64)| {
        let live = live.get(&segment).copied().unwrap_or(0);
        (live * 2 < bytes).then_some((live * 1_000 / bytes.max(1), segment, bytes))
    };
    let old = segments
        .into_iter()
        .filter(|(segment, _)| *segment < settled && !collection.is_passed_over(*segment));
    Ok(old.filter_map(share).min().map(|(_, segment, bytes)| Worn { segment, bytes: bytes as u32 }))
}

/// The versions in a segment that are the latest of their page.
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

/// The same by the rows of all pages, which is slower and steps over damage between the versions.
fn live_rows(collection: &Collection, snapshot: &Snapshot, segment: u32) -> Result<Vec<LiveVersion>> {
    let mut found = Vec::new();
    for row in snapshot.pages()? {
        let (page, row) = row?;
        if row.at.segment == segment {
            let mut bytes = Vec::new();
            collection.reader.read(row.at, &mut bytes)?;
            found.push(LiveVersion { page, from: row.at, bytes });
        }
    }
    Ok(found)
}

/// Appends versions to the log.
fn append(collection: &Collection, some: &[LiveVersion]) -> Result<Vec<Place>> {
    let mut log = collection.log.lock();
    let places: StoreResult<Vec<Place>> = some.iter().map(|version| log.append(&version.bytes)).collect();
    log.sync()?;
    Ok(places?)
}

/// Updates the positions of versions.
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

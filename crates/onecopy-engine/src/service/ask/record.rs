//! Pages with their records, as they were put.
//!
//! The log has the record of the last put of a page, unless pages are not stored. It has none of a page that is dead:
//! compaction drops it.

use onecopy_store::{Deed, Look, PageRow, Place};
use serde_json::value::RawValue;

use super::status;
use crate::error::{Error, Result};
use crate::service::PageName;
use crate::service::collection::Collection;
use crate::service::contents::{is_damage, read_version};
use crate::service::status::{Name, PageRecord, PageView, View, name_of};

/// All pages, by name.
pub(in crate::service) fn pages(
    collection: &Collection,
    each: &mut dyn FnMut(PageView) -> Result<()>,
) -> Result<()> {
    let (snapshot, mut buffer) = (collection.snapshot(), Vec::new());
    for found in snapshot.names()? {
        let (_, page) = found?;
        let Some(row) = Look::page(&*snapshot, page)? else { continue };
        let status = View { facts: &*snapshot, method: collection.method() }.status(page, &row)?;
        let place = (!row.dead).then_some(row.at);
        let found = place.map_or(Ok(Kept::default()), |place| stored(collection, place, &mut buffer));
        let (Kept { record, tag }, damaged) = match found {
            Err(error) if is_damage(&error) => (Kept::default(), Some(error.to_string())),
            kept => (kept?, None),
        };
        let record = record.unwrap_or_else(|| bare_record(&row));
        let url = (!row.url.is_empty()).then_some(row.url);
        each(PageView { status, url, record, tag, damaged })?;
    }
    Ok(())
}

/// The status and the record of a page; `None` if the page is unknown.
pub(in crate::service) fn record(collection: &Collection, page: PageName) -> Result<Option<PageRecord>> {
    let Some(status) = status(collection, std::iter::once(page), false)?.pop().flatten() else {
        return Ok(None);
    };
    let name = status.page.get();
    let place = match collection.queue.pending(name) {
        Some(change) => (change.deed == Deed::Put).then_some(change.at),
        None => {
            let snapshot = collection.snapshot();
            let number = snapshot.page_number(name)?;
            let row = number.map(|number| Look::page(&*snapshot, number)).transpose()?.flatten();
            row.filter(|row| !row.dead).map(|row| row.at)
        }
    };
    let found = place.map(|place| stored(collection, place, &mut Vec::new()));
    let (Kept { record, tag }, missing) = match found {
        None => (Kept::default(), Some("the page is dead or was rejected".to_owned())),
        Some(Ok(kept)) if kept.record.is_none() => {
            (kept, Some("the service does not store pages".to_owned()))
        }
        Some(Err(error)) if is_damage(&error) => (Kept::default(), Some(error.to_string())),
        Some(kept) => (kept?, None),
    };
    Ok(Some(PageRecord { status, record, tag, missing }))
}

/// A page in the log.
#[derive(Default)]
struct Kept {
    /// Its record, if pages are stored.
    record: Option<Name>,
    /// Its tag as text, if it has one.
    tag: Option<String>,
}

fn stored(collection: &Collection, at: Place, buffer: &mut Vec<u8>) -> Result<Kept> {
    let version = read_version(&collection.reader, at, buffer)?;
    let whole = collection.preparation.whole(&version).map_err(|reason| Error::Broken { reason })?;
    let line = whole.and_then(|line| String::from_utf8(line).ok());
    let record = line.and_then(|line| RawValue::from_string(line.trim().into()).ok());
    let tag = collection.preparation.stored_tag(&version);
    Ok(Kept { record, tag: tag.map(|tag| tag.to_string()) })
}

/// A page without its text.
fn bare_record(row: &PageRow) -> Name {
    let url = serde_json::to_string(&row.url).expect("a string is JSON");
    name_of(&format!(r#"{{"id":{},"url":{url}}}"#, row.name))
}

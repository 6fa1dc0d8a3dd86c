//! Reads stored sketches, texts and tags of pages, for comparing search results that are given by name alone.

use onecopy_store::{Look, Snapshot};

use crate::error::{Error, Result};
use crate::ingest::{FieldNames, read_line};
use crate::service::PageName;
use crate::service::collection::Collection;
use crate::service::contents::{read_sketch, read_version, unless_damaged};
use onecopy_core::{Needs, Tag, Whole};

/// Which part of a page is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredPart {
    /// Its sketch by the collection's method.
    Sketch,
    /// Its text or HTML, or its sketch if the collection keeps no pages.
    Text,
    /// Its tag, if the collection has tags.
    Tag,
}

/// What is stored of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// Its sketch. Empty if the page has no words, or is dead.
    Sketch(Vec<u64>),
    /// Its text.
    Text(String),
    /// Its HTML.
    Html(String),
    /// Its tag. `None` if the page has no words, or is dead.
    Tag(Option<Tag>),
}

/// The stored parts of pages as of the last batch; `None` for unknown pages.
pub(in crate::service) fn stored<'a>(
    collection: &Collection,
    pages: impl Iterator<Item = PageName<'a>>,
    part: StoredPart,
) -> Result<Vec<Option<Stored>>> {
    let snapshot = collection.snapshot();
    let mut buffer = Vec::new();
    pages.map(|page| of_page(collection, &snapshot, page, part, &mut buffer)).collect()
}

fn of_page(
    collection: &Collection,
    snapshot: &Snapshot,
    page: PageName,
    part: StoredPart,
    buffer: &mut Vec<u8>,
) -> Result<Option<Stored>> {
    for name in page.candidates() {
        let Some(number) = snapshot.page_number(&name)? else { continue };
        let Some(row) = Look::page(snapshot, number)? else { continue };
        if part == StoredPart::Tag {
            let read = (!row.dead).then(|| read_version(&collection.reader, row.at, buffer));
            let version = read.map(unless_damaged).transpose()?.flatten();
            let tag = version.and_then(|version| collection.preparation.stored_tag(&version));
            return Ok(Some(Stored::Tag(tag)));
        }
        if row.dead {
            return Ok(Some(Stored::Sketch(Vec::new())));
        }
        if part == StoredPart::Text
            && let Some(version) = unless_damaged(read_version(&collection.reader, row.at, buffer))?
            && let Some(line) =
                collection.preparation.whole(&version).map_err(|reason| Error::Broken { reason })?
            && let Some(whole) = whole(&line, &collection.preparation.names)
        {
            return Ok(Some(if whole.html { Stored::Html(whole.text) } else { Stored::Text(whole.text) }));
        }
        let sketch = unless_damaged(read_sketch(&collection.reader, row.at, buffer))?;
        return Ok(Some(Stored::Sketch(sketch.unwrap_or_default())));
    }
    Ok(None)
}

/// The page in a stored line.
fn whole(line: &[u8], names: &FieldNames) -> Option<Whole> {
    let needs = Needs { whole: true, ..Needs::default() };
    read_line(line, names, &needs).ok()?.whole
}

//! Turns a record of an archive into the parts of a page, like those of a JSON line.

use std::borrow::Cow;

use onecopy_core::{Archived, LinkKind, Needs, Record, Text, decode};

use super::meaning::{Body, Meaning, Origin, Refers, meaning};
use super::records::WarcRecord;
use crate::ingest::reason::{Class, Reason};
use crate::job::Limits;

/// The page in a record, or the place it points to; `None` if it is neither. Returns the reason if the page cannot be
/// read.
pub(crate) fn read_record<'a>(
    record: &WarcRecord<'a>,
    limits: &Limits,
    needs: &Needs,
) -> Result<Option<Record<'a>>, Reason> {
    let date = record.text("warc-date").unwrap_or_default();
    match meaning(record, limits) {
        Meaning::Page { origin, body } => {
            let mut page = of(origin, date);
            take_body(&mut page, &body, needs);
            Ok(Some(page))
        }
        Meaning::Redirect { from, to, time } => {
            let links = vec![(LinkKind::Redirect, to)];
            Ok(Some(Record { url: Some(from), time, links, ..Record::default() }))
        }
        Meaning::Revisit { origin, refers } => revisit(of(origin, date), refers).map(Some),
        Meaning::Skip(_) => Ok(None),
        Meaning::Reject(reason) => Err(reason),
    }
}

fn of<'a>(origin: Origin<'a>, date: Cow<'a, str>) -> Record<'a> {
    let id = origin.id.unwrap_or_default();
    let digest = origin.payload_digest.unwrap_or_default();
    let archived = Some(Archived { date, id, digest });
    Record { url: origin.uri, time: origin.time, archived, ..Record::default() }
}

/// A revisit that does not name its original refers to an earlier visit of its own address.
fn revisit<'a>(mut page: Record<'a>, refers: Refers) -> Result<Record<'a>, Reason> {
    let Some(to) = refers.uri.or_else(|| page.url.clone()) else {
        return Err(Reason::new(Class::Nowhere, "a revisit that names no page"));
    };
    page.links.push((LinkKind::Revisit, to.into_owned()));
    Ok(page)
}

fn take_body(page: &mut Record, body: &Body, needs: &Needs) {
    let text = decode(&body.bytes, body.charset.as_deref(), body.html);
    if body.html {
        page.html(&text, needs);
    } else {
        page.plain(Text::Plain(text.into_owned().into()), needs);
    }
}

//! Interprets a record: a page, a redirect, a copy known to the archive, a record to skip, or a page to reject.

use std::borrow::Cow;

use onecopy_core::parse_time;
use url::Url;

use super::http::{self, MediaType, media_type};
use super::records::{RecordKind, WarcRecord, bare};
use super::sniff::{self, Content};
use super::unpack;
use crate::ingest::reason::{Class, Reason};
use crate::job::Limits;

/// The meaning of a record.
#[derive(Debug, PartialEq)]
pub(crate) enum Meaning<'a> {
    /// A page to compare.
    Page { origin: Origin<'a>, body: Body<'a> },
    /// The page has moved. `to` is an absolute address.
    Redirect { from: Cow<'a, str>, to: String, time: Option<i64> },
    /// A copy of another record, as the archive states.
    Revisit { origin: Origin<'a>, refers: Refers<'a> },
    /// Not a page; the reason in a word or two.
    Skip(&'static str),
    /// A page that cannot be read, and the reason.
    Reject(Reason),
}

/// The origin of a record. Unknown parts are `None`.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Origin<'a> {
    pub uri: Option<Cow<'a, str>>,
    pub time: Option<i64>,
    /// With its angle brackets.
    pub id: Option<Cow<'a, str>>,
    pub payload_digest: Option<Cow<'a, str>>,
    /// Why the crawler truncated the page, if it did.
    pub truncated: Option<Cow<'a, str>>,
}

/// The bytes of a page, with the charset not decoded yet.
#[derive(Debug, PartialEq)]
pub(crate) struct Body<'a> {
    pub bytes: Cow<'a, [u8]>,
    /// The charset from the media type.
    pub charset: Option<Cow<'a, str>>,
    /// Whether the body is HTML.
    pub html: bool,
}

/// The record that a revisit stands for.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Refers<'a> {
    pub uri: Option<Cow<'a, str>>,
    pub time: Option<i64>,
    pub id: Option<Cow<'a, str>>,
    pub profile: Option<Cow<'a, str>>,
}

/// Interprets `record`.
pub(crate) fn meaning<'a>(record: &WarcRecord<'a>, limits: &Limits) -> Meaning<'a> {
    match record.kind {
        RecordKind::Response | RecordKind::Resource | RecordKind::Conversion
            if record.field("warc-segment-number").is_some() =>
        {
            segment()
        }
        RecordKind::Response | RecordKind::ArcRecord => response(record, limits),
        RecordKind::Resource | RecordKind::Conversion => resource(record, limits),
        RecordKind::Revisit => {
            let refers = Refers {
                uri: record.text("warc-refers-to-target-uri").map(without_brackets),
                time: record.text("warc-refers-to-date").and_then(|date| parse_time(&date)),
                id: record.text("warc-refers-to"),
                profile: record.text("warc-profile").map(without_brackets),
            };
            Meaning::Revisit { origin: origin(record), refers }
        }
        RecordKind::Request => Meaning::Skip("a request"),
        RecordKind::Warcinfo | RecordKind::ArcHeader => Meaning::Skip("a description of the file"),
        RecordKind::Metadata => Meaning::Skip("metadata"),
        RecordKind::Continuation => segment(),
        RecordKind::Unknown => Meaning::Skip("a record of unknown type"),
    }
}

fn segment<'a>() -> Meaning<'a> {
    Meaning::Reject(Reason::new(Class::Segmented, "part of a segmented record, which is not supported"))
}

fn without_brackets(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => bare(text).into(),
        Cow::Owned(text) => bare(&text).to_owned().into(),
    }
}

fn origin<'a>(record: &WarcRecord<'a>) -> Origin<'a> {
    Origin {
        uri: record.uri(),
        time: record.text("warc-date").and_then(|date| parse_time(&date)),
        id: record.text("warc-record-id"),
        payload_digest: record.text("warc-payload-digest"),
        truncated: record.text("warc-truncated"),
    }
}

fn response<'a>(record: &WarcRecord<'a>, limits: &Limits) -> Meaning<'a> {
    let uri = record.uri();
    if uri.as_ref().is_some_and(|uri| scheme(uri) == "dns") {
        return Meaning::Skip("an answer of DNS");
    }
    let Some(response) = http::parse(record.block) else { return resource(record, limits) };
    match (response.status / 100, response.location, uri) {
        (2, ..) => {}
        (3, Some(location), Some(from)) => return redirect(from, location, record),
        _ => {
            let status = response.status;
            return Meaning::Reject(Reason::new(Class::Http(status), format!("HTTP status {status}")));
        }
    }
    let claimed = response.content_type.map(media_type).unwrap_or_default();
    if let Err(reason) = sniff::may_be_page(&claimed.name, response.body) {
        return Meaning::Reject(reason);
    }
    match unpack::body(&response, limits) {
        Ok(body) => page(record, body, claimed),
        Err(reason) => Meaning::Reject(reason),
    }
}

fn redirect<'a>(from: Cow<'a, str>, location: &[u8], record: &WarcRecord) -> Meaning<'a> {
    let location = String::from_utf8_lossy(location);
    match Url::parse(&from).and_then(|base| base.join(location.trim())) {
        Ok(to) => {
            let time = record.text("warc-date").and_then(|date| parse_time(&date));
            Meaning::Redirect { from, to: to.into(), time }
        }
        Err(error) => {
            let text = format!("a redirect without a usable target: {error}");
            Meaning::Reject(Reason::new(Class::Nowhere, text))
        }
    }
}

/// A record whose block is the page itself.
fn resource<'a>(record: &WarcRecord<'a>, limits: &Limits) -> Meaning<'a> {
    // Crawlers also store their own logs and settings as resources.
    if record.uri().is_some_and(|uri| !matches!(scheme(&uri), "http" | "https" | "ftp" | "file" | "")) {
        return Meaning::Skip("not from the web");
    }
    let claimed = record.field("content-type").map(media_type).unwrap_or_default();
    if record.block.len() > limits.page_bytes {
        return Meaning::Reject(Reason::overlong(limits.page_bytes));
    }
    match sniff::may_be_page(&claimed.name, record.block) {
        Ok(()) => page(record, record.block.into(), claimed),
        Err(reason) => Meaning::Reject(reason),
    }
}

fn page<'a>(record: &WarcRecord<'a>, bytes: Cow<'a, [u8]>, claimed: MediaType<'a>) -> Meaning<'a> {
    if bytes.trim_ascii().is_empty() {
        return Meaning::Reject(Reason::new(Class::Empty, "an empty body"));
    }
    let html = match sniff::content(&claimed.name, &bytes) {
        Content::Html => true,
        Content::Text => false,
        Content::Other(what) => return Meaning::Reject(sniff::not_text(&what)),
    };
    Meaning::Page { origin: origin(record), body: Body { bytes, charset: claimed.charset, html } }
}

fn scheme(uri: &str) -> &str {
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) {
        scheme
    } else {
        ""
    }
}

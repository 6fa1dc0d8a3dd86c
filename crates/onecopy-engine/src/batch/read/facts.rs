//! Facts of a page for the outputs, beside its name: its address, and some headers of its WARC record.
//!
//! Zero bytes separate the parts, because no part can contain one. Empty parts at the end are omitted.

use onecopy_core::Record;

/// The facts of a page. An empty fact is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts<'a> {
    /// The address, unless it is the page's name.
    pub url: &'a str,
    /// The date, the id and the payload digest of the WARC record, unchanged.
    pub date: &'a str,
    pub id: &'a str,
    pub digest: &'a str,
}

/// Appends the facts of a record.
pub(crate) fn write(record: &Record, out: &mut Vec<u8>) {
    let start = out.len();
    let url = record.url.as_deref().filter(|_| !record.id.is_empty()).unwrap_or_default();
    let [date, id, digest] = record.archived.as_ref().map_or([""; 3], |archived| archived.parts());
    for (number, part) in [url, date, id, digest].into_iter().enumerate() {
        if number > 0 {
            out.push(0);
        }
        out.extend(part.bytes().filter(|&byte| byte != 0));
    }
    while out.len() > start && out.last() == Some(&0) {
        out.pop();
    }
}

/// Reads what [`write`] wrote.
pub(crate) fn read(bytes: &[u8]) -> Facts<'_> {
    let mut parts = bytes.split(|&byte| byte == 0).map(|part| std::str::from_utf8(part).unwrap_or_default());
    let mut next = || parts.next().unwrap_or_default();
    Facts { url: next(), date: next(), id: next(), digest: next() }
}

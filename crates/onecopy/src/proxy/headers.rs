//! Headers that a proxy may not pass on, adds, or must correct (RFC 9110, 7.6).

use hyper::HeaderMap;
use hyper::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CACHE_CONTROL, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH,
    CONTENT_TYPE, ETAG, EXPECT, HOST, HeaderName, HeaderValue, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    IF_RANGE, IF_UNMODIFIED_SINCE, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, RANGE, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE, VIA,
};

use super::coding::Coding;
use super::paging::BodyKind;
use crate::http::guard::OWN_TOKEN;

/// The header with a wish to the proxy itself.
pub const WISH: &str = "x-onecopy";

/// Headers between two neighbours only. `Trailer` goes too, because trailers are not passed on.
const HOP_BY_HOP: [HeaderName; 7] =
    [CONNECTION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
const OLD_HOP_BY_HOP: [&str; 2] = ["keep-alive", "proxy-connection"];
/// Headers about the bytes of a body, which are wrong for another body.
const OF_THE_BYTES: [HeaderName; 3] = [ACCEPT_RANGES, CONTENT_LENGTH, ETAG];
const DIGESTS: [&str; 4] = ["content-digest", "content-md5", "digest", "repr-digest"];
/// Conditions that hold for the first answer only.
const CONDITIONS: [HeaderName; 6] =
    [IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, RANGE];

/// Removes what is meant for the neighbour only, and what the `Connection` header names.
pub fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
    OLD_HOP_BY_HOP.iter().for_each(|name| _ = headers.remove(*name));
}

/// The headers of a request as the upstream gets them. The client of the upstream adds `Host`.
pub fn to_upstream(headers: &mut HeaderMap) {
    remove_hop_by_hop(headers);
    // The server has answered it already.
    headers.remove(EXPECT);
    headers.remove(HOST);
    headers.remove(OWN_TOKEN);
    headers.remove(WISH);
    headers.append(VIA, HeaderValue::from_static("1.1 onecopy"));
}

/// The headers of a request for further hits, from those of the first request.
pub fn for_further_hits(headers: &mut HeaderMap) {
    headers.remove(ACCEPT_ENCODING);
    headers.remove(CONTENT_LENGTH);
    CONDITIONS.iter().for_each(|name| _ = headers.remove(name));
}

/// Corrects the headers of an answer whose body changed.
pub fn of_new_body(headers: &mut HeaderMap, coding: Coding, bytes: usize) {
    OF_THE_BYTES.iter().for_each(|name| _ = headers.remove(name));
    DIGESTS.iter().for_each(|name| _ = headers.remove(*name));
    if coding == Coding::Plain {
        headers.remove(CONTENT_ENCODING);
    }
    headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes));
}

/// Whether a body is JSON by its headers.
pub fn is_json(headers: &HeaderMap) -> bool {
    let kind = media(headers);
    kind == "application/json" || kind == "text/json" || kind.ends_with("+json")
}

/// The kind of a request's body.
pub fn body_kind(headers: &HeaderMap) -> BodyKind {
    match media(headers).as_str() {
        "application/x-www-form-urlencoded" => BodyKind::Form,
        _ if is_json(headers) => BodyKind::Json,
        _ => BodyKind::Other,
    }
}

/// Whether the headers forbid a proxy to change the body.
pub fn forbid_changes(headers: &HeaderMap) -> bool {
    let values = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|rule| rule.trim().eq_ignore_ascii_case("no-transform"))
}

fn media(headers: &HeaderMap) -> String {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn headers_for_the_neighbour_stay_here() {
        let mut given = headers(&[
            ("connection", "close, X-Private"),
            ("connection", "keep-alive"),
            ("keep-alive", "timeout=5"),
            ("x-private", "1"),
            ("te", "trailers"),
            ("upgrade", "h2c"),
            ("host", "here"),
            ("x-onecopy", "off"),
            ("x-onecopy-token", "secret"),
            ("authorization", "ApiKey x"),
            ("via", "1.0 other"),
        ]);
        to_upstream(&mut given);
        let wanted = headers(&[("authorization", "ApiKey x"), ("via", "1.0 other"), ("via", "1.1 onecopy")]);
        assert_eq!(given, wanted);
    }

    #[test]
    fn headers_of_the_old_bytes_go() {
        let mut given = headers(&[
            ("etag", "\"1\""),
            ("content-length", "9"),
            ("content-encoding", "br"),
            ("digest", "x"),
            ("x-elastic-product", "Elasticsearch"),
        ]);
        of_new_body(&mut given, Coding::Plain, 7);
        let wanted = headers(&[("content-length", "7"), ("x-elastic-product", "Elasticsearch")]);
        assert_eq!(given, wanted);
    }

    #[test]
    fn kinds_of_bodies_are_told_apart() {
        let kind = |value: &'static str| body_kind(&headers(&[("content-type", value)]));
        assert_eq!(kind("application/vnd.elasticsearch+json; compatible-with=8"), BodyKind::Json);
        assert_eq!(kind("Application/JSON;charset=utf-8"), BodyKind::Json);
        assert_eq!(kind("application/x-www-form-urlencoded"), BodyKind::Form);
        assert_eq!(kind("application/x-ndjson"), BodyKind::Other);
        assert!(forbid_changes(&headers(&[("cache-control", "max-age=1, No-Transform")])));
    }
}

//! Splits an address into its host and path segments.
//!
//! The parser is lenient: an address needs `scheme://host`, and everything after it is a path, however odd. Paths are
//! not normalised. A query is part of the last segment.

use std::borrow::Cow;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The most segments: the last one takes the rest of a deeper path. This bounds every climb and every recursion.
pub(super) const SEGMENTS: usize = 32;
/// Longer addresses are skipped.
const ADDRESS_BYTES: usize = 8 << 10;
/// The longest host name with a port (RFC 1035).
const HOST_BYTES: usize = 261;

/// The parts of an address that locate a page.
pub(super) struct PageAddress<'a> {
    /// In lower case, without the scheme, the user and the default port.
    pub host: Cow<'a, str>,
    /// Everything after the first slash, up to the fragment.
    pub path: &'a str,
}

/// One step from a host down to a page.
pub(super) struct PathStep {
    /// The hash of the segment.
    pub segment: u64,
    /// The hash of the host and all segments up to this one.
    pub key: u64,
    /// The end of the segment in the path.
    pub end: usize,
}

impl<'a> PageAddress<'a> {
    /// Parses `url`; `None` if it is not an address.
    pub(super) fn new(url: &'a str) -> Option<PageAddress<'a>> {
        let url = url.trim();
        let (scheme, rest) = url.split_once("://").filter(|_| url.len() <= ADDRESS_BYTES)?;
        let rest = rest.split_once('#').map_or(rest, |(before, _)| before);
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let host = host(scheme, &rest[..end])?;
        let path = &rest[end..];
        Some(PageAddress { host, path: path.strip_prefix('/').unwrap_or(path) })
    }

    /// The key of the host.
    pub(super) fn host_key(&self) -> u64 {
        xxh3_64(self.host.as_bytes())
    }

    /// The steps from the host down to the page, at least one and at most [`SEGMENTS`].
    pub(super) fn steps(&self) -> impl Iterator<Item = PathStep> {
        let folders = self.path.find('?').unwrap_or(self.path.len());
        let (mut start, mut number, mut key, mut done) = (0, 0, self.host_key(), false);
        std::iter::from_fn(move || {
            if done {
                return None;
            }
            number += 1;
            let slash = self.path[start..folders].find('/').filter(|_| number < SEGMENTS);
            let end = slash.map_or(self.path.len(), |length| start + length);
            let segment = xxh3_64(&self.path.as_bytes()[start..end]);
            key = xxh3_64_with_seed(&segment.to_le_bytes(), key);
            (start, done) = (end + 1, slash.is_none());
            Some(PathStep { segment, key, end })
        })
    }
}

fn host<'a>(scheme: &str, authority: &'a str) -> Option<Cow<'a, str>> {
    let usual_port = match scheme {
        _ if scheme.eq_ignore_ascii_case("http") => ":80",
        _ if scheme.eq_ignore_ascii_case("https") => ":443",
        _ if !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => "",
        _ => return None,
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = host.strip_suffix(usual_port).unwrap_or(host);
    let host = host.strip_suffix('.').unwrap_or(host);
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "<>\"\\^`{|}".contains(c);
    if host.is_empty() || host.len() > HOST_BYTES || host.contains(is_odd) {
        return None;
    }
    let is_lower = !host.chars().any(char::is_uppercase);
    Some(if is_lower { Cow::Borrowed(host) } else { Cow::Owned(host.to_lowercase()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(url: &str) -> Option<(String, Vec<String>)> {
        let address = PageAddress::new(url)?;
        let mut start = 0;
        let mut segments = Vec::new();
        for step in address.steps() {
            segments.push(address.path[start..step.end].to_owned());
            start = step.end + 1;
        }
        Some((address.host.into_owned(), segments))
    }

    fn check(url: &str, host: &str, segments: &[&str]) {
        let expected = segments.iter().map(|segment| segment.to_string()).collect();
        assert_eq!(parts(url), Some((host.to_owned(), expected)), "{url}");
    }

    #[test]
    fn addresses_have_a_host_and_segments() {
        check("http://A.Example/x/y.html", "a.example", &["x", "y.html"]);
        check("HTTPS://user:word@a.example:443/x/?q=/z#top", "a.example", &["x", "?q=/z"]);
        check("http://a.example:80", "a.example", &[""]);
        check("http://a.example./", "a.example", &[""]);
        check("http://a.example?q", "a.example", &["?q"]);
        check("https://a.example:80//x", "a.example:80", &["", "x"]);
        check("ftp://a.example/pub/é", "a.example", &["pub", "é"]);
    }

    #[test]
    fn what_is_no_address_is_none() {
        for url in
            ["", "a.example/x", "://x", "http://", "http:///x", "http://a b/x", "\0", "urn:x", "h t://a/"]
        {
            assert_eq!(parts(url), None, "{url:?}");
        }
        assert_eq!(parts(&format!("http://{}/", "a".repeat(300))), None);
        assert_eq!(parts(&format!("http://a.example/{}", "a".repeat(9000))), None);
    }

    #[test]
    fn deep_paths_end_in_one_long_segment() {
        let (_, segments) = parts(&format!("http://a.example/{}", "d/".repeat(1000))).unwrap();
        assert_eq!(segments.len(), SEGMENTS);
        assert_eq!(segments.last().map(String::len), Some(2 * (1000 - SEGMENTS + 1)));
    }

    #[test]
    fn keys_depend_on_all_before_them() {
        let keys = |url| PageAddress::new(url).unwrap().steps().map(|step| step.key).collect::<Vec<_>>();
        let (a, b, c) = (keys("http://h/a/x"), keys("https://H:443/a/y"), keys("http://h/b/x"));
        assert_eq!(a[0], b[0]);
        assert!(a[1] != b[1] && a[1] != c[1] && a[0] != c[0]);
    }
}

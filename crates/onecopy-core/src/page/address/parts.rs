//! An address cut into its parts, as written.
//!
//! `split` cuts usual addresses by hand. It refuses every address that browsers do not read as it looks: backward
//! slashes, control characters inside, no or too many slashes after the scheme.

use url::Url;

/// The parts of an http or https address. `path` is empty or begins with a slash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AddressParts<'a> {
    pub secure: bool,
    pub user: Option<&'a str>,
    pub host: &'a str,
    pub port: Option<u16>,
    pub path: &'a str,
    pub query: Option<&'a str>,
    pub fragment: Option<&'a str>,
}

impl<'a> AddressParts<'a> {
    /// The parts as the `url` crate sees them.
    pub(super) fn of(url: &'a Url) -> Option<AddressParts<'a>> {
        let start = url.scheme().len() + "://".len();
        let authority = &url.as_str()[start..];
        let authority = &authority[..authority.find(['/', '?', '#']).unwrap_or(authority.len())];
        Some(AddressParts {
            secure: url.scheme() == "https",
            user: authority.rsplit_once('@').map(|(user, _)| user),
            host: url.host_str()?,
            port: url.port(),
            path: url.path(),
            query: url.query(),
            fragment: url.fragment(),
        })
    }
}

/// Cuts a usual address. `None`: it is not an http or https address, or an odd one.
pub(super) fn split(url: &str) -> Option<AddressParts<'_>> {
    let (secure, rest) = without_scheme(url)?;
    // The fold does not stop at the first odd byte, so that the compiler vectorises it.
    if url.bytes().fold(false, |odd, byte| odd | (byte < b' ')) {
        return None;
    }
    let (rest, fragment) = cut(rest, b'#');
    let (rest, query) = cut(rest, b'?');
    // In a query or a fragment a backslash is a character like any other.
    if memchr::memchr(b'\\', rest.as_bytes()).is_some() {
        return None;
    }
    let (authority, path) = rest.split_at(memchr::memchr(b'/', rest.as_bytes()).unwrap_or(rest.len()));
    let (user, host) = match memchr::memrchr(b'@', authority.as_bytes()) {
        Some(at) => (Some(&authority[..at]), &authority[at + 1..]),
        None => (None, authority),
    };
    let (host, port) = without_port(host)?;
    Some(AddressParts { secure, user, host, port, path, query, fragment })
}

/// Whether the address begins with `http:` or `https:`, ignoring case.
pub(super) fn has_http_scheme(url: &str) -> bool {
    without_scheme(url).is_some()
}

/// Whether a host stands for itself. It has only letters, digits, dots, hyphens and underscores. Its last label is
/// not a number: that would make it an IPv4 address, which can be written in many ways. With `international`, it
/// also has no international label, encoded or not.
pub(super) fn is_plain_host(host: &str, international: bool) -> bool {
    let host = host.trim_end_matches('.').as_bytes();
    let last = memchr::memrchr(b'.', host).map_or(0, |at| at + 1);
    let plain = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_') || (!international && byte >= 0x80)
    };
    let encoded = || host.windows(4).any(|window| window.eq_ignore_ascii_case(b"xn--"));
    let (mut hyphens, mut before) = (false, 0);
    for &byte in host {
        if !plain(byte) {
            return false;
        }
        hyphens |= byte == b'-' && before == b'-';
        before = byte;
    }
    host.get(last).is_some_and(|byte| !byte.is_ascii_digit()) && !(international && hyphens && encoded())
}

fn without_scheme(url: &str) -> Option<(bool, &str)> {
    let (scheme, rest) = url.split_at_checked(memchr::memchr(b':', url.as_bytes().get(..6)?)?)?;
    let secure = match scheme.len() {
        4 => false,
        5 => true,
        _ => return None,
    };
    let http = "https"[..scheme.len()].eq_ignore_ascii_case(scheme);
    Some((secure, rest.strip_prefix("://").filter(|_| http)?))
}

fn cut(text: &str, mark: u8) -> (&str, Option<&str>) {
    match memchr::memchr(mark, text.as_bytes()) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

/// Splits off the port. `None`: the text after the colon is not a port. A host in brackets has colons inside.
fn without_port(host: &str) -> Option<(&str, Option<u16>)> {
    let colon = memchr::memrchr(b':', host.as_bytes()).filter(|_| !host.ends_with(']'));
    let Some(colon) = colon else { return Some((host, None)) };
    let port = &host[colon + 1..];
    if port.is_empty() {
        return Some((&host[..colon], None));
    }
    let digits = port.bytes().all(|byte| byte.is_ascii_digit());
    Some((&host[..colon], Some(port.parse().ok().filter(|_| digits)?)))
}

//! The key of an address in an index, by the rules that web archives share: the host turned around, without `www`, and
//! path and query in lower case. An index finds only keys that are made exactly like this.

mod session;

use url::Host;

use self::session::{without_path_session, without_query_sessions};

/// The key of an address, such as `com,example)/path?a=1` for `http://www.example.com/Path/?a=1`.
pub(super) fn surt(address: &str) -> String {
    let address: String = address.trim().chars().filter(|c| !"\n\r\t".contains(*c)).collect();
    let address = address.split('#').next().unwrap_or_default();
    let (scheme, rest) = scheme(address);
    let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, query)| (rest, query));
    let is_web = scheme.starts_with("http");
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) if is_web => split_path(rest.trim_start_matches('/')),
        Some(rest) => split_path(rest),
        None if is_web => split_path(rest.trim_start_matches('/')),
        None => ("", rest),
    };
    let query = key_query(query);
    let query = if query.is_empty() { query } else { format!("?{query}") };
    if authority.is_empty() {
        return format!("{scheme}:{}{query}", without_last_slash(lower(&escape(&unescape(path)))));
    }
    format!("{}){}{query}", key_host(authority, &scheme), key_path(path))
}

/// The scheme in lower case, and the rest. An address without one is of the web; of several, the last counts.
fn scheme(address: &str) -> (String, &str) {
    let is_scheme = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    let Some((name, mut rest)) = address.split_once(':').filter(|(name, _)| is_scheme(name)) else {
        return ("http".into(), address);
    };
    let mut name = name.to_ascii_lowercase();
    for next in ["http", "https"].into_iter().cycle().take(16) {
        let behind = rest.strip_prefix("//").and_then(|rest| rest.strip_prefix(next));
        if let Some(behind) =
            behind.and_then(|rest| rest.strip_prefix(':')).filter(|rest| rest.starts_with("//"))
        {
            (name, rest) = (next.into(), behind);
        }
    }
    (name, rest)
}

fn split_path(rest: &str) -> (&str, &str) {
    rest.split_at(rest.find('/').unwrap_or(rest.len()))
}

/// The host turned around, and its port if that is not the usual one.
fn key_host(authority: &str, scheme: &str) -> String {
    let host = authority.rsplit('@').next().unwrap_or_default().trim_end_matches(':');
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port),
        _ => (host, ""),
    };
    let name = lower(host).replace("..", ".");
    let name = name.trim_matches('.');
    let name = match Host::parse(name) {
        Ok(Host::Ipv6(address)) => address.to_string(),
        Ok(host) => host.to_string(),
        Err(_) => name.to_owned(),
    };
    let digits =
        name.strip_prefix("www").map_or("", |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    let name = digits.strip_prefix('.').unwrap_or(&name);
    let turned: Vec<&str> = name.rsplit('.').collect();
    let usual = [("http", "80"), ("https", "443")].contains(&(scheme, port));
    let port = if port.is_empty() || usual { String::new() } else { format!(":{port}") };
    format!("{}{port}", turned.join(","))
}

fn key_path(path: &str) -> String {
    let path = unescape(path);
    let mut kept: Vec<&[u8]> = Vec::new();
    for part in path.split(|&byte| byte == b'/').skip(1) {
        match part {
            b"." => {}
            b".." if !kept.is_empty() => drop(kept.pop()),
            _ => kept.push(part),
        }
    }
    let last = kept.pop().unwrap_or_default();
    let parts = kept.into_iter().filter(|part| !part.is_empty()).chain([last]);
    let path = format!("/{}", escape(&parts.collect::<Vec<_>>().join(&b'/')));
    without_last_slash(without_path_session(lower(&path)))
}

fn without_last_slash(mut path: String) -> String {
    if path.len() > 1 && path.ends_with('/') {
        path.pop();
    }
    path
}

/// The parts of a query in order, without the ids of sessions.
fn key_query(query: &str) -> String {
    let query = without_query_sessions(escape(&unescape(query)));
    let query = lower(&query);
    let mut parts: Vec<(&str, Option<&str>)> = query.split('&').map(name_and_value).collect();
    parts.sort_unstable();
    let part =
        |(name, value): (&str, Option<&str>)| value.map_or(name.into(), |value| format!("{name}={value}"));
    parts.into_iter().map(part).collect::<Vec<String>>().join("&")
}

fn name_and_value(part: &str) -> (&str, Option<&str>) {
    part.split_once('=').map_or((part, None), |(name, value)| (name, Some(value)))
}

fn lower(text: &str) -> String {
    text.to_ascii_lowercase()
}

/// Undoes percent escapes until none is left.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    loop {
        let plain = unescape_once(&bytes);
        if plain == bytes {
            return bytes;
        }
        bytes = plain;
    }
}

fn unescape_once(bytes: &[u8]) -> Vec<u8> {
    let digit = |at: usize| bytes.get(at).and_then(|&byte| char::from(byte).to_digit(16));
    let (mut plain, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                plain.push((16 * high + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                plain.push(byte);
                at += 1;
            }
        }
    }
    plain
}

/// Escapes control characters, spaces, `#`, `%`, and everything that is not ASCII.
fn escape(bytes: &[u8]) -> String {
    let one = |&byte: &u8| match byte {
        b'#' | b'%' => format!("%{byte:02X}"),
        0x21..=0x7e => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    bytes.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected keys are those of the Python package `surt` 0.3.1.
    #[test]
    fn keys_are_those_of_other_tools() {
        for (address, key) in [
            ("http://www.Example.com/Path/?b=2&A=1&a", "com,example)/path?a&a=1&b=2"),
            ("http://example.com", "com,example)/"),
            ("http://example.com/?", "com,example)/"),
            ("https://user:pw@www2.example.co.uk:443/a/./b/../c//d/#frag", "uk,co,example)/a/c/d"),
            ("http://example.com:8080/%7Efoo/%41%2541?q=%20x#y", "com,example:8080)/~foo/aa?q=%20x"),
            ("http://example.com/a?jsessionid=0123456789abcdef0123456789abcdef", "com,example)/a"),
            (
                "http://example.com/a?x=1&PHPSESSID=0123456789abcdef0123456789abcdef&y=2",
                "com,example)/a?x=1&y=2",
            ),
            ("http://example.com/a?sid=9682993c8daa2c5497996114facdc805&z", "com,example)/a?z"),
            ("http://example.com/a?ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX", "com,example)/a"),
            ("http://example.com/a?cfid=1&cftoken=2&b=3", "com,example)/a?b=3"),
            ("http://example.com/(S(abcdefghijklmnopqrstuvwx))/page.aspx?q", "com,example)/page.aspx?q"),
            ("http://example.com/x/(abcdefghijklmnopqrstuvwx)/page.aspx", "com,example)/x/page.aspx"),
            (
                "http://example.com/(a(abcdefghijklmnopqrstuvwx)b(abcdefghijklmnopqrstuvwx))/page.aspx",
                "com,example)/page.aspx",
            ),
            ("http://1.2.3.4/a", "4,3,2,1)/a"),
            ("http://2130706433/", "1,0,0,127)/"),
            ("http://xn--bcher-kva.example/", "example,xn--bcher-kva)/"),
            ("http://bücher.example/straße?ö", "example,xn--bcher-kva)/stra%c3%9fe?%c3%b6"),
            ("dns:www.example.com", "dns:www.example.com"),
            ("urn:some:ID", "urn:some:id"),
            ("file:///Example with spaces.png", "file:/example%20with%20spaces.png"),
            ("http://http://example.com/x", "com,example)/x"),
            ("http:////www.vikings.com/a", "com,vikings)/a"),
            ("http://example.com./x..y/...", "com,example)/x..y/..."),
            ("example.com/no/scheme", "com,example)/no/scheme"),
            ("http://www.com/", "com)/"),
            ("http://www5.a.example/", "example,a)/"),
            ("https://example.com:80/", "com,example:80)/"),
            ("http://example.com:/x", "com,example)/x"),
            ("ftp://ftp.example.com/pub/", "com,example,ftp)/pub"),
            ("http://example.com/a b|c{d}\"e<f>`^\\", "com,example)/a%20b|c{d}\"e<f>`^\\"),
            ("http://example.com/a?b=c?d&&e=", "com,example)/a?&b=c?d&e="),
            ("http://example.com/../x", "com,example)/../x"),
            ("http://_a.example.com/", "com,example,_a)/"),
        ] {
            assert_eq!(surt(address), key, "{address}");
        }
    }
}

//! URL identity: two addresses with the same identity name the same page.
//!
//! The rules are data ([`AddressRules`]); this file carries them out. An identity is itself an address, and its own
//! identity. `parts` cuts usual addresses by hand, in less than half the time. Odd addresses go through the `url`
//! crate first. From there on both take the same path.

mod parts;
mod rules;

use url::Url;

use parts::{AddressParts, has_http_scheme, is_plain_host, split};
pub use rules::AddressRules;
use rules::{Compiled, WrittenRules};

/// Writes the identity of `url` into `out`, replacing its contents. `false`: it is not an http or https address, and
/// its identity is the string itself.
pub fn identity(url: &str, rules: &AddressRules, out: &mut String) -> bool {
    let trimmed = url.trim_matches(|c: char| c <= ' ');
    let mut bytes = std::mem::take(out).into_bytes();
    bytes.clear();
    let known = match split(trimmed) {
        Some(parts) if is_plain_host(parts.host, rules.written.international_hosts) => {
            write(&parts, rules, &mut bytes)
        }
        _ => identity_of_odd(trimmed, rules, &mut bytes),
    };
    if !known {
        bytes.clear();
        bytes.extend_from_slice(url.as_bytes());
    }
    *out = String::from_utf8(bytes).expect("whole characters were copied or encoded");
    known
}

/// Uses the `url` crate: for international hosts, numbers as hosts, and missing or backward slashes.
fn identity_of_odd(url: &str, rules: &AddressRules, out: &mut Vec<u8>) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    has_http_scheme(url.as_str()) && AddressParts::of(&url).is_some_and(|parts| write(&parts, rules, out))
}

/// The absolute address of `link` on the page at `base`. `None` unless it is http or https.
pub fn resolve(base: &str, link: &str) -> Option<String> {
    let url = match Url::parse(link.trim()) {
        Ok(url) => url,
        Err(_) => Url::parse(base).ok()?.join(link.trim()).ok()?,
    };
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then(|| url.into())
}

/// The host of an http or https address as written, without user and port.
pub fn host(url: &str) -> Option<&str> {
    split(url.trim_matches(|c: char| c <= ' ')).map(|parts| parts.host).filter(|host| !host.is_empty())
}

fn write(parts: &AddressParts, rules: &AddressRules, out: &mut Vec<u8>) -> bool {
    let (written, compiled) = (&rules.written, &rules.compiled);
    let secure = parts.secure && !written.ignore_scheme;
    out.extend_from_slice(if secure { b"https://" } else { b"http://" });
    if let Some(user) = parts.user.filter(|_| !written.drop_user_info) {
        encode(user.as_bytes(), &RAW, out);
        out.push(b'@');
    }
    let host_start = out.len();
    if !write_host(parts.host, written, compiled, out) {
        return false;
    }
    let own = compiled.host_rule(&out[host_start..]);
    write_port(parts, written, out);
    write_path(parts.path, written, compiled, out);
    if let Some(query) = parts.query {
        write_query(query, own, written, compiled, out);
    }
    if let Some(fragment) = parts.fragment {
        let bang = fragment.starts_with('!') && written.keep_hash_bang;
        if bang || !written.drop_fragments {
            out.push(b'#');
            encode(fragment.as_bytes(), table(written, &PATH), out);
        }
    }
    true
}

/// Writes the host that `host` is an alias of. `false`: no host is left.
fn write_host(host: &str, written: &WrittenRules, compiled: &Compiled, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    // A host with an empty label is not a name, and trimming could make it another host: `0x7f..` is not 127.
    let is_name = !host.contains("..");
    let host = if written.drop_trailing_dot && is_name { host.trim_end_matches('.') } else { host };
    out.extend_from_slice(host.as_bytes());
    if written.ignore_host_case {
        out[start..].make_ascii_lowercase();
    }
    if !is_name {
        return true;
    }
    while let Some(prefix) = compiled.host_prefix(&out[start..]) {
        out.drain(start..start + prefix);
    }
    if let Some(alias) = compiled.host_alias(&out[start..]) {
        out.truncate(start);
        out.extend_from_slice(alias);
    }
    out.len() > start
}

/// If schemes are ignored, all share one set of default ports, or the identity of `https://host:80` would change
/// twice.
fn write_port(parts: &AddressParts, written: &WrittenRules, out: &mut Vec<u8>) {
    let Some(port) = parts.port else { return };
    let is_default = match port {
        80 => written.ignore_scheme || !parts.secure,
        443 => written.ignore_scheme || parts.secure,
        _ => false,
    };
    if !(is_default && written.drop_default_ports) {
        out.push(b':');
        out.extend_from_slice(port.to_string().as_bytes());
    }
}

fn write_path(path: &str, written: &WrittenRules, compiled: &Compiled, out: &mut Vec<u8>) {
    let (start, table) = (out.len(), table(written, &PATH));
    let mut segments = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
    let (mut ends_in_slash, mut has_empty) = (false, false);
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        let at = out.len();
        out.push(b'/');
        encode(segment.as_bytes(), table, out);
        drop_path_parameters(at, compiled, out);
        ends_in_slash = last;
        match &out[at + 1..] {
            b"" if last => out.truncate(at),
            b"" => has_empty = true,
            b"." if written.resolve_dot_segments => out.truncate(at),
            b".." if written.resolve_dot_segments => {
                let parent = out[start..at].iter().rposition(|&byte| byte == b'/').unwrap_or(0);
                out.truncate(start + parent);
            }
            _ => ends_in_slash = false,
        }
    }
    if has_empty && written.merge_slashes {
        merge_slashes(start, out);
    }
    end_path(start, ends_in_slash, written, compiled, out);
}

/// Runs only after all segments are written: a `..` removes the empty segment before it, as in browsers.
fn merge_slashes(start: usize, out: &mut Vec<u8>) {
    let mut to = start;
    for at in start..out.len() {
        if out[at] != b'/' || to == start || out[to - 1] != b'/' {
            out[to] = out[at];
            to += 1;
        }
    }
    out.truncate(to);
}

/// Removes index files and slashes from the end, repeatedly, because one can hide behind the other.
fn end_path(
    start: usize,
    ends_in_slash: bool,
    written: &WrittenRules,
    compiled: &Compiled,
    out: &mut Vec<u8>,
) {
    if ends_in_slash {
        out.push(b'/');
    }
    loop {
        while written.drop_trailing_slash && out.len() > start && out.ends_with(b"/") {
            out.pop();
        }
        let name = out[start..].iter().rposition(|&byte| byte == b'/').map_or(out.len(), |at| start + at + 1);
        if name == out.len() || !compiled.is_index(&out[name..]) {
            break;
        }
        out.truncate(name);
    }
    if out.len() == start {
        out.push(b'/');
    }
}

/// Removes `;jsessionid=...` and the like from the segment whose slash is at `at`. It leaves `.` and `..` segments
/// alone: they were resolved with the parameter, and would mean another path without it.
fn drop_path_parameters(at: usize, compiled: &Compiled, out: &mut Vec<u8>) {
    let Some(first) = memchr::memchr(b';', &out[at..]) else { return };
    if matches!(&out[at + 1..at + first], b"." | b"..") {
        return;
    }
    let (mut from, mut to) = (at + first, at + first);
    while from < out.len() {
        let next = memchr::memchr(b';', &out[from + 1..]).map_or(out.len(), |next| from + 1 + next);
        if !compiled.is_session(&out[from + 1..next]) {
            out.copy_within(from..next, to);
            to += next - from;
        }
        from = next;
    }
    out.truncate(to);
}

fn write_query(
    query: &str,
    own: Option<&rules::CompiledHost>,
    written: &WrittenRules,
    compiled: &Compiled,
    out: &mut Vec<u8>,
) {
    let (start, table) = (out.len(), table(written, &QUERY));
    out.push(b'?');
    let mut count = 0;
    for parameter in query.split('&') {
        let at = out.len();
        if count > 0 {
            out.push(b'&');
        }
        let name_at = out.len();
        encode(parameter.as_bytes(), table, out);
        let written_now = &out[name_at..];
        let empty = written_now.is_empty() && written.drop_empty_query;
        if empty || !compiled.counts(written_now, own) {
            out.truncate(at);
        } else {
            count += 1;
        }
    }
    if out.len() == start + 1 && written.drop_empty_query {
        out.truncate(start);
    } else if count > 1 && written.sort_parameters {
        sort_parameters(start + 1, out);
    }
}

/// Sorts the parameters from `start` on by name. Values of one name keep their order, which can matter.
fn sort_parameters(start: usize, out: &mut Vec<u8>) {
    let name = |parameter: &[u8]| memchr::memchr(b'=', parameter).unwrap_or(parameter.len());
    let all = out[start..].to_vec();
    let mut parameters: Vec<&[u8]> = all.split(|&byte| byte == b'&').collect();
    if parameters.is_sorted_by_key(|parameter| &parameter[..name(parameter)]) {
        return;
    }
    parameters.sort_by_key(|parameter| &parameter[..name(parameter)]);
    out.truncate(start);
    for (place, parameter) in parameters.into_iter().enumerate() {
        if place > 0 {
            out.push(b'&');
        }
        out.extend_from_slice(parameter);
    }
}

/// How to treat a byte: copy it, encode it, or look at the digits after the `%`.
#[derive(Clone, Copy, PartialEq)]
enum Byte {
    Plain,
    Encode,
    Percent,
}

type ByteTable = [Byte; 256];

/// For paths and fragments.
static PATH: ByteTable = table_of(b"\"<>`{}|^");
/// For queries, where the `url` crate encodes the apostrophe too.
static QUERY: ByteTable = table_of(b"\"<>`{}|^'");
/// For text that stays as it is. Spaces and control characters are still encoded, or an identity could end in one.
static RAW: ByteTable = {
    let mut table = [Byte::Plain; 256];
    let mut byte = 0;
    while byte <= 0x20 {
        table[byte] = Byte::Encode;
        byte += 1;
    }
    table
};

const fn table_of(marks: &[u8]) -> ByteTable {
    let mut table = [Byte::Plain; 256];
    let mut byte = 0;
    while byte < 256 {
        if byte <= 0x20 || byte >= 0x7f {
            table[byte] = Byte::Encode;
        }
        byte += 1;
    }
    let mut at = 0;
    while at < marks.len() {
        table[marks[at] as usize] = Byte::Encode;
        at += 1;
    }
    table[b'%' as usize] = Byte::Percent;
    table
}

fn table(written: &WrittenRules, normal: &'static ByteTable) -> &'static ByteTable {
    if written.normalise_percent_encoding { normal } else { &RAW }
}

/// Copies `text`. It encodes where that is needed, decodes where it is not, and turns a stray `%` into `%25`.
fn encode(text: &[u8], table: &ByteTable, out: &mut Vec<u8>) {
    let mut rest = text;
    while !rest.is_empty() {
        let plain = rest.iter().position(|&byte| table[byte as usize] != Byte::Plain).unwrap_or(rest.len());
        out.extend_from_slice(&rest[..plain]);
        rest = &rest[plain..];
        let Some(&byte) = rest.first() else { return };
        let mut taken = 1;
        match decoded(rest).filter(|_| table[byte as usize] == Byte::Percent) {
            Some(byte) => {
                taken = 3;
                match byte {
                    b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte),
                    _ => push_encoded(byte, out),
                }
            }
            None => push_encoded(byte, out),
        }
        rest = &rest[taken..];
    }
}

/// The byte that the `%XX` at the front of `text` stands for.
fn decoded(text: &[u8]) -> Option<u8> {
    let digit = |at: usize| text.get(at).and_then(|&byte| (byte as char).to_digit(16));
    (text.first() == Some(&b'%')).then(|| Some((digit(1)? * 16 + digit(2)?) as u8))?
}

fn push_encoded(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend_from_slice(&[b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

#[cfg(test)]
mod tests;

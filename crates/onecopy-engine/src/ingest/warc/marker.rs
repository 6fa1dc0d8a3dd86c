//! Recognizes the start of a record: a WARC version line, or the first line of an ARC record.
//!
//! After a record with a correct length, a quick check suffices. If the length is wrong, a start must be searched for.
//! Text that merely mentions `WARC/1.0` must not match, so the next line must be a field.

use memchr::{memchr, memchr_iter};

use super::{arc, header};

/// An answer based on bytes that may continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sure {
    Yes,
    No,
    /// The answer needs more bytes.
    Unknown,
}

/// Whether `bytes` begin like a record. `whole` means that the stream has ended.
pub(super) fn likely(bytes: &[u8], whole: bool) -> Sure {
    if bytes.starts_with(b"WARC/") {
        return match bytes.get(5) {
            Some(version) => answer(version.is_ascii_digit()),
            None => open(whole),
        };
    }
    if b"WARC/".starts_with(bytes) && !whole {
        return Sure::Unknown;
    }
    arc_line(bytes, whole)
}

/// Whether `bytes` begin a record, if nothing before them suggests one. This check is strict.
pub(super) fn sure(bytes: &[u8], whole: bool) -> Sure {
    if !bytes.starts_with(b"WARC/") {
        return if b"WARC/".starts_with(bytes) { open(whole) } else { arc_line(bytes, whole) };
    }
    let Some(end) = memchr(b'\n', &bytes[..bytes.len().min(64)]) else {
        return if bytes.len() < 64 { open(whole) } else { Sure::No };
    };
    let version = header::trimmed(&bytes[5..end]).trim_ascii_end();
    if !version.first().is_some_and(u8::is_ascii_digit)
        || !version.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
    {
        return Sure::No;
    }
    let line = &bytes[end + 1..];
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'-';
    let name = line.iter().take(64).take_while(is_name).count();
    let gap = line[name..].iter().take(8).take_while(|byte| **byte == b' ').count();
    match line.get(name + gap) {
        // The first line of an ARC record looks like a field but is not one.
        Some(b':') if name > 0 => match arc_line(line, whole) {
            Sure::Yes => Sure::No,
            Sure::No => Sure::Yes,
            Sure::Unknown => Sure::Unknown,
        },
        Some(_) => Sure::No,
        None => open(whole),
    }
}

fn arc_line(bytes: &[u8], whole: bool) -> Sure {
    if !arc::may_start(bytes) {
        return Sure::No;
    }
    match memchr(b'\n', &bytes[..bytes.len().min(arc::LINE_BYTES + 2)]) {
        Some(end) => answer(arc::parse(header::trimmed(&bytes[..end])).is_some()),
        None if whole || bytes.len() > arc::LINE_BYTES => Sure::No,
        None => Sure::Unknown,
    }
}

/// The first start of a record at or after `from`, which must be the start of a line. `Err` holds a position where a
/// record may start but more bytes are needed.
pub(super) fn find(bytes: &[u8], from: usize, whole: bool) -> Result<Option<usize>, usize> {
    let lines = memchr_iter(b'\n', &bytes[from..]).map(|end| from + end + 1);
    for at in std::iter::once(from).chain(lines) {
        let rest = &bytes[at..];
        if !rest.first().is_none_or(u8::is_ascii_alphabetic) {
            continue;
        }
        match sure(rest, whole) {
            Sure::Yes => return Ok(Some(at)),
            Sure::No => {}
            Sure::Unknown => return Err(at),
        }
    }
    Ok(None)
}

fn answer(yes: bool) -> Sure {
    if yes { Sure::Yes } else { Sure::No }
}

fn open(whole: bool) -> Sure {
    if whole { Sure::No } else { Sure::Unknown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_told_from_a_mention() {
        for (text, likely_start, sure_start) in [
            ("WARC/1.0\r\nWARC-Type: response\r\n", Sure::Yes, Sure::Yes),
            ("WARC/0.18\nContent-Length: 3\n", Sure::Yes, Sure::Yes),
            ("WARC/1.0\r\n\r\n", Sure::Yes, Sure::No),
            ("WARC/1.0\r\nhttp://a.example/ 1.2.3.4 20080509190241 text/html 3\n", Sure::Yes, Sure::No),
            ("WARC/1.0 is a format", Sure::Yes, Sure::No),
            ("WARC/x", Sure::No, Sure::No),
            ("http://a.example/ 1.2.3.4 20080509190241 text/html 3\n", Sure::Yes, Sure::Yes),
            ("http://a.example/ is an address\n", Sure::No, Sure::No),
            ("", Sure::No, Sure::No),
        ] {
            assert_eq!(
                (likely(text.as_bytes(), true), sure(text.as_bytes(), true)),
                (likely_start, sure_start),
                "{text}"
            );
        }
        for open in ["", "WA", "WARC/", "http://a.example/ 1.2"] {
            assert_eq!(likely(open.as_bytes(), false), Sure::Unknown, "{open}");
        }
        assert_eq!(sure(b"WARC/1.0\r\nWARC-Ty", false), Sure::Unknown);
    }

    #[test]
    fn the_next_start_is_found() {
        let text = b"x WARC/1.0\nA: b\n WARC/1.0\nA: b\nWARC/1.0\nnot a field\nWARC/1.0\r\nWARC-Type: y\r\n";
        assert_eq!(find(text, 0, true), Ok(Some(52)));
        assert_eq!(find(text, 53, true), Ok(None));
        assert_eq!(find(&text[..60], 0, false), Err(52));
    }
}

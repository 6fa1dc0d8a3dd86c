//! The charset that a page names itself: in its XML declaration, or in a `meta` element near its start.
//!
//! WHATWG reads 1024 bytes. We read further, because crawls have many pages with long scripts before their `meta`.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use memchr::{memchr, memmem};

/// How many bytes are searched for a label.
const PRESCAN_BYTES: usize = 4_096;

/// The charset that `bytes` name, if any. Only `html` has `meta` elements.
pub(super) fn label(bytes: &[u8], html: bool) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(PRESCAN_BYTES)];
    let named = declaration(head).or_else(|| html.then(|| meta(head)).flatten())?;
    let encoding = Encoding::for_label_no_replacement(named)?;
    // The label was readable as ASCII, so the page cannot be in a charset of wide characters (WHATWG, 13.2.3.2).
    if encoding == UTF_16LE || encoding == UTF_16BE {
        return Some(UTF_8);
    }
    Some(if encoding.name() == "x-user-defined" { WINDOWS_1252 } else { encoding })
}

/// The value of `encoding` in `<?xml ... ?>`.
fn declaration(head: &[u8]) -> Option<&[u8]> {
    let head = head.trim_ascii_start().strip_prefix(b"<?xml")?;
    let head = &head[..memchr(b'>', head)?];
    let rest = head[memmem::find(head, b"encoding")? + 8..].trim_ascii_start().strip_prefix(b"=")?;
    let rest = rest.trim_ascii_start();
    let quote = *rest.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
    Some(&rest[1..1 + memchr(quote, &rest[1..])?])
}

/// The charset of the first `meta` element that has one. Comments are skipped.
fn meta(mut head: &[u8]) -> Option<&[u8]> {
    while let Some(open) = memchr(b'<', head) {
        head = &head[open + 1..];
        if let Some(comment) = head.strip_prefix(b"!--") {
            head = &comment[memmem::find(comment, b"-->")?..];
        } else if let Some(name) = head.get(..5).filter(|name| name[..4].eq_ignore_ascii_case(b"meta"))
            && (name[4].is_ascii_whitespace() || name[4] == b'/')
        {
            head = &head[4..];
            if let Some(found) = meta_charset(&mut head) {
                return Some(found);
            }
        }
    }
    None
}

/// Reads the attributes of a `meta` element and leaves `rest` after them.
fn meta_charset<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (mut charset, mut content, mut declares) = (None, None, false);
    while let Some((name, value)) = attribute(rest) {
        if name.eq_ignore_ascii_case(b"charset") {
            charset = charset.or(Some(value));
        } else if name.eq_ignore_ascii_case(b"http-equiv") {
            declares |= value.trim_ascii().eq_ignore_ascii_case(b"content-type");
        } else if name.eq_ignore_ascii_case(b"content") {
            content = content.or_else(|| parameter(value));
        }
    }
    charset.or(content.filter(|_| declares))
}

/// The next attribute of a tag, without quotes; `None` at the end of the tag.
fn attribute<'a>(rest: &mut &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let is_gap = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'/';
    *rest = &rest[rest.iter().position(|byte| !is_gap(byte))?..];
    let end = rest.iter().skip(1).position(|byte| is_gap(byte) || matches!(byte, b'=' | b'>'))? + 1;
    if rest[0] == b'>' {
        return None;
    }
    let name = &rest[..end];
    *rest = rest[end..].trim_ascii_start();
    let Some(after) = rest.strip_prefix(b"=") else { return Some((name, b"")) };
    let after = after.trim_ascii_start();
    let (value, next) = match after.first()? {
        quote @ (b'"' | b'\'') => {
            let end = 1 + memchr(*quote, &after[1..])?;
            (&after[1..end], end + 1)
        }
        _ => {
            let end = after.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'>')?;
            (&after[..end], end)
        }
    };
    *rest = &after[next..];
    Some((name, value))
}

/// The `charset` parameter in a value such as `text/html; charset=utf-8`.
fn parameter(value: &[u8]) -> Option<&[u8]> {
    let at = value.windows(7).position(|name| name.eq_ignore_ascii_case(b"charset"))?;
    let rest = value[at + 7..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let end = rest.iter().position(|byte| matches!(byte, b';' | b' ' | b'\t' | b',')).unwrap_or(rest.len());
    Some(rest[..end].trim_ascii()).map(|label| match label {
        [b'"' | b'\'', inner @ .., b'"' | b'\''] => inner,
        label => label,
    })
}

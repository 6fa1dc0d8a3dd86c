//! Decodes any bytes in any charset. The first line is the charset that the server named.
//!
//! A page that names its charset must decode to the same text, however its `meta` element is written.

use std::borrow::Cow;

use crate::many_times;
use onecopy_core::decode;

/// The longest charset name, and a length that exceeds any `meta` element with it.
const NAME_BYTES: usize = 40;
const META_BYTES: usize = 160;

pub fn run(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(0);
    let (header, bytes) = (String::from_utf8_lossy(&data[..end]), &data[end..]);
    check(bytes, &header);
    check_meta(bytes, &header);
    many_times(bytes).iter().for_each(|bytes| check(bytes, &header));
}

fn check(bytes: &[u8], header: &str) {
    let plain = std::str::from_utf8(bytes).ok().filter(|text| !text.contains(['\0', '\x1b', '\u{feff}']));
    for header in [None, Some(header)] {
        for html in [false, true] {
            let text = decode(bytes, header, html);
            if let Some(plain) = plain {
                assert!(matches!(text, Cow::Borrowed(same) if same == plain), "valid UTF-8 was changed");
            }
        }
    }
}

/// Puts a `meta` element with the charset `name` before a page, in several ways.
fn check_meta(bytes: &[u8], name: &str) {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_:.".contains(c);
    let is_usable = (1..=NAME_BYTES).contains(&name.len()) && name.chars().all(is_name);
    // Zeros suggest two bytes per letter, and then no bytes in front count as a `meta` element.
    if !is_usable || bytes.contains(&0) {
        return;
    }
    let plain = format!("<meta charset=\"{name}\"");
    let others = [
        format!("<META\nCharset = '{name}' id=x"),
        format!("<html><!-- > --><meta name=a><meta charset={name}"),
        format!("<meta http-equiv=Content-Type content=\"text/html; charset={name}\""),
        format!("<meta content='text/html;charset={}' http-equiv='content-type'", name.to_uppercase()),
    ];
    // All variants have the same length and the same bytes before the page, because both may affect charset detection.
    let read = |meta: &str| {
        let page = [format!("{meta:META_BYTES$}>").as_bytes(), bytes].concat();
        decode(&page, None, true).get(META_BYTES + 1..).map(str::to_owned)
    };
    let expected = read(&plain);
    for other in &others {
        assert_eq!(read(other), expected, "{other:?} but {plain:?}");
    }
}

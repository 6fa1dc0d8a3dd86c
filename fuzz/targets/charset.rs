//! Decodes any bytes in any charset. The first line is the charset that the server named.

#![no_main]

use std::borrow::Cow;

use libfuzzer_sys::fuzz_target;
use onecopy_core::decode;
use onecopy_fuzz::many_times;

fuzz_target!(|data: &[u8]| {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(0);
    let (header, bytes) = (String::from_utf8_lossy(&data[..end]), &data[end..]);
    check(bytes, &header);
    many_times(bytes).iter().for_each(|bytes| check(bytes, &header));
});

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

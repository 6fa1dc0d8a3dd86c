//! Parses the first line of a record in an ARC file, the predecessor of WARC.
//!
//! Version 1 has five fields (address, IP, date, type, length), version 2 has ten. An address may contain spaces, so
//! the line is parsed from its end.

use memchr::memchr;

/// The longest accepted line.
pub(super) const LINE_BYTES: usize = 16 << 10;

/// The fields of the line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub uri: &'a [u8],
    pub date: &'a [u8],
    pub content_type: &'a [u8],
    /// `None` if it is not a number: some crawlers wrote -1.
    pub length: Option<u64>,
}

/// Whether `bytes` may begin with such a line, judging by the first few.
pub(super) fn may_start(bytes: &[u8]) -> bool {
    let scheme = &bytes[..bytes.len().min(12)];
    match memchr(b':', scheme) {
        Some(colon) => colon > 1 && scheme[..colon].iter().all(u8::is_ascii_alphanumeric),
        None => bytes.len() < 12 && bytes.iter().all(u8::is_ascii_alphanumeric),
    }
}

/// Parses a line without its newline.
pub(super) fn parse(line: &[u8]) -> Option<Line<'_>> {
    if line.len() > LINE_BYTES || !may_start(line) {
        return None;
    }
    let mut fields = [&b""[..]; 11];
    let mut count = 0;
    for (slot, field) in fields.iter_mut().zip(line.trim_ascii_end().rsplit(|&byte| byte == b' ')) {
        *slot = field;
        count += 1;
    }
    let date = (2..count).find(|&at| is_date(fields[at - 1]) && is_address(fields[at]))? - 1;
    let content_type = if date > 1 { fields[date - 1] } else { b"" };
    // All fields are slices of the line, last field first. The address is everything before the IP.
    let behind: usize = fields[..=date + 1].iter().map(|field| field.len() + 1).sum();
    let uri = line.trim_ascii_end();
    let uri = &uri[..uri.len().checked_sub(behind)?];
    (!uri.is_empty()).then_some(Line { uri, date: fields[date], content_type, length: number(fields[0]) })
}

fn is_date(field: &[u8]) -> bool {
    (12..=18).contains(&field.len())
        && field.iter().all(u8::is_ascii_digit)
        && (field.starts_with(b"19") || field.starts_with(b"20"))
}

fn is_address(field: &[u8]) -> bool {
    field == b"-"
        || (field.len() >= 3
            && field.iter().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':' | b'[' | b']'))
            && field.iter().any(|byte| matches!(byte, b'.' | b':')))
}

/// Parses a length in digits. `None` if it has more than 18 digits.
pub(super) fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 18 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(digits.iter().fold(0, |sum, digit| 10 * sum + u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_from_their_end() {
        let line = parse(b"http://a.example/x y.html 1.2.3.4 20080509190241 text/html 6508").unwrap();
        assert_eq!((line.uri, line.date), (&b"http://a.example/x y.html"[..], &b"20080509190241"[..]));
        assert_eq!((line.content_type, line.length), (&b"text/html"[..], Some(6508)));
        let second =
            parse(b"http://a.example/ ::1 20080509190241 text/html 200 abc - 123 file.arc 77").unwrap();
        assert_eq!((second.uri, second.length), (&b"http://a.example/"[..], Some(77)));
        for odd in ["-1", "abc", "99999999999999999999"] {
            let line = format!("http://a.example/ 0.0.0.0 201404010000000000 text/html {odd}");
            assert_eq!(parse(line.as_bytes()).unwrap().length, None, "{odd}");
        }
    }

    #[test]
    fn other_lines_are_not() {
        for line in [
            "",
            "http://a.example/",
            "HTTP/1.1 200 OK",
            "see http://a.example/ 1.2.3.4 20080509190241 text/html 3",
            " 1.2.3.4 20080509190241 text/html 3",
            "http://a.example/ nothing 20080509190241 text/html 3",
            "Date: Sat, 10 May 2008 02:04:52 GMT",
        ] {
            assert_eq!(parse(line.as_bytes()), None, "{line}");
        }
    }
}

//! Text under construction: single spaces, no space at the start of a line, one line break at a time.

use memchr::memchr;

use super::markup::entity;

/// Appends `text`, with character references decoded and each run of white space as one space.
pub fn push_text(text: &str, out: &mut String) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at].is_ascii_whitespace() {
            space(out);
            at += 1;
            at += bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        } else if bytes[at] == b'&'
            && let Some((character, length)) = entity::decode(&bytes[at..])
        {
            // A decoded line break or space is white space like any other.
            if character.is_ascii_whitespace() {
                space(out)
            } else {
                out.push(character)
            }
            at += length;
        } else {
            let end = plain_end(bytes, at + 1);
            out.push_str(&text[at..end]);
            at = end;
        }
    }
}

/// The end of the run of text that can be copied as it is. Single spaces are part of the run.
fn plain_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'&' => break,
            b' ' if bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace) => break,
            b'\t' | b'\n' | b'\r' | 0x0c => break,
            _ => at += 1,
        }
    }
    at
}

fn space(out: &mut String) {
    if !out.is_empty() && !out.ends_with([' ', '\n']) {
        out.push(' ');
    }
}

/// Ends the line if one is open.
pub fn end_line(out: &mut String) {
    if out.ends_with(' ') {
        out.pop();
    }
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}

/// Whether `text` is only white space, as most text between tags is.
pub fn is_blank(text: &str) -> bool {
    memchr(b'&', text.as_bytes()).is_none() && text.bytes().all(|byte| byte.is_ascii_whitespace())
}

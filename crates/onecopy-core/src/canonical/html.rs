//! HTML → the text that a reader sees.
//!
//! Title and body text in document order, one line a block; scripts, styles and templates are left out. It works on
//! tokens, not on a tree, so that neither deep nesting nor tags that never close cost anything. Choosing the main
//! content is not done here.

use html5gum::{Token, Tokenizer};

/// Appends the visible text of `html` to `out`. Any text is accepted.
pub fn html_to_text(html: &str, out: &mut String) {
    let mut hidden: Option<Vec<u8>> = None;
    for Ok(token) in Tokenizer::new(html) {
        match token {
            Token::String(text) if hidden.is_none() => out.push_str(&String::from_utf8_lossy(&text)),
            Token::StartTag(tag) => {
                if hidden.is_none() && !tag.self_closing && is_hidden(&tag.name) {
                    hidden = Some(tag.name.to_vec());
                }
                separate(&tag.name, out);
            }
            Token::EndTag(tag) => {
                if hidden.as_deref() == Some(&tag.name[..]) {
                    hidden = None;
                }
                separate(&tag.name, out);
            }
            _ => {}
        }
    }
}

fn is_hidden(name: &[u8]) -> bool {
    matches!(name, b"script" | b"style" | b"template" | b"noscript" | b"svg" | b"iframe" | b"object")
}

/// A tag that is not inside a line of text ends the line: `<td>a</td><td>b</td>` is two words.
fn separate(name: &[u8], out: &mut String) {
    let inline = matches!(
        name,
        b"a" | b"abbr"
            | b"b"
            | b"bdi"
            | b"bdo"
            | b"cite"
            | b"code"
            | b"data"
            | b"dfn"
            | b"em"
            | b"font"
            | b"i"
            | b"kbd"
            | b"mark"
            | b"q"
            | b"s"
            | b"samp"
            | b"small"
            | b"span"
            | b"strong"
            | b"sub"
            | b"sup"
            | b"time"
            | b"tt"
            | b"u"
            | b"var"
            | b"wbr"
    );
    if !inline && !out.ends_with('\n') {
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::html_to_text;

    fn check(html: &str, expected: &str) {
        let mut out = String::new();
        html_to_text(html, &mut out);
        assert_eq!(out.split_whitespace().collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn text_is_what_a_reader_sees() {
        check("<title>T</title><p>one <b>bo</b>ld</p><p>two</p>", "T one bold two");
        check("a<script>var x = '<p>';</script><style>p{}</style>b", "a b");
        check("<td>a</td><td>b</td>&amp;&eacute;&#x4e2d;", "a b &é中");
        check("<!-- no --><template><p>hidden</p></template>seen", "seen");
    }

    #[test]
    fn broken_markup_is_read_to_its_end() {
        check("<p>open <b>all <i>the way", "open all the way");
        check("a < b <", "a < b <");
        check(&"<div>".repeat(100_000), "");
        check("<script>never closed", "");
    }
}

//! Writes one HTML page in two ways that a browser reads alike: text, main content, head and links must be the same.
//!
//! The input is a list of tags, attributes and words. The versions differ in letter case, quotes, white space inside
//! tags, comments between tags, and character references.

use std::fmt::Write;
use std::sync::LazyLock;

use crate::Draw;
use onecopy_core::{AddressRules, Content, head, html_to_parts, html_to_text, links};

static RULES: LazyLock<AddressRules> = LazyLock::new(AddressRules::default);

const ADDRESS: &str = "http://site.example/a/b?c#d";
const NAMES: [&str; 40] = [
    "a",
    "article",
    "aside",
    "base",
    "blockquote",
    "body",
    "br",
    "dd",
    "div",
    "dl",
    "dt",
    "footer",
    "form",
    "h1",
    "h2",
    "head",
    "header",
    "hr",
    "html",
    "i",
    "img",
    "li",
    "link",
    "main",
    "meta",
    "nav",
    "object",
    "ol",
    "option",
    "p",
    "pre",
    "section",
    "select",
    "span",
    "table",
    "td",
    "template",
    "title",
    "tr",
    "x-custom",
];
/// Elements whose content is not markup.
const RAW: [&str; 3] = ["script", "style", "noscript"];
const ATTRIBUTES: [&str; 14] = [
    "class",
    "id",
    "role",
    "href",
    "rel",
    "http-equiv",
    "content",
    "lang",
    "hidden",
    "aria-hidden",
    "style",
    "name",
    "itemprop",
    "data-x",
];
const VALUES: [&str; 20] = [
    "",
    "nav",
    "articleBody",
    "main content",
    "comment-list",
    "sidebar/",
    "canonical",
    "refresh",
    "0;url=/there",
    "3; url='x'",
    "/c?d=1&e=2",
    "../f#g",
    "http://other.example/",
    "#top",
    "en-GB",
    "true",
    "display:none",
    "hidden",
    "mailto:x@site.example",
    "a=b",
];
const WORDS: [&str; 12] =
    ["one", "Two", "3", ".", ", ", " ", " \n", "é", "中", "&", "<", "word. Another sentence, of some length"];

/// A piece of a page.
enum Piece<'a> {
    Open { name: &'static str, attributes: Vec<(&'static str, &'static str)> },
    Close(&'static str),
    Raw(&'static str, &'a [u8]),
    Text(String),
}

pub fn run(data: &[u8]) {
    let mut draw = Draw::new(data);
    let pieces = pieces(&mut draw);
    let mut nothing = Draw::new(&[]);
    let plain = written(&pieces, &mut nothing);
    // The same bytes, read again, determine how each piece is written.
    let other = written(&pieces, &mut Draw::new(data));
    assert_eq!(read(&plain), read(&other), "\n{plain}\n{other}");
}

fn pieces<'a>(draw: &mut Draw<'a>) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    while !draw.is_empty() {
        pieces.push(match draw.below(8) {
            0..=2 => open(draw),
            3 | 4 => Piece::Close(NAMES[draw.below(NAMES.len())]),
            5 => Piece::Raw(RAW[draw.below(RAW.len())], draw.bytes(4)),
            _ => Piece::Text((0..1 + draw.below(4)).map(|_| WORDS[draw.below(WORDS.len())]).collect()),
        });
    }
    pieces
}

fn open<'a>(draw: &mut Draw<'a>) -> Piece<'a> {
    let name = NAMES[draw.below(NAMES.len())];
    let attribute =
        |draw: &mut Draw| (ATTRIBUTES[draw.below(ATTRIBUTES.len())], VALUES[draw.below(VALUES.len())]);
    Piece::Open { name, attributes: (0..draw.below(4)).map(|_| attribute(draw)).collect() }
}

/// Writes the page. `draw` makes each choice; after its end the first option is used.
fn written(pieces: &[Piece], draw: &mut Draw) -> String {
    let mut page = String::new();
    for piece in pieces {
        match piece {
            Piece::Open { name, attributes } => {
                comment(draw, &mut page);
                page.push('<');
                push_name(name, draw, &mut page);
                for (name, value) in attributes {
                    page.push_str([" ", "  ", "\n", "\t ", "\x0c"][draw.below(5)]);
                    push_name(name, draw, &mut page);
                    push_value(value, draw, &mut page);
                }
                page.push_str(["", " ", "\n"][draw.below(3)]);
                page.push('>');
                comment(draw, &mut page);
            }
            Piece::Close(name) => {
                comment(draw, &mut page);
                close(name, draw, &mut page);
                comment(draw, &mut page);
            }
            Piece::Raw(name, inside) => {
                page.push('<');
                push_name(name, draw, &mut page);
                page.push('>');
                page.extend(inside.iter().map(|byte| char::from(byte & 0x7f)).filter(|c| !"</".contains(*c)));
                close(name, draw, &mut page);
            }
            Piece::Text(text) => text.chars().for_each(|c| push_letter(c, draw, &mut page)),
        }
    }
    page
}

fn close(name: &str, draw: &mut Draw, page: &mut String) {
    page.push_str("</");
    push_name(name, draw, page);
    page.push_str(["", " ", "\n"][draw.below(3)]);
    page.push('>');
}

fn comment(draw: &mut Draw, page: &mut String) {
    page.push_str(["", "", "", "<!-- > -->", "<!---->", "<!x>", "<?x?>", "</ x>"][draw.below(8)]);
}

fn push_name(name: &str, draw: &mut Draw, page: &mut String) {
    match draw.below(4) {
        3 => page.push_str(&name.to_ascii_uppercase()),
        2 => page
            .extend(name.char_indices().map(|(at, c)| if at % 2 == 0 { c.to_ascii_uppercase() } else { c })),
        _ => page.push_str(name),
    }
}

fn push_value(value: &str, draw: &mut Draw, page: &mut String) {
    page.push_str(["=", " =", "= ", "\n=\n"][draw.below(4)]);
    let is_bare = !value.is_empty() && !value.contains([' ', '\'', '"', '=', '<', '>', '`']);
    match draw.below(3) {
        2 if is_bare => page.push_str(value),
        1 if !value.contains('\'') => write!(page, "'{value}'").expect("a string takes all"),
        _ => write!(page, "\"{value}\"").expect("a string takes all"),
    }
}

fn push_letter(c: char, draw: &mut Draw, page: &mut String) {
    // White space as a character reference does not count as white space between tags.
    let how = if c.is_ascii_whitespace() { 0 } else { draw.below(8) };
    let done = match (how, c) {
        (6, _) => write!(page, "&#{};", c as u32),
        (7, _) => write!(page, "&#x{:X};", c as u32),
        (_, '&') => write!(page, "&amp;"),
        (_, '<') => write!(page, "&lt;"),
        _ => write!(page, "{c}"),
    };
    done.expect("a string takes all");
}

/// Everything that is read from a page.
fn read(html: &str) -> String {
    let mut all = String::new();
    for content in [Content::All, Content::Main, Content::Auto] {
        html_to_text(html, content, &mut all);
        all.push_str("\n--\n");
    }
    let parts = html_to_parts(html, &mut all);
    let mut hashes = Vec::new();
    links(html, Some(ADDRESS), &RULES, &mut hashes);
    format!("{all}{parts:?}{:?}{hashes:?}", head(html, Some(ADDRESS)))
}

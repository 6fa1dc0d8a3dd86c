//! Drops tokens that are not shown: the contents of templates, drawings and embedded objects, and of elements that
//! their own attributes hide.
//!
//! Style sheets are not read, so that what a class hides is shown. An element that hides most of the page is shown
//! too: a script reveals it.

use super::attribute::Attributes;
use super::scan::{Open, Scanner, Token};
use super::tag::Tag;

/// The tokens that a reader can see.
pub struct Visible<'a> {
    tokens: Scanner<'a>,
    /// How many more elements may be searched for an end in vain.
    searches: u8,
}

/// Each search in vain reads the rest of the page. Real pages need none.
const SEARCHES: u8 = 8;

impl<'a> Visible<'a> {
    pub fn new(html: &'a str) -> Visible<'a> {
        Visible { tokens: Scanner::new(html), searches: SEARCHES }
    }

    /// Skips an element that its attributes hide, if it has an end and is no more than half of the page. Returns
    /// whether it did.
    fn steps_over_unseen(&mut self, tag: Tag) -> bool {
        if self.searches == 0 {
            return false;
        }
        let (mut after, (start, length)) = (self.tokens.clone(), self.tokens.progress());
        let skips = step_over(&mut after, tag) && after.progress().0 - start <= length / 2;
        if skips {
            self.tokens = after;
        } else {
            self.searches -= 1;
        }
        skips
    }
}

/// Skips everything up to the end tag of `tag`, or to the end of the page. Returns whether there is an end tag.
fn step_over(tokens: &mut Scanner, tag: Tag) -> bool {
    let mut depth = 1;
    for token in tokens {
        match token {
            Token::Open(open) if open.tag == tag && !is_closed(&open) => depth += 1,
            Token::Close(close) if close == tag => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return true;
        }
    }
    false
}

/// Whether the attributes of a start tag hide its element. Elements whose end tag may be missing are not considered.
fn is_unseen(open: &Open<'_>) -> bool {
    // Nearly all tags end here.
    let words = [&b"hidden"[..], b"none", b"HIDDEN", b"NONE"];
    let may = words.iter().any(|word| memchr::memmem::find(open.attributes, word).is_some());
    may && open.tag.has_end() && Attributes::new(open.attributes).any(|(name, value)| hides(name, value))
}

/// Whether an attribute hides its element.
fn hides(name: &[u8], value: &[u8]) -> bool {
    if name.eq_ignore_ascii_case(b"hidden") {
        return !value.eq_ignore_ascii_case(b"until-found");
    }
    name.eq_ignore_ascii_case(b"style") && value.split(|byte| *byte == b';').any(declares_nothing_shown)
}

/// Whether a declaration of a style is `display: none` or `visibility: hidden`.
fn declares_nothing_shown(declaration: &[u8]) -> bool {
    let mut sides = declaration.splitn(2, |byte| *byte == b':').map(<[u8]>::trim_ascii);
    let (property, value) = (sides.next().unwrap_or_default(), sides.next().unwrap_or_default());
    let begins = |word: &[u8]| value.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    (property.eq_ignore_ascii_case(b"display") && begins(b"none"))
        || (property.eq_ignore_ascii_case(b"visibility") && begins(b"hidden"))
}

/// Whether a start tag ends in a `/` of its own. That at the end of `<object data=/a/>` belongs to the value.
fn is_closed(open: &Open<'_>) -> bool {
    let is_bare = |(_, value): (&[u8], &[u8])| {
        let before = open.attributes.strip_suffix(value).filter(|_| !value.is_empty());
        before.is_some_and(|before| before.trim_ascii_end().ends_with(b"="))
    };
    open.attributes.ends_with(b"/") && !Attributes::new(open.attributes).last().is_some_and(is_bare)
}

impl<'a> Iterator for Visible<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let token = self.tokens.next()?;
            let Token::Open(open) = token else { return Some(token) };
            if open.tag.is_hidden() && !is_closed(&open) {
                step_over(&mut self.tokens, open.tag);
            } else if is_unseen(&open) && self.steps_over_unseen(open.tag) {
                if open.tag.is_inline() {
                    continue;
                }
                // The words before and after are apart, and there is no box.
                return Some(Token::Open(Open { tag: Tag::Void, attributes: b"" }));
            }
            return Some(token);
        }
    }
}

//! Drops tokens that are never shown: the contents of templates, drawings and embedded objects.

use super::attribute::Attributes;
use super::scan::{Open, Scanner, Token};
use super::tag::Tag;

/// The tokens that a reader can see.
pub struct Visible<'a> {
    tokens: Scanner<'a>,
}

impl<'a> Visible<'a> {
    pub fn new(html: &'a str) -> Visible<'a> {
        Visible { tokens: Scanner::new(html) }
    }

    /// Skips everything up to the end tag of `tag`, or to the end of the page.
    fn step_over(&mut self, tag: Tag) {
        let mut depth = 1;
        for token in self.tokens.by_ref() {
            match token {
                Token::Open(open) if open.tag == tag && !is_closed(&open) => depth += 1,
                Token::Close(close) if close == tag => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }
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
        let token = self.tokens.next()?;
        if let Token::Open(open) = token
            && open.tag.is_hidden()
            && !is_closed(&open)
        {
            self.step_over(open.tag);
        }
        Some(token)
    }
}

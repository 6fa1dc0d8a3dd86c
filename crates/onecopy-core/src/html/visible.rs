//! Drops tokens that are never shown: the contents of templates, drawings and embedded objects.

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

fn is_closed(open: &Open<'_>) -> bool {
    open.attributes.last() == Some(&b'/')
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

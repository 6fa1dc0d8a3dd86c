//! A record: the facts read from a page before anything is compared.
//!
//! Equal records give equal sketches, ranks and links, whatever the source of the pages. A binding that makes the
//! records of its rows here gets exactly the sketches of the program.

use std::borrow::Cow;

use crate::config::{CanonicalRules, Config, Content};
use crate::page::address::{AddressRules, resolve};
use crate::page::head::{head, title};
use crate::page::html::{MainContent, html_to_parts, html_to_text, links};
use crate::page::link::LinkKind;
use crate::similarity::method::{LooksAt, Method, Parts};
use crate::text::canonical::{Canonical, canonicalise, canonicalise_json, unescape};

/// The facts read from a page.
#[derive(Clone, Debug, Default)]
pub struct Record<'a> {
    /// The text that is compared.
    pub text: Text<'a>,
    /// The id as JSON writes it, a string in quotes or a number. Empty if there is none.
    pub id: &'a str,
    /// The address that the page was fetched from.
    pub url: Option<Cow<'a, str>>,
    /// The time of the fetch, or the page's own date, in seconds since 1970.
    pub time: Option<i64>,
    /// PageRank, clicks, or any number that grows with value.
    pub popularity: Option<f64>,
    /// Absolute addresses that the page names as its own.
    pub links: Vec<(LinkKind, String)>,
    /// All text of its HTML and which of it is main content, if [`Needs::parts`] asks for it.
    pub parts: Option<TextParts>,
    /// Hashes of the addresses that its HTML links to, if [`Needs::links`] asks for them.
    pub out_links: Vec<u64>,
    /// The fields of its WARC record.
    pub archived: Option<Archived<'a>>,
    /// The page as it was found, if [`Needs::whole`] asks for it.
    pub whole: Option<Whole>,
}

impl<'a> Record<'a> {
    /// A record of plain text.
    pub fn of_text(text: &'a str) -> Record<'a> {
        Record { text: Text::Plain(text.into()), ..Record::default() }
    }

    /// Sets the text of a page of plain text.
    pub fn plain(&mut self, text: Text<'a>, needs: &Needs) {
        if needs.whole {
            let text = text.plain().into_owned();
            self.whole = Some(Whole { html: false, text, stated: self.links.len() });
        }
        self.text = text;
    }

    /// Reads the text and the links of an HTML page. Set the address before: links may be relative to it.
    pub fn html(&mut self, html: &str, needs: &Needs) {
        if needs.whole {
            self.whole = Some(Whole { html: true, text: html.to_owned(), stated: self.links.len() });
        }
        let mut text = String::new();
        if needs.parts {
            let parts = TextParts::of(html);
            parts.compared(&mut text);
            self.parts = Some(parts);
        } else {
            html_to_text(html, needs.content, &mut text);
        }
        self.text = Text::Plain(text.into());
        if let Some(rules) = &needs.links {
            links(html, self.url.as_deref(), rules, &mut self.out_links);
        }
        let head = head(html, self.url.as_deref());
        self.links.extend(head.refresh.map(|to| (LinkKind::Redirect, to)));
        self.links.extend(head.canonical.map(|to| (LinkKind::Canonical, to)));
    }

    /// Adds a link, which may be relative to the page's address. An invalid address is ignored.
    pub fn link(&mut self, kind: LinkKind, to: &str) {
        let base = self.url.as_deref().unwrap_or_default();
        self.links.extend(resolve(base, to.trim()).map(|to| (kind, to)));
    }

    /// Whether a redirect or a revisit record says that the page is elsewhere.
    pub fn points_elsewhere(&self) -> bool {
        self.links.iter().any(|(kind, _)| *kind != LinkKind::Canonical)
    }
}

/// The text of a page.
#[derive(Clone, Debug)]
pub enum Text<'a> {
    /// The inside of a JSON string, with its escapes.
    Json(&'a str),
    /// Plain text.
    Plain(Cow<'a, str>),
}

impl Default for Text<'_> {
    fn default() -> Self {
        Text::Json("")
    }
}

impl Text<'_> {
    /// Writes the canonical form of the text into `out`.
    pub fn canonicalise(&self, rules: &CanonicalRules, out: &mut Canonical) {
        match self {
            Text::Json(raw) => canonicalise_json(raw, rules, out),
            Text::Plain(text) => canonicalise(text, rules, out),
        }
    }

    /// The text without escapes.
    pub fn plain(&self) -> Cow<'_, str> {
        match self {
            Text::Json(raw) => Cow::Owned(unescape(raw)),
            Text::Plain(text) => Cow::Borrowed(text),
        }
    }
}

/// All text of an HTML page, and which parts of it are main content.
#[derive(Clone, Debug, Default)]
pub struct TextParts {
    text: String,
    main: MainContent,
    title: String,
}

impl TextParts {
    /// The parts of an HTML page.
    pub fn of(html: &str) -> TextParts {
        let mut text = String::new();
        let main = html_to_parts(html, &mut text);
        TextParts { text, main, title: title(html) }
    }

    /// Appends the text that [`Content::Auto`] compares.
    fn compared(&self, out: &mut String) {
        if self.main.is_enough {
            self.main.parts.iter().for_each(|part| out.push_str(&self.text[part.clone()]));
        } else {
            out.push_str(&self.text);
        }
    }

    /// The parts as a method sees them.
    pub fn parts(&self) -> Parts<'_> {
        Parts { text: &self.text, main: &self.main.parts, title: &self.title }
    }
}

/// Selects what is read from an HTML page.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// Which text is compared.
    pub content: Content,
    /// Whether [`Record::parts`] is filled.
    pub parts: bool,
    /// The rules for addresses if [`Record::out_links`] is filled.
    pub links: Option<AddressRules>,
    /// Whether [`Record::whole`] is filled.
    pub whole: bool,
}

impl Needs {
    /// The needs of a method for pages that are read by `config`.
    pub fn of(config: &Config, method: &dyn Method) -> Needs {
        let LooksAt { links, parts, .. } = method.looks_at();
        let links = links.then(|| config.addresses.clone());
        // A configuration that asks for all text, or for main content alone, gets only that.
        let parts = parts && config.content == Content::Auto;
        Needs { content: config.content, parts, links, whole: false }
    }
}

/// The fields of a WARC record, as written. Empty fields are unknown.
#[derive(Clone, Debug, Default)]
pub struct Archived<'a> {
    /// When it was fetched.
    pub date: Cow<'a, str>,
    /// The id of the record.
    pub id: Cow<'a, str>,
    /// The digest of its payload.
    pub digest: Cow<'a, str>,
}

impl Archived<'_> {
    /// Date, id and digest.
    pub fn parts(&self) -> [&str; 3] {
        [&self.date, &self.id, &self.digest]
    }
}

/// A page as it was found, decoded.
#[derive(Clone, Debug)]
pub struct Whole {
    /// Whether it is HTML.
    pub html: bool,
    /// All of it.
    pub text: String,
    /// How many of the record's links are not from the HTML; they come first.
    pub stated: usize,
}

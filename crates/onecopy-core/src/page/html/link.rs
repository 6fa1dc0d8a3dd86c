//! HTML → the addresses that a page links to.

use super::markup::attribute::Attributes;
use super::markup::entity::decoded;
use super::markup::scan::Token;
use super::markup::tag::Tag;
use super::markup::visible::Visible;
use crate::hash::digest;
use crate::page::address::{AddressRules, identity, resolve};
use crate::page::head::base;

/// How many links of a page are read at most.
const LINKS_LIMIT: usize = 10_000;
/// The longest link in bytes. Longer ones hold data, not an address.
const LINK_BYTES: usize = 2048;

/// A link of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutLink {
    /// The absolute address that it leads to.
    pub to: String,
    /// Whether its author does not vouch for it (`rel=nofollow`).
    pub nofollow: bool,
}

/// Appends a hash for each link of the page `html`, in order. The hash is of the identity of the linked address.
/// `address` is where the page was fetched. Links within the page and links that are not http or https are skipped.
pub fn links(html: &str, address: Option<&str>, rules: &AddressRules, out: &mut Vec<u64>) {
    let mut name = String::new();
    each_link(html, address.unwrap_or_default(), |link| {
        identity(&link.to, rules, &mut name);
        out.push(digest(name.as_bytes()));
    });
}

/// Calls `each` with the links of the page `html`, in order. The same links are skipped as by [`links`].
pub fn each_link(html: &str, address: &str, each: impl FnMut(OutLink)) {
    let base = base(html, address);
    let tags = Visible::new(html).filter_map(|token| match token {
        Token::Open(open) if open.tag == Tag::A => Some((href(open.attributes)?, open.attributes)),
        _ => None,
    });
    let targets = tags.filter_map(|(link, attributes)| {
        Some(OutLink { to: resolve(&base, &link)?, nofollow: is_nofollow(attributes) })
    });
    targets.take(LINKS_LIMIT).for_each(each);
}

/// The address in these attributes, as written. The first of several counts, as in a browser.
fn href(attributes: &[u8]) -> Option<String> {
    let value = attribute(attributes, b"href")?.trim_ascii();
    let leads_out = !value.is_empty() && value.len() <= LINK_BYTES && value[0] != b'#';
    leads_out.then(|| decoded(value))
}

fn is_nofollow(attributes: &[u8]) -> bool {
    let words = attribute(attributes, b"rel").unwrap_or_default();
    words.split(u8::is_ascii_whitespace).any(|word| word.eq_ignore_ascii_case(b"nofollow"))
}

fn attribute<'a>(attributes: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    Attributes::new(attributes).find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn links_of(html: &str) -> Vec<u64> {
        let mut out = Vec::new();
        links(html, Some("http://site.example/a/b"), &AddressRules::default(), &mut out);
        out
    }

    fn check(html: &str, expected: &[&str]) {
        let hash = |url: &&str| {
            let mut name = String::new();
            identity(url, &AddressRules::default(), &mut name);
            digest(name.as_bytes())
        };
        assert_eq!(links_of(html), expected.iter().map(hash).collect::<Vec<_>>(), "{html}");
    }

    #[test]
    fn links_are_absolute_and_in_order() {
        check(
            "<a href=c>x</a><A class=y HREF='/d?e=1&amp;f=2'>y</A><p><a href=\"https://other.example\">z</a>",
            &["http://site.example/a/c", "http://site.example/d?e=1&f=2", "https://other.example/"],
        );
        check("<base href=/x/><a href=c href=d>", &["http://site.example/x/c"]);
        check("<a href='/c#part'>", &["http://site.example/c"]);
    }

    #[test]
    fn an_author_need_not_vouch_for_a_link() {
        let mut found = Vec::new();
        let html = "<a href=/a rel='ugc NOFOLLOW'><a rel=nofollower href=/b><a href=/c>";
        each_link(html, "http://site.example/", |link| found.push((link.to, link.nofollow)));
        let link = |path: &str, nofollow| (format!("http://site.example{path}"), nofollow);
        assert_eq!(found, [link("/a", true), link("/b", false), link("/c", false)]);
    }

    #[test]
    fn what_leads_nowhere_is_no_link() {
        for html in [
            "<a>",
            "<a name=c>",
            "<a href>",
            "<a href=''>",
            "<a href='#top'>",
            "<a href='javascript:x()'>",
            "<a href='mailto:x@site.example'>",
            "<link href=/c>",
            "<!--<a href=/c>-->",
            "<script><a href=/c></script>",
            "<template><a href=/c></template>",
            "<a href=/c",
            "<abbr href=/c>",
        ] {
            check(html, &[]);
        }
        check(&format!("<a href='/{}'>", "x".repeat(LINK_BYTES)), &[]);
        assert_eq!(links_of(&"<a href=/c>".repeat(LINKS_LIMIT + 1)).len(), LINKS_LIMIT);
        let mut out = Vec::new();
        links("<a href=/c><a href=http://site.example/d>", None, &AddressRules::default(), &mut out);
        assert_eq!(out.len(), 1, "without an address, what is relative leads nowhere");
    }

    proptest! {
        #[test]
        fn no_page_breaks_it(
            pieces in prop::collection::vec(prop_oneof![
                Just("<a "), Just("href="), Just("'"), Just("\""), Just(">"), Just("<base href="), Just("é"), Just("&#"),
                Just("&amp;"), Just("/"), Just("http://"), Just("="), Just(" "), Just("&#xd800;"), Just("<svg>"),
            ], 0..40),
            any in any::<String>()
        ) {
            links_of(&pieces.concat());
            links_of(&any);
        }
    }
}

//! Facts in the head of an HTML page: its title, its canonical address, where it redirects, its language.
//!
//! It is a scan without a tree: it reads tags until the head ends and ignores the body. As in a browser, it ignores
//! scripts, styles, comments, templates and `noscript`.

mod tags;

use std::borrow::Cow;

use crate::page::address::resolve;
use crate::page::html::decoded;
use tags::{StartTag, Tags};

/// How many bytes of a page are read. Scripts and styles make heads long. Among 755 canonical links on real pages,
/// every seventh came after the first 64 KiB, and none after this limit.
const HEAD_BYTES: usize = 512 << 10;
/// A page that redirects after more seconds than this is meant to be read.
const REFRESH_SECONDS: f64 = 10.0;
/// How many bytes of a title are read.
const TITLE_BYTES: usize = 1 << 10;
/// The longest language tag in bytes. Longer ones are ignored.
const LANGUAGE_BYTES: usize = 35;

/// The facts in the head of a page. Addresses are absolute.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Head {
    /// The address that the page names as its own, by `<link rel=canonical>`.
    pub canonical: Option<String>,
    /// Where the page redirects, by `<meta http-equiv=refresh>` within a few seconds.
    pub refresh: Option<String>,
    /// The language tag of the page as written, such as `en-GB`.
    pub language: Option<String>,
}

/// Reads the head of the page `html` that was fetched from `address`. The first of several links of one kind counts.
pub fn head(html: &str, address: Option<&str>) -> Head {
    read(html).resolve(address)
}

/// The title of the page `html`, with entities decoded. Without one it is empty.
pub(crate) fn title(html: &str) -> String {
    read(html).title.unwrap_or_default()
}

/// The address that links in the page `html` are relative to: where it was fetched, unless the page gives another.
pub(crate) fn base<'a>(html: &str, address: &'a str) -> Cow<'a, str> {
    let given = read(html).base.and_then(|base| resolve(address, &base));
    given.map_or(Cow::Borrowed(address), Cow::Owned)
}

fn read(html: &str) -> HeadFields {
    let mut found = HeadFields::default();
    let mut tags = Tags::new(&html.as_bytes()[..html.len().min(HEAD_BYTES)]);
    while let Some(tag) = tags.next() {
        match tag.name() {
            b"html" => found.html(&tag),
            b"link" => found.link(&tag),
            b"meta" => found.meta(&tag),
            b"base" => found.base(&tag),
            b"title" => found.title(tags.skip_element(&tag)),
            b"script" | b"style" | b"noscript" | b"template" => {
                tags.skip_element(&tag);
            }
            b"head" | b"basefont" | b"bgsound" | b"noframes" => {}
            _ => break,
        }
    }
    found
}

/// The facts in the head, as written.
#[derive(Default)]
struct HeadFields {
    title: Option<String>,
    base: Option<String>,
    canonical: Option<String>,
    refresh: Option<String>,
    language: Option<String>,
}

impl HeadFields {
    fn html(&mut self, tag: &StartTag) {
        let language = tag.value(b"lang").or_else(|| tag.value(b"xml:lang"));
        let language = language.map(|language| language.trim().to_owned());
        let valid = |language: &String| (1..=LANGUAGE_BYTES).contains(&language.len());
        self.language = self.language.take().or(language.filter(valid));
    }

    /// Keeps the first title, up to a limit.
    fn title(&mut self, text: &[u8]) {
        let text = || decoded(&text[..text.len().min(TITLE_BYTES)]);
        self.title = self.title.take().or_else(|| Some(text()));
    }

    fn link(&mut self, tag: &StartTag) {
        let canonical =
            |rel: String| rel.split_ascii_whitespace().any(|rel| rel.eq_ignore_ascii_case("canonical"));
        if self.canonical.is_none() && tag.value(b"rel").is_some_and(canonical) {
            self.canonical = tag.value(b"href").filter(|href| !href.trim().is_empty());
        }
    }

    fn meta(&mut self, tag: &StartTag) {
        let refresh = |kind: String| kind.trim().eq_ignore_ascii_case("refresh");
        if self.refresh.is_none() && tag.value(b"http-equiv").is_some_and(refresh) {
            self.refresh =
                tag.value(b"content").and_then(|content| Some(refresh_target(&content)?.to_owned()));
        }
    }

    fn base(&mut self, tag: &StartTag) {
        self.base = self.base.take().or_else(|| tag.value(b"href"));
    }

    fn resolve(self, address: Option<&str>) -> Head {
        let address = address.unwrap_or("");
        let base = self.base.and_then(|base| resolve(address, &base));
        let absolute = |link: Option<String>| resolve(base.as_deref().unwrap_or(address), &link?);
        Head { canonical: absolute(self.canonical), refresh: absolute(self.refresh), language: self.language }
    }
}

/// The address in the content of a refresh, such as `0; url='/there'`. `None`: the page only reloads, or it waits
/// long.
fn refresh_target(content: &str) -> Option<&str> {
    let content = content.trim();
    let delay = content.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(content.len());
    let (delay, rest) = content.split_at(delay);
    if !delay.parse::<f64>().is_ok_and(|seconds| seconds <= REFRESH_SECONDS) {
        return None;
    }
    let separated = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ';' || c == ',');
    if separated.len() == rest.len() {
        return None;
    }
    let target = without_key(separated);
    let target = match target.chars().next().filter(|quote| matches!(quote, '\'' | '"')) {
        Some(quote) => target[1..].split(quote).next().unwrap_or_default(),
        None => target,
    };
    Some(target.trim()).filter(|target| !target.is_empty())
}

/// `rest` without a leading `url =`.
fn without_key(rest: &str) -> &str {
    let key = rest.get(..3).filter(|key| key.eq_ignore_ascii_case("url"));
    let value = key.and_then(|_| rest[3..].trim_start().strip_prefix('='));
    value.map_or(rest, str::trim_start)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ADDRESS: &str = "http://site.example/a/b";

    #[test]
    fn the_first_title_counts() {
        assert_eq!(
            title("<html><head><title lang=en>Salt &amp;&nbsp;pepper</TITLE ><title>no</title>"),
            "Salt &\u{a0}pepper"
        );
        assert_eq!(title("<head><script><title>no</title></script><title>a</title></head>"), "a");
        assert_eq!(title("<head><title>never closed"), "never closed");
        for none in ["", "<p>text<title>no</title>", "<head></head><title>no</title>", "<title></title>"] {
            assert_eq!(title(none), "");
        }
    }

    fn canonical(html: &str) -> Option<String> {
        head(html, Some(ADDRESS)).canonical
    }

    #[test]
    fn canonical_links_are_found_however_they_are_written() {
        for html in [
            "<link rel=canonical href=/c>",
            "<LINK HREF='/c' REL='CANONICAL'>",
            "<!doctype html><html><head><title>a < b <link></title><link rel=\"nofollow canonical\" href=\"/c\" />",
            "\u{feff}<head><meta charset=utf-8><link rel = canonical\n href = \"/c\"><link rel=canonical href=/d>",
            "<link rel=canonical href='http://site.example/c'></head><body><link rel=canonical href=/e>",
            "<link href='/c' rel='canonical' href='/d'>",
            "<base href='/x/'><link rel=canonical href='../c'>",
            "<link rel=canonical href='c'><base href=/><base href=/y/>",
            "<link rel=canonical href='&#47;&#x63;'>",
            "<link title='>' rel=canonical href=/c>",
        ] {
            assert_eq!(canonical(html).as_deref(), Some("http://site.example/c"), "{html}");
        }
        assert_eq!(
            canonical("<link rel=canonical href='/?a=1&amp;b=2&c'>").unwrap(),
            "http://site.example/?a=1&b=2&c"
        );
        assert_eq!(head("<link rel=canonical href=/c>", None).canonical, None);
        assert_eq!(
            head("<link rel=canonical href=http://a.example/>", None).canonical.unwrap(),
            "http://a.example/"
        );
    }

    #[test]
    fn what_is_not_in_the_head_says_nothing() {
        for html in [
            "",
            "<",
            "<link",
            "<link rel=canonical href=\"/c",
            "<link rel=canonical href=/c",
            "<!-- <link rel=canonical href=/c> -->",
            "<!-- <link rel=canonical href=/c>",
            "<script>'<link rel=canonical href=/c>'</script>",
            "<script>x</scrip><link rel=canonical href=/c>",
            "<style><link rel=canonical href=/c>",
            "<noscript><link rel=canonical href=/c></noscript>",
            "<template><link rel=canonical href=/c></template>",
            "<title><link rel=canonical href=/c></title>",
            "<body><link rel=canonical href=/c>",
            "</head><link rel=canonical href=/c>",
            "<p><link rel=canonical href=/c>",
            "text <link rel=canonical href=/c>",
            "<links rel=canonical href=/c>",
            "<link rel=canonical href=''>",
            "<link rel=canonical href='javascript:a'>",
            "<link rel=canonical-x href=/c>",
            "<meta name='<link rel=canonical href=/c>",
        ] {
            assert_eq!(head(html, Some(ADDRESS)), Head::default(), "{html}");
        }
        let far = format!("<!--{}--><link rel=canonical href=/c>", "x".repeat(HEAD_BYTES));
        assert_eq!(canonical(&far), None);
    }

    #[test]
    fn refreshes_are_followed_if_they_are_quick() {
        for content in ["0;url=/c", "0; URL='/c'", " 3.5 , url = \"/c\" x", "0;/c", "10; url=/c", "0 /c"] {
            let html = format!("<meta http-equiv=Refresh content=\"{}\">", content.replace('"', "&quot;"));
            assert_eq!(
                head(&html, Some(ADDRESS)).refresh.as_deref(),
                Some("http://site.example/c"),
                "{content}"
            );
        }
        for content in ["0", "30;url=/c", "5;", "", "url=/c", "0;url=", "0;url=''", "-1;url=/c", ";url=/c"] {
            let html = format!("<meta http-equiv=refresh content=\"{content}\">");
            assert_eq!(head(&html, Some(ADDRESS)).refresh, None, "{content}");
        }
    }

    #[test]
    fn the_language_is_that_of_the_root() {
        let language = |html| head(html, None).language;
        assert_eq!(language("<html lang=en-GB>").as_deref(), Some("en-GB"));
        assert_eq!(language("<!DOCTYPE html>\n<HTML xml:lang=' de '>").as_deref(), Some("de"));
        assert_eq!(language("<html><meta lang=en>"), None);
        assert_eq!(language("<html lang=''>"), None);
        assert_eq!(language(&format!("<html lang={}>", "x".repeat(99))), None);
    }

    proptest! {
        #[test]
        fn no_page_breaks_it(
            pieces in prop::collection::vec(prop_oneof![
                Just("<link "), Just("rel=canonical "), Just("href="), Just("'"), Just("\""), Just(">"), Just("<!--"),
                Just("-->"), Just("<script>"), Just("</script"), Just("<base href="), Just("é"), Just("&#"), Just("&amp;"),
                Just("<meta http-equiv=refresh content="), Just("0;url="), Just("/"), Just("="), Just(" "), Just("&#xd800;"),
            ], 0..40),
            any in any::<String>()
        ) {
            head(&pieces.concat(), Some(ADDRESS));
            head(&any, Some(&any));
            refresh_target(&any);
        }
    }
}

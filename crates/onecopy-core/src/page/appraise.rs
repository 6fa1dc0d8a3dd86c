//! Record → facts about a page before it is compared.
//!
//! A batch run and the service must give the same answer. Both therefore appraise records here and nowhere else.

use std::borrow::Cow;

use crate::config::Config;
use crate::decide::winner::{Contender, in_market, rank};
use crate::hash::{Fingerprint, digest};
use crate::page::address::identity;
use crate::page::id::canonical_id;
use crate::page::language::{Language, language};
use crate::page::link::{Claim, LinkKind};
use crate::page::record::{Record, TextParts};
use crate::page::{PageId, Signals};
use crate::similarity::method::{LooksAt, Method, Scratch, Subject};
use crate::text::canonical::Canonical;

/// The facts about a page before it is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Appraised<'a> {
    /// Its name as JSON, in its one form: its id, else its address, else nothing.
    pub name: Cow<'a, str>,
    /// The hash of its canonical text.
    pub fingerprint: Fingerprint,
    /// Whether it has no words.
    pub silent: bool,
    /// Whether a redirect or a revisit record says that the page is elsewhere.
    pub pointing: bool,
    /// Whether its sketch depends on more than its canonical text, so that a page with the same text may have
    /// another.
    pub own: bool,
    /// Its own address.
    pub address: Address,
    /// The language as in [`Language::to_u8`]; zero if it is unknown.
    pub language: u8,
    /// A bit for each configured market that its address is in.
    pub markets: u16,
    /// Its place in the order of preference: smaller is better.
    pub rank: Vec<u8>,
    /// The addresses that it names as its own, except the one where it was found.
    pub links: Vec<NamedLink>,
}

impl Appraised<'_> {
    /// The links of the page as claims, with `page` as its number in a run.
    pub fn claims(&self, page: PageId) -> impl Iterator<Item = Claim> + '_ {
        self.links.iter().map(move |link| Claim {
            page,
            kind: link.kind,
            from: self.address.exact,
            own_identity: self.address.identity,
            address: link.address.exact,
            identity: link.address.identity,
            silent: self.silent,
        })
    }

    /// Why the page cannot be judged, if so: it has no words and does not point to another page.
    pub fn objection(&self) -> Option<&'static str> {
        (self.silent && !self.pointing).then_some("no words to compare")
    }
}

/// The hashes that an address is looked up by; zeros if there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// The hash of the address as written.
    pub exact: u64,
    /// The hash of its identity by the address rules: addresses with the same identity name the same page.
    pub identity: u64,
}

/// An address that a page names.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedLink {
    /// How the page names it.
    pub kind: LinkKind,
    /// Its hashes.
    pub address: Address,
    /// The address itself.
    pub to: String,
}

/// Appraises pages and reuses its buffers. Each thread has its own.
#[derive(Debug)]
pub struct Appraiser<'a> {
    config: &'a Config,
    method: &'a dyn Method,
    canonical: Canonical,
    scratch: Scratch,
    /// The identity of the last address.
    identity: String,
}

impl<'a> Appraiser<'a> {
    /// An appraiser for a configuration and the method that it names.
    pub fn new(config: &'a Config, method: &'a dyn Method) -> Appraiser<'a> {
        let (canonical, scratch, identity) = (Canonical::default(), Scratch::default(), String::new());
        Appraiser { config, method, canonical, scratch, identity }
    }

    /// Appraises a page and appends its sketch to `sketch`; `bytes` are the record. If pages with the same canonical
    /// text share a sketch, the page is sketched only if `wanted` says so.
    pub fn appraise<'r>(
        &mut self,
        record: &Record<'r>,
        bytes: &[u8],
        wanted: impl FnOnce(Fingerprint) -> bool,
        sketch: &mut Vec<u64>,
    ) -> Appraised<'r> {
        record.text.canonicalise(&self.config.canonical, &mut self.canonical);
        let silent = self.canonical.token_count() == 0;
        let pointing = record.points_elsewhere();
        let fingerprint = self.canonical.fingerprint();
        let LooksAt { text, links, .. } = self.method.looks_at();
        let own = record.parts.is_some() || text || links;
        // A page that points to another is not compared, so no page may rely on its sketch. If a sketch depends on
        // more than the canonical text, the best page needs its own.
        if !silent && (pointing || own || wanted(fingerprint)) {
            self.sketch(record, sketch);
        }
        let address = self.address(record.url.as_deref());
        let links = self.links(record, address, silent);
        let name = name(record);
        let rank = self.rank(record, &name, bytes);
        let language = language(&self.canonical).map_or(0, Language::to_u8);
        let markets = markets(record.url.as_deref(), &self.config.markets);
        Appraised { name, fingerprint, silent, pointing, own, address, language, markets, rank, links }
    }

    /// Appends the sketch of the page that was canonicalised last.
    fn sketch(&mut self, record: &Record, out: &mut Vec<u64>) {
        let text = if self.method.looks_at().text { record.text.plain() } else { "".into() };
        let parts = record.parts.as_ref().map(TextParts::parts);
        let subject = Subject { canonical: &self.canonical, text: &text, links: &record.out_links, parts };
        self.method.sketch(&subject, &mut self.scratch, out);
    }

    fn address(&mut self, url: Option<&str>) -> Address {
        let Some(url) = url else { return Address::default() };
        self.identity.clear();
        if !identity(url, &self.config.addresses, &mut self.identity) {
            self.identity.push_str(url);
        }
        Address { exact: digest(url.as_bytes()).max(1), identity: digest(self.identity.as_bytes()).max(1) }
    }

    /// The addresses that the page names as its own, except the one where it was found.
    fn links(&mut self, record: &Record, own: Address, silent: bool) -> Vec<NamedLink> {
        let named = record.links.iter().map(|(kind, to)| (*kind, self.address(Some(to)), to));
        let elsewhere = named.filter(|(_, address, _)| silent || address.identity != own.identity);
        elsewhere.map(|(kind, address, to)| NamedLink { kind, address, to: to.clone() }).collect()
    }

    fn rank(&self, record: &Record, name: &str, bytes: &[u8]) -> Vec<u8> {
        let signals =
            Signals { url: record.url.as_deref(), time: record.time, popularity: record.popularity };
        let length = self.canonical.as_bytes().len();
        let (name, digest) = (name.trim_matches('"'), digest(bytes));
        let mut out = Vec::new();
        rank(&Contender { name, signals, length, digest }, &self.config.winner, &mut out);
        out
    }
}

/// A bit for each of `markets` that the address is in.
fn markets(url: Option<&str>, markets: &[String]) -> u16 {
    let Some(url) = url else { return 0 };
    let bits = markets.iter().enumerate().filter(|(_, market)| in_market(url, market));
    bits.fold(0, |set, (bit, _)| set | 1 << bit)
}

/// A page's name as JSON, in its one form: its id, else its address, else nothing.
fn name<'a>(record: &Record<'a>) -> Cow<'a, str> {
    match &record.url {
        _ if !record.id.is_empty() => canonical_id(record.id),
        Some(url) => serde_json::to_string(url).expect("a string is JSON").into(),
        None => "".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::method::method;

    #[test]
    fn a_page_that_cannot_be_judged_is_appraised_all_the_same() {
        let config = Config::default();
        let method = method(&config).unwrap();
        let mut appraiser = Appraiser::new(&config, &*method);
        let mut sketch = Vec::new();
        let mut appraise = |record: &Record| {
            let page = appraiser.appraise(record, b"", |_| true, &mut sketch);
            (page.name.to_string(), page.address, page.objection(), page.links)
        };
        let mut silent = Record { url: Some("http://a.example/1".into()), ..Record::of_text("!") };
        silent.link(LinkKind::Canonical, "/2");
        let (name, address, objection, links) = appraise(&silent);
        assert_eq!((name.as_str(), objection), ("\"http://a.example/1\"", Some("no words to compare")));
        assert_eq!((links.len(), links[0].to.as_str()), (1, "http://a.example/2"));
        let mut there = Record { id: "7", url: Some("http://a.example/2".into()), ..Record::of_text("") };
        there.link(LinkKind::Redirect, "/1");
        let there = appraise(&there);
        assert_eq!((there.0.as_str(), there.1, there.2), ("7", links[0].address, None));
        assert_eq!(there.3[0].address, address);
        assert_eq!(appraise(&Record::of_text("one")).1, Address::default());
        assert_eq!(sketch.len(), 1, "only the last has words");
    }
}

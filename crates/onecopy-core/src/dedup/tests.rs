//! The fast answer in memory equals the obvious one.

use proptest::prelude::*;

use super::*;
use crate::page::link::LinkKind;
use crate::page::record::{Needs, Record};
use crate::reference;
use crate::similarity::method::METHODS;

/// A page that a test makes.
#[derive(Clone, Debug)]
struct Made {
    id: String,
    text: String,
    html: bool,
    url: Option<u8>,
    redirect: Option<u8>,
    canonical: Option<u8>,
    popularity: Option<f64>,
}

fn address(number: u8) -> String {
    format!("http://{}.example/{number}", if number.is_multiple_of(2) { "a.uk" } else { "b" })
}

/// The signals of a page: address, redirect, canonical link, popularity.
type Signs = (Option<u8>, Option<u8>, Option<u8>, Option<u8>);

/// How a page's words are made: its base, the replaced words, whether it is HTML, and its length.
type Words = (usize, Vec<(usize, u8)>, bool, usize);

fn made(number: usize, bases: &[Vec<u8>], (base, edits, html, length): Words, signs: Signs) -> Made {
    let mut words: Vec<String> = bases[base].iter().map(|word| format!("w{word}")).collect();
    for (place, word) in edits {
        if let Some(slot) = words.get_mut(place) {
            *slot = format!("e{word}");
        }
    }
    words.truncate(length);
    let (url, redirect, canonical, popularity) = signs;
    let (id, text, popularity) = (format!("\"p{number}\""), words.join(" "), popularity.map(f64::from));
    Made { id, text, html, url, redirect, canonical, popularity }
}

/// Few words and few addresses, so that pages meet.
fn pages() -> impl Strategy<Value = Vec<Made>> {
    let bases = prop::collection::vec(prop::collection::vec(0u8..30, 0..40), 3);
    let edits = prop::collection::vec((0usize..40, 0u8..30), 0..4);
    let words = (0usize..3, edits, any::<bool>(), prop_oneof![Just(40usize), 0usize..40]);
    let rare = || prop::option::weighted(0.3, 0u8..12);
    let signs = (prop::option::weighted(0.7, 0u8..12), rare(), rare(), prop::option::of(0u8..3));
    (bases, prop::collection::vec((words, signs), 0..30)).prop_map(|(bases, pages)| {
        let pages = pages.into_iter().enumerate();
        pages.map(|(number, (words, signs))| made(number, &bases, words, signs)).collect()
    })
}

fn record<'a>(page: &'a Made, config: &Config, method: &dyn Method) -> Record<'a> {
    let mut record = Record {
        id: &page.id,
        url: page.url.map(|number| address(number).into()),
        popularity: page.popularity,
        ..Record::of_text(&page.text)
    };
    if page.html {
        let html = format!("<nav>home news about</nav><article><p>{}</p></article>", page.text);
        record.html(&html, &Needs::of(config, method));
    }
    if let Some(to) = page.redirect.map(address) {
        record.link(LinkKind::Redirect, &to);
    }
    if let Some(to) = page.canonical.map(address) {
        record.link(LinkKind::Canonical, &to);
    }
    record
}

fn configs() -> impl Strategy<Value = Config> {
    let others =
        ["lcs:threshold=0.3:limit=4", "simhash:distance=6:search=rotate:step=16:window=2", "jaccard:mod=3"];
    let names: Vec<&str> = METHODS.iter().map(|entry| entry.name).chain(others).collect();
    (prop::sample::select(names), any::<bool>()).prop_map(|(name, market)| {
        let markets = if market { vec!["uk".into()] } else { Vec::new() };
        Config { method: name.into(), markets, ..Config::default() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn fast_equals_obvious(pages in pages(), config in configs()) {
        let method = method(&config).unwrap();
        let records: Vec<Record> = pages.iter().map(|page| record(page, &config, &*method)).collect();
        prop_assert_eq!(dedup(&records, &config).unwrap(), reference::dedup(&records, &config));
    }

    #[test]
    fn fast_equals_obvious_against_a_base(pages in pages(), share in 0.0..1.0, config in configs()) {
        let method = method(&config).unwrap();
        let records: Vec<Record> = pages.iter().map(|page| record(page, &config, &*method)).collect();
        let base = (share * records.len() as f64) as PageId;
        let found = dedup_against(base, &records, &config).unwrap();
        prop_assert_eq!(&found, &reference::dedup_against(base, &records, &config));
        prop_assert!(found.of_page[..base as usize].iter().all(|decision| *decision == Decision::Kept));
    }
}

#[test]
fn a_page_shares_the_fate_of_the_page_that_it_redirects_to() {
    let text = "nine pages told the same story and one of them was kept by its reader";
    let page = |id| Record { id, ..Record::of_text(text) };
    let mut copy = page("1");
    copy.url = Some("http://a.example/copy".into());
    let mut redirect = Record { id: "2", ..Record::default() };
    redirect.link(LinkKind::Redirect, "http://a.example/copy");
    let best = Record { popularity: Some(1.0), ..page("0") };
    let silent = Record { id: "3", ..Record::of_text("...") };
    let decisions = dedup(&[best, copy, redirect, silent], &Config::default()).unwrap();
    let removed = |kind| Decision::Removed { winner: 0, similarity: 1.0, kind };
    assert_eq!(
        decisions.of_page,
        [Decision::Kept, removed(Kind::Exact), removed(Kind::Redirect), Decision::Rejected]
    );
    assert_eq!(decisions.group_of, [0, 0, 0, 3]);
}

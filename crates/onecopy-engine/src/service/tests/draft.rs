//! Versions of pages: texts that are alike or not, links, signals, and names that JSON writes in several ways.

use super::*;

/// A version of a page.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) page: usize,
    pub(super) base: usize,
    pub(super) drift: usize,
    pub(super) edits: Vec<usize>,
    pub(super) signal: usize,
    pub(super) link: PageLink,
    pub(super) shape: usize,
}

#[derive(Clone, Debug)]
pub(super) enum PageLink {
    None,
    Redirect(usize),
    Canonical(usize),
    Revisit(usize),
}

pub(super) const PAGES: usize = 14;

pub(super) fn made() -> impl Strategy<Value = Draft> {
    let link = prop_oneof![
        6 => Just(PageLink::None),
        2 => (0..PAGES).prop_map(PageLink::Redirect),
        2 => (0..PAGES).prop_map(PageLink::Canonical),
        1 => (0..PAGES).prop_map(PageLink::Revisit),
    ];
    let edits = prop::collection::vec(0usize..30, 0..3);
    (0..PAGES, 0usize..3, 0usize..6, edits, 0usize..4, link, 0..=TEMPLATE).prop_map(
        |(page, base, drift, edits, signal, link, shape)| Draft {
            page,
            base,
            drift,
            edits,
            signal,
            link,
            shape,
        },
    )
}

/// The name of a page. Some can be written in several ways.
pub(super) fn name(page: usize) -> String {
    if page % 7 == 3 { format!("p{page}/\"日\"") } else { format!("p{page}") }
}

/// The name of a page as JSON.
pub(super) fn json_name(page: usize) -> String {
    json!(name(page)).to_string()
}

/// Addresses, some of which are one page by the rules.
pub(super) fn address(page: usize) -> String {
    match page % 7 {
        5 => format!("https://www.h{}.example/p", page / 7),
        6 => format!("http://h{}.example/p/index.html?utm_source=x", page / 7),
        other => format!("http://h{}.example/{other}", page / 7),
    }
}

/// The shape of a page of a template: long, and with few words of its own.
pub(super) const TEMPLATE: usize = 6;

pub(super) fn template(made: &Draft) -> Vec<String> {
    let mut words: Vec<String> = (0..80).map(|i| format!("t{}w{i}", made.base)).collect();
    for (nth, &edit) in made.edits.iter().enumerate() {
        words[edit + 18 * nth] = format!("edit{}of{nth}", made.page);
    }
    words
}

pub(super) fn line(made: &Draft) -> String {
    let mut words: Vec<String> = (0..30).map(|i| format!("a{}w{i}", made.base)).collect();
    for step in 0..made.drift {
        words[2 * step + 1] = format!("drift{step}");
    }
    for &edit in &made.edits {
        words[edit] = format!("edit{}", made.page);
    }
    let mut record = json!({"id": name(made.page), "url": address(made.page)});
    let text = words.join(" ");
    match made.shape {
        0 => record["text"] = json!(""),
        1 => record["text"] = json!(words[..9].join(" ")),
        2 | 3 => {
            let menu = format!("<ul><li><a href=/>home</a><li><a href=/n>news {}</a></ul>", made.page % 3);
            record["html"] = json!(format!("<html><body>{menu}<p>{text}.</p><p>{text}</p></body></html>"));
        }
        TEMPLATE => record["text"] = json!(template(made).join(" ")),
        _ => record["text"] = json!(text),
    }
    match made.link {
        PageLink::None => {}
        PageLink::Redirect(to) => record["redirect"] = json!(address(to)),
        PageLink::Canonical(to) => record["canonical"] = json!(address(to)),
        PageLink::Revisit(to) => record["revisit"] = json!(address(to)),
    }
    // Times vary in both directions. They are signals, and do not decide which version counts.
    if made.signal > 0 {
        record["popularity"] = json!(made.signal);
        record["time"] = json!(1_000_000 * (7 - made.signal));
    }
    let line = record.to_string();
    if made.signal % 2 == 1 { line.replace('日', "\\u65e5").replace('/', "\\/") } else { line }
}

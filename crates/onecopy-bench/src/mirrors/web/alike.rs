//! Families that look like mirrors but are not.

use super::{Entry, Family, Fetch, WHOLE};

/// Adds a family of a random kind.
pub(super) fn plant(family: &mut Family) {
    match family.random.below(5) {
        0 => template(family),
        1 => syndicated(family),
        2 => error_pages(family),
        3 => few_shared(family),
        _ => same_names(family),
    }
}

/// Hosts of one shop system: the same small pages at the same paths, plus goods or posts of their own. The paths of
/// those are the same (numbered) or different.
fn template(family: &mut Family) {
    const SMALL: [&str; 12] = [
        "about",
        "contact",
        "privacy",
        "terms",
        "imprint",
        "cookies",
        "help/shipping",
        "help/returns",
        "help/payment",
        "legal/licence",
        "legal/notice",
        "legal/rights",
    ];
    let hosts = family.between(5, 40);
    let small = family.between(4, 12) as usize;
    let small: Vec<Entry> = SMALL[..small].iter().map(|path| (path.to_string(), family.content())).collect();
    for _ in 0..hosts {
        let host = family.host();
        let crawled = family.share(0.6, 1.0);
        family.publish(&host, "", &small, Fetch { crawled, edited: 0.0 });
        let pages = family.between(3, 25);
        let own = family.folder("post", pages);
        family.publish(&host, "", &own, WHOLE);
    }
}

/// A host that republishes articles of another, at other paths or under the same file names among its own articles.
fn syndicated(family: &mut Family) {
    let (a, b) = (family.host(), family.host());
    let pages = family.between(30, 60);
    let articles = family.folder("stories", pages);
    family.publish(&a, "", &articles, WHOLE);
    let own: Vec<Entry> =
        (0..pages).map(|number| (format!("daily/by-us-{number}"), family.content())).collect();
    family.publish(&b, "", &own, WHOLE);
    let (keeps_names, taken) = (family.random.once_in(2), family.share(0.1, 0.25));
    for (number, (path, content)) in articles.into_iter().enumerate().skip(1) {
        let name = path.rsplit('/').next().unwrap_or_default();
        let path = if keeps_names { format!("daily/{name}") } else { format!("daily/by-them-{number}") };
        family.publish(&b, "", &[(path, content)], Fetch { crawled: taken, edited: 0.0 });
    }
}

/// Hosts that answer every path with the same error page.
fn error_pages(family: &mut Family) {
    let (hosts, error) = (family.between(2, 8), family.content());
    for _ in 0..hosts {
        let host = family.host();
        let pages = family.between(10, 30);
        let errors: Vec<Entry> = (0..pages).map(|number| (format!("item/{number}.html"), error)).collect();
        family.publish(&host, "", &errors, Fetch { crawled: 0.8, edited: 0.0 });
        let own = family.site();
        family.publish(&host, "/own", &own, WHOLE);
    }
}

/// Two hosts that share a few pages at the same paths, such as a licence, among their own.
fn few_shared(family: &mut Family) {
    let shared: Vec<Entry> = ["licence.html", "faq.html", "docs/install.html"]
        .map(|path| (path.to_owned(), family.content()))
        .into();
    for _ in 0..2 {
        let host = family.host();
        family.publish(&host, "", &shared, WHOLE);
        let own = family.site();
        family.publish(&host, "/pages", &own, WHOLE);
    }
}

/// Two hosts with the same paths and different content.
fn same_names(family: &mut Family) {
    let (mut site, a, b) = (family.site(), family.host(), family.host());
    family.publish(&a, "", &site, WHOLE);
    for entry in &mut site {
        entry.1 = family.content();
    }
    family.publish(&b, "", &site, WHOLE);
}

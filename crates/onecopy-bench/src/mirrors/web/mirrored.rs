//! Families that are mirrors.

use super::{Family, Fetch, WHOLE};

/// The number of kinds of mirrors.
pub(super) const KINDS: u64 = 9;

/// Adds a family of mirrors of a random kind.
pub(super) fn plant(family: &mut Family) {
    match family.random.below(KINDS) {
        0 => whole(family, "whole host", WHOLE),
        1 => alias(family),
        2 => moved(family),
        3 => part(family),
        4 => only_part(family),
        5 => {
            let crawled = (1.0 - family.noise * family.share(0.6, 1.2)).max(0.25);
            whole(family, "crawled incompletely", Fetch { crawled, edited: 0.0 });
        }
        6 => {
            let edited = family.noise * family.share(0.2, 0.6);
            whole(family, "edited", Fetch { crawled: 0.95, edited });
        }
        7 => set(family),
        _ => one_host(family),
    }
}

fn whole(family: &mut Family, kind: &'static str, fetch: Fetch) {
    let (a, b, site) = (family.host(), family.host(), family.site());
    // Only one side is edited; both are crawled in the same way.
    family.publish(&a, "", &site, Fetch { edited: 0.0, ..fetch });
    family.publish(&b, "", &site, fetch);
    family.planted(a, b, kind);
}

fn alias(family: &mut Family) {
    let (host, site) = (family.host(), family.site());
    let crawled = family.share(0.7, 1.0);
    family.publish(&host, "", &site, Fetch { crawled, edited: 0.0 });
    family.publish(&format!("www.{host}"), "", &site, WHOLE);
    family.planted(host.clone(), format!("www.{host}"), "with www");
}

/// A site, or a folder of one, under another prefix on a host that has pages of its own.
fn moved(family: &mut Family) {
    let (a, b, site) = (family.host(), family.host(), family.site());
    let alpha = ["", "/pub", "/software/manual"][family.random.below(3) as usize];
    let beta = ["/mirror/a", "/ftp/pub/sites/x", "/~user/copy"][family.random.below(3) as usize];
    for (host, prefix) in [(&a, alpha), (&b, beta)] {
        if !prefix.is_empty() {
            let own = family.site();
            family.publish(host, "", &own, WHOLE);
        }
    }
    let crawled = 1.0 - family.noise * family.share(0.0, 0.6);
    family.publish(&a, alpha, &site, Fetch { crawled, edited: 0.0 });
    family.publish(&b, beta, &site, Fetch { crawled, edited: 0.05 });
    family.planted(format!("{a}{alpha}"), format!("{b}{beta}"), "under another prefix");
}

/// Two hosts share one folder, and have pages of their own, some at the same paths.
fn part(family: &mut Family) {
    let (a, b) = (family.host(), family.host());
    let (pages, numbers) = (family.between(8, 40), family.between(2, 4));
    let shared = family.folder("manual", pages);
    let same_names = family.folders(numbers);
    for host in [&a, &b] {
        family.publish(host, "", &shared, Fetch { crawled: 0.95, edited: 0.02 });
        for folder in &same_names {
            let pages = family.between(8, 25);
            let own = family.folder(folder, pages);
            family.publish(host, "", &own, WHOLE);
        }
    }
    family.planted(format!("{a}/manual"), format!("{b}/manual"), "one folder of two hosts");
}

/// A host that is only a copy of one folder of another.
fn only_part(family: &mut Family) {
    let (a, b, mut site) = (family.host(), family.host(), family.site());
    let pages = family.between(8, 40);
    let folder = family.folder("library", pages);
    family.publish(&b, "", &folder, Fetch { crawled: 0.95, edited: 0.02 });
    site.extend(folder);
    family.publish(&a, "", &site, Fetch { crawled: 0.95, edited: 0.0 });
    family.planted(format!("{a}/library"), format!("{b}/library"), "a host that is one folder of another");
}

fn set(family: &mut Family) {
    let (count, site) = (family.between(3, 6), family.site());
    let crawled = 1.0 - family.noise * family.share(0.0, 0.6);
    let beta = ["", "/mirror"][family.random.below(2) as usize];
    let mut places: Vec<String> = Vec::new();
    for number in 0..count {
        let host = family.host();
        let prefix = if number % 2 == 1 { beta } else { "" };
        if !prefix.is_empty() {
            let own = family.site();
            family.publish(&host, "", &own, WHOLE);
        }
        family.publish(&host, prefix, &site, Fetch { crawled, edited: 0.04 });
        let place = format!("{host}{prefix}");
        for other in &places {
            family.planted(other.clone(), place.clone(), "sets of three to six");
        }
        places.push(place);
    }
}

/// Two folders of one host, or a folder and everything around it.
fn one_host(family: &mut Family) {
    let (host, site) = (family.host(), family.site());
    let (alpha, beta) =
        [("/v1", "/latest"), ("", "/en"), ("/a/html", "/a/print")][family.random.below(3) as usize];
    let crawled = 1.0 - family.noise * family.share(0.0, 0.4);
    family.publish(&host, alpha, &site, Fetch { crawled, edited: 0.0 });
    family.publish(&host, beta, &site, Fetch { crawled, edited: 0.05 });
    if !alpha.is_empty() {
        let own = family.folder("shop", 12);
        family.publish(&host, "", &own, WHOLE);
    }
    family.planted(format!("{host}{alpha}"), format!("{host}{beta}"), "on one host");
}

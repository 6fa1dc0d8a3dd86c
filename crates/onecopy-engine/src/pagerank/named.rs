//! The name of a page: its address in its one form, or its id if it has none.

use std::borrow::Cow;

use onecopy_core::{AddressRules, canonical_id, identity, resolve};

/// Stands in front of the path of a file, so that links between files can be resolved. No such host exists (RFC 2606).
const FILES: &str = "http://files.invalid/";

/// Writes the name of the page at `address` into `out`, replacing its contents.
pub(super) fn name(address: &str, rules: &AddressRules, out: &mut String) {
    // Ids of edge lists are numbers, and need no parsing.
    if is_web(address) {
        identity(address, rules, out);
    } else {
        out.clear();
        out.push_str(address.trim());
    }
}

/// The name of a page that has an address, else an id, which is JSON. `None` if it has neither.
pub(super) fn name_of(url: Option<&str>, id: &str, rules: &AddressRules, out: &mut String) -> Option<()> {
    match url {
        Some(url) => name(url, rules, out),
        None if id.is_empty() => return None,
        None => {
            let id = canonical_id(id);
            *out = serde_json::from_str::<String>(&id).unwrap_or_else(|_| id.into_owned());
        }
    }
    Some(())
}

/// The address to resolve the links of a page against.
pub(super) fn base(url: &str) -> Cow<'_, str> {
    if is_web(url) {
        Cow::Borrowed(url)
    } else {
        Cow::Owned(format!("{FILES}{}", url.trim_start_matches('/')))
    }
}

/// An absolute address as links give it: the path of a file, if it is one.
pub(super) fn without_base(address: &str) -> &str {
    address.strip_prefix(FILES).map_or(address, |path| path.split(['#', '?']).next().unwrap_or_default())
}

/// The page that a link in a field of the page at `url` leads to. `None` if it leads nowhere.
pub(super) fn stated<'a>(url: Option<&str>, link: &'a str) -> Option<Cow<'a, str>> {
    let link = link.trim();
    match url {
        _ if link.is_empty() => None,
        Some(url) if is_web(url) => resolve(url, link).map(Cow::Owned),
        // Such links are the ids or paths of other pages.
        _ => Some(Cow::Borrowed(link)),
    }
}

fn is_web(address: &str) -> bool {
    let start = address.trim_start().as_bytes();
    start.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"http"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_link_to_files_and_addresses_to_addresses() {
        let link = |url: &str, link: &str| resolve(&base(url), link).map(|to| without_base(&to).to_owned());
        assert_eq!(link("site/a/b.html", "../c.html#top").as_deref(), Some("site/c.html"));
        assert_eq!(link("site/b.html", "https://x.example/").as_deref(), Some("https://x.example/"));
        assert_eq!(link("http://x.example/a/b", "c").as_deref(), Some("http://x.example/a/c"));
        assert_eq!(stated(None, " 17 ").as_deref(), Some("17"));
        assert_eq!(stated(Some("http://x.example/a"), "b").as_deref(), Some("http://x.example/b"));
        assert_eq!(stated(Some("http://x.example/a"), "mailto:b"), None);
        let mut out = String::new();
        name("HTTP://X.example:80/#a", &AddressRules::default(), &mut out);
        assert_eq!(out, "http://x.example/");
    }
}

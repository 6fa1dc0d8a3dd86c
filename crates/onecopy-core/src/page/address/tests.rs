//! URL identity: pairs that are the same, pairs that are not, and properties of all strings.

use proptest::prelude::*;

use super::*;

fn identity_by(url: &str, rules: &AddressRules) -> String {
    let mut out = String::from("left over");
    identity(url, rules, &mut out);
    out
}

fn identity_of(url: &str) -> String {
    identity_by(url, &AddressRules::default())
}

#[test]
fn addresses_of_one_page() {
    for (a, b) in [
        ("http://site.example/a", "https://site.example/a"),
        ("http://site.example", "HTTPS://WWW.Site.Example./"),
        ("http://site.example/a", "http://m.site.example:80/a/"),
        ("http://site.example/a", "https://site.example:443/a"),
        ("http://site.example/a", "http://reader:secret@site.example/a#part"),
        ("http://site.example/a", "  http://site.example/a\n"),
        ("http://site.example/a", "http:site.example\\a"),
        ("http://site.example/", "http://site.example/index.html"),
        ("http://site.example/a/", "http://site.example/a/Default.aspx?"),
        ("http://site.example/a", "http://site.example/a/index.php/"),
        ("http://site.example/a/c", "http://site.example/a/./b/%2e%2E/c"),
        ("http://site.example/a/c", "http://site.example//a///c/"),
        ("http://site.example/~user", "http://site.example/%7euser"),
        ("http://site.example/é b", "http://site.example/%c3%A9%20b"),
        ("http://site.example/?q=é'", "http://site.example/?q=%c3%a9%27"),
        ("http://site.example/a?b=2&a=1", "http://site.example/a?a=1&b=2"),
        ("http://site.example/a?a=1", "http://site.example/a?utm_source=x&a=1&UTM_Medium=y&&fbclid=z"),
        ("http://site.example/a?a=1", "http://site.example/a?a=1&PHPSESSID=1&sid=0123456789abcdef0123"),
        ("http://site.example/a", "http://site.example/a;jsessionid=0A1B.node1?gclid=1"),
        ("http://site.example/a;v=1/b", "http://site.example/a;v=1;JSESSIONID=7/b"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://BÜCHER.example/", "http://www.xn--BCHER-kva.example/"),
        ("http://127.0.0.1/", "http://0x7f.1/"),
        ("http://[::1]/", "http://[0:0::1]:80/"),
        ("http://www.youtube.com/watch?v=1&t=3&feature=x", "https://m.youtube.com/watch?v=1"),
        ("https://x.com/a/status/1", "https://mobile.twitter.com/a/status/1"),
        ("http://site.example/a?x=%zz%", "http://site.example/a?x=%25zz%25"),
    ] {
        assert_eq!(identity_of(a), identity_of(b), "{a} and {b}");
    }
}

#[test]
fn addresses_of_different_pages() {
    for (a, b) in [
        ("http://site.example/a", "http://site.example/A"),
        ("http://site.example/a", "http://site.example:8080/a"),
        ("http://site.example/a", "http://other.example/a"),
        ("http://site.example/a", "http://blog.site.example/a"),
        ("http://www.com/", "http://com/"),
        ("http://site.example/a?x=1", "http://site.example/a?x=2"),
        ("http://site.example/a?x=1&x=2", "http://site.example/a?x=2&x=1"),
        ("http://site.example/a?x=1&x=2&a", "http://site.example/a?x=2&x=1&a"),
        ("http://site.example/a?sid=12", "http://site.example/a?sid=13"),
        ("http://site.example/a%2Fb", "http://site.example/a/b"),
        ("http://site.example/a?x=1%262", "http://site.example/a?x=1&2"),
        ("http://site.example/a+b", "http://site.example/a%20b"),
        ("http://site.example/#!/a", "http://site.example/#!/b"),
        ("http://site.example/#!/a", "http://site.example/"),
        ("http://site.example/index.html.bak", "http://site.example/"),
        ("http://site.example/;v=1", "http://site.example/;v=2"),
        ("http://site.example/;s=1", "http://site.example/;s=2"),
        ("https://www.youtube.com/watch?v=1", "https://www.youtube.com/watch?v=2"),
        ("ftp://site.example/a", "http://site.example/a"),
    ] {
        assert_ne!(identity_of(a), identity_of(b), "{a} and {b}");
    }
}

#[test]
fn an_identity_is_an_address() {
    let mut out = String::new();
    assert!(identity(
        "HTTPS://www.Site.example:443/b/../A/?utm_source=x&q=1#f",
        &AddressRules::default(),
        &mut out
    ));
    assert_eq!(out, "http://site.example/A?q=1");
    for other in
        ["", "mailto:a@b.example", "site.example/a", "http://", "http://a b/", "http://a:99999/", "//a/"]
    {
        assert!(!identity(other, &AddressRules::default(), &mut out), "{other}");
        assert_eq!(out, other);
    }
}

#[test]
fn each_rule_can_be_switched_off() {
    for (rule, a, b) in [
        ("ignore_scheme = false", "http://site.example/", "https://site.example/"),
        ("ignore_host_case = false", "http://Site.example/", "http://site.example/"),
        ("international_hosts = false", "http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("drop_trailing_dot = false", "http://site.example./", "http://site.example/"),
        ("drop_user_info = false", "http://a@site.example/", "http://site.example/"),
        ("drop_default_ports = false", "http://site.example:80/", "http://site.example/"),
        ("host_prefixes = []", "http://www.site.example/", "http://site.example/"),
        ("resolve_dot_segments = false", "http://site.example/a/./b", "http://site.example/a/b"),
        ("merge_slashes = false", "http://site.example/a//b", "http://site.example/a/b"),
        ("drop_trailing_slash = false", "http://site.example/a/", "http://site.example/a"),
        ("index_files = []", "http://site.example/index.html", "http://site.example/"),
        ("normalise_percent_encoding = false", "http://site.example/%7ea", "http://site.example/~a"),
        ("sort_parameters = false", "http://site.example/?b&a", "http://site.example/?a&b"),
        ("drop_empty_query = false", "http://site.example/?", "http://site.example/"),
        ("tracking_parameters = []", "http://site.example/?utm_id=1", "http://site.example/"),
        ("session_parameters = []", "http://site.example/;jsessionid=1", "http://site.example/"),
        (
            "session_parameters_if_long = []",
            "http://site.example/?sid=0123456789abcdef",
            "http://site.example/",
        ),
        ("drop_fragments = false", "http://site.example/#a", "http://site.example/"),
        ("keep_hash_bang = false", "http://site.example/#!a", "http://site.example/#!b"),
        ("[host_aliases]", "http://x.com/", "http://twitter.com/"),
        ("hosts = []", "http://youtube.com/?v=1&t=1", "http://youtube.com/?v=1"),
    ] {
        let changed = AddressRules::parse(rule).unwrap();
        let same = |rules: &AddressRules| identity_by(a, rules) == identity_by(b, rules);
        let bang = rule.starts_with("keep");
        assert_eq!(same(&AddressRules::default()), !bang, "{rule}");
        assert_eq!(same(&changed), bang, "{rule}");
    }
}

#[test]
fn rules_are_read_and_refused() {
    let rules =
        AddressRules::parse("[[hosts]]\nhost = 'shop.example'\ndrop_parameters = ['*_ref', 'c*r']").unwrap();
    let same = |a, b| identity_by(a, &rules) == identity_by(b, &rules);
    assert!(same(
        "http://eu.shop.example/?x_ref=1&colour=2&id=3&cart=1",
        "http://eu.shop.example/?id=3&cart=1"
    ));
    assert!(!same("http://store.example/?x_ref=1", "http://store.example/"));
    let text = toml::to_string(&rules).unwrap();
    assert_eq!(AddressRules::parse(&text).unwrap(), rules);
    assert_ne!(rules, AddressRules::default());
    for (text, message) in [
        ("drop_fragment = true", "unknown field `drop_fragment`"),
        ("[[hosts]]\nhost = 'a.example'\nkeep = []", "unknown field `keep`"),
        ("drop_fragments = 1", "expected a boolean"),
        ("drop_fragments = ", "line 1"),
        ("[host_aliases]\n'a.example' = 'b.example'\n'b.example' = 'a.example'", "back to it"),
        ("[host_aliases]\n'a.example' = 'b c'", "is not a host"),
        ("host_prefixes = ['']", "empty entry"),
    ] {
        let error = AddressRules::parse(text).unwrap_err().to_string();
        assert!(error.contains(message) && error.starts_with("address rules: "), "{error}");
    }
}

#[test]
fn links_are_resolved() {
    let base = "https://site.example/a/b.html?x=1#y";
    for (link, address) in [
        ("c.html", Some("https://site.example/a/c.html")),
        (" ../d?e#f ", Some("https://site.example/d?e#f")),
        ("//other.example/x", Some("https://other.example/x")),
        ("HTTP://Other.example", Some("http://other.example/")),
        ("", Some("https://site.example/a/b.html?x=1")),
        ("mailto:a@b.example", None),
        ("javascript:void(0)", None),
        ("http://", None),
    ] {
        assert_eq!(resolve(base, link).as_deref(), address, "{link}");
    }
    assert_eq!(resolve("no base", "http://a.example/b").as_deref(), Some("http://a.example/b"));
    assert_eq!(resolve("no base", "b"), None);
}

#[test]
fn hosts_are_found() {
    for (url, expected) in [
        ("http://Site.example:80/a@b", Some("Site.example")),
        ("https://u:p@site.example?q", Some("site.example")),
        ("http://[::1]:8080/", Some("[::1]")),
        ("http://site.example/?a\\b#c\\d", Some("site.example")),
        ("http://", None),
        ("ftp://site.example/", None),
        ("", None),
    ] {
        assert_eq!(host(url), expected, "{url}");
    }
}

/// Strings that look like addresses, with everything that the rules are about.
fn addresses() -> impl Strategy<Value = String> {
    let host = "(www\\.|m\\.)?[a-zA-Z]{1,8}\\.(com|co\\.uk|example|youtube\\.com)\\.?(:(80|443|8080))?";
    let segment = "([a-zA-Z0-9._~-]|%[0-9a-fA-F]{2}|;jsessionid=1|;|\\.\\.?/|index\\.html/|[é '\"%]){0,4}";
    let parameter = "(utm_id|a|b|sid|v|PHPSESSID)(=([a-z0-9]|%[0-9a-f]{2}|[ é'+%\\\\]){0,18})?";
    let (path, query) = (format!("(/{segment}){{0,4}}/?"), format!("(\\?({parameter}&?){{0,4}})?"));
    prop::string::string_regex(&format!("https?://{host}{path}{query}(#!?[a-z]{{0,2}})?")).unwrap()
}

#[test]
fn a_host_with_an_empty_label_stays_as_it_is() {
    for address in ["http://0x7f../", "http://www../", "http://www..site.example/", "http://site.example../"]
    {
        let (mut once, mut twice) = (String::new(), String::new());
        assert!(identity(address, &AddressRules::default(), &mut once), "{address}");
        assert!(identity(&once, &AddressRules::default(), &mut twice), "{address}");
        assert_eq!((once.as_str(), twice.as_str()), (address, address));
    }
}

proptest! {
    #[test]
    fn the_identity_of_an_identity_is_itself(url in prop_oneof![addresses(), "(https?:/{0,2})?\\PC{0,40}", any::<String>()]) {
        let once = identity_of(&url);
        prop_assert_eq!(identity_of(&once), once, "{}", url);
    }

    #[test]
    fn cutting_by_hand_equals_the_url_crate(url in addresses()) {
        let rules = AddressRules::default();
        let mut slow = Vec::new();
        prop_assert!(identity_of_odd(&url, &rules, &mut slow));
        prop_assert_eq!(identity_of(&url), String::from_utf8(slow).unwrap());
    }

    #[test]
    fn the_identity_is_stable_under_any_rules(url in addresses(), off in prop::collection::vec(any::<bool>(), 13)) {
        let names = ["ignore_scheme", "ignore_host_case", "international_hosts", "drop_trailing_dot", "drop_user_info",
            "drop_default_ports", "resolve_dot_segments", "merge_slashes", "drop_trailing_slash", "sort_parameters",
            "normalise_percent_encoding", "drop_empty_query", "drop_fragments"];
        let text: String = names.iter().zip(off).map(|(name, on)| format!("{name} = {on}\n")).collect();
        let rules = AddressRules::parse(&text).unwrap();
        let once = identity_by(&url, &rules);
        prop_assert_eq!(identity_by(&once, &rules), once, "{}", text);
    }

    #[test]
    fn no_string_breaks_a_leaf(base in any::<String>(), link in any::<String>()) {
        let _ = (host(&base), resolve(&base, &link), resolve("http://a.example/b", &link), AddressRules::parse(&base).is_ok());
    }
}

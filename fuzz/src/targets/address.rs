//! Fuzzes address rules and addresses with any text. The part before a blank line is rules.

use std::sync::LazyLock;

use crate::many_times;
use onecopy_core::{AddressRules, host, identity, in_market, resolve};

static SHIPPED: LazyLock<AddressRules> = LazyLock::new(AddressRules::default);

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match text.split_once("\n\n") {
        Some((rules, text)) => AddressRules::parse(rules).iter().for_each(|rules| {
            check_rules(rules);
            check(text, rules);
        }),
        None => check(text, &SHIPPED),
    }
    if let Some(text) = many_times(data).and_then(|data| String::from_utf8(data).ok()) {
        check_one(&text, "http://site.example/", &SHIPPED);
        check_one(&format!("http://{text}"), "http://site.example/", &SHIPPED);
        check_one(&format!("http://site.example/{text}"), "http://site.example/", &SHIPPED);
    }
}

/// Checks that rules survive JSON, the format in which runs and collections store them.
fn check_rules(rules: &AddressRules) {
    let json = serde_json::to_string(rules).expect("rules are JSON");
    assert_eq!(serde_json::from_str::<AddressRules>(&json).ok().as_ref(), Some(rules), "{json}");
}

/// Each line is an address, and a link on the page at the previous line.
fn check(text: &str, rules: &AddressRules) {
    let mut base = "http://site.example/";
    for address in text.split('\n') {
        check_one(address, base, rules);
        base = address;
    }
}

fn check_one(address: &str, base: &str, rules: &AddressRules) {
    let (mut once, mut twice) = (String::new(), String::from("left over"));
    let known = identity(address, rules, &mut once);
    assert_eq!(identity(&once, rules, &mut twice), known, "{address:?} became {once:?}");
    assert_eq!(once, twice, "{address:?}");
    if let Some(link) = resolve(base, address) {
        assert!(link.starts_with("http://") || link.starts_with("https://"), "{link:?}");
        assert!(host(&link).is_some(), "{link:?}");
    }
    let market = host(base).unwrap_or(base);
    in_market(address, market);
    in_market(base, host(address).unwrap_or(address));
}

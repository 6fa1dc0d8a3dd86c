//! Extracts the full text, the main text and the head from any text as HTML. The main text adds no words.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::many_times;
use onecopy_core::{AddressRules, Content, head, html_to_parts, html_to_text, links};

static RULES: LazyLock<AddressRules> = LazyLock::new(AddressRules::default);

pub fn run(data: &[u8]) {
    check(&String::from_utf8_lossy(data));
    many_times(data).iter().for_each(|data| check(&String::from_utf8_lossy(data)));
}

fn check(html: &str) {
    let text = |content| {
        let mut out = String::from("before");
        html_to_text(html, content, &mut out);
        out
    };
    let (all, main, auto) = (text(Content::All), text(Content::Main), text(Content::Auto));
    for part in [&main, &auto] {
        let extra = words_beyond(part, &all);
        assert!(extra.is_empty(), "{extra:?} in {part:?} but not in {all:?}");
    }
    let mut whole = String::new();
    let parts = html_to_parts(html, &mut whole).parts;
    assert!(
        parts.is_sorted_by_key(|part| part.start)
            && parts.iter().all(|part| whole.get(part.clone()).is_some())
    );
    links(html, None, &RULES, &mut Vec::new());
    for address in [None, Some("http://site.example/a/b?c#d")] {
        let head = head(html, address);
        for link in head.canonical.iter().chain(&head.refresh) {
            assert!(link.starts_with("http"), "{link:?}");
        }
    }
}

/// The words that `part` has more often than `all`.
fn words_beyond<'a>(part: &'a str, all: &'a str) -> Vec<&'a str> {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for word in all.split_whitespace() {
        *left.entry(word).or_default() += 1;
    }
    let mut taken =
        |word: &str| left.get_mut(word).filter(|left| **left > 0).map(|left| *left -= 1).is_some();
    part.split_whitespace().filter(|word| !taken(word)).collect()
}

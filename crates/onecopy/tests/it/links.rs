//! Redirects, canonical links, equivalent forms of an address, and markets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::pages::{Random, topic, window, write_file};
use crate::program::dedup;
use crate::results::{groups, json_lines, plain, removed, report, without_places};

/// Runs with `flags` over the records of some files.
fn run(files: &[Vec<Value>], flags: &str) -> (TempDir, PathBuf) {
    let folder = tempdir().expect("a folder");
    for (number, records) in files.iter().enumerate() {
        let text: String = records.iter().map(|record| format!("{record}\n")).collect();
        write_file(folder.path(), &format!("in/{number}.jsonl"), text);
    }
    let out = folder.path().join("out");
    dedup(&folder.path().join("in"), &out).args(flags).succeed();
    (folder, out)
}

/// The winner and kind of each removed page.
fn fates(out: &Path) -> BTreeMap<String, (String, String)> {
    removed(out).into_iter().map(|(page, (winner, _, kind))| (page, (winner, kind))).collect()
}

fn fate(winner: &str, kind: &str) -> (String, String) {
    (winner.into(), kind.into())
}

/// The reasons of rejected pages.
fn reasons(out: &Path) -> Vec<String> {
    json_lines(&out.join("rejected.jsonl")).iter().map(|line| plain(&line["reason"])).collect()
}

#[test]
fn a_chain_of_redirects_over_files_joins_the_group_of_its_end() {
    let chain = |from: &str, to: &str| json!({"url": format!("http://a.example/{from}"), "redirect": to});
    let page = |name: &str, text: &str| json!({"url": format!("http://{name}"), "text": text});
    let files = [
        vec![chain("q1", "/q2"), page("a.example/end?utm_source=x", &window(0))],
        vec![chain("q3", "http://www.a.example/end"), page("b.example/better", &window(1))],
        vec![chain("q2", "https://a.example/q3#part"), page("c.example/alone", &topic("9"))],
        vec![json!({"url": "http://a.example/to-alone", "redirect": "http://c.example/alone/"})],
    ];
    let (_folder, out) = run(&files, "--winner short-url");
    let removed = fates(&out);
    for name in ["q1", "q2", "q3"] {
        let page = format!("http://a.example/{name}");
        assert_eq!(removed[&page], fate("http://b.example/better", "redirect"), "{page}");
    }
    assert_eq!(removed["http://a.example/to-alone"], fate("http://c.example/alone", "redirect"));
    assert_eq!(removed["http://a.example/end?utm_source=x"], fate("http://b.example/better", "near"));
    let groups = groups(&out);
    assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [2, 5]);
    assert_eq!(report(&out)["kinds"]["redirect"], 4);
}

#[test]
fn redirects_that_lead_nowhere_are_rejected_or_are_pages() {
    let redirect = |from: &str, to: &str| json!({"url": format!("http://a.example/{from}"), "redirect": to});
    let files = [vec![
        redirect("a", "/b"),
        redirect("b", "/a"),
        redirect("self", "/self"),
        redirect("lost", "http://nobody.example/"),
        json!({"url": "http://a.example/words", "redirect": "/nowhere", "text": topic("3")}),
        redirect("to-words", "/words"),
        json!({"url": "http://a.example/page", "text": topic("4")}),
    ]];
    let (_folder, out) = run(&files, "");
    assert_eq!(fates(&out)["http://a.example/to-words"], fate("http://a.example/words", "redirect"));
    let report = report(&out);
    assert_eq!((&report["kept"], &report["removed"], &report["rejected"]), (&json!(2), &json!(1), &json!(4)));
    let reasons = reasons(&out);
    let of = |part: &str| reasons.iter().filter(|reason| reason.contains(part)).count();
    assert_eq!(
        (of("leads back to it"), of("no page of the input"), of("nobody.example")),
        (3, 1, 1),
        "{reasons:?}"
    );
}

#[test]
fn a_meta_refresh_is_a_redirect_unless_it_reloads_the_page() {
    let html = |url: &str, to: &str, text: &str| {
        let head = format!("<meta http-equiv=refresh content='0; url={to}'>");
        json!({"url": url, "html": format!("<html><head>{head}</head><body>{text}</body></html>")})
    };
    let files = [vec![
        html("http://a.example/old", "/new", "This page has moved to a new address, please follow the link."),
        html(
            "http://b.example/old",
            "http://c.example/",
            "This page has moved to a new address, please follow the link.",
        ),
        html("http://a.example/new", "/new", &topic("1")),
        json!({"url": "http://c.example/", "text": topic("2")}),
    ]];
    let (_folder, out) = run(&files, "");
    let removed = fates(&out);
    assert_eq!(removed["http://a.example/old"], fate("http://a.example/new", "redirect"));
    assert_eq!(removed["http://b.example/old"], fate("http://c.example/", "redirect"));
    assert_eq!(removed.len(), 2);
    assert_eq!(groups(&out).len(), 2, "the notices are alike, but their groups are those of their ends");
}

#[test]
fn a_canonical_link_counts_only_if_the_pages_are_alike() {
    let page =
        |url: &str, canonical: &str, text: &str| json!({"url": url, "canonical": canonical, "text": text});
    let files = [vec![
        page("http://a.example/s", "http://a.example/a/very/long/address", &window(1)),
        page("http://a.example/a/very/long/address", "", &window(0)),
        // A false canonical link: the page that it names is different, so the shorter address wins.
        page("http://b.example/s", "http://a.example/a/very/long/address", &topic("7")),
        page("http://b.example/a/long/address", "", &topic("7")),
    ]];
    let (_folder, out) = run(&files, "--winner short-url");
    let removed = fates(&out);
    assert_eq!(removed["http://a.example/s"], fate("http://a.example/a/very/long/address", "near"));
    assert_eq!(removed["http://b.example/a/long/address"], fate("http://b.example/s", "exact"));
    assert_eq!(removed.len(), 2);
}

#[test]
fn another_way_to_write_an_address_is_said_and_the_rules_can_be_changed() {
    let page = |url: &str, text: &str| json!({"url": url, "text": text});
    let files = [vec![
        page("https://www.a.example/x/index.html?b=2&a=1&utm_source=mail#top", &window(1)),
        page("http://a.example/x/?a=1&b=2", &window(0)),
        page("http://a.example/x/?a=1&b=3", &topic("5")),
        page("http://a.example/x?b=3&a=1", &topic("6")),
    ]];
    let (folder, out) = run(&files, "");
    let removed = fates(&out);
    assert_eq!(removed.len(), 1, "one address, but other content: both stay");
    assert_eq!(removed.values().next(), Some(&fate("http://a.example/x/?a=1&b=2", "url")));
    assert_eq!(report(&out)["kinds"]["url"], 1);
    let rules = write_file(folder.path(), "mine.toml", "tracking_parameters = []\n");
    let again = folder.path().join("again");
    dedup(&folder.path().join("in"), &again).arg("--address-rules").arg(rules).succeed();
    assert_eq!(fates(&again).values().next(), Some(&fate("http://a.example/x/?a=1&b=2", "near")));
    let wrong = write_file(folder.path(), "wrong.toml", "ignore_skeme = true\n");
    let call = dedup(&folder.path().join("in"), &folder.path().join("no")).arg("--address-rules").arg(wrong);
    assert!(call.fail(1).stderr.contains("ignore_skeme"));
}

#[test]
fn each_market_has_its_winners_from_the_same_groups() {
    let page =
        |host: &str| json!({"url": format!("http://{host}/a"), "text": window(0), "popularity": host.len()});
    let files =
        [vec![page("shop.co.uk"), page("shop.de"), page("the-popular-shop.com"), page("other.shop.de")]];
    let (_folder, out) = run(&files, "--market uk,.DE");
    let winner = |out: &Path| plain(&json_lines(&out.join("groups.jsonl"))[0]["winner"]);
    assert_eq!(winner(&out), "http://shop.co.uk/a");
    assert_eq!(winner(&out.join("markets/uk")), "http://shop.co.uk/a");
    assert_eq!(winner(&out.join("markets/de")), "http://other.shop.de/a", "the more popular of the market");
    assert_eq!(removed(&out), removed(&out.join("markets/uk")));
    let (_folder, without) = run(&files, "");
    assert_eq!(winner(&without), "http://the-popular-shop.com/a");
    assert!(!without.join("markets").exists());
}

#[test]
fn every_page_is_listed_with_its_address_language_and_group() {
    let english =
        "The pages of this book were written in the winter, and all of them are about the sea and its birds.";
    let files = [vec![
        json!({"id": 7, "url": "http://a.example/", "text": english}),
        json!({"id": 8, "text": english}),
        json!({"url": "http://b.example/", "text": "Der Mann ist mit dem Hund in die Stadt gegangen und hat das Brot nicht gekauft."}),
    ]];
    let (_folder, out) = run(&files, "");
    let pages = without_places(&out.join("pages.jsonl"));
    let [kept, removed, alone] = &pages[..] else { panic!("not three pages: {pages:?}") };
    let page = json!({"page": 7, "status": "kept", "url": "http://a.example/", "language": "en", "group": 1});
    assert_eq!(*kept, page);
    assert_eq!(*removed, json!({"page": 8, "status": "removed", "language": "en", "group": 1}));
    let (name, language) = ("http://b.example/", "de");
    assert_eq!(*alone, json!({"page": name, "status": "kept", "url": name, "language": language}));
}

#[test]
fn the_order_of_links_and_pages_changes_nothing() {
    let mut random = Random::new(11);
    let mut records: Vec<Value> = (0..300)
        .map(|number| {
            let url = format!("http://a.example/{number}");
            let to = random.below(320);
            match random.below(4) {
                0 => json!({"url": url, "redirect": format!("/{to}")}),
                1 => json!({"url": url, "canonical": format!("/{to}"), "text": window(to as usize % 7)}),
                2 => json!({"url": url, "redirect": format!("/{to}"), "text": topic(&random.below(40).to_string())}),
                _ => json!({"url": url, "text": topic(&random.below(40).to_string())}),
            }
        })
        .collect();
    let sorted = |out: &Path, name: &str| {
        let mut lines: Vec<String> = without_places(&out.join(name))
            .into_iter()
            .map(|mut line| {
                line.as_object_mut().expect("an object").remove("group");
                line.to_string()
            })
            .collect();
        lines.sort();
        lines
    };
    let (_folder, straight) = run(&[records.clone()], "");
    assert!(report(&straight)["kinds"]["redirect"].as_u64() > Some(50), "there are redirects");
    for at in (1..records.len()).rev() {
        records.swap(at, random.below(at as u64 + 1) as usize);
    }
    let (_folder, shuffled) =
        run(&[records[..90].to_vec(), records[90..].to_vec()], "--threads 3 --memory 64M");
    assert_eq!(sorted(&straight, "removed.jsonl"), sorted(&shuffled, "removed.jsonl"));
    assert_eq!(sorted(&straight, "groups.jsonl"), sorted(&shuffled, "groups.jsonl"));
}

#[test]
fn rejected_pages_are_listed_in_the_order_of_the_input_wherever_chunks_are_cut() {
    let mut records = vec![json!({"url": "http://a.example/", "text": topic("1")})];
    records.extend((0..8_000).map(|number| match number % 2 {
        0 => {
            json!({"url": format!("http://a.example/{number}"), "redirect": format!("/nowhere/{number:060}")})
        }
        _ => json!({"url": format!("http://a.example/{number}"), "text": number}),
    }));
    let lines = |flags: &str| {
        let (_folder, out) = run(&[records.clone()], flags);
        json_lines(&out.join("rejected.jsonl")).iter().map(|line| line["line"].as_u64()).collect::<Vec<_>>()
    };
    let few = lines("--threads 1 --memory 4G");
    assert!(few.is_sorted() && few.len() == 8_000);
    assert_eq!(few, lines("--threads 16 --memory 64M"));
}

//! Fuzzes everything that a client can send to the service: lines in pieces, page names, parameters, and pages for a
//! query.
//!
//! The lines must not depend on where a body is cut, and no page may cause an internal error of the service.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use crate::many_times;
use bytes::Bytes;
use cut::Cutter;
use names::{Name, Named, Names};
use onecopy_engine::{Action, Limits, PageName, Refusal, Service, ServiceOptions};
use onecopy_store::Volatile;
use params::Params;
use serde_json::Value;

// The program has no library. These files are parsers and need only `Failure` from it.
#[path = "../../../crates/onecopy/src/http/routes/lines/cut.rs"]
#[allow(dead_code)]
mod cut;
#[path = "../../../crates/onecopy/src/http/routes/names.rs"]
#[allow(dead_code)]
mod names;
#[path = "../../../crates/onecopy/src/http/params.rs"]
#[allow(dead_code)]
pub mod params;

/// The parts of the service's failure that the parsers use.
pub mod failure {
    #[derive(Debug)]
    pub struct Failure;

    impl Failure {
        pub fn bad(error: impl Into<String>, remedy: impl Into<String>) -> Failure {
            assert!(!error.into().is_empty() && !remedy.into().is_empty());
            Failure
        }
    }
}

const PAGE_BYTES: usize = 1 << 10;
const PAGES: [&str; 3] = [
    r#"{"id":"a","text":"one two three four five six seven eight nine ten eleven twelve"}"#,
    r#"{"id":7,"url":"http://site.example/b","text":"one two three four five six seven eight nine ten eleven"}"#,
    r#"{"url":"http://site.example/c","redirect":"/b"}"#,
];

static SERVICE: LazyLock<Service> = LazyLock::new(|| {
    let mut options = ServiceOptions::new("memory");
    options.limits = Limits { page_bytes: PAGE_BYTES, ..Limits::default() };
    options.threads = 1;
    let service = Service::open_in(Arc::new(Volatile::new()), options).expect("memory is opened");
    let pages = PAGES.map(|page| Action::Put(page.as_bytes()));
    assert!(service.accept(&pages).iter().all(Result::is_ok));
    assert!(service.drain(Duration::from_secs(60)));
    service
});

pub fn run(data: &[u8]) {
    let (step, body) = data.split_first().unwrap_or((&0, data));
    let lines = check_lines(body, 1 + usize::from(*step));
    many_times(body).iter().for_each(|body| drop(check_lines(body, 1_000 + usize::from(*step))));
    lines.iter().flatten().for_each(|line| check_page(line));
    check_names(body);
    if let Ok(query) = std::str::from_utf8(body) {
        check_params(query);
    }
}

/// Cuts a body that arrives in pieces of `step` bytes, and compares the lines with those of the whole body.
fn check_lines(body: &[u8], step: usize) -> Vec<Option<Bytes>> {
    let mut cutter = Cutter::new(PAGE_BYTES);
    body.chunks(step).for_each(|piece| cutter.push(&Bytes::copy_from_slice(piece)));
    cutter.finish();
    assert_eq!(cutter.has_lines(), cutter.is_full(1, usize::MAX));
    let found = cutter.take(usize::MAX, usize::MAX);
    assert!(!cutter.is_full(1, 1));
    let lines = (1_u64..).zip(body.split(|byte| *byte == b'\n'));
    let lines = lines.map(|(number, line)| (number, line.strip_suffix(b"\r").unwrap_or(line)));
    // A line of white space counts as empty, unless it is too long.
    let full = lines.filter(|(_, line)| line.len() > PAGE_BYTES || !line.iter().all(u8::is_ascii_whitespace));
    let expected = full.map(|(number, line)| (number, (line.len() <= PAGE_BYTES).then_some(line)));
    let cut = found.iter().map(|line| (line.number, line.text.as_deref()));
    assert!(cut.eq(expected), "pieces of {step} bytes");
    found.into_iter().map(|line| line.text).collect()
}

fn check_page(line: &[u8]) {
    match SERVICE.query(line) {
        Ok(answer) => assert!(serde_json::to_string(&answer).is_ok_and(|text| !text.contains('\n'))),
        Err(Refusal::Bad(why)) => assert!(!why.is_empty()),
        Err(refusal) => panic!("{refusal:?}"),
    }
}

fn check_names(body: &[u8]) {
    let named = names::parse::<Named>(body).and_then(|named| names::name(named.page));
    let several = names::parse::<Names>(body);
    let json = serde_json::from_slice::<Value>(body).unwrap_or_default();
    if let Ok(name) = &named {
        assert!(json["page"].is_number() || json["page"].is_string(), "{name:?}");
    }
    let Ok(Names { pages, verify, tags }) = several else { return };
    let told = ["verify", "tags"].map(|name| json[name].as_bool().unwrap_or(false));
    assert_eq!(told, [verify, tags]);
    let names: Vec<Name> = pages.0.iter().flat_map(|page| names::name(page)).collect();
    let asked: Vec<PageName> = names.iter().map(Name::get).collect();
    let found = SERVICE.status(&asked, verify).expect("a right collection");
    for (name, status) in asked.into_iter().zip(&found) {
        // A number has many spellings, so only strings are checked.
        if let PageName::Json(json) = name
            && let Ok(text) = serde_json::from_str::<String>(json)
        {
            assert_eq!(status.is_some(), ["a", "http://site.example/c"].contains(&&*text), "{name:?}");
        }
    }
}

fn check_params(query: &str) {
    let known = ["page", "verify", "after", "search", ""];
    let Ok(params) = Params::parse(Some(query), &known) else { return };
    let expected = url::form_urlencoded::parse(query.as_bytes());
    for (name, value) in expected {
        assert_eq!(params.text(&name), Some(&*value), "{query:?}");
        if let Ok(number) = params.number(&name, 0..=1_000, 5) {
            assert!(number <= 1_000 && value.parse() == Ok(number), "{query:?}");
        }
        if let Ok(flag) = params.flag(&name) {
            assert_eq!(value, flag.to_string());
        }
    }
}

//! Writes records of every format as lines and reads them back.

use onecopy_core::{Config, method};
use proptest::prelude::*;

use crate::ingest::warc::read_record;
use crate::ingest::{FieldNames, Format, Packing, document, read_line, records};
use crate::job::{Fields, Limits};
use onecopy_core::Appraiser;
use onecopy_core::{Needs, Record};

/// Methods that compare words, all text of HTML, the raw text, and links.
const METHODS: [&str; 4] = ["jaccard", "auto", "lcs", "links"];

/// Reads a page, then reads it again from its line. Every method must see the same page.
fn check<'a>(read: impl Fn(&Needs) -> Record<'a>) {
    for chosen in METHODS {
        let config = Config { method: chosen.into(), markets: vec!["example".into()], ..Config::default() };
        let method = method(&config).unwrap();
        let needs = Needs { whole: true, ..Needs::of(&config, &*method) };
        let mut appraiser = Appraiser::new(&config, &*method);
        let mut appraise = |record: &Record| {
            let mut sketch = Vec::new();
            let page = appraiser.appraise(record, b"the same", |_| true, &mut sketch);
            format!("{page:?} {sketch:?} {:?} {:?}", record.time, record.popularity)
        };
        let record = read(&needs);
        let (line, names) = (super::to_line(&record), FieldNames::new(&Fields::default()));
        let again = read_line(line.as_bytes(), &names, &needs).unwrap();
        assert_eq!(appraise(&again), appraise(&record), "{chosen}: {line}");
        assert_eq!(super::to_line(&again), line);
    }
}

fn check_line(line: &str) {
    check(|needs| read_line(line.as_bytes(), &FieldNames::new(&Fields::default()), needs).unwrap());
}

fn check_archived(fields: &str, block: &str) {
    let head = "WARC/1.1\r\nWARC-Target-URI: http://a.example/x/y\r\nWARC-Date: 2024-05-01T12:00:00Z\r\n";
    let text = format!("{head}{fields}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n", block.len());
    check(|needs| {
        let record = records(text.as_bytes()).next().unwrap().record.unwrap();
        // The record borrows from the item, so its parts are copied.
        let page = read_record(&record, &Limits::default(), needs).unwrap().unwrap();
        Record { archived: None, url: page.url.map(|url| url.into_owned().into()), ..page }
    });
}

const HTML: &str = "<!doctype html><link rel=canonical href=/c><meta http-equiv=refresh content='0;url=there'>\
    <p>one two three four five six<p>seven &lt;eight&gt; <a href=../nine>nine</a> \u{fffd}\0 ten";

#[test]
fn lines_read_back() {
    let html = serde_json::to_string(HTML).unwrap();
    for line in [
        r#"{"uri":"http://a.example/\u00e9","body":"x\n\"y\"","_id":7,"clicks":3,"date":"1970-01-02","z":[{}]}"#,
        r#"{"id":"a\u00e9\"","text":"","time":-5,"popularity":1e999}"#,
        r#"{"text":"one\ud83dtwo \u000c <b>","time":"9999-12-31","popularity":-0.1}"#,
        r#"{"text":"\f<html><p>no page","time":99999999999}"#,
        r#"{"url":"http://a.example/1","redirect":"../2 3"}"#,
        r#"{"url":"http://a.example/1","revisit":"urn:x y","text":"words"}"#,
        &format!(r#"{{"url":"http://a.example/b/","text":{html},"redirect":"/r","canonical":"/d"}}"#),
        &format!(r#"{{"html":{html},"canonical":"http://a.example/d"}}"#),
    ] {
        check_line(line);
    }
}

#[test]
fn records_of_archives_read_back() {
    for kind in ["html", "plain"] {
        let header = format!("HTTP/1.1 200 OK\r\nContent-Type: text/{kind}; charset=utf-8\r\n\r\n");
        check_archived("WARC-Type: response", &format!("{header}{HTML}"));
        check_archived("WARC-Type: response", &format!("{header}\n <html>a\n\u{feff}b"));
    }
    check_archived("WARC-Type: response", "HTTP/1.1 301 Moved\r\nLocation: ../z?q=a b#c\r\n\r\n");
    let profile = "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
    check_archived(&format!("WARC-Type: revisit\r\n{profile}"), "");
    let refers = "WARC-Refers-To-Target-URI: http://a.example/earlier";
    check_archived(&format!("WARC-Type: revisit\r\n{profile}\r\n{refers}"), "");
}

#[test]
fn files_read_back() {
    for format in [Format::Html(Packing::Plain), Format::Text(Packing::Plain)] {
        for address in ["folder/page.html", "https://a.example/folder/page.html", "s3://bucket/page"] {
            check(|needs| document(HTML.as_bytes(), format, Some(address), needs));
        }
    }
}

#[test]
fn a_page_that_is_not_wanted_whole_is_not_held() {
    let names = FieldNames::new(&Fields::default());
    for line in [r#"{"text":"a"}"#, r#"{"html":"a"}"#] {
        assert!(read_line(line.as_bytes(), &names, &Needs::default()).unwrap().whole.is_none());
    }
}

proptest! {
    #[test]
    fn any_text_reads_back(text in any::<String>(), lead in "[ \n\t\u{c}\u{feff}]{0,3}(<html>|<!doctype html>|)") {
        let whole = format!("{lead}{text}");
        check(|needs| document(whole.as_bytes(), Format::Text(Packing::Plain), Some("a"), needs));
        check(|needs| document(whole.as_bytes(), Format::Html(Packing::Plain), Some("http://a.example/"), needs));
        check_line(&format!("{{\"text\":{}}}", serde_json::to_string(&whole).unwrap()));
    }

    #[test]
    fn any_signals_read_back(
        time in -9_000_000_000_000_000_i64..9_000_000_000_000_000,
        popularity in any::<f64>().prop_filter("JSON has it", |number| number.is_finite()),
        link in "(http://|/|\\?|#|)[a-z/.é %&?=#]{0,12}",
    ) {
        let link = serde_json::to_string(&link).unwrap();
        let signals = format!("\"time\":{time},\"popularity\":{popularity:?},\"url\":\"http://a.example/b/c\"");
        for name in ["redirect", "revisit", "canonical"] {
            check_line(&format!("{{\"text\":\"\",{signals},\"{name}\":{link}}}"));
        }
    }
}

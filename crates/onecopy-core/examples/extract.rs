//! Turns the pages of a JSON Lines file into text, for `onecopy-bench extract` and `train`:
//! `extract INPUT --out FILE --setting all|main|auto|features`.
//!
//! It writes what the scripts of the peers write: a line a page, then a line with the CPU time of extraction alone.

use std::io::{BufRead, BufReader, BufWriter, Write};

use nix::sys::resource::{UsageWho, getrusage};
use onecopy_core::{Content, describe_blocks, html_to_text};
use serde_json::json;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, input, _, output, _, setting] = &arguments[..] else {
        panic!("usage: extract INPUT --out FILE --setting all|main|auto|features")
    };
    let reader = BufReader::new(std::fs::File::open(input).expect("the input can be read"));
    let mut writer = BufWriter::new(std::fs::File::create(output).expect("the output can be written"));
    let mut cpu_seconds = 0.0;
    for line in reader.lines() {
        let page: serde_json::Value = serde_json::from_str(&line.expect("lines of text")).expect("JSON");
        let html = page["html"].as_str().expect("a page has html");
        let started = cpu();
        let answer = answer(html, setting);
        cpu_seconds += cpu() - started;
        let mut answer = answer;
        answer["id"] = page["id"].clone();
        writeln!(writer, "{answer}").expect("the disk has room");
    }
    if setting != "features" {
        writeln!(writer, "{}", json!({ "cpu_seconds": cpu_seconds, "failed": 0 }))
            .expect("the disk has room");
    }
}

fn answer(html: &str, setting: &str) -> serde_json::Value {
    let content = match setting {
        "all" => Content::All,
        "main" => Content::Main,
        "auto" => Content::Auto,
        _ => return features(html),
    };
    let mut text = String::new();
    html_to_text(html, content, &mut text);
    json!({ "text": text })
}

fn features(html: &str) -> serde_json::Value {
    let (mut texts, mut features) = (vec![], vec![]);
    describe_blocks(html, |text, numbers| {
        texts.push(text.to_owned());
        features.push(numbers.to_vec());
    });
    json!({ "texts": texts, "features": features })
}

/// The CPU time of this process so far, in seconds.
fn cpu() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the system counts time");
    [usage.user_time(), usage.system_time()]
        .iter()
        .map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6)
        .sum()
}

//! Turns the pages of a JSON Lines file into text, for `onecopy-bench extract` and `train`:
//! `extract INPUT --out FILE --setting all|main|auto|features|context`.
//!
//! With `context` each line holds the first judgement of a page's blocks instead of a page.
//!
//! It writes the same as the peers' scripts: one line per page, then a line with the CPU time of extraction alone.

use std::io::{BufRead, BufReader, BufWriter, Write};

use nix::sys::resource::{UsageWho, getrusage};
use onecopy_core::{Content, Judged, context, describe_blocks, html_to_text};
use serde::Deserialize;
use serde_json::json;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, input, _, output, _, setting] = &arguments[..] else {
        panic!("usage: extract INPUT --out FILE --setting all|main|auto|features|context")
    };
    let reader = BufReader::new(std::fs::File::open(input).expect("the input can be read"));
    let mut writer = BufWriter::new(std::fs::File::create(output).expect("the output can be written"));
    let mut cpu_seconds = 0.0;
    for line in reader.lines() {
        if setting == "context" {
            let answer = context_of(&line.expect("lines of text"));
            writeln!(writer, "{answer}").expect("the disk has room");
            continue;
        }
        let page: serde_json::Value = serde_json::from_str(&line.expect("lines of text")).expect("JSON");
        let html = page["html"].as_str().expect("a page has html");
        let started = cpu();
        let answer = answer(html, setting);
        cpu_seconds += cpu() - started;
        let mut answer = answer;
        answer["id"] = page["id"].clone();
        writeln!(writer, "{answer}").expect("the disk has room");
    }
    if !matches!(setting.as_str(), "features" | "context") {
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

/// The features of each block, and its place as numbers: words, kinds of its boxes, ranges of blocks.
fn features(html: &str) -> serde_json::Value {
    let (mut texts, mut features, mut places) = (vec![], vec![], vec![]);
    describe_blocks(html, |text, numbers, judged| {
        texts.push(text.to_owned());
        features.push(numbers.to_vec());
        let ranges = judged.around.into_iter().flat_map(|range| [range.start, range.end]);
        places.push([judged.words].into_iter().chain(judged.kinds).chain(ranges).collect::<Vec<u32>>());
    });
    json!({ "texts": texts, "features": features, "places": places })
}

#[derive(Deserialize)]
struct Said {
    /// The places that [`features`] wrote.
    places: Vec<[u32; 13]>,
    /// The sum that the model gave to each block.
    sums: Vec<i32>,
}

/// The additional features of the second judgement.
fn context_of(line: &str) -> serde_json::Value {
    let said: Said = serde_json::from_str(line).expect("places and sums");
    let judged = said.places.iter().zip(&said.sums).map(|(place, &sum)| Judged {
        words: place[0],
        sum,
        kinds: [place[1], place[2]],
        around: [3, 5, 7, 9, 11].map(|at| place[at]..place[at + 1]),
    });
    let judged: Vec<Judged> = judged.collect();
    let mut numbers = vec![];
    context(&judged, |_, of_block| numbers.push(of_block.to_vec()));
    json!({ "context": numbers })
}

/// The CPU time of this process so far, in seconds.
fn cpu() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the system counts time");
    [usage.user_time(), usage.system_time()]
        .iter()
        .map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6)
        .sum()
}

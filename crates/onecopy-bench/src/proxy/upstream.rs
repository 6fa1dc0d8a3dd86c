//! A search engine that always gives the same answer, as fast as it can.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::generate::random::{Random, derive};
use crate::generate::vocabulary::Vocabulary;

const SEED: u64 = 18;
/// The script of all words: Latin.
const SCRIPT: usize = 0;

/// The engine.
pub struct Upstream {
    pub address: SocketAddr,
}

/// Texts of about `bytes` bytes. One in `one_in` repeats the one before, with another last word.
pub fn texts(count: usize, bytes: usize, one_in: usize) -> Vec<String> {
    let vocabulary = Vocabulary::new();
    let mut texts: Vec<String> = Vec::with_capacity(count);
    for number in 0..count {
        let mut random = Random::new(derive(SEED, 1, number as u64));
        let is_repeat = one_in > 0 && number % one_in == one_in - 1;
        let mut text = match texts.last() {
            Some(last) if is_repeat => last.rsplit_once(' ').map_or("", |(text, _)| text).to_owned(),
            _ => String::new(),
        };
        while text.len() < bytes {
            let word = vocabulary.draw(SCRIPT, &mut random);
            text.push_str(&String::from_utf8_lossy(vocabulary.letters(word)));
            text.push(' ');
        }
        texts.push(text.trim_end().to_owned());
    }
    texts
}

/// The tags of texts, made by the program in a folder.
pub fn tags(program: &Path, texts: &[String], folder: &Path) -> Result<Vec<String>> {
    let line = |(id, text): (usize, &String)| json!({"id": id.to_string(), "text": text}).to_string() + "\n";
    let input: String = texts.iter().enumerate().map(line).collect();
    fs::create_dir_all(folder)?;
    let (pages, out) = (folder.join("pages.jsonl"), folder.join("tags.jsonl"));
    fs::write(&pages, input)?;
    let status =
        Command::new(program).args(["tag", "--quiet"]).arg(&pages).arg("--out").arg(&out).status()?;
    ensure!(status.success(), "onecopy tag failed: {status}");
    let mut tags = vec![String::new(); texts.len()];
    for line in fs::read_to_string(&out)?.lines() {
        let value: Value = serde_json::from_str(line)?;
        let id: usize = value["id"].as_str().context("no id")?.parse()?;
        tags[id] = value["tag"].as_str().context("no tag")?.to_owned();
    }
    Ok(tags)
}

impl Upstream {
    /// Starts it with an answer that has these texts.
    pub fn start(texts: &[String], tags: Option<&[String]>) -> Result<Upstream> {
        let hit = |(at, text): (usize, &String)| {
            let mut source = json!({"body": text, "url": format!("http://site{at}.example/")});
            tags.iter().for_each(|tags| source["onecopy_tag"] = json!(tags[at]));
            json!({"_index": "pages", "_id": at.to_string(), "_score": 1.5, "_source": source})
        };
        let hits: Vec<Value> = texts.iter().enumerate().map(hit).collect();
        let total = json!({"value": hits.len(), "relation": "eq"});
        let body = json!({"took": 1, "timed_out": false, "hits": {"total": total, "hits": hits}}).to_string();
        let head = format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
        let answer = Arc::new(format!("HTTP/1.1 200 OK\r\n{head}{body}").into_bytes());
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let answer = answer.clone();
                thread::spawn(move || serve(socket, &answer));
            }
        });
        Ok(Upstream { address })
    }
}

/// Answers every request on a connection. Requests have no body.
fn serve(socket: TcpStream, answer: &[u8]) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let mut writer = socket.try_clone()?;
    let mut lines = BufReader::new(socket).lines();
    while let Some(line) = lines.next().transpose()? {
        if line.is_empty() {
            writer.write_all(answer)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_so_many_repeats_the_one_before() {
        let texts = texts(20, 500, 10);
        let shared = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
        for (number, pair) in texts.windows(2).enumerate() {
            assert_eq!(shared(&pair[0], &pair[1]) > 450, (number + 1) % 10 == 9, "{number}");
        }
    }
}

//! Pages for tests: texts with known similarity, and corpora of any size made from a seed.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Forty words of an endless text, from word `from`. Two windows three words apart have a similarity of 33/39, six
/// apart 30/42. So at 0.8, the windows at 0, 3 and 6 are a chain.
pub fn window(from: usize) -> String {
    words("w", from..from + 40)
}

/// A text of forty words that no other topic shares.
pub fn topic(name: &str) -> String {
    words(name, 0..40)
}

fn words(stem: &str, numbers: std::ops::Range<usize>) -> String {
    numbers.map(|number| format!("{stem}{number:03}")).collect::<Vec<_>>().join(" ")
}

/// Writes a file and its folders. Returns its path.
pub fn write_file(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("the folder can be made");
    fs::write(&path, content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    path
}

/// A record of JSON Lines, with its newline.
pub fn record(id: &str, text: &str) -> String {
    serde_json::json!({"id": id, "text": text}).to_string() + "\n"
}

/// Writes records to a file of JSON Lines.
pub fn write_records(folder: &Path, name: &str, records: &[(&str, &str)]) -> PathBuf {
    let text: String = records.iter().map(|(id, text)| record(id, text)).collect();
    write_file(folder, name, text)
}

/// Packs bytes into one gzip member or one zstd frame.
pub type Packer = fn(&[u8]) -> Vec<u8>;
/// The packers by file extension.
pub const PACKERS: [(&str, Packer); 2] = [("gz", gzip), ("zst", zstandard)];

/// Bytes as one gzip member.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

/// Bytes as one zstd frame.
pub fn zstandard(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).expect("memory takes it")
}

/// Numbers that depend only on a seed (splitmix64, Steele 2014).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(mixed ^ (mixed >> 31)) * u128::from(bound)) >> 64) as u64
    }
}

/// The words per article, and the number of different words.
const ARTICLE: usize = 180;
const VOCABULARY: u64 = 20_000;

/// The lines of a corpus of about 1.3 kB per page. Two pages in ten are articles; the others are copies of the first
/// ones. A copy is exact except for case and commas, lightly edited, or heavily edited, so that some are just below
/// 0.8. Pages of a site share its menu.
pub fn corpus_lines(pages: usize) -> impl Iterator<Item = String> {
    (0..pages).map(|number| {
        let mut random = Random::new(number as u64);
        let kind = random.below(10);
        let base =
            if kind < 2 || number < 10 { number } else { random.below(1 + number as u64 / 30) as usize };
        let mut words = article(base);
        let edits = match kind {
            3..=6 if base != number => 1 + random.below(4),
            7..=9 if base != number => 4 + random.below(6),
            _ => 0,
        };
        for _ in 0..edits {
            let at = random.below(ARTICLE as u64) as usize;
            words[at] = VOCABULARY + random.below(VOCABULARY);
        }
        line(number, base, &words, if kind == 2 { ", " } else { " " })
    })
}

fn article(number: usize) -> Vec<u64> {
    let mut random = Random::new(number as u64 ^ 0xA57_1C1E);
    (0..ARTICLE).map(|_| random.below(VOCABULARY)).collect()
}

fn line(number: usize, base: usize, words: &[u64], between: &str) -> String {
    let site = base % 50;
    let mut line =
        format!(r#"{{"id": "page-{number:06}", "url": "http://site{site}.example/{number}", "text": ""#);
    let _ = write!(line, "home news of site{site} contact about us all rights reserved");
    for word in words {
        let _ = write!(line, "{between}w{word:05}");
    }
    line.push_str("\"}\n");
    line
}

/// Writes a corpus to `folder/pages.jsonl`.
pub fn write_corpus(folder: &Path, pages: usize) -> PathBuf {
    let path = folder.join("pages.jsonl");
    let mut out = BufWriter::new(File::create(&path).expect("the folder takes a file"));
    for line in corpus_lines(pages) {
        out.write_all(line.as_bytes()).expect("the disk takes the corpus");
    }
    out.flush().expect("the disk takes the corpus");
    path
}

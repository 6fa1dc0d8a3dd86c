//! The gaoya crate in a typical program. `onecopy-bench peers` runs it twice as "gaoya (Rust)": with the hash function
//! of its examples, and with a faster one.
//!
//! Pages stream through in batches. All cores make signatures. A page is dropped if gaoya estimates it to be similar to
//! an indexed page; otherwise it is written and indexed.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};

use anyhow::{Context, Result, bail};
use gaoya::minhash::{MinHashIndex, MinHasher, SmallVecContainer, calculate_minhash_params};
use rayon::prelude::*;
use serde::Deserialize;

const HASHES: usize = 128;
const SHINGLE: usize = 5;
/// Enough lines to feed every core, and few enough that the index dominates memory.
const BATCH: usize = 1024;

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    id: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    text: std::borrow::Cow<'a, str>,
}

struct Args {
    inputs: Vec<String>,
    kept: String,
    removed: String,
    threshold: f64,
}

/// Removes near-duplicates by signatures of `hasher`, which takes the number of hashes.
pub fn run<H: MinHasher<V = u32> + Sync>(hasher: impl FnOnce(usize) -> H) -> Result<()> {
    let args = parse(std::env::args().skip(1))?;
    let (bands, width) = calculate_minhash_params(args.threshold, HASHES);
    let hasher = hasher(bands * width);
    let mut index: MinHashIndex<u32, u32, SmallVecContainer<u32, 2>> =
        MinHashIndex::new_index(bands, width, args.threshold);
    let mut kept = BufWriter::new(create(&args.kept)?);
    let mut removed = BufWriter::new(create(&args.removed)?);
    let mut next = 0u32;
    for path in &args.inputs {
        let file = File::open(path).with_context(|| format!("cannot open {path}"))?;
        let mut reader = BufReader::with_capacity(1 << 20, file);
        loop {
            let lines = read_batch(&mut reader)?;
            if lines.is_empty() {
                break;
            }
            let signed: Result<Vec<_>> = lines.par_iter().map(|line| sign(line, &hasher)).collect();
            for (line, (id, signature)) in lines.iter().zip(signed?) {
                if index.query_one(&signature).is_some() {
                    writeln!(removed, "{id}")?;
                } else {
                    kept.write_all(line)?;
                    index.insert(next, signature);
                    next += 1;
                }
            }
        }
    }
    kept.flush()?;
    removed.flush()?;
    Ok(())
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Args> {
    let mut args = Args { inputs: vec![], kept: String::new(), removed: String::new(), threshold: 0.8 };
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} needs a value"));
        match word.as_str() {
            "--kept" => args.kept = value()?,
            "--removed" => args.removed = value()?,
            "--threshold" => args.threshold = value()?.parse().context("--threshold is not a number")?,
            _ => args.inputs.push(word),
        }
    }
    if args.inputs.is_empty() || args.kept.is_empty() || args.removed.is_empty() {
        bail!("usage: peer-gaoya INPUT... --kept FILE --removed FILE [--threshold 0.8]");
    }
    Ok(args)
}

fn create(path: &str) -> Result<File> {
    File::create(path).with_context(|| format!("cannot create {path}"))
}

fn read_batch(reader: &mut impl BufRead) -> Result<Vec<Vec<u8>>> {
    let mut lines = Vec::with_capacity(BATCH);
    while lines.len() < BATCH {
        let mut line = Vec::new();
        if reader.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        lines.push(line);
    }
    Ok(lines)
}

fn sign<H: MinHasher<V = u32>>(line: &[u8], hasher: &H) -> Result<(String, Vec<u32>)> {
    let page: Page = serde_json::from_slice(line).context("a line is not a page")?;
    let text = page.text.to_lowercase();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let tokens: Vec<&str> = text.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect();
    let signature = if tokens.len() < SHINGLE {
        hasher.create_signature(std::iter::once(tokens.as_slice()))
    } else {
        hasher.create_signature(tokens.windows(SHINGLE))
    };
    Ok((page.id.into_owned(), signature))
}

//! `onecopy-bench generate`: a corpus of any size with known kinds and shares of copies.
//!
//! Real corpora are limited in size, but scaling tests need any size. Every page is made from its number alone, so
//! memory stays constant and a copy can refer to any page.

mod layout;
mod page;
pub mod random;
mod shuffle;
pub mod vocabulary;
pub mod warc;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub use layout::{Edit, Host, Recipe, recipe};
pub use page::{LONGEST, Press};
use shuffle::Shuffle;

/// Writes a corpus of made-up pages with known kinds of copies.
///
/// It has sites with templates, edited copies from half similar to equal, mirrors, exact copies and chains. About 30 %
/// of the pages are redundant at 0.8, at every size. The same seed gives the same bytes.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  onecopy-bench generate --pages 10k --out pages.jsonl
  onecopy-bench generate --pages 1m --seed 7 | zstd > pages.jsonl.zst
  onecopy-bench generate --pages 100k --giant 20k --out with-giant-group.jsonl")]
pub struct Args {
    /// Number of pages; the suffixes k, m and g mean 10^3, 10^6 and 10^9
    #[arg(long, value_parser = parse_count)]
    pages: u64,
    /// Another seed gives another corpus of the same composition
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Adds one group of this many near-identical pages
    #[arg(long, default_value = "0", value_parser = parse_count)]
    giant: u64,
    /// How many words the longest pages have more than the shortest
    #[arg(long, default_value_t = LONGEST)]
    longest: u64,
    /// Where to write; - is the standard output
    #[arg(long, default_value = "-", value_name = "FILE")]
    out: PathBuf,
}

/// The parameters of a corpus.
#[derive(Clone, Copy)]
pub struct Corpus {
    /// The number of pages, without the giant group.
    pub pages: u64,
    /// Pages of the giant group.
    pub giant: u64,
    /// The seed.
    pub seed: u64,
    /// How many words the longest pages have more than the shortest.
    pub longest: u64,
}

impl Corpus {
    /// So many pages of the usual lengths.
    pub fn of(pages: u64) -> Corpus {
        Corpus { pages, giant: 0, seed: 1, longest: LONGEST }
    }
}

pub fn run(args: &Args) -> Result<()> {
    let Args { pages, seed, giant, longest, .. } = *args;
    let corpus = Corpus { pages, giant, seed, longest };
    if args.out == Path::new("-") {
        return write(corpus, std::io::stdout().lock()).context("cannot write to the standard output");
    }
    write_file(corpus, &args.out)
}

/// Writes `corpus` to the file `path`, packed if its name ends in `.zst`.
pub fn write_file(corpus: Corpus, path: &Path) -> Result<()> {
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    let is_packed = path.extension().is_some_and(|ending| ending == "zst");
    let written = if is_packed { write_packed(corpus, file) } else { write(corpus, file) };
    written.with_context(|| format!("cannot write {}", path.display()))
}

fn write_packed(corpus: Corpus, file: File) -> Result<()> {
    let mut packer = zstd::Encoder::new(file, 1)?;
    write(corpus, &mut packer)?;
    packer.finish()?;
    Ok(())
}

/// The file that was given, or so many generated pages in a file `name` of the folder `work`.
pub fn given_or_generated(given: Option<&Path>, pages: u64, work: &Path, name: &str) -> Result<PathBuf> {
    if let Some(given) = given {
        return Ok(given.to_owned());
    }
    let path = work.join(name);
    write_file(Corpus::of(pages), &path)?;
    Ok(path)
}

/// Writes the pages of `corpus` as JSON Lines.
fn write(corpus: Corpus, out: impl Write) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, out);
    for_each_page(corpus, |line| Ok(out.write_all(line)?))?;
    Ok(out.flush()?)
}

/// Calls `take` with every page of `corpus` as a line of JSON.
fn for_each_page(corpus: Corpus, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut press = Press::new(corpus.seed);
    press.longest = corpus.longest;
    let total = corpus.pages + corpus.giant;
    let shuffle = Shuffle::new(corpus.seed, total);
    let mut line = Vec::new();
    for position in 0..total {
        let index = shuffle.at(position);
        let recipe = match index.checked_sub(corpus.pages) {
            Some(number) => layout::giant_recipe(corpus.seed, number),
            None => layout::recipe(corpus.seed, index),
        };
        line.clear();
        press.print(position, &recipe, &mut line);
        take(&line)?;
    }
    Ok(())
}

/// Reads "250", "10k", "1.5m" or "2g" as a number of pages.
pub fn parse_count(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let (digits, unit) = match lower.trim_end_matches(['k', 'm', 'g']) {
        digits if digits.len() == lower.len() => (digits, 1.0),
        digits if lower.len() - digits.len() > 1 => return Err(format!("{text:?} has more than one unit")),
        digits if lower.ends_with('k') => (digits, 1e3),
        digits if lower.ends_with('m') => (digits, 1e6),
        digits => (digits, 1e9),
    };
    let number: f64 =
        digits.parse().map_err(|_| format!("{text:?} is not a number such as 500, 10k or 1m"))?;
    let count = number * unit;
    if count < 0.0 || count.fract() != 0.0 {
        return Err(format!("{text:?} is not a whole number of pages"));
    }
    Ok(count as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    fn bytes(pages: u64, giant: u64, seed: u64) -> Vec<u8> {
        let mut out = vec![];
        write(Corpus { giant, seed, ..Corpus::of(pages) }, &mut out).unwrap();
        out
    }

    #[test]
    fn a_seed_means_the_same_bytes_for_ever() {
        assert_eq!(xxh3_64(&bytes(400, 20, 1)), 901142597783681080);
        assert_ne!(bytes(50, 0, 1), bytes(50, 0, 2));
    }

    #[test]
    fn every_line_is_a_page_of_middling_length() {
        let text = String::from_utf8(bytes(600, 10, 2)).unwrap();
        let pages: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(pages.len(), 610);
        let length: usize = pages.iter().map(|page| page["text"].as_str().unwrap().len()).sum();
        assert!((3_000..5_000).contains(&(length / pages.len())), "{}", length / pages.len());
        let ids: std::collections::HashSet<_> = pages.iter().map(|page| page["id"].to_string()).collect();
        assert_eq!(ids.len(), 610);
    }

    #[test]
    fn counts_have_units() {
        assert_eq!(parse_count("250"), Ok(250));
        assert_eq!(parse_count("10k"), Ok(10_000));
        assert_eq!(parse_count("1.5M"), Ok(1_500_000));
        assert!(parse_count("k").is_err() && parse_count("1kk").is_err() && parse_count("1.5").is_err());
    }
}

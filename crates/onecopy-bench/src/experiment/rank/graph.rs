//! Generates the links of a web: sites of a thousand pages, links within them, and links to popular pages elsewhere.
//!
//! The numbers of links from and to pages follow power laws, with exponents of about 3 and 2.5 in their densities.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};

use crate::generate::random::{Random, derive};

/// The pages of a site.
const SITE: u64 = 1_000;
/// The most links of a page.
const MOST: u64 = 10_000;

/// Writes about `links` links between `pages` pages, one on each line, those of a page one after the other.
pub fn write(path: &Path, pages: u64, links: u64) -> Result<()> {
    let part = path.with_extension("part");
    let mut out = BufWriter::with_capacity(1 << 20, File::create(&part).context("cannot create the graph")?);
    let (mut written, mut page) = (0, 0);
    while written < links {
        let mut random = Random::new(derive(1, 7, page));
        let from = page % pages;
        for _ in 0..links_of(&mut random, links as f64 / pages as f64).min(links - written) {
            writeln!(
                out,
                "{}\t{}",
                scattered(from, pages),
                scattered(target(&mut random, from, pages), pages)
            )?;
            written += 1;
        }
        page += 1;
    }
    out.flush()?;
    fs::rename(&part, path).context("cannot rename the graph")
}

/// The number of links of a page: `mean` on average.
fn links_of(random: &mut Random, mean: f64) -> u64 {
    // The mean of 1/√u is 2.
    let least = mean / 2.0;
    let sample = least / (1.0 - random.unit()).sqrt() + random.unit() - 0.5;
    (sample as u64).min(MOST)
}

/// The page that a page links to: one of its site, or a popular one.
fn target(random: &mut Random, from: u64, pages: u64) -> u64 {
    if random.once_in(2) {
        return (from / SITE * SITE + random.below(SITE)).min(pages - 1);
    }
    let unit = random.unit();
    ((unit * unit * unit * pages as f64) as u64).min(pages - 1)
}

/// Another number for each page, so that numbers tell nothing about popularity.
fn scattered(page: u64, pages: u64) -> u64 {
    // A prime that divides no number of pages below 2^31.
    (page * 2_147_483_659) % pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_links_follow_a_power_law_and_pages_stay_distinct() {
        let mut random = Random::new(3);
        let sum: u64 = (0..100_000).map(|_| links_of(&mut random, 10.0)).sum();
        assert!((8.5..11.0).contains(&(sum as f64 / 1e5)), "{sum}");
        let mut seen: Vec<u64> = (0..5_000).map(|page| scattered(page, 5_000)).collect();
        seen.sort_unstable();
        assert!(seen.iter().zip(0..).all(|(&page, number)| page == number));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("links.tsv");
        write(&path, 3_000, 20_000).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 20_000);
    }
}

//! Writes a made-up web to files: its pages as text, or a list of pages with known groups.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};

use super::web::{Web, WebPage};
use crate::generate::{Edit, Host, Press, Recipe};

/// The edit rate of copies with a changed date or counter: their similarity is at least 0.9.
const LIGHT: f64 = 0.002;

/// Writes the pages of `web` as JSON Lines with id, url and text.
pub fn write_pages(web: &Web, seed: u64, path: &Path) -> Result<()> {
    let press = Press::new(seed);
    write(path, |out| {
        let mut line = Vec::new();
        for (number, page) in web.pages.iter().enumerate() {
            line.clear();
            press.print_at(number as u64, &page.url, &recipe(page), &mut line);
            out.write_all(&line)?;
        }
        Ok(())
    })
}

fn recipe(page: &WebPage) -> Recipe {
    let edits = page.edit.map(|seed| Edit { seed, rate: LIGHT });
    Recipe { site: page.site, page: page.content, edits: edits.into_iter().collect(), host: Host::Own }
}

/// Writes the list of pages as a run would write it, with the planted groups.
pub fn write_known(web: &Web, path: &Path) -> Result<()> {
    let mut copies: HashMap<u64, u32> = HashMap::new();
    web.pages.iter().for_each(|page| *copies.entry(page.content).or_default() += 1);
    copies.retain(|_, copies| *copies > 1);
    let mut contents: Vec<u64> = copies.keys().copied().collect();
    contents.sort_unstable();
    let group = |page: &WebPage| contents.binary_search(&page.content).ok().map(|number| number as u64 + 1);
    write(path, |out| write_list(web, group, out))
}

fn write_list(web: &Web, mut group: impl FnMut(&WebPage) -> Option<u64>, out: &mut dyn Write) -> Result<()> {
    for (number, page) in web.pages.iter().enumerate() {
        write!(out, r#"{{"page":"p{number:09}","url":"{}","language":"en""#, page.url)?;
        if let Some(group) = group(page) {
            write!(out, r#","group":{group}"#)?;
        }
        out.write_all(b"}\n")?;
    }
    Ok(())
}

fn write(path: &Path, content: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    content(&mut out)?;
    out.flush().with_context(|| format!("cannot write {}", path.display()))
}

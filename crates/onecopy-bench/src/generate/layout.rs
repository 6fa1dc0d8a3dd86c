//! Decides what each page is: an original, or which copy of which original.
//!
//! Pages are laid out in blocks that refer only to themselves. So the share of copies and the sizes of groups are the
//! same in a corpus of a thousand or a billion pages, and any page can be made without the others.

use super::random::{Random, derive};

/// Pages in a block.
pub const BLOCK: u64 = 200;
/// Original pages in a block; the rest are copies of them.
const ORIGINALS: u64 = 118;
/// Pages of a site within a block.
const SITE: u64 = 30;
const EXACT: u64 = 12;
const MIRRORED: u64 = 16;
const EDITED: u64 = 44;
/// Links of a chain beyond its first page; two chains fill the block.
const CHAIN: u64 = 5;

/// An edit of at most this rate leaves a Jaccard of 0.5 or more on 5-word shingles.
const RATE_MAX: f64 = 0.075;
/// Neighbours in a chain have a similarity of about 0.84, pages two links apart about 0.71.
const CHAIN_RATE: f64 = 0.016;
/// The rate for mirrors that change a date or a counter.
const MIRROR_RATE: f64 = 0.001;
/// Pages of the giant group have a similarity of about 0.97 to each other.
const GIANT_RATE: f64 = 0.0015;

const KIND_SLOT: u64 = 1;
const KIND_EDIT: u64 = 2;

/// How to make a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The site that the text comes from.
    pub site: u64,
    /// The original page, unique in the corpus.
    pub page: u64,
    /// The edits to apply, in order.
    pub edits: Vec<Edit>,
    /// The host of the page.
    pub host: Host,
}

/// A round of changes: each word is changed with probability `rate`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edit {
    /// Decides which words change.
    pub seed: u64,
    /// The probability that a word changes.
    pub rate: f64,
}

/// Who publishes the page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Host {
    /// The site that wrote it.
    Own,
    /// A host that copies whole runs of pages under the same paths.
    Mirror,
    /// A host that copies single pages; the number distinguishes its pages.
    Copier(u64),
}

/// The recipe of page `index` of the ordinary pages.
pub fn recipe(seed: u64, index: u64) -> Recipe {
    let block = index / BLOCK;
    // 77 and 200 are coprime, so the kinds are interleaved and a short corpus has them all.
    let slot = (index % BLOCK * 77 + 13) % BLOCK;
    let mut random = Random::new(derive(seed, KIND_SLOT, index));
    let original = |number: u64, host, edits| Recipe {
        site: block * ORIGINALS.div_ceil(SITE) + number / SITE,
        page: block * BLOCK + number,
        edits,
        host,
    };
    let edit = |number: u64, rate| Edit { seed: derive(seed, KIND_EDIT, number), rate };
    let Some(copy) = slot.checked_sub(ORIGINALS) else {
        return original(slot, Host::Own, vec![]);
    };
    if copy < EXACT {
        return original(random.below(ORIGINALS), Host::Copier(index), vec![]);
    }
    if copy < EXACT + MIRRORED {
        // Mirrors of odd blocks copy byte for byte.
        let edits = if block.is_multiple_of(2) { vec![edit(index, MIRROR_RATE)] } else { vec![] };
        return original(SITE + copy - EXACT, Host::Mirror, edits);
    }
    if copy < EXACT + MIRRORED + EDITED {
        // The product of two draws favours small numbers: popular originals, light edits.
        let popular = (random.unit() * random.unit() * ORIGINALS as f64) as u64;
        let rate = RATE_MAX * random.unit() * random.unit();
        return original(popular, Host::Copier(index), vec![edit(index, rate)]);
    }
    let link = copy - EXACT - MIRRORED - EDITED;
    let (chain, depth) = (link / CHAIN, link % CHAIN);
    let first = block * BLOCK + chain * CHAIN;
    let edits = (0..=depth).map(|step| edit(first + step, CHAIN_RATE)).collect();
    original(ORIGINALS - 1 - chain, Host::Copier(index), edits)
}

/// The recipe of a page of the giant group: the same original for all, each with its own light edit.
pub fn giant_recipe(seed: u64, number: u64) -> Recipe {
    let edit = Edit { seed: derive(seed, KIND_EDIT, u64::MAX - number), rate: GIANT_RATE };
    Recipe { site: u64::MAX, page: u64::MAX, edits: vec![edit], host: Host::Copier(u64::MAX - number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_the_same_share_of_each_kind() {
        for block in [0, 7, 1 << 40] {
            let recipes: Vec<Recipe> = (0..BLOCK).map(|slot| recipe(3, block * BLOCK + slot)).collect();
            let count = |test: &dyn Fn(&Recipe) -> bool| recipes.iter().filter(|r| test(r)).count() as u64;
            assert_eq!(count(&|r| r.host == Host::Own), ORIGINALS);
            assert_eq!(count(&|r| r.host == Host::Mirror), MIRRORED);
            assert_eq!(count(&|r| r.edits.len() > 1), 2 * (CHAIN - 1));
            assert!(recipes.iter().all(|r| r.page / BLOCK == block));
        }
    }

    #[test]
    fn a_chain_grows_by_one_edit_a_link() {
        let links: Vec<Recipe> =
            (0..BLOCK).map(|slot| recipe(3, slot)).filter(|r| r.edits.len() > 1).collect();
        let of = |page| {
            let mut edits: Vec<_> =
                links.iter().filter(|r| r.page == page).map(|r| r.edits.clone()).collect();
            edits.sort_by_key(Vec::len);
            edits
        };
        let chain = of(ORIGINALS - 1);
        assert_eq!(chain.len(), 4);
        assert!(chain.windows(2).all(|link| link[1].starts_with(&link[0])));
        assert_ne!(chain[0][0], of(ORIGINALS - 2)[0][0]);
    }
}

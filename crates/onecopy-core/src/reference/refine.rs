//! The slow answer about search results: all pairs, by the definition.

use crate::decide::search::candidates;
use crate::refine::{
    Compared, Evidence, Grouping, Place, RefineError, RefineOptions, Refined, Relation, Sheets, Tags, kept,
    tags_of,
};
use crate::similarity::method::method;

/// Groups results, which are given best first. It equals [`crate::refine`].
pub fn refine(results: &[Evidence], options: &RefineOptions) -> Result<Refined, RefineError> {
    options.check()?;
    let (pairs, compared, threshold) = match tags_of(results, options)? {
        Some(tags) => (tag_pairs(&tags), Compared::Tags, tags.threshold),
        None => page_pairs(results, options)?,
    };
    let places = match options.grouping {
        Grouping::ByAnchor => by_anchor(&pairs),
        Grouping::Transitive => transitive(&pairs),
    };
    Ok(Refined { places: kept(places, options.keep), compared, threshold })
}

/// The facts about each pair of results. The row is that of the worse-ranked one.
type Pairs = Vec<Vec<Pair>>;

#[derive(Clone, Copy)]
struct Pair {
    alike: bool,
    similarity: f64,
    relation: Relation,
}

const UNLIKE: Pair = Pair { alike: false, similarity: 0.0, relation: Relation::Similar };

/// A result goes to the first anchor that it is alike to, or becomes one.
fn by_anchor(pairs: &Pairs) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for (result, row) in pairs.iter().enumerate() {
        let anchor = (0..result).find(|&other| places[other].anchor == other && row[other].alike);
        places.push(place(result, anchor.unwrap_or(result), pairs));
    }
    places
}

/// Spreads the best rank over alike results until nothing changes.
fn transitive(pairs: &Pairs) -> Vec<Place> {
    let mut best: Vec<usize> = (0..pairs.len()).collect();
    let mut before = Vec::new();
    while before != best {
        before.clone_from(&best);
        for (result, row) in pairs.iter().enumerate() {
            for other in (0..result).filter(|&other| row[other].alike) {
                let both = best[result].min(best[other]);
                (best[result], best[other]) = (both, both);
            }
        }
    }
    (0..pairs.len()).map(|result| place(result, best[result], pairs)).collect()
}

fn place(result: usize, anchor: usize, pairs: &Pairs) -> Place {
    if anchor == result {
        return Place { anchor, similarity: 1.0, relation: Relation::Anchor };
    }
    let Pair { similarity, relation, .. } = pairs[result][anchor];
    Place { anchor, similarity, relation }
}

fn page_pairs(results: &[Evidence], options: &RefineOptions) -> Result<(Pairs, Compared, f64), RefineError> {
    let method = method(&options.config)?;
    let sheets = Sheets::new(results, options, &*method);
    let sketches: Vec<&[u64]> = (0..sheets.best.len()).map(|text| sheets.sketch_of(text)).collect();
    let searched = candidates(&*method, &sketches);
    let pair = |a: usize, b: usize| {
        let (a, b) = (sheets.text_of[a], sheets.text_of[b]);
        if a == u32::MAX || b == u32::MAX {
            return UNLIKE;
        }
        if a == b {
            return Pair { alike: true, similarity: 1.0, relation: Relation::Similar };
        }
        let (first, second) = (sketches[a as usize], sketches[b as usize]);
        let similarity = method.similarity(method.score(first, second), (first.len(), second.len()));
        let found = searched.as_ref().is_none_or(|pairs| pairs.contains(&(a.min(b), a.max(b))));
        let best = |text: u32| sheets.best[text as usize] as usize;
        let alike = found && similarity >= method.threshold();
        Pair { alike, similarity, relation: sheets.relation(best(a), best(b)) }
    };
    let pairs = (0..results.len()).map(|a| (0..a).map(|b| pair(a, b)).collect()).collect();
    Ok((pairs, sheets.compared(), method.threshold()))
}

fn tag_pairs(tags: &Tags) -> Pairs {
    let pair = |a: usize, b: usize| {
        let is_set = |tag: usize, bit: usize| tags.tag(tag)[bit / 64] >> (bit % 64) & 1 == 1;
        let bits = tags.tag(a).len() * 64;
        let count = |of: &dyn Fn(usize) -> bool| (0..bits).filter(|&bit| of(bit)).count() as f64;
        let (own, its) = (count(&|bit| is_set(a, bit)), count(&|bit| is_set(b, bit)));
        let shared = count(&|bit| is_set(a, bit) && is_set(b, bit));
        if own == 0.0 || its == 0.0 {
            return UNLIKE;
        }
        let full = own.max(its) > bits as f64 / 2.0;
        let similarity = shared / own.max(its);
        let alike = if full { tags.tag(a) == tags.tag(b) } else { similarity >= tags.threshold };
        Pair { alike, similarity, relation: Relation::of_shares(shared / own, shared / its) }
    };
    (0..tags.len()).map(|a| (0..a).map(|b| pair(a, b)).collect()).collect()
}

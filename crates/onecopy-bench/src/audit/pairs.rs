//! Reads pairs of pages from a CSV file: `id1,id2,similarity`, one header line, plain or packed.
//!
//! Ids contain no comma or quote in any corpus we measure, so this needs no full CSV parser.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::join::Pair;
use crate::jsonl;

/// The pairs of `path` whose similarity is at least `threshold`. Without a third column the similarity is 1.
pub fn read(path: &Path, positions: &HashMap<String, u32>, threshold: f64) -> Result<Vec<Pair>> {
    let mut pairs = vec![];
    for (number, line) in jsonl::open(path)?.lines().enumerate().skip(1) {
        let place = || format!("{}, line {}", path.display(), number + 1);
        let line = line.with_context(place)?;
        let pair = parse(&line, positions).with_context(place)?;
        if pair.similarity >= threshold {
            pairs.push(pair);
        }
    }
    Ok(pairs)
}

fn parse(line: &str, positions: &HashMap<String, u32>) -> Result<Pair> {
    let mut fields = line.trim().split(',');
    let (Some(left), Some(right)) = (fields.next(), fields.next()) else {
        bail!("expected id1,id2,similarity but found {line:?}");
    };
    let position =
        |id| positions.get(id).copied().with_context(|| format!("page {id:?} is not in the input"));
    let (left, right) = (position(left)?, position(right)?);
    let similarity = match fields.next() {
        Some(field) => field.parse().with_context(|| format!("{field:?} is not a similarity"))?,
        None => 1.0,
    };
    Ok(Pair { first: left.min(right), second: left.max(right), similarity })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_two_pages_of_the_input() {
        let positions = HashMap::from([("a".to_owned(), 4), ("b".to_owned(), 2)]);
        let pair = parse("a,b,0.85", &positions).unwrap();
        assert_eq!(pair, Pair { first: 2, second: 4, similarity: 0.85 });
        assert!(parse("a", &positions).is_err());
        assert!(parse("a,c,0.9", &positions).unwrap_err().to_string().contains("\"c\""));
    }
}

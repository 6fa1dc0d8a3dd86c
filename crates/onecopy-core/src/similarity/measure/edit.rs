//! Edit distance of token sequences (Levenshtein 1966), up to a bound.

/// How many tokens must be inserted, deleted or replaced to turn `b` into `a`; `None` if more than `most`.
///
/// It computes only the cells of the table that are at most `most` off the diagonal (Ukkonen 1985). The time is
/// proportional to the length times the bound. Common ends of the pages take none.
pub fn edit_distance(a: &[u64], b: &[u64], most: usize) -> Option<usize> {
    let (a, b) = without_common_ends(a, b);
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    if long.len() - short.len() > most {
        return None;
    }
    let most = most.min(long.len());
    let beyond = most + 1;
    // The costs of the row above: of making the first j tokens of `short` from those of `long` so far.
    let mut row: Vec<usize> = (0..=short.len()).map(|j| j.min(beyond)).collect();
    for (i, token) in long.iter().enumerate() {
        let (from, to) = (i.saturating_sub(most), (i + 1 + most).min(short.len()));
        // The cell before the band is out of reach, unless it is the edge of the table.
        let mut diagonal =
            std::mem::replace(&mut row[from], if from == 0 { (i + 1).min(beyond) } else { beyond });
        let mut least = row[from];
        for j in from..to {
            let replaced = diagonal + usize::from(*token != short[j]);
            // Cells of the row above beyond its band were never written, and start out of reach.
            let above = row[j + 1];
            diagonal = above;
            row[j + 1] = replaced.min(above + 1).min(row[j] + 1).min(beyond);
            least = least.min(row[j + 1]);
        }
        if least > most {
            return None;
        }
    }
    Some(row[short.len()]).filter(|&distance| distance <= most)
}

fn without_common_ends<'a>(a: &'a [u64], b: &'a [u64]) -> (&'a [u64], &'a [u64]) {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[head..], &b[head..]);
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    (&a[..a.len() - tail], &b[..b.len() - tail])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_the_book(a: &[u64], b: &[u64]) -> usize {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                table[i][j] = if i == 0 || j == 0 {
                    i + j
                } else {
                    let replaced = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1)
                };
            }
        }
        table[a.len()][b.len()]
    }

    #[test]
    fn values_by_hand() {
        let tokens = |text: &str| text.bytes().map(u64::from).collect::<Vec<_>>();
        let distance = |a: &str, b: &str, most| edit_distance(&tokens(a), &tokens(b), most);
        assert_eq!(distance("kitten", "sitting", 9), Some(3));
        assert_eq!(distance("kitten", "sitting", 3), Some(3));
        assert_eq!(distance("kitten", "sitting", 2), None);
        assert_eq!(distance("", "abc", 3), Some(3));
        assert_eq!(distance("abc", "", 2), None);
        assert_eq!(distance("abc", "abc", 0), Some(0));
        assert_eq!(distance("abc", "abd", 0), None);
        assert_eq!(distance("", "", usize::MAX), Some(0));
    }

    proptest! {
        #[test]
        fn the_band_equals_the_whole_table(
            a in prop::collection::vec(0u64..4, 0..24),
            b in prop::collection::vec(0u64..4, 0..24),
            most in 0usize..30,
        ) {
            let distance = by_the_book(&a, &b);
            prop_assert_eq!(edit_distance(&a, &b, most), (distance <= most).then_some(distance));
        }
    }
}

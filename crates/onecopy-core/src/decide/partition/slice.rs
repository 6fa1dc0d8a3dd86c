//! Cuts one dimension into fine-grain intervals, and merges them to slices with about equally many pages.

/// Where each slice except the first begins. `lengths` are ascending.
pub(super) fn cuts(lengths: &[u32], tau: f64, slices: usize) -> Vec<u32> {
    let fine = fine(lengths, tau);
    let sizes: Vec<usize> = fine.iter().map(|&(_, size)| size).collect();
    let (mut at, mut cuts) = (0, Vec::new());
    for merged in merge(&sizes, slices) {
        cuts.extend(fine.get(at).map(|&(first, _)| first).filter(|_| at > 0));
        at += merged;
    }
    cuts
}

/// Fine-grain intervals, as Theobald, Siddharth and Paepcke (2008) cut them: where each begins, and how many lengths
/// are in it. An interval begins at the first length that, times `tau`, is more than the begin of the one before.
fn fine(lengths: &[u32], tau: f64) -> Vec<(u32, usize)> {
    let mut fine: Vec<(u32, usize)> = Vec::new();
    for &length in lengths {
        match fine.last_mut() {
            Some((first, size)) if f64::from(*first) >= tau * f64::from(length) => *size += 1,
            _ => fine.push((length, 1)),
        }
    }
    fine
}

/// How many adjacent intervals of these sizes make each slice. A slice takes intervals while that brings it nearer
/// to an equal share of the rest.
fn merge(sizes: &[usize], slices: usize) -> Vec<usize> {
    let mut left: usize = sizes.iter().sum();
    let (mut merged, mut at) = (Vec::new(), 0);
    while at < sizes.len() {
        let open = slices.saturating_sub(merged.len()).max(1);
        let share = left as f64 / open as f64;
        let (mut count, mut held) = (1, sizes[at]);
        while let Some(&next) = sizes.get(at + count) {
            let off = |held: usize| (held as f64 - share).abs();
            if open > 1 && off(held + next) >= off(held) {
                break;
            }
            (count, held) = (count + 1, held + next);
        }
        merged.push(count);
        (at, left) = (at + count, left - held);
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of `sizes` are in each slice.
    fn shares(sizes: &[usize], slices: usize) -> Vec<usize> {
        let mut at = 0;
        let held = |count: usize| {
            at += count;
            sizes[at - count..at].iter().sum()
        };
        merge(sizes, slices).into_iter().map(held).collect()
    }

    /// The examples of Zhu and others (2012), 4.3.
    #[test]
    fn as_the_paper_cuts() {
        let lengths: Vec<u32> = (1..=10).collect();
        let firsts: Vec<u32> = fine(&lengths, 0.8).iter().map(|&(first, _)| first).collect();
        assert_eq!(firsts, [1, 2, 3, 4, 6, 8]);
        assert_eq!(shares(&[2, 3, 4, 5, 2, 1], 4), [5, 4, 5, 3]);
        assert_eq!(shares(&[2, 3, 4, 10, 2, 1], 4), [5, 4, 10, 3]);
        let counted = [(1, 2), (2, 3), (3, 4), (4, 5), (6, 2), (8, 1)];
        let lengths: Vec<u32> = counted.iter().flat_map(|&(length, count)| vec![length; count]).collect();
        assert_eq!(cuts(&lengths, 0.8, 4), [3, 4, 6]);
    }

    #[test]
    fn slices_are_no_more_than_asked_for() {
        assert!(cuts(&[], 0.8, 4).is_empty());
        assert!(cuts(&[7; 100], 0.8, 4).is_empty());
        assert!(cuts(&[0, 0, 5, 9], 0.8, 1).is_empty());
        assert_eq!(cuts(&[0, 0, 5, 9], 0.8, 9), [5, 9]);
        assert_eq!(shares(&[1; 9], 2), [4, 5]);
        assert_eq!(shares(&[100, 1, 1, 1], 2), [100, 3]);
        assert_eq!(shares(&[1, 1, 1, 100], 3), [3, 100]);
    }
}

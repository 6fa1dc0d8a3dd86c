//! The chance that rotating, sorting and comparing neighbours finds a pair.
//!
//! Suppose two sketches agree in their `l` leading bits and differ in the next. When n sketches are sorted, about n
//! / 2^(l + 1) are between these two: half of those with the same leading bits. The two are neighbours with the
//! chance that a Poisson variable of that mean is below the window. Each run of agreeing bits between two differing
//! bits leads in some rotation. Different sketches come between the two then, practically independently. All
//! positions of the differing bits are equally likely.

use super::BITS;

/// For pairs that differ in 0, 1, … up to `most` bits, the chance that the search finds them among `pages`. It
/// rotates sketches by each multiple of `step` bits, and compares each with `window` neighbours.
pub(super) fn seen(most: usize, step: usize, window: u32, pages: u64) -> Vec<f64> {
    let missed = missed(step, window, pages);
    // Sums over all choices of the differing bits, each weighted by the chance that no run shows the pair. It goes
    // around the circle from a first differing bit. `ways[place]` ends with a differing bit at that place.
    let mut sums = vec![0.0; most];
    for first in 0..BITS {
        let mut ways = vec![0.0; BITS];
        ways[0] = 1.0;
        for sum in &mut sums {
            let close = |place: usize| ways[place] * missed[(first + place) % BITS][BITS - 1 - place];
            *sum += (0..BITS).map(close).sum::<f64>();
            let reach = |to: usize| {
                (0..to).map(|from| ways[from] * missed[(first + from) % BITS][to - from - 1]).sum::<f64>()
            };
            ways = (0..BITS).map(reach).collect();
        }
    }
    let (mut choices, mut chances) = (1.0, vec![1.0]);
    for (differ, sum) in (1..).zip(sums) {
        choices *= (BITS + 1 - differ) as f64 / differ as f64;
        // Each choice was counted once from each of its bits.
        chances.push((1.0 - sum / differ as f64 / choices).clamp(0.0, 1.0));
    }
    chances
}

/// The chance that a run of agreeing bits does not show a pair: by the position of the bit before it, and its
/// length.
fn missed(step: usize, window: u32, pages: u64) -> Vec<Vec<f64>> {
    let by_lead: Vec<f64> =
        (0..BITS).map(|lead| 1.0 - below(window, pages as f64 / 2f64.powi(lead as i32 + 1))).collect();
    let of = |before: usize, length: usize| {
        // The first rotation that begins in the run has the longest leading part of it.
        let begins = (before + 1..before + 1 + length).find(|place| (place % BITS).is_multiple_of(step));
        begins.map_or(1.0, |begin| by_lead[before + 1 + length - begin])
    };
    (0..BITS).map(|before| (0..BITS).map(|length| of(before, length)).collect()).collect()
}

/// The chance that a Poisson variable is below `window`.
fn below(window: u32, mean: f64) -> f64 {
    let mut log = -mean;
    let mut sum = 0.0;
    for number in 0..window {
        sum += log.exp();
        log += mean.ln() - f64::from(number + 1).ln();
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_by_hand() {
        assert!((below(1, 1.0) - (-1f64).exp()).abs() < 1e-12);
        assert!((below(2, 1.0) - 2.0 * (-1f64).exp()).abs() < 1e-12);
        assert!(below(4, 1e9) < 1e-12 && below(4, 0.0) == 1.0);
        let few = seen(3, 1, 1, 2);
        assert!(few.iter().all(|&chance| chance > 0.999_999), "{few:?}");
        assert!(seen(3, 64, 1, 1_000_000)[1] < 0.8, "one order only");
        let (step, window) = (seen(3, 8, 1, 10_000_000), seen(3, 1, 4, 10_000_000));
        assert!(step[3] < window[3] && step[2] > step[3] && window[3] > 0.98, "{step:?} {window:?}");
    }
}

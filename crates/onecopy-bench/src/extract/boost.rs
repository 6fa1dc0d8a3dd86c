//! Boosted trees that ask one question a level (oblivious trees), trained by gradient boosting with logistic loss
//! (Friedman 2001) on binned numbers.
//!
//! Answers are sums of whole numbers, so that a model gives the same answer on every machine.

use crate::generate::random::Random;

/// Values of a number are told apart in at most this many bins.
const BINS: usize = 64;
/// One unit of the sum of leaves, as a logit.
const UNIT: f64 = 1.0 / 1024.0;

/// How to train.
#[derive(Clone, Copy)]
pub struct Settings {
    pub trees: usize,
    pub depth: usize,
    pub rate: f64,
    /// Weight that pulls leaves to zero.
    pub calm: f64,
}

/// What is learnt from: a row a block.
pub struct Rows {
    /// Numbers, a row after the other.
    pub values: Vec<i32>,
    pub width: usize,
    pub labels: Vec<f32>,
    pub weights: Vec<f32>,
}

/// One tree: a question a level, and a number for each way to answer them.
pub struct Tree {
    /// The number that is asked about, and what it must be above.
    pub questions: Vec<(usize, i32)>,
    pub leaves: Vec<i32>,
}

/// A trained model.
pub struct Model {
    pub base: i32,
    pub trees: Vec<Tree>,
}

impl Model {
    /// Above zero: rather main content.
    pub fn judge(&self, values: &[i32]) -> i32 {
        let leaf = |tree: &Tree| {
            let questions = tree.questions.iter().enumerate();
            let index = questions.fold(0, |index, (level, (number, above))| {
                index | usize::from(values[*number] > *above) << level
            });
            tree.leaves[index]
        };
        self.base + self.trees.iter().map(leaf).sum::<i32>()
    }
}

/// Trains a model; the same rows give the same model.
pub fn train(rows: &Rows, settings: &Settings) -> Model {
    let bins = Binned::new(rows);
    let mut random = Random::new(7);
    let mut logits = vec![0.0; rows.labels.len()];
    let mut trees = vec![];
    for _ in 0..settings.trees {
        let sample: Vec<u32> = (0..rows.labels.len() as u32).filter(|_| random.below(2) == 0).collect();
        let numbers: Vec<usize> = (0..rows.width).filter(|_| random.below(5) < 2).collect();
        let slopes = Slopes::new(rows, &logits, sample);
        let tree = grow(&bins, &slopes, &numbers, settings);
        for (row, logit) in logits.iter_mut().enumerate() {
            *logit += f64::from(tree.leaves[bins.leaf(&tree.cuts, row)]) * UNIT;
        }
        trees.push(Tree { questions: bins.questions(&tree.cuts), leaves: tree.leaves });
    }
    Model { base: 0, trees }
}

/// Rows as bins, a number after the other.
struct Binned {
    columns: Vec<Vec<u8>>,
    /// For each number, the greatest value of each bin.
    tops: Vec<Vec<i32>>,
}

impl Binned {
    fn new(rows: &Rows) -> Binned {
        let column = |number: usize| rows.values.iter().skip(number).step_by(rows.width).copied();
        let tops: Vec<Vec<i32>> = (0..rows.width).map(|number| tops(column(number).collect())).collect();
        let bin = |(number, tops): (usize, &Vec<i32>)| {
            column(number).map(|value| tops.partition_point(|top| *top < value) as u8).collect()
        };
        let columns = tops.iter().enumerate().map(bin).collect();
        Binned { columns, tops }
    }

    fn leaf(&self, cuts: &[(usize, u8)], row: usize) -> usize {
        let levels = cuts.iter().enumerate();
        levels.fold(0, |leaf, (level, (number, bin))| {
            leaf | usize::from(self.columns[*number][row] > *bin) << level
        })
    }

    fn questions(&self, cuts: &[(usize, u8)]) -> Vec<(usize, i32)> {
        cuts.iter().map(|&(number, bin)| (number, self.tops[number][bin as usize])).collect()
    }
}

/// The greatest values of bins that hold about as many values each.
fn tops(mut values: Vec<i32>) -> Vec<i32> {
    values.sort_unstable();
    let last = values.len() - 1;
    let mut tops: Vec<i32> = (1..=BINS).map(|bin| values[last * bin / BINS]).collect();
    tops.dedup();
    tops
}

/// First and second derivatives of the loss at the rows of a sample.
struct Slopes {
    sample: Vec<u32>,
    first: Vec<f32>,
    second: Vec<f32>,
}

impl Slopes {
    fn new(rows: &Rows, logits: &[f64], sample: Vec<u32>) -> Slopes {
        let at = |row: &u32| {
            let row = *row as usize;
            let chance = 1.0 / (1.0 + (-logits[row]).exp());
            let weight = f64::from(rows.weights[row]);
            let first = weight * (f64::from(rows.labels[row]) - chance);
            (first as f32, (weight * chance * (1.0 - chance)) as f32)
        };
        let (first, second) = sample.iter().map(at).unzip();
        Slopes { sample, first, second }
    }
}

struct Grown {
    cuts: Vec<(usize, u8)>,
    leaves: Vec<i32>,
}

fn grow(bins: &Binned, slopes: &Slopes, numbers: &[usize], settings: &Settings) -> Grown {
    let mut leaf_of = vec![0u8; slopes.sample.len()];
    let mut cuts = vec![];
    for level in 0..settings.depth {
        let gain = |number: &usize| best_cut(bins, slopes, &leaf_of, (*number, 1 << level), settings.calm);
        let best = numbers.iter().map(gain).max_by(|one, other| one.0.total_cmp(&other.0));
        let Some((_, number, bin)) = best else { break };
        for (leaf, &row) in leaf_of.iter_mut().zip(&slopes.sample) {
            *leaf |= u8::from(bins.columns[number][row as usize] > bin) << level;
        }
        cuts.push((number, bin));
    }
    let mut sums = vec![(0.0, 0.0); 1 << cuts.len()];
    for (index, leaf) in leaf_of.iter().enumerate() {
        sums[*leaf as usize].0 += f64::from(slopes.first[index]);
        sums[*leaf as usize].1 += f64::from(slopes.second[index]);
    }
    let leaf = |(first, second): (f64, f64)| {
        // The model keeps its leaves in 16 bits.
        (settings.rate * first / (second + settings.calm) / UNIT).clamp(-30_000.0, 30_000.0) as i32
    };
    Grown { cuts, leaves: sums.into_iter().map(leaf).collect() }
}

/// The cut of `number` that separates best in all `leaves` at once: gain, number and bin.
fn best_cut(
    bins: &Binned,
    slopes: &Slopes,
    leaf_of: &[u8],
    (number, leaves): (usize, usize),
    calm: f64,
) -> (f64, usize, u8) {
    let column = &bins.columns[number];
    let mut sums = vec![[0.0f32; 2]; leaves * 256];
    for (index, &row) in slopes.sample.iter().enumerate() {
        let cell = &mut sums[leaf_of[index] as usize * 256 + column[row as usize] as usize];
        cell[0] += slopes.first[index];
        cell[1] += slopes.second[index];
    }
    let count = bins.tops[number].len();
    let mut gains = vec![0.0; count.saturating_sub(1)];
    for cells in sums.chunks(256) {
        let total = cells[..count].iter().fold([0.0; 2], plus);
        let mut left = [0.0; 2];
        for (gain, cell) in gains.iter_mut().zip(cells) {
            left = plus(left, cell);
            let right = [total[0] - left[0], total[1] - left[1]];
            *gain += [left, right].map(|[first, second]| first * first / (second + calm)).iter().sum::<f64>();
        }
    }
    let best = gains.iter().copied().enumerate().max_by(|one, other| one.1.total_cmp(&other.1));
    best.map_or((0.0, number, 0), |(bin, gain)| (gain, number, bin as u8))
}

fn plus(sum: [f64; 2], cell: &[f32; 2]) -> [f64; 2] {
    [sum[0] + f64::from(cell[0]), sum[1] + f64::from(cell[1])]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_of_two_numbers_is_learnt() {
        let wanted = |x: i32, y: i32| x > 30 && y < 50;
        let points: Vec<(i32, i32)> = (0..2500).map(|i| (i % 50 * 2, i / 50 * 2)).collect();
        let rows = Rows {
            values: points.iter().flat_map(|(x, y)| [*x, *y]).collect(),
            width: 2,
            labels: points.iter().map(|(x, y)| f32::from(u8::from(wanted(*x, *y)))).collect(),
            weights: vec![1.0; points.len()],
        };
        let model = train(&rows, &Settings { trees: 40, depth: 2, rate: 0.3, calm: 1.0 });
        let right = points.iter().filter(|(x, y)| (model.judge(&[*x, *y]) > 0) == wanted(*x, *y)).count();
        assert!(right > 2450, "{right} of 2500");
    }
}

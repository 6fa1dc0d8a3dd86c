//! Oblivious decision trees, which ask one question per level. They are trained by gradient boosting with logistic loss
//! (Friedman 2001) on binned features.
//!
//! Results are sums of integers, so that a model gives the same answer on every machine.

use crate::generate::random::Random;

/// The most bins per feature.
const BINS: usize = 64;
/// The logit of one unit in the sum of leaves.
const UNIT: f64 = 1.0 / 1024.0;

/// The training parameters.
#[derive(Clone, Copy)]
pub struct Settings {
    pub trees: usize,
    pub depth: usize,
    pub rate: f64,
    /// The regularization weight that pulls leaves to zero.
    pub calm: f64,
    /// The share of rows sampled for each tree.
    pub rows: f64,
    /// How many features in a thousand a tree may use.
    pub numbers: u64,
}

/// The training data: one row per block.
pub struct Rows {
    /// The features, row by row.
    pub values: Vec<i32>,
    pub width: usize,
    pub labels: Vec<f32>,
    pub weights: Vec<f32>,
}

/// One tree: a question per level, and a leaf for each combination of answers.
pub struct Tree {
    /// The feature and its threshold, which the value must exceed.
    pub questions: Vec<(usize, i32)>,
    pub leaves: Vec<i32>,
}

/// A trained model.
pub struct Model {
    /// The number of features.
    pub width: usize,
    pub trees: Vec<Tree>,
}

impl Model {
    /// A positive result means main content.
    pub fn judge(&self, values: &[i32]) -> i32 {
        let leaf = |tree: &Tree| {
            let questions = tree.questions.iter().enumerate();
            let index = questions.fold(0, |index, (level, (number, above))| {
                index | usize::from(values[*number] > *above) << level
            });
            tree.leaves[index]
        };
        self.trees.iter().map(leaf).sum::<i32>()
    }

    /// The trees of both, each with half of its weight.
    pub fn mean(self, other: Model) -> Model {
        let mut trees: Vec<Tree> = self.trees.into_iter().chain(other.trees).collect();
        trees.iter_mut().flat_map(|tree| &mut tree.leaves).for_each(|leaf| *leaf /= 2);
        Model { width: self.width, trees }
    }
}

/// Trains a model; the same rows give the same model.
pub fn train(rows: &Rows, settings: &Settings) -> Model {
    let bins = Binned::new(rows);
    let mut random = Random::new(7);
    let mut logits = vec![0.0; rows.labels.len()];
    let mut trees = vec![];
    for _ in 0..settings.trees {
        let slopes = Slopes::new(rows, &logits, settings.rows, &mut random);
        let numbers: Vec<usize> = (0..rows.width).filter(|_| random.below(1000) < settings.numbers).collect();
        let tree = grow(&bins, &slopes, &numbers, settings);
        for (row, logit) in logits.iter_mut().enumerate() {
            *logit += f64::from(tree.leaves[bins.leaf(&tree.cuts, row)]) * UNIT;
        }
        trees.push(Tree { questions: bins.questions(&tree.cuts), leaves: tree.leaves });
    }
    Model { width: rows.width, trees }
}

/// Binned rows, feature by feature.
struct Binned {
    columns: Vec<Vec<u8>>,
    /// For each feature, the largest value of each bin.
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

/// The upper bounds of bins with about equal numbers of values.
fn tops(mut values: Vec<i32>) -> Vec<i32> {
    values.sort_unstable();
    let last = values.len() - 1;
    let mut tops: Vec<i32> = (1..=BINS).map(|bin| values[last * bin / BINS]).collect();
    tops.dedup();
    tops
}

/// First and second derivatives of the loss at the sampled rows.
struct Slopes {
    sample: Vec<u32>,
    slopes: Vec<[f32; 2]>,
}

impl Slopes {
    /// Samples rows by gradient and weights each for those not sampled (Ibragimov and Gusev 2019). A quarter of the
    /// rows then trains as well as all.
    fn new(rows: &Rows, logits: &[f64], part: f64, random: &mut Random) -> Slopes {
        let at = |(row, logit): (usize, &f64)| {
            let chance = 1.0 / (1.0 + (-logit).exp());
            let weight = f64::from(rows.weights[row]);
            let first = weight * (f64::from(rows.labels[row]) - chance);
            [first as f32, (weight * chance * (1.0 - chance)) as f32]
        };
        let all: Vec<[f32; 2]> = logits.iter().enumerate().map(at).collect();
        let size = |[first, second]: [f32; 2]| first.abs() + 0.3 * second;
        let mean = all.iter().map(|slopes| f64::from(size(*slopes))).sum::<f64>() / all.len() as f64;
        let (mut sample, mut slopes) = (vec![], vec![]);
        for (row, slope) in all.into_iter().enumerate() {
            let chance = (part * f64::from(size(slope)) / mean).min(1.0);
            if (random.below(1 << 24) as f64) < chance * (1 << 24) as f64 {
                sample.push(row as u32);
                slopes.push(slope.map(|slope| (f64::from(slope) / chance) as f32));
            }
        }
        Slopes { sample, slopes }
    }
}

struct Grown {
    cuts: Vec<(usize, u8)>,
    leaves: Vec<i32>,
}

fn grow(bins: &Binned, slopes: &Slopes, numbers: &[usize], settings: &Settings) -> Grown {
    let column = |number: &usize| {
        let column = &bins.columns[*number];
        slopes.sample.iter().map(|row| column[*row as usize]).collect()
    };
    let columns: Vec<Vec<u8>> = numbers.iter().map(column).collect();
    let mut leaf_of = vec![0u16; slopes.sample.len()];
    let mut cuts = vec![];
    for level in 0..settings.depth {
        let gain = |at: usize| {
            let count = bins.tops[numbers[at]].len();
            best_cut(&columns[at], count, slopes, (&leaf_of, 1 << level), settings.calm)
        };
        let gains = (0..columns.len()).map(|at| (gain(at), at));
        let best = gains.max_by(|one, other| one.0.0.total_cmp(&other.0.0));
        let Some(((_, bin), at)) = best else { break };
        for (leaf, &value) in leaf_of.iter_mut().zip(&columns[at]) {
            *leaf |= u16::from(value > bin) << level;
        }
        cuts.push((numbers[at], bin));
    }
    let mut sums = vec![[0.0; 2]; 1 << cuts.len()];
    for (leaf, slope) in leaf_of.iter().zip(&slopes.slopes) {
        sums[*leaf as usize] = plus(sums[*leaf as usize], slope);
    }
    let leaf = |[first, second]: [f64; 2]| {
        // The model stores leaves in 16 bits.
        (settings.rate * first / (second + settings.calm) / UNIT).clamp(-30_000.0, 30_000.0) as i32
    };
    Grown { cuts, leaves: sums.into_iter().map(leaf).collect() }
}

/// The best cut of a column of `count` bins over all `leaves`: its gain and bin.
fn best_cut(
    column: &[u8],
    count: usize,
    slopes: &Slopes,
    (leaf_of, leaves): (&[u16], usize),
    calm: f64,
) -> (f64, u8) {
    // Alternates between two tables: the processor stalls if it adds to one cell twice in a row.
    let mut sums = vec![[[0.0f32; 2]; 2]; leaves * BINS];
    for (index, slope) in slopes.slopes.iter().enumerate() {
        let cell = &mut sums[leaf_of[index] as usize * BINS + column[index] as usize][index % 2];
        cell[0] += slope[0];
        cell[1] += slope[1];
    }
    let mut gains = vec![0.0; count.saturating_sub(1)];
    for cells in sums.chunks(BINS) {
        let both = |cell: &[[f32; 2]; 2]| [cell[0][0] + cell[1][0], cell[0][1] + cell[1][1]];
        let total = cells[..count].iter().fold([0.0; 2], |sum, cell| plus(sum, &both(cell)));
        let mut left = [0.0; 2];
        for (gain, cell) in gains.iter_mut().zip(cells) {
            left = plus(left, &both(cell));
            let right = [total[0] - left[0], total[1] - left[1]];
            *gain += [left, right].map(|[first, second]| first * first / (second + calm)).iter().sum::<f64>();
        }
    }
    let best = gains.iter().copied().enumerate().max_by(|one, other| one.1.total_cmp(&other.1));
    best.map_or((0.0, 0), |(bin, gain)| (gain, bin as u8))
}

fn plus(sum: [f64; 2], cell: &[f32; 2]) -> [f64; 2] {
    [sum[0] + f64::from(cell[0]), sum[1] + f64::from(cell[1])]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_two_models_is_between_them() {
        let model =
            |leaves: Vec<i32>| Model { width: 1, trees: vec![Tree { questions: vec![(0, 5)], leaves }] };
        let mean = model(vec![-100, 40]).mean(model(vec![20, 60]));
        assert_eq!([mean.judge(&[5]), mean.judge(&[6])], [-40, 50]);
    }

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
        let model =
            train(&rows, &Settings { trees: 40, depth: 2, rate: 0.3, calm: 1.0, rows: 0.5, numbers: 1000 });
        let right = points.iter().filter(|(x, y)| (model.judge(&[*x, *y]) > 0) == wanted(*x, *y)).count();
        assert!(right > 2450, "{right} of 2500");
    }
}

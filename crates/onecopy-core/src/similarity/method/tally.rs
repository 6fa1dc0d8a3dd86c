//! Adds vectors of small integers, one for each token of a page, without unpacking them.
//!
//! A vector is a row of words. Bit `i` of word `w` is a digit of the entry `64 * w + i`, and each further digit has
//! more words after those. The sums are vertical binary counters with one bit in each of many words, so that an
//! operation on a word serves 64 entries. Carry-save adders take eight rows at a time (Harley and Seal, in Warren
//! 2003). They take about five operations per word; a separate number per entry would take one for each bit.

/// How many rows are added at a time.
const BATCH: usize = 8;
/// How many digits of a counter eight rows can fill.
const LOW: usize = 3;

/// The sums of rows. Reuse one for many pages: its buffers only grow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// The length of a row in words.
    width: usize,
    /// The rows that wait to be added.
    rows: Vec<u64>,
    waiting: usize,
    /// The digits of all counters, least significant first, each `width` words.
    digits: Vec<u64>,
    count: u64,
    /// The distinct values, and how often each occurs.
    counted: Vec<(u64, u32)>,
}

impl Tally {
    /// Drops all rows. The next ones have `width` words.
    pub(crate) fn start(&mut self, width: usize) {
        self.width = width;
        self.rows.clear();
        self.rows.resize(BATCH * width, 0);
        self.digits.clear();
        self.digits.resize(LOW * width, 0);
        (self.waiting, self.count) = (0, 0);
    }

    /// Adds the row that `fill` writes.
    #[inline]
    pub(crate) fn add(&mut self, fill: impl FnOnce(&mut [u64])) {
        let start = self.waiting * self.width;
        fill(&mut self.rows[start..start + self.width]);
        self.waiting += 1;
        self.count += 1;
        if self.waiting == BATCH {
            self.absorb();
        }
    }

    /// Adds the row that `fill` writes for each of the sorted `values`. A value with n occurrences costs one row for
    /// each 1 in the binary form of n. On the words of pages, that is less than half a row per occurrence.
    pub(crate) fn add_sorted(&mut self, values: &[u64], fill: impl Fn(u64, &mut [u64])) {
        let mut counted = std::mem::take(&mut self.counted);
        counted.clear();
        counted.extend(values.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)));
        let most = counted.iter().fold(0, |all, &(_, count)| all | count);
        for digit in (0..32 - most.leading_zeros()).rev() {
            self.double();
            for &(value, _) in counted.iter().filter(|&&(_, count)| count >> digit & 1 == 1) {
                self.add(|row| fill(value, row));
            }
        }
        self.counted = counted;
    }

    /// Counts each row twice.
    fn double(&mut self) {
        if self.count > 0 {
            self.flush();
            self.count *= 2;
            self.digits.splice(0..0, std::iter::repeat_n(0, self.width));
        }
    }

    /// Adds the waiting rows if they are fewer than a batch.
    fn flush(&mut self) {
        if self.waiting > 0 {
            self.rows[self.waiting * self.width..].fill(0);
            self.absorb();
        }
    }

    /// Adds the waiting rows to the counters.
    fn absorb(&mut self) {
        eights(&mut self.rows, &mut self.digits, self.width);
        self.waiting = 0;
        let carry = &mut self.rows[..self.width];
        let mut digit = LOW * self.width;
        while carry.iter().any(|&word| word != 0) {
            if digit == self.digits.len() {
                self.digits.resize(digit + self.width, 0);
            }
            for (sum, carry) in self.digits[digit..].iter_mut().zip(&mut *carry) {
                (*sum, *carry) = (*sum ^ *carry, *sum & *carry);
            }
            digit += self.width;
        }
    }

    /// Appends a bit for each entry to `out`: 1 if its sum is positive. An entry has `planes` digits and stands for
    /// a number from -1 to 1: all digits 0 for -1, all digits 1 for 1, evenly spaced between.
    pub(crate) fn signs(&mut self, planes: usize, out: &mut Vec<u64>) {
        self.flush();
        // An entry v stands for (2v - most) / most. The sum is positive if the sum of v is above half of `most`
        // times the rows.
        let most = (1u64 << planes) - 1;
        let bound = most * self.count / 2;
        let words = self.width / planes;
        out.extend((0..words).map(|word| above(&self.sum(word, planes), bound)));
    }

    /// The sums of 64 entries as vertical numbers: the planes of `word` by their weights.
    fn sum(&self, word: usize, planes: usize) -> [u64; 64] {
        let words = self.width / planes;
        let mut sum = [0u64; 64];
        for plane in 0..planes {
            let mut carry = 0;
            let column = self.digits.iter().skip(plane * words + word).step_by(self.width);
            for (slot, &digit) in sum[plane..].iter_mut().zip(column.chain(std::iter::repeat(&0))) {
                let half = *slot ^ digit;
                (*slot, carry) = (half ^ carry, (*slot & digit) | (half & carry));
            }
        }
        sum
    }
}

/// Adds eight rows to the three lowest digits. The carry out of them is left in the first row.
fn eights(rows: &mut [u64], digits: &mut [u64], width: usize) {
    let (first, rest) = rows.split_at_mut(width);
    let mut rest = rest.chunks_exact(width);
    let mut next = || rest.next().unwrap_or_default();
    let (b, c, d, e, f, g, h) = (next(), next(), next(), next(), next(), next(), next());
    let (ones, digits) = digits.split_at_mut(width);
    let (twos, digits) = digits.split_at_mut(width);
    let fours = &mut digits[..width];
    let rows = b.iter().zip(c).zip(d).zip(e).zip(f).zip(g).zip(h);
    let low = ones.iter_mut().zip(twos).zip(fours);
    for ((((((((b, c), d), e), f), g), h), ((ones, twos), fours)), a) in rows.zip(low).zip(first) {
        let (sum, two_a) = full(*ones, *a, *b);
        let (sum, two_b) = full(sum, *c, *d);
        let (pair, four_a) = full(*twos, two_a, two_b);
        let (sum, two_a) = full(sum, *e, *f);
        let (sum, two_b) = full(sum, *g, *h);
        let (pair, four_b) = full(pair, two_a, two_b);
        (*ones, *twos) = (sum, pair);
        (*fours, *a) = full(*fours, four_a, four_b);
    }
}

/// Sum and carry of three digits.
#[inline]
fn full(a: u64, b: u64, c: u64) -> (u64, u64) {
    let half = a ^ b;
    (half ^ c, (a & b) | (half & c))
}

/// A bit for each of 64 vertical numbers: 1 if it is above `bound`.
fn above(numbers: &[u64; 64], bound: u64) -> u64 {
    let (mut above, mut equal) = (0, u64::MAX);
    for (place, &digit) in numbers.iter().enumerate().rev() {
        let wanted = if bound >> place & 1 == 1 { u64::MAX } else { 0 };
        above |= equal & digit & !wanted;
        equal &= !(digit ^ wanted);
    }
    above
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition: entry by entry, with ordinary numbers.
    fn by_the_book(rows: &[Vec<u64>], words: usize, planes: usize) -> Vec<u64> {
        let most = (1i64 << planes) - 1;
        let bit =
            |row: &[u64], plane: usize, entry: usize| row[plane * words + entry / 64] >> (entry % 64) & 1;
        let positive = |entry: usize| {
            let value = |row: &Vec<u64>| (0..planes).map(|p| (bit(row, p, entry) as i64) << p).sum::<i64>();
            rows.iter().map(|row| 2 * value(row) - most).sum::<i64>() > 0
        };
        let word = |word: usize| (0..64).map(|i| u64::from(positive(64 * word + i)) << i).sum();
        (0..words).map(word).collect()
    }

    proptest! {
        #[test]
        fn sums_equal_adding_numbers(
            (words, planes) in (1usize..4, 1usize..5),
            count in 0usize..70,
            seed in any::<u64>(),
        ) {
            // Few distinct rows, so that sums go far from zero and ties occur.
            let row = |n: usize| (0..words * planes).map(|w| crate::hash::draw(seed ^ (n % 5) as u64, w)).collect();
            let rows: Vec<Vec<u64>> = (0..count).map(row).collect();
            let (mut tally, mut signs) = (Tally::default(), Vec::new());
            tally.start(7);
            tally.add(|row| row.fill(u64::MAX));
            tally.start(words * planes);
            rows.iter().for_each(|row| tally.add(|room| room.copy_from_slice(row)));
            tally.signs(planes, &mut signs);
            prop_assert_eq!(&signs, &by_the_book(&rows, words, planes));
            // Some rows occur much more often than others.
            let mut which: Vec<u64> = (0..count as u64).map(|n| n % 5 % (1 + n % 3)).collect();
            let rows: Vec<Vec<u64>> = which.iter().map(|&n| row(n as usize)).collect();
            which.sort_unstable();
            tally.start(words * planes);
            tally.add_sorted(&which, |n, room| room.copy_from_slice(&row(n as usize)));
            signs.clear();
            tally.signs(planes, &mut signs);
            prop_assert_eq!(signs, by_the_book(&rows, words, planes));
        }
    }
}

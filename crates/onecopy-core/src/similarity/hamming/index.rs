//! Finds sketches near a given one, by tables in memory.

use super::choices::Choices;
use super::tables::Key;
use super::{Sketches, distance, near};

/// Finds sketches that differ from a given one in few bits. It takes four to eight bytes per sketch and block. There
/// is one more block than bits that may differ.
#[derive(Clone, Debug)]
pub struct Index {
    most: u32,
    /// `None` if more bits may differ than there can be blocks: then all sketches are scanned.
    choices: Option<Choices>,
    tables: Vec<BlockTable>,
}

impl Index {
    /// An index for queries of up to `most` bits.
    pub fn new(sketches: Sketches, most: u32) -> Index {
        let possible = (most as usize) < sketches.bits().min(64);
        let choices = possible.then(|| Choices::new(sketches.bits(), most as usize + 1, most as usize));
        let count = choices.as_ref().map_or(0, Choices::count);
        let table = |number| choices.as_ref().map(|choices| BlockTable::new(sketches, choices, number));
        let tables = (0..count).filter_map(table).collect();
        Index { most, choices, tables }
    }

    /// Appends the sketches that differ from `query` in few enough bits to `out`, with the number of those bits, in
    /// order. `sketches` are those that the index was made of.
    pub fn near(&self, sketches: Sketches, query: &[u64], out: &mut Vec<(u32, u32)>) {
        let Some(choices) = &self.choices else { return near(sketches, query, self.most, out) };
        let first = out.len();
        for (number, table) in self.tables.iter().enumerate() {
            for &id in table.ids(query) {
                let sketch = sketches.get(id);
                let distance = distance(sketch, query);
                if distance <= self.most && choices.is_first(sketch, query, number) {
                    out.push((id, distance));
                }
            }
        }
        out[first..].sort_unstable();
    }
}

/// Sketches in the order of the leading bits of one block.
#[derive(Clone, Debug)]
struct BlockTable {
    key: Key,
    /// How many bits of the key are ignored: a table with an entry for each full value would be mostly empty.
    shift: u32,
    /// Where the sketches of each value end.
    ends: Vec<u32>,
    ids: Vec<u32>,
}

impl BlockTable {
    fn new(sketches: Sketches, choices: &Choices, number: usize) -> BlockTable {
        let key = Key::new(choices, number);
        let bits = key.bits.min(sketches.count().max(1).ilog2());
        let shift = key.bits - bits;
        let mut table = BlockTable { key, shift, ends: vec![0; 1 << bits], ids: vec![0; sketches.count()] };
        let all = || sketches.words.chunks_exact(sketches.width);
        all().for_each(|sketch| {
            let value = table.value(sketch);
            table.ends[value] += 1;
        });
        let mut sum = 0;
        table.ends.iter_mut().for_each(|end| sum += std::mem::replace(end, sum));
        for (sketch, id) in all().zip(0..) {
            let value = table.value(sketch);
            let place = &mut table.ends[value];
            table.ids[*place as usize] = id;
            *place += 1;
        }
        table
    }

    #[inline]
    fn value(&self, sketch: &[u64]) -> usize {
        u64::from(self.key.of(sketch)).unbounded_shr(self.shift) as usize
    }

    /// The sketches that have the same value as `query`.
    fn ids(&self, query: &[u64]) -> &[u32] {
        let value = self.value(query);
        let start = value.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.ids[start as usize..self.ends[value] as usize]
    }
}

//! Keys in columns of fixed width, in the order of the keys.
//!
//! Whoever wants few of them reads the first 32 bits of each, and nothing more of keys that nobody wants.

use super::part::{number, read};

/// A key, the place of its holder, and the number beside the key.
pub type Entry = (u64, u32, u32);

/// The leading bits of a key that are read first.
const HEAD_BITS: u32 = 32;

/// Appends entries, which are in order. Keys have at most so many `bits`.
pub fn append_entries(entries: &[Entry], bits: u32, out: &mut Vec<u8>) {
    let low = low_bits(bits);
    number(entries.len() as u64, out);
    out.reserve(entries.len() * 10);
    entries.iter().for_each(|(key, ..)| out.extend(((key >> low) as u32).to_le_bytes()));
    append_column(entries.iter().map(|(key, ..)| (key & ((1 << low) - 1)) as u32), out);
    append_column(entries.iter().map(|(_, holder, _)| *holder), out);
    append_column(entries.iter().map(|(.., rest)| *rest), out);
}

/// How many bits of a key do not fit into its head.
fn low_bits(bits: u32) -> u32 {
    bits.saturating_sub(HEAD_BITS)
}

/// The part of a key of so many bits that is read first.
pub fn head(key: u64, bits: u32) -> u32 {
    (key >> low_bits(bits)) as u32
}

/// Entries as [`append_entries`] wrote them.
pub struct Entries<'a> {
    low: u32,
    heads: &'a [[u8; 4]],
    lows: Column<'a>,
    holders: Column<'a>,
    rests: Column<'a>,
}

impl<'a> Entries<'a> {
    /// Takes entries whose keys have so many `bits`; `None` if they are damaged.
    pub fn take(bytes: &mut &'a [u8], bits: u32) -> Option<Entries<'a>> {
        let count = usize::try_from(read(bytes)?).ok()?;
        let heads = split(bytes, count.checked_mul(4)?)?.as_chunks().0;
        let mut column = || Column::take(bytes, count);
        Some(Entries { low: low_bits(bits), heads, lows: column()?, holders: column()?, rests: column()? })
    }

    /// The entries whose keys are wanted. The first question sees only heads.
    pub fn wanted(&self, may: impl Fn(u32) -> bool, is: impl Fn(u64) -> bool) -> impl Iterator<Item = Entry> {
        let heads = self.heads.iter().map(|head| u32::from_le_bytes(*head)).enumerate();
        heads.filter(move |(_, head)| may(*head)).filter_map(move |(place, head)| {
            let key = u64::from(head) << self.low | u64::from(self.lows.get(place));
            is(key).then(|| (key, self.holders.get(place), self.rests.get(place)))
        })
    }
}

/// Appends numbers in as many bytes as the largest needs, which come first.
pub fn append_column(values: impl Iterator<Item = u32> + Clone, out: &mut Vec<u8>) {
    let width = match values.clone().max().unwrap_or(0) {
        0 => 0,
        1..=0xff => 1,
        0x100..=0xffff => 2,
        _ => 4,
    };
    out.push(width);
    values.for_each(|value| out.extend_from_slice(&value.to_le_bytes()[..width as usize]));
}

/// Numbers of one width.
pub struct Column<'a> {
    width: usize,
    bytes: &'a [u8],
}

impl<'a> Column<'a> {
    /// Takes so many numbers that [`append_column`] appended.
    pub fn take(bytes: &mut &'a [u8], count: usize) -> Option<Column<'a>> {
        let width = usize::from(split(bytes, 1)?[0]);
        let is_known = matches!(width, 0 | 1 | 2 | 4);
        is_known.then_some(())?;
        Some(Column { width, bytes: split(bytes, count.checked_mul(width)?)? })
    }

    /// A number. It panics if there are not so many.
    pub fn get(&self, place: usize) -> u32 {
        match self.width {
            0 => 0,
            1 => self.bytes[place].into(),
            2 => u16::from_le_bytes(self.bytes.as_chunks().0[place]).into(),
            _ => u32::from_le_bytes(self.bytes.as_chunks().0[place]),
        }
    }
}

/// Takes so many bytes.
pub fn split<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let taken;
    (taken, *bytes) = bytes.split_at_checked(count)?;
    Some(taken)
}

//! Keys in their order, each with its holder and the number beside it, in columns.
//!
//! Keys that travel are written as differences, in few bytes. Keys that stay have a fixed width: a reader of few keys looks
//! at the first 32 bits of each, and at the rest only of those that it wants.

use super::part::{number, read};

/// A key, the place of its holder, and the number beside the key.
pub type Entry = (u64, u32, u32);

/// How keys are written.
#[derive(Clone, Copy, Default, PartialEq)]
pub enum Form {
    #[default]
    Differences,
    Heads,
}

/// The leading bits of a key that are read first.
const HEAD_BITS: u32 = 32;

/// Appends entries, which are in order. Keys have at most so many `bits`.
pub fn append_entries(entries: &[Entry], bits: u32, form: Form, out: &mut Vec<u8>) {
    let (low, keys) = (low_bits(bits), entries.iter().map(|(key, ..)| *key));
    number(entries.len() as u64, out);
    out.push((form == Form::Heads).into());
    out.reserve(entries.len() * 8);
    if form == Form::Heads {
        keys.clone().for_each(|key| out.extend(head(key, bits).to_le_bytes()));
        append_column(keys.map(|key| (key & ((1 << low) - 1)) as u32), out);
    } else {
        let mut before = 0;
        keys.for_each(|key| number(key - std::mem::replace(&mut before, key), out));
    }
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
    keys: Keys<'a>,
    holders: Column<'a>,
    rests: Column<'a>,
}

enum Keys<'a> {
    Differences(Vec<u64>),
    Heads { low: u32, heads: &'a [[u8; 4]], lows: Column<'a> },
}

impl<'a> Entries<'a> {
    /// Takes entries whose keys have so many `bits`; `None` if they are damaged.
    pub fn take(bytes: &mut &'a [u8], bits: u32) -> Option<Entries<'a>> {
        let count = usize::try_from(read(bytes)?).ok()?;
        let keys = match split(bytes, 1)? {
            [0] => Keys::Differences(rising(bytes, count)?),
            _ => {
                let heads = split(bytes, count.checked_mul(4)?)?.as_chunks().0;
                Keys::Heads { low: low_bits(bits), heads, lows: Column::take(bytes, count)? }
            }
        };
        Some(Entries { keys, holders: Column::take(bytes, count)?, rests: Column::take(bytes, count)? })
    }

    /// All entries.
    pub fn all(&self, each: impl FnMut(Entry) -> Option<()>) -> Option<()> {
        self.wanted(|_| true, |_| true, each)
    }

    /// The entries whose keys are wanted; `None` if one of them ends it. The first question may see only heads.
    pub fn wanted(
        &self,
        may: impl Fn(u32) -> bool,
        is: impl Fn(u64) -> bool,
        mut each: impl FnMut(Entry) -> Option<()>,
    ) -> Option<()> {
        let mut key_at = |place: usize, key: u64| match is(key) {
            true => each((key, self.holders.get(place), self.rests.get(place))),
            false => Some(()),
        };
        match &self.keys {
            Keys::Differences(keys) => {
                keys.iter().enumerate().try_for_each(|(place, &key)| key_at(place, key))
            }
            Keys::Heads { low, heads, lows } => {
                let heads = heads.iter().map(|head| u32::from_le_bytes(*head)).enumerate();
                let mut met = heads.filter(|(_, head)| may(*head));
                met.try_for_each(|(place, head)| {
                    key_at(place, u64::from(head) << low | u64::from(lows.get(place)))
                })
            }
        }
    }
}

/// Takes so many numbers that were written as differences.
fn rising(bytes: &mut &[u8], count: usize) -> Option<Vec<u64>> {
    let (mut value, mut found) = (0_u64, Vec::with_capacity(count.min(bytes.len())));
    for _ in 0..count {
        value = value.checked_add(read(bytes)?)?;
        found.push(value);
    }
    Some(found)
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

//! ASCII text a block at a time: its characters are classified together, then what is kept of them is packed.
//!
//! This is the scalar way, and the loop that other machines share. `simd` and `wide` have faster ways for the two steps.

use super::Canonical;
use super::fold::{Cursor, Written};
use super::json::escaped;
use crate::simd::mask;

/// Characters that are classified at once: a bit each in a word of the machine.
pub(super) const BLOCK: usize = 64;

/// A block in lower case, a space for each character that is in no word. The second half is never looked at: it makes
/// room for copies of fixed length.
pub(super) type Folded = [u8; 2 * BLOCK];

/// What the characters of a block are, a bit for each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Masks {
    /// In a word, and ASCII.
    pub words: u64,
    /// Not ASCII.
    pub other: u64,
    pub backslashes: u64,
}

/// What to keep of a block, a bit for each character, and where it goes.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub kept: u64,
    /// The separators among them: one behind each word that ends in the block.
    pub ends: u64,
    pub length: usize,
    pub count: usize,
}

/// A way to take text: how a block is classified, and how what is kept of it is written.
pub(super) struct Way<C, P> {
    pub classify: C,
    pub pack: P,
}

impl<C, P> Way<C, P>
where
    C: Fn(&[u8; BLOCK], &mut Folded) -> Masks,
    P: Fn(&Folded, Place, &mut Canonical),
{
    /// Takes the ASCII characters at the front of `bytes`; says how many.
    #[inline(always)]
    pub(super) fn take(&self, cursor: &mut Cursor, bytes: &[u8], out: &mut Canonical) -> usize {
        let json = cursor.written == Written::Json;
        let (mut length, mut count, mut in_word) = (cursor.length, cursor.count, cursor.in_word as u64);
        let (mut folded, mut last) = ([b' '; 2 * BLOCK], [b' '; BLOCK]);
        let mut taken = 0;
        loop {
            let rest = &bytes[taken..];
            let room = rest.len().min(BLOCK);
            let block = rest.first_chunk().unwrap_or_else(|| {
                last[..room].copy_from_slice(rest);
                &last
            });
            let Masks { mut words, mut other, backslashes } = (self.classify)(block, &mut folded);
            if json && backslashes != 0 {
                let (letters, stray) = escapes(block, backslashes, room);
                words &= !letters;
                other |= stray;
            }
            let ascii = room.min(other.trailing_zeros() as usize);
            let inside = first(ascii);
            words &= inside;
            // A separator is kept if it ends a word.
            let ends = !words & inside & (words << 1 | in_word);
            let place = Place { kept: words | ends, ends, length, count };
            (self.pack)(&folded, place, out);
            length += place.kept.count_ones() as usize;
            count += ends.count_ones() as usize;
            // As the last character says, if one was taken.
            in_word = if ascii == BLOCK { words >> (BLOCK - 1) } else { (words << 1 | in_word) >> ascii & 1 };
            taken += ascii;
            if ascii < BLOCK || taken == bytes.len() {
                break;
            }
        }
        (cursor.length, cursor.count, cursor.in_word) = (length, count, in_word as usize);
        taken
    }
}

/// The first so many of 64 bits.
#[inline(always)]
fn first(many: usize) -> u64 {
    if many < BLOCK { (1 << many) - 1 } else { u64::MAX }
}

/// The letters of escapes, which stand for separators, and the backslash of the first escape that is none of these: it
/// stands for a character by its number, or is cut off by the end of the block.
#[inline(always)]
fn escapes(block: &[u8; BLOCK], backslashes: u64, room: usize) -> (u64, u64) {
    let (letters, _) = escaped(backslashes, false);
    let mut left = letters;
    while left != 0 {
        let at = left.trailing_zeros() as usize;
        if block[at] == b'u' {
            return (letters, 1 << (at - 1));
        }
        left &= left - 1;
    }
    (letters, backslashes & !letters & 1 << (room - 1))
}

/// Takes the ASCII characters at the front of `bytes`, on any machine; says how many.
pub(super) fn ascii(cursor: &mut Cursor, bytes: &[u8], out: &mut Canonical) -> usize {
    Way { classify, pack }.take(cursor, bytes, out)
}

/// Classifies a block, on any machine.
#[inline(always)]
pub(super) fn classify(block: &[u8; BLOCK], folded: &mut Folded) -> Masks {
    let is_letter = |byte: u8| (byte | 0x20).wrapping_sub(b'a') < 26;
    let is_other_word = |byte: u8| byte.wrapping_sub(b'0') < 10 || byte == b'_';
    for (&byte, folded) in block.iter().zip(folded.iter_mut()) {
        let other = if is_other_word(byte) { byte } else { b' ' };
        *folded = if is_letter(byte) { byte | 0x20 } else { other };
    }
    let any = |is: fn(u8) -> bool| block.iter().fold(0, |found, &byte| found | u8::from(is(byte))) != 0;
    Masks {
        words: mask(folded.first_chunk().expect("two blocks"), |byte| byte != b' '),
        other: if any(|byte| byte >= 0x80) { mask(block, |byte| byte >= 0x80) } else { 0 },
        backslashes: if any(|byte| byte == b'\\') { mask(block, |byte| byte == b'\\') } else { 0 },
    }
}

/// Writes the characters that are kept one behind the other, and where words end. What is kept comes in runs, of which a
/// block has few, because one separator behind each word is kept too.
#[inline(always)]
fn pack(folded: &Folded, Place { mut kept, ends, length, count }: Place, out: &mut Canonical) {
    let text: &mut Folded = out.bytes[length..].first_chunk_mut().expect("room for two blocks");
    let (mut at, mut moved) = (0, 0);
    while kept != 0 {
        let start = kept.trailing_zeros() as usize;
        let run = (!(kept >> start)).trailing_zeros() as usize;
        text[at..at + BLOCK].copy_from_slice(&folded[start..start + BLOCK]);
        moved |= (ends >> start & first(run)) << at;
        at += run;
        // Adding to its lowest bit clears a run.
        kept &= kept.wrapping_add(1 << start);
    }
    let places: &mut [u32; BLOCK] = out.ends[count..].first_chunk_mut().expect("room for a block's words");
    for eight in places.as_chunks_mut::<8>().0.iter_mut().take(ends.count_ones().div_ceil(8) as usize) {
        for place in eight {
            *place = length as u32 + moved.trailing_zeros();
            moved &= moved.wrapping_sub(1);
        }
    }
}

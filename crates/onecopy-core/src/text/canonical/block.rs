//! Takes ASCII text in blocks: it classifies all characters of a block together, then packs those that are kept.
//!
//! These are the scalar version and the loop that all versions share. `simd` and `wide` have faster versions of both
//! steps.

use super::Canonical;
use super::fold::{Cursor, Written};
use super::json::escaped;
use crate::simd::mask;

/// How many characters are classified at once: one bit each in a machine word.
pub(super) const BLOCK: usize = 64;

/// A block in lower case, with a space for each character outside words. The second half is never read: it makes
/// room for copies of fixed length.
pub(super) type Folded = [u8; 2 * BLOCK];

/// The classes of the characters of a block, one bit per character.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Masks {
    /// ASCII, and in a word.
    pub words: u64,
    /// Not ASCII.
    pub other: u64,
    pub backslashes: u64,
}

/// The characters of a block to keep, one bit each, and where they go.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub kept: u64,
    /// The kept separators: one after each word that ends in the block.
    pub ends: u64,
    pub length: usize,
    pub count: usize,
}

/// A way to take text: how to classify a block, and how to write its kept characters.
pub(super) struct Way<C, P> {
    pub classify: C,
    pub pack: P,
}

impl<C, P> Way<C, P>
where
    C: Fn(&[u8; BLOCK], &mut Folded) -> Masks,
    P: Fn(&Folded, Place, &mut Canonical),
{
    /// Takes the ASCII characters at the front of `bytes`; returns how many.
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
            // The last character decides, if any was taken.
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

/// A mask of the first `many` of 64 bits.
#[inline(always)]
fn first(many: usize) -> u64 {
    if many < BLOCK { (1 << many) - 1 } else { u64::MAX }
}

/// The letters of simple escapes, which stand for separators, and the backslash of the first other escape. That one
/// gives a character by number, or the end of the block cuts it off.
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

/// Takes the ASCII characters at the front of `bytes`, on any machine; returns how many.
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

/// Writes the kept characters in sequence, and where words end. Kept characters form runs. A block has few runs,
/// because one separator after each word is kept too.
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
        // Adding a run's lowest bit clears the run.
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

//! Writes a part.

use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::Posting;
use super::block::{self, BLOCK_POSTINGS, BlockId};
use super::filter::Filter;
use super::part::{PIECE_BYTES, Part, part_name};
use super::tail::Tail;
use crate::disk::{File, Folder, Open, cannot};
use crate::{Error, Result};

/// Writes a part, posting by posting in order. The file is removed unless the part is kept.
#[derive(Debug)]
pub(super) struct PartWriter {
    draft: Draft,
    number: u32,
    file: Arc<dyn File>,
    offset: u64,
    piece: Vec<u8>,
    block: Vec<Posting>,
    /// The last key written, and the number of its postings.
    last: (u64, u8),
    postings: u64,
    fence: Vec<u64>,
    filter: Filter,
    covered: u64,
    contents: ContentSet,
}

/// A set of contents, a bit each.
#[derive(Debug, Default)]
struct ContentSet {
    bits: Vec<u64>,
    count: u64,
}

impl ContentSet {
    fn insert(&mut self, content: u32) {
        let (at, bit) = (content as usize / 64, 1 << (content % 64));
        if self.bits.len() <= at {
            self.bits.resize(at + 1, 0);
        }
        self.count += u64::from(self.bits[at] & bit == 0);
        self.bits[at] |= bit;
    }
}

impl PartWriter {
    /// A new part with at most `postings` postings, of contents up to `covered`.
    pub(super) fn new(
        folder: Arc<dyn Folder>,
        number: u32,
        postings: u64,
        covered: u64,
    ) -> Result<PartWriter> {
        let name = part_name(number);
        let file = folder.open(&name, Open::Create).map_err(cannot("create", &name))?;
        let draft = Draft { folder, name, kept: false };
        file.set_len(0).map_err(cannot("write", &draft.name))?;
        Ok(PartWriter {
            draft,
            number,
            file,
            offset: 0,
            piece: Vec::with_capacity(PIECE_BYTES),
            block: Vec::with_capacity(BLOCK_POSTINGS),
            last: (0, 0),
            postings: 0,
            fence: Vec::new(),
            filter: Filter::new(postings),
            covered,
            contents: ContentSet::default(),
        })
    }

    pub(super) fn push(&mut self, posting: Posting) -> Result<()> {
        if self.block.len() == BLOCK_POSTINGS {
            self.end_block()?;
        }
        let number = if self.last.0 == posting.key { self.last.1 } else { 0 };
        self.filter.insert(posting.key, number);
        self.last = (posting.key, number.saturating_add(1));
        self.block.push(posting);
        self.contents.insert(posting.content);
        Ok(())
    }

    fn end_block(&mut self) -> Result<()> {
        let Some(first) = self.block.first() else { return Ok(()) };
        let index = u32::try_from(self.fence.len());
        let index =
            index.map_err(|_| Error::Refused(format!("{} has too many postings", self.draft.name)))?;
        self.fence.push(first.key);
        block::write(&self.block, BlockId { part: self.number, index }, &mut self.piece);
        self.postings += self.block.len() as u64;
        self.block.clear();
        if self.piece.len() >= PIECE_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.file.write_all_at(&self.piece, self.offset).map_err(cannot("write", &self.draft.name))?;
        self.offset += self.piece.len() as u64;
        self.piece.clear();
        Ok(())
    }

    /// Completes the part and makes it and its name durable. `None` if it has no postings.
    pub(super) fn finish(mut self) -> Result<Option<(Part, Draft)>> {
        self.end_block()?;
        self.flush()?;
        if self.postings == 0 {
            return Ok(None);
        }
        let fence = std::mem::take(&mut self.fence);
        let filter = std::mem::take(&mut self.filter);
        let bytes_of = |keys: &[u64]| keys.iter().flat_map(|key| key.to_le_bytes()).collect();
        let tail = Tail {
            number: self.number,
            postings: self.postings,
            blocks: fence.len() as u64,
            filter_bytes: filter.byte_length(),
            fence_checksum: self.write_pieces(fence.chunks(PIECE_BYTES / 8).map(bytes_of))?,
            filter_checksum: self.write_pieces(filter.pieces(PIECE_BYTES))?,
        };
        let (tail, checksum) = tail.to_bytes();
        self.write_pieces([tail].into_iter())?;
        let PartWriter { draft, number, file, offset: bytes, postings, covered, .. } = self;
        let contents = self.contents.count;
        file.sync().map_err(cannot("sync", &draft.name))?;
        draft.folder.sync().map_err(cannot("sync", "the folder"))?;
        let name = draft.name.clone();
        let part = Part { number, postings, bytes, checksum, covered, contents, name, file, fence, filter };
        Ok(Some((part, draft)))
    }

    /// Writes the pieces. Returns their checksum.
    fn write_pieces(&mut self, pieces: impl Iterator<Item = Vec<u8>>) -> Result<u64> {
        let mut checksum = Xxh3::new();
        for piece in pieces {
            checksum.update(&piece);
            self.piece = piece;
            self.flush()?;
        }
        Ok(checksum.digest())
    }
}

/// A file that is removed unless it is kept: a part outside the manifest would take space until the next open.
#[derive(Debug)]
pub(super) struct Draft {
    folder: Arc<dyn Folder>,
    name: String,
    kept: bool,
}

impl Draft {
    pub(super) fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.kept {
            // If it cannot be removed now, the next open removes it.
            self.folder.remove(&self.name).ok();
        }
    }
}

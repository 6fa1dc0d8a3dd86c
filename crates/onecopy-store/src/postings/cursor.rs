//! Reads a part in order, to merge or check it.

use std::sync::Arc;

use super::Posting;
use super::block::{self, BLOCK_BYTES};
use super::part::{PIECE_BYTES, Part};
use crate::Result;
use crate::disk::read_at;

/// Reads a part from its first posting to its last.
pub(super) struct Cursor {
    part: Arc<Part>,
    piece: Vec<u8>,
    /// The offset of the current block in the piece, the next posting in the block, and the block's count.
    block: usize,
    at: usize,
    count: usize,
    /// The next block to read from the part.
    next_block: usize,
}

impl Cursor {
    pub(super) fn new(part: Arc<Part>) -> Cursor {
        Cursor { part, piece: Vec::new(), block: 0, at: 0, count: 0, next_block: 0 }
    }

    pub(super) fn next(&mut self) -> Result<Option<Posting>> {
        if self.at == self.count && !self.advance()? {
            return Ok(None);
        }
        let posting = block::posting(&self.piece[self.block..], self.at);
        self.at += 1;
        Ok(Some(posting))
    }

    /// The index of the block that starts with the last posting; `None` if that posting is inside a block.
    pub(super) fn begun(&self) -> Option<usize> {
        (self.at == 1).then(|| self.next_block - 1)
    }

    /// Moves to the next block; returns false at the end.
    fn advance(&mut self) -> Result<bool> {
        self.block += BLOCK_BYTES;
        if self.block >= self.piece.len() {
            let offset = self.next_block as u64 * BLOCK_BYTES as u64;
            let blocks = (self.part.fence.len() - self.next_block).min(PIECE_BYTES / BLOCK_BYTES);
            self.piece.resize(blocks * BLOCK_BYTES, 0);
            self.block = 0;
            read_at(&*self.part.file, &self.part.name, &mut self.piece, offset)?;
        }
        if self.piece.is_empty() {
            return Ok(false);
        }
        let bytes = &self.piece[self.block..self.block + BLOCK_BYTES];
        self.count = self.part.check_block(bytes, self.next_block as u32)?;
        self.at = 0;
        self.next_block += 1;
        Ok(true)
    }
}

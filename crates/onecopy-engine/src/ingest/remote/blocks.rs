//! Random access to a file in a store: fetches blocks to serve the small reads of the Parquet reader.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use super::object::Object;

const BLOCK_BYTES: u64 = 2 << 20;
/// How many blocks are cached. Columns are read in parallel, each at its own position.
const BLOCKS_HELD: usize = 8;

/// Random access to a file, for Parquet. Clones share one cache.
#[derive(Clone)]
pub(crate) struct RemoteBlocks(Arc<Blocks>);

struct Blocks {
    object: Arc<Object>,
    /// Number and bytes of each block, the most recently used last.
    held: Mutex<VecDeque<(u64, Bytes)>>,
}

impl RemoteBlocks {
    pub(super) fn new(object: Arc<Object>) -> RemoteBlocks {
        RemoteBlocks(Arc::new(Blocks { object, held: Mutex::default() }))
    }

    /// The bytes from `at` to the end of its block. Empty after the end of the file.
    fn from(&self, at: u64) -> io::Result<Bytes> {
        if at >= self.0.object.bytes {
            return Ok(Bytes::new());
        }
        let block = self.block(at / BLOCK_BYTES)?;
        Ok(block.slice((at % BLOCK_BYTES) as usize..))
    }

    fn block(&self, number: u64) -> io::Result<Bytes> {
        // The lock is held while fetching, so that two threads do not fetch the same block.
        let mut held = self.0.held.lock().unwrap_or_else(PoisonError::into_inner);
        let place = held.iter().position(|(known, _)| *known == number);
        let block = match place.and_then(|place| held.remove(place)) {
            Some((_, block)) => block,
            None => {
                let start = number * BLOCK_BYTES;
                self.0.object.fetch(start..self.0.object.bytes.min(start + BLOCK_BYTES))?
            }
        };
        held.push_back((number, block.clone()));
        if held.len() > BLOCKS_HELD {
            held.pop_front();
        }
        Ok(block)
    }
}

impl Length for RemoteBlocks {
    fn len(&self) -> u64 {
        self.0.object.bytes
    }
}

impl ChunkReader for RemoteBlocks {
    type T = BlockReader;

    fn get_read(&self, start: u64) -> Result<BlockReader> {
        Ok(BlockReader { blocks: self.clone(), at: start })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let end = start.saturating_add(length as u64);
        if end > self.len() {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} of {}", self.len())));
        }
        if length as u64 > BLOCK_BYTES {
            return Ok(self.0.object.fetch(start..end)?);
        }
        let first = self.from(start)?;
        if first.len() >= length {
            return Ok(first.slice(..length));
        }
        let mut bytes = BytesMut::with_capacity(length);
        bytes.extend_from_slice(&first);
        let second = self.from(start + first.len() as u64)?;
        bytes.extend_from_slice(&second[..length - first.len()]);
        Ok(bytes.freeze())
    }
}

/// Reads sequentially from a position.
pub(crate) struct BlockReader {
    blocks: RemoteBlocks,
    at: u64,
}

impl Read for BlockReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.blocks.from(self.at)?;
        let n = buffer.len().min(bytes.len());
        buffer[..n].copy_from_slice(&bytes[..n]);
        self.at += n as u64;
        Ok(n)
    }
}

//! Pieces: the unit in which bytes are copied, compressed, and found again.

use std::collections::HashMap;

use zstd::bulk::Compressor;

use super::depot::OpenDepot;
use super::manifest::{FileEntry, Piece, sha256};
use super::source::SourceFile;
use crate::error::{Error, Result};
use crate::progress::Progress;

/// The bytes of a piece of a file. Files only grow at their end, so whole pieces stay the same.
const PIECE_BYTES: u64 = 4 << 20;
/// The zstd level of pieces.
const COMPRESSION: i32 = 3;

/// Writes pieces that the depot lacks.
pub(super) struct PieceWriter<'a> {
    depot: &'a OpenDepot,
    known: HashMap<String, Piece>,
    compressor: Compressor<'static>,
    progress: &'a dyn Progress,
    written: Written,
}

/// What was copied.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Written {
    pub pieces: u64,
    pub new_pieces: u64,
    pub new_bytes: u64,
}

impl<'a> PieceWriter<'a> {
    /// Writes to a depot, which has the `known` pieces.
    pub(super) fn new(
        depot: &'a OpenDepot,
        known: HashMap<String, Piece>,
        progress: &'a dyn Progress,
    ) -> Result<PieceWriter<'a>> {
        let compressor = Compressor::new(COMPRESSION).map_err(|error| depot.wrong(error.to_string()))?;
        Ok(PieceWriter { depot, known, compressor, progress, written: Written::default() })
    }

    /// Copies some bytes, unless they are there.
    pub(super) fn piece(&mut self, bytes: &[u8]) -> Result<Piece> {
        if self.progress.stopped() {
            return Err(Error::Stopped);
        }
        let sum = sha256(bytes);
        self.written.pieces += 1;
        self.progress.advance(bytes.len() as u64);
        if let Some(known) = self.known.get(&sum) {
            return Ok(known.clone());
        }
        let packed = self.compressor.compress(bytes).map_err(|error| self.depot.wrong(error.to_string()))?;
        let piece = Piece { sha256: sum, bytes: bytes.len() as u64, stored: packed.len() as u64 };
        self.written.new_pieces += 1;
        self.written.new_bytes += piece.stored;
        self.depot.put(&piece, packed)?;
        self.known.insert(piece.sha256.clone(), piece.clone());
        Ok(piece)
    }

    /// Copies a file; `None` if it is gone and was not needed.
    pub(super) fn file(&mut self, file: &SourceFile) -> Result<Option<FileEntry>> {
        let Some(open) = file.open()? else { return Ok(None) };
        let (mut pieces, mut offset) = (Vec::new(), 0);
        let mut buffer = Vec::new();
        while offset < file.bytes {
            buffer.resize((file.bytes - offset).min(PIECE_BYTES) as usize, 0);
            open.read_exact_at(&mut buffer, offset).map_err(|error| file.failed(error))?;
            pieces.push(self.piece(&buffer)?);
            offset += buffer.len() as u64;
        }
        Ok(Some(FileEntry { name: file.name.clone(), bytes: file.bytes, pieces }))
    }

    /// What was copied so far.
    pub(super) fn written(&self) -> Written {
        self.written
    }
}

/// Reads a piece and verifies it. `of` is the file or table that needs it, for errors.
pub(super) fn fetch(depot: &OpenDepot, piece: &Piece, of: &str) -> Result<Vec<u8>> {
    let path = piece.path();
    let Some(stored) = depot.get(piece)? else {
        return Err(depot.wrong(format!("{path}, a piece of {of}, is missing")));
    };
    // One byte more than it has, so that a longer one is found too.
    let bytes = zstd::bulk::decompress(&stored, piece.bytes as usize + 1);
    match bytes.ok().filter(|bytes| sha256(bytes) == piece.sha256) {
        Some(bytes) => Ok(bytes),
        None => Err(depot.wrong(format!("{path}, a piece of {of}, is damaged: its checksum does not match"))),
    }
}

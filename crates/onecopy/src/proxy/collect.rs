//! Bodies that are read completely, if they are not too large.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

use crate::http::memory::{BodyMemory, Held};

/// A body, or as much of it as was read.
pub enum Collected {
    /// All of it, and its memory.
    Whole(Bytes, Held),
    /// It is too large: the pieces that were read, and the rest.
    Longer(Vec<Bytes>, Incoming),
}

/// Reads a body of at most `limit` bytes. A body that finds no memory counts as too large: it must not wait for others.
pub async fn collect(mut body: Incoming, limit: usize, memory: &BodyMemory) -> hyper::Result<Collected> {
    let (mut pieces, mut bytes, mut held) = (Vec::new(), 0, Held::default());
    if body.size_hint().lower() > limit as u64 {
        return Ok(Collected::Longer(pieces, body));
    }
    while let Some(frame) = body.frame().await {
        // Trailers are not passed on.
        let Ok(piece) = frame?.into_data() else { continue };
        bytes += piece.len();
        pieces.push(piece);
        if bytes > limit || !memory.try_grow(&mut held, bytes) {
            return Ok(Collected::Longer(pieces, body));
        }
    }
    Ok(Collected::Whole(joined(pieces, bytes), held))
}

fn joined(mut pieces: Vec<Bytes>, bytes: usize) -> Bytes {
    match pieces.len() {
        0 | 1 => pieces.pop().unwrap_or_default(),
        _ => {
            let mut all = BytesMut::with_capacity(bytes);
            pieces.iter().for_each(|piece| all.extend_from_slice(piece));
            all.freeze()
        }
    }
}

/// Bytes that hold their memory until they are sent.
pub struct Kept {
    bytes: Bytes,
    _held: Held,
}

impl Kept {
    pub fn new(bytes: Bytes, held: Held) -> Kept {
        Kept { bytes, _held: held }
    }
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

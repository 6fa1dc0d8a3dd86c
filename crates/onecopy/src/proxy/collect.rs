//! Bodies that are read completely, if they are not too large.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

use crate::http::memory::{BodyMemory, Held};

/// So much of a declared length is believed. The system has no memory in use for bytes that do not come.
const BELIEVED_BYTES: usize = 1 << 20;

/// A body, or as much of it as was read.
pub enum Collected {
    /// All of it, and its memory.
    Whole(Bytes, Held),
    /// It is too large: the pieces that were read, and the rest.
    Longer(Vec<Bytes>, Incoming),
}

/// Reads a body of at most `limit` bytes. A body that finds no memory counts as too large: it must not wait for others.
///
/// Each piece is copied and dropped at once, so that hyper reads the next one into the same memory.
pub async fn collect(mut body: Incoming, limit: usize, memory: &BodyMemory) -> hyper::Result<Collected> {
    let hint = body.size_hint();
    if hint.lower() > limit as u64 {
        return Ok(Collected::Longer(Vec::new(), body));
    }
    let declared = (hint.lower() as usize).min(BELIEVED_BYTES);
    let (mut all, mut held) = (BytesMut::with_capacity(declared), Held::default());
    while let Some(frame) = body.frame().await {
        // Trailers are not passed on.
        let Ok(piece) = frame?.into_data() else { continue };
        all.extend_from_slice(&piece);
        if all.len() > limit || !memory.try_grow(&mut held, all.len()) {
            return Ok(Collected::Longer(vec![all.freeze()], body));
        }
    }
    Ok(Collected::Whole(all.freeze(), held))
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

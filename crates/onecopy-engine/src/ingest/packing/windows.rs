//! How much memory unpacking may take. zstd and xz say it themselves.
//!
//! A frame says how much it needs, and a file is any number of frames. The first ones are looked at before a run shares
//! out its memory; what comes later must fit into what was set aside.

use std::collections::HashMap;
use std::io::{self, BufReader, ErrorKind, Read};

use super::Packing;
use super::xz::xz_window;
use crate::error::MoreMemory;
use crate::ingest::Source;

/// The widest zstd window that is accepted: 128 MiB, as `zstd --long=27` makes.
pub(crate) const WIDEST: u64 = 1 << 27;
/// The most bytes of skippable frames before the first frame with data.
const SKIPPED_BYTES: u64 = 32 << 20;

/// How wide the window of a frame may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Bytes; a power of two.
    pub bytes: u64,
    /// Bytes of the memory limit per byte of a window that was not expected.
    pub share: u64,
    /// The memory limit.
    pub limit: u64,
}

impl Default for Window {
    fn default() -> Window {
        Window { bytes: WIDEST, share: 1, limit: u64::MAX }
    }
}

impl Window {
    /// A window that takes at most half of the memory limit.
    pub(crate) fn of_half(limit: u64) -> Window {
        Window { bytes: (1 << (limit / 2).max(1).ilog2()).min(WIDEST), share: 2, limit }
    }
}

/// How wide the windows of sources may be.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    /// How many sources may be open at once.
    pub at_once: usize,
    /// The limit of any frame.
    pub any: Window,
    /// The windows of sources, by name, whose first frame needs more.
    pub wide: HashMap<String, u64>,
}

impl Default for Windows {
    fn default() -> Windows {
        Windows { at_once: usize::MAX, any: Window::default(), wide: HashMap::new() }
    }
}

impl Windows {
    /// The limit of the frames of a source.
    pub(crate) fn of(&self, source: &Source) -> Window {
        let wide = self.wide.get(&source.name).copied().unwrap_or(0);
        Window { bytes: self.any.bytes.max(wide), ..self.any }
    }
}

/// Unpacks zstd in windows of a limited width.
pub(super) struct Unzstd<R: Read> {
    decoder: zstd::Decoder<'static, BufReader<R>>,
    window: Window,
}

impl<R: Read> Unzstd<R> {
    /// Unpacks what is in `file`, of which all frames may need the dictionary.
    pub(super) fn new(file: BufReader<R>, dictionary: &[u8], window: Window) -> io::Result<Unzstd<R>> {
        let mut decoder = zstd::Decoder::with_dictionary(file, dictionary)?;
        decoder.window_log_max(window.bytes.ilog2())?;
        Ok(Unzstd { decoder, window })
    }

    /// The error of a frame that needs more memory than the limit leaves for it.
    fn too_wide(&self) -> Option<io::Error> {
        let Window { bytes, share, limit } = self.window;
        // The buffer begins with the frame that the decoder refused.
        let window = frame_window(self.decoder.get_ref().buffer())?.next_power_of_two();
        let more = MoreMemory { needed: window * share, limit };
        (bytes < window && window <= WIDEST).then(|| io::Error::new(ErrorKind::OutOfMemory, more))
    }
}

impl<R: Read> Read for Unzstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(buffer).map_err(|error| self.too_wide().unwrap_or(error))
    }
}

/// How much memory a file takes to unpack, by its first frame or block. Most files need not be opened to know.
pub(crate) fn window<R: Read>(packing: Packing, open: impl FnOnce() -> io::Result<R>) -> io::Result<u64> {
    match packing {
        Packing::Plain | Packing::Gzip => Ok(0),
        Packing::Zstd => zstd_window(open()?),
        Packing::Xz => xz_window(open()?),
        Packing::Bzip2 => Ok(BZIP2_BYTES),
        Packing::Lz4 => Ok(LZ4_BYTES),
    }
}

/// The memory for unpacking the largest blocks of bzip2.
const BZIP2_BYTES: u64 = 4 << 20;
/// The memory for unpacking the largest blocks of LZ4: each of 4 MiB packed, and twice unpacked.
const LZ4_BYTES: u64 = 12 << 20;

/// How much memory the first frame of a zstd file takes to unpack. It skips frames without data,
/// such as dictionaries.
fn zstd_window(file: impl Read) -> io::Result<u64> {
    let mut file = BufReader::with_capacity(1 << 12, file);
    let mut skipped = 0;
    while skipped < SKIPPED_BYTES {
        let mut head = Vec::new();
        file.by_ref().take(8).read_to_end(&mut head)?;
        let &[0x50..=0x5f, 0x2a, 0x4d, 0x18, a, b, c, d] = head.as_slice() else {
            file.take(10).read_to_end(&mut head)?;
            return Ok(frame_window(&head).unwrap_or(0));
        };
        let length = u64::from(u32::from_le_bytes([a, b, c, d]));
        skipped += 8 + length;
        if skipped < SKIPPED_BYTES {
            io::copy(&mut file.by_ref().take(length), &mut io::sink())?;
        }
    }
    Ok(0)
}

/// The window of the frame that `head` begins with (RFC 8878, 3.1.1.1); nothing if there is none.
fn frame_window(head: &[u8]) -> Option<u64> {
    let &[0x28, 0xb5, 0x2f, 0xfd, descriptor, ref rest @ ..] = head else { return None };
    if descriptor & 0x20 == 0 {
        let window = *rest.first()?;
        let base = 1u64 << (10 + (window >> 3));
        return Some(base + base / 8 * u64::from(window & 7));
    }
    // A single segment: the window is the size of what is in it.
    let after = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let (length, add) = [(1, 0), (2, 256), (4, 0), (8, 0)][usize::from(descriptor >> 6)];
    let mut size = [0; 8];
    for (to, from) in size.iter_mut().zip(rest.iter().skip(after).take(length)) {
        *to = *from;
    }
    Some((u64::from_le_bytes(size).saturating_add(add)).min(WIDEST))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// A frame whose window is `1 << log` bytes.
    fn frame(text: &[u8], log: u32) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(log).unwrap();
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn windows_are_read_from_the_frame() {
        for (log, size) in [(20, 3 << 20), (27, 1 << 10), (23, 9 << 20)] {
            let frame = frame(&vec![b' '; size], log);
            assert_eq!(zstd_window(frame.as_slice()).unwrap(), 1 << log);
            // Behind a dictionary and a frame that says nothing.
            let behind =
                [b"\x5d\x2a\x4d\x18\x03\0\0\0abc\x50\x2a\x4d\x18\0\0\0\0", frame.as_slice()].concat();
            assert_eq!(zstd_window(behind.as_slice()).unwrap(), 1 << log);
        }
        let short = zstd::encode_all(&b"short"[..], 1).unwrap();
        assert!(zstd_window(short.as_slice()).unwrap() < 1 << 24);
        assert_eq!(zstd_window(&b"(\xb5/\xfd"[..]).unwrap(), 0);
        assert_eq!(zstd_window(&b"\x5d\x2a\x4d\x18\xff\xff\xff\xff"[..]).unwrap(), 0);
        assert_eq!(zstd_window(&b""[..]).unwrap(), 0);
    }

    #[test]
    fn a_later_frame_may_not_be_wider_than_what_was_set_aside() {
        let window = Window { bytes: 8 << 20, share: 16, limit: 64 << 20 };
        let read = |file: &[u8]| {
            let (mut text, file) = (Vec::new(), BufReader::with_capacity(64, io::Cursor::new(file.to_vec())));
            Unzstd::new(file, &[], window).unwrap().read_to_end(&mut text).map(|_| text)
        };
        let fits = [frame(b"one ", 20), frame(b"two", 23)].concat();
        assert_eq!(read(&fits).unwrap(), b"one two");
        let error = read(&[frame(b"one", 20), frame(b"two", 27)].concat()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfMemory);
        let more = error.get_ref().and_then(|inner| inner.downcast_ref::<MoreMemory>()).unwrap();
        assert_eq!((more.needed, more.limit), (2 << 30, 64 << 20));
        let error = read(b"(\xb5/\xfd\0\0nonsense").unwrap_err();
        assert_ne!(error.kind(), ErrorKind::OutOfMemory, "damage is something else: {error}");
    }
}

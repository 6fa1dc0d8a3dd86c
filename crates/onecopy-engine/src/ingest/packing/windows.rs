//! How much memory unpacking may take. zstd and xz say it themselves.
//!
//! A frame says how much it needs, and a file is any number of frames. Those of a local file are looked at before a run
//! shares out its memory, else only the first one; what comes later must fit into what was set aside.

use std::collections::HashMap;
use std::io::{self, BufReader, ErrorKind, Read, Seek};

use zstd::stream::raw::{DParameter, Decoder};
use zstd::stream::zio::Reader;

use super::Packing;
use super::frames::{first_window, frame_window, widest_window};
use super::members::{Members, NotingDecoder};
use super::xz::xz_window;
use crate::error::MoreMemory;
use crate::ingest::Source;

/// The widest zstd window that is accepted: 128 MiB, as `zstd --long=27` makes.
pub(crate) const WIDEST: u64 = 1 << 27;

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
    /// The windows of sources, by name, of which a known frame needs more.
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
    reader: Reader<BufReader<R>, NotingDecoder>,
    window: Window,
}

impl<R: Read> Unzstd<R> {
    /// Unpacks what is in `file`, of which all frames may need the dictionary. Such a frame is no use alone, so `members`
    /// learn nothing of it.
    pub(super) fn new(
        file: BufReader<R>,
        dictionary: &[u8],
        window: Window,
        members: Option<Members>,
    ) -> io::Result<Unzstd<R>> {
        let mut decoder = Decoder::with_dictionary(dictionary)?;
        decoder.set_parameter(DParameter::WindowLogMax(window.bytes.ilog2()))?;
        let members = members.filter(|_| dictionary.is_empty());
        Ok(Unzstd { reader: Reader::new(file, NotingDecoder::new(decoder, members)), window })
    }

    /// The error of a frame that needs more memory than the limit leaves for it.
    fn too_wide(&self) -> Option<io::Error> {
        let Window { bytes, share, limit } = self.window;
        // The buffer begins with the frame that the decoder refused.
        let window = frame_window(self.reader.reader().buffer())?.next_power_of_two();
        let more = MoreMemory { needed: window * share, limit };
        (bytes < window && window <= WIDEST).then(|| io::Error::new(ErrorKind::OutOfMemory, more))
    }
}

impl<R: Read> Read for Unzstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer).map_err(|error| self.too_wide().unwrap_or(error))
    }
}

/// How much memory a file takes to unpack, by its first frame or block. Most files need not be opened to know.
pub(crate) fn window<R: Read>(packing: Packing, open: impl FnOnce() -> io::Result<R>) -> io::Result<u64> {
    match packing {
        Packing::Plain | Packing::Gzip => Ok(0),
        Packing::Zstd => first_window(open()?),
        Packing::Xz => xz_window(open()?),
        Packing::Bzip2 => Ok(BZIP2_BYTES),
        Packing::Lz4 => Ok(LZ4_BYTES),
    }
}

/// How much memory all frames of a file take to unpack; nothing if only unpacking would tell.
pub(crate) fn window_of_all<R: Read + Seek>(
    packing: Packing,
    open: impl FnOnce() -> io::Result<R>,
) -> io::Result<Option<u64>> {
    if packing == Packing::Zstd { widest_window(open()?).map(Some) } else { Ok(None) }
}

/// The memory for unpacking the largest blocks of bzip2.
const BZIP2_BYTES: u64 = 4 << 20;
/// The memory for unpacking the largest blocks of LZ4: each of 4 MiB packed, and twice unpacked.
const LZ4_BYTES: u64 = 12 << 20;

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
    fn a_later_frame_may_not_be_wider_than_what_was_set_aside() {
        let window = Window { bytes: 8 << 20, share: 16, limit: 64 << 20 };
        let read = |file: &[u8]| {
            let (mut text, file) = (Vec::new(), BufReader::with_capacity(64, io::Cursor::new(file.to_vec())));
            Unzstd::new(file, &[], window, None).unwrap().read_to_end(&mut text).map(|_| text)
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
